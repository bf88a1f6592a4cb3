package publish

import (
	_ "embed"
	"fmt"
	"hash/fnv"
	"io"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"stchat/internal/names"
	"stchat/internal/ops"
	"stchat/internal/ops/look"
	"stchat/internal/plural"
	"stchat/internal/prose"
	"stchat/internal/rawjson"
	"stchat/internal/userdir"
	"stchat/internal/webpage"
)

//go:embed page/page.css
var style string

//go:embed page/page.js
var script string

// page writes markup, and keeps the first error.
type page struct {
	w   io.Writer
	err error
}

func (p *page) print(parts ...string) {
	for _, s := range parts {
		if p.err == nil {
			_, p.err = io.WriteString(p.w, s)
		}
	}
}

func (p *page) printf(format string, args ...any) { p.print(fmt.Sprintf(format, args...)) }

// head writes what stands before a page's content. Nothing is fetched and no other script runs.
func (p *page) head(title string, scripted bool) {
	own := ""
	if scripted {
		own = script
	}
	p.print(webpage.Head(prose.Escape(title), style, own, true))
}

func (p *page) foot(scripted bool) {
	if scripted {
		p.print("<script>" + script + "</script>\n")
	}
	p.print("</body>\n</html>\n")
}

// bdi returns markup for a name, whose direction changes nothing of what stands around it.
func bdi(name string) string { return "<bdi>" + prose.Escape(name) + "</bdi>" }

// address returns a relative path as a link.
func address(path string) string {
	parts := strings.Split(filepath.ToSlash(path), "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	if strings.Contains(parts[0], ":") {
		parts[0] = "./" + parts[0]
	}
	return strings.Join(parts, "/")
}

// pager writes a chat as a page.
type pager struct {
	page
	e       *exporter
	p       *published
	d       *Document
	kin     *relative
	day     string
	avatars avatars
	room    int64 // bytes of pictures that still fit
	markup  prose.Markup
}

// picturesRoom is how many bytes of pictures a page holds.
const picturesRoom = 50 << 20

func newPager(e *exporter, w io.Writer, p *published, d *Document) *pager {
	g := &pager{page: page{w: w}, e: e, p: p, d: d, kin: e.kin[userdir.RealPath(p.path)], room: picturesRoom}
	g.avatars = avatars{numbers: map[string]int{}, of: map[string]int{}}
	return g
}

func (g *pager) begin() error {
	p := g.p
	title := names.Short(p.owner, p.name)
	full, shown := title, bdi(title)
	if p.owner != "" {
		full, shown = p.owner+" · "+title, bdi(p.owner)+" · "+shown
	}
	g.head(full, true)
	g.printf("<div id=\"bar\" role=\"banner\"><b>%s</b>", shown)
	if g.kin != nil && len(g.kin.children) > 0 {
		g.print("<nav aria-label=\"Checkpoints and branches\">")
		for _, c := range g.kin.children {
			if c.AtParent != nil {
				g.printf("<a href=\"#m%[1]d\">%[2]s#%[1]d</a>", *c.AtParent, sign(c))
			}
		}
		g.print("</nav>")
	}
	g.printf("</div>\n<main>\n<h1>%s</h1>\n<p class=\"sub\">%s</p>\n", bdi(title), p.about(bdi(p.owner)))
	if g.kin != nil && g.kin.chat.Above != nil {
		at := atParent(g.kin.chat)
		above := g.kin.chat.Above
		g.printf("<p class=\"sub\">from #%s of %s</p>\n", at, g.e.link(p, above, at, names.Short(p.owner, above.Name)))
	}
	return g.err
}

func (g *pager) end() error {
	g.print("</main>\n")
	g.print(g.avatars.symbols())
	g.foot(true)
	return g.err
}

// message writes one message.
func (g *pager) message(m *look.Message) error {
	at, dated := m.Time()
	if dated {
		if day := at.Local().Format("Monday " + dayForm); day != g.day {
			g.day = day
			g.printf("<h2 class=\"day\">%s</h2>\n", day)
		}
	}
	class := m.Role[:1]
	if m.Hidden {
		class = map[bool]string{true: "u hidden", false: "c hidden"}[rawjson.Truthy(m.Raw.User)]
	}
	who := name(m)
	id := index(m)
	g.print("<article id=\"m", id, "\" class=\"", class, "\">", g.avatar(m, who), "<div class=\"t\"><header><h3>", bdi(who), "</h3>")
	for _, about := range []string{map[bool]string{true: "hidden"}[m.Hidden], m.Type} {
		if about != "" {
			g.print("<span>", about, "</span>")
		}
	}
	g.print("<a href=\"#m", id, "\">#", id, "</a>")
	if dated {
		g.print("<time datetime=\"", at.UTC().Format(stampForm), "\">", at.Local().Format("15:04"), "</time>")
	}
	g.print("</header>\n")
	if m.Reasoning != nil && *m.Reasoning != "" && g.e.opt.Reasoning {
		g.printf("<details><summary>%s</summary><div class=\"alt\" dir=\"auto\">%s</div></details>\n", m.Thought(), g.text(m, *m.Reasoning))
	}
	g.print("<div dir=\"auto\">", g.text(m, shownText(m)), "</div>\n")
	for _, media := range m.Media {
		kind := "picture"
		if media.Type != nil && *media.Type != "image" {
			kind = *media.Type
		}
		g.print("<figure>" + g.picture(m, media.URL, kind, media.Name(), media.Missing()) + "</figure>\n")
	}
	for _, file := range m.Files {
		g.printf("<p class=\"sub\">[file: %s%s]</p>\n", prose.Escape(file.Name()), file.Missing())
	}
	g.swipes(m)
	g.margin(m)
	g.print("</div></article>\n")
	return g.err
}

// text returns a text as markup, with the pictures in it.
func (g *pager) text(m *look.Message, text string) string {
	g.markup.Picture = func(url, title string) string { return g.picture(m, url, "picture", title, "") }
	return g.markup.Text(text)
}

// swipes writes the other swipes, if they are wanted.
func (g *pager) swipes(m *look.Message) {
	if len(m.SwipeTexts) < 2 {
		return
	}
	chosen := ops.Or(m.Swipe, 0)
	g.printf("<details class=\"sw\"><summary>‹%d/%d›</summary>", chosen, m.Swipes)
	for i, text := range m.SwipeTexts {
		if text != nil && i+1 != chosen {
			g.printf("<div class=\"alt\" dir=\"auto\"><b>%d</b>%s</div>", i+1, g.text(m, *text))
		}
	}
	g.print("</details>\n")
}

// margin writes what leads on from a message: checkpoints and branches, beside the message where they
// part, and the names of those that are not there.
func (g *pager) margin(m *look.Message) {
	if m.Index == nil {
		return
	}
	var links []string
	known := map[string]bool{}
	if g.kin != nil {
		for _, c := range g.kin.children {
			if known[c.Name] = true; c.AtParent != nil && *c.AtParent == *m.Index {
				links = append(links, sign(c)+g.e.link(g.p, c, strconv.Itoa(*m.Index), names.Short(g.p.owner, c.Name, g.p.name)))
			}
		}
	}
	other := func(sign, name string) {
		if !known[name] {
			links = append(links, sign+"<span>"+bdi(names.Short(g.p.owner, name, g.p.name))+"</span>")
		}
	}
	if m.Checkpoint != nil {
		other(`<span class="cp">◆</span> `, *m.Checkpoint)
	}
	for _, branch := range m.Branches {
		other(`<span class="br">├</span> `, branch)
	}
	if len(links) > 0 {
		g.print("<aside>" + strings.Join(links, "<br/>") + "</aside>\n")
	}
}

// avatar returns the picture of who says a message, else the first letter of the name.
func (g *pager) avatar(m *look.Message, who string) string {
	if n := g.avatars.find(g, m); n >= 0 {
		return fmt.Sprintf(`<svg class="av" aria-hidden="true"><use href="#a%d"/></svg>`, n)
	}
	letter := "?"
	for each := graphemes.FromString(strings.TrimLeftFunc(who, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })); each.Next(); {
		letter = each.Value()
		break
	}
	h := fnv.New32a()
	h.Write([]byte(who))
	return fmt.Sprintf(`<span class="av l%d" aria-hidden="true">%s</span>`, h.Sum32()%6, prose.Escape(letter))
}

func (g *pager) leftPicture(m *look.Message, url, reason string) {
	g.d.PicturesLeftOut = append(g.d.PicturesLeftOut, LeftPicture{ops.Or(m.Index, -1), cutURL(url), reason})
}

// cutURL returns an address short enough to report.
func cutURL(url string) string {
	if len(url) > 200 {
		return url[:200] + plural.S(len(url)-200, " more byte")
	}
	return url
}
