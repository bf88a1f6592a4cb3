package publish

import (
	"cmp"
	_ "embed"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"stchat/internal/ops"
	"stchat/internal/ops/look"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/show/prose"
	"stchat/internal/show/treeview"
	"stchat/internal/show/webpage"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/plural"
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

// pager writes chats as a page: one, or several as its chapters.
type pager struct {
	page
	e        *exporter
	chapters []*published

	p       *published // that is written now
	kin     *relative
	day     string
	avatars avatars
	room    int64 // bytes of pictures that still fit
	markup  prose.Markup
}

// picturesRoom is how many bytes of pictures a page holds.
const picturesRoom = 50 << 20

func newPager(e *exporter, w io.Writer, chapters []*published) *pager {
	g := &pager{page: page{w: w}, e: e, chapters: chapters, room: picturesRoom}
	g.avatars = avatars{numbers: map[string]int{}, of: map[string]int{}}
	return g
}

func (g *pager) begin(p *published) error {
	g.endChapter()
	alone := &relative{chat: &treeview.Chat{}}
	g.p = p
	g.kin = cmp.Or(g.e.kin[userdir.RealPath(p.path)], alone)
	g.day = ""
	switch p.chapter {
	case 0:
		g.openChat()
	case 1:
		g.openBook()
	}

	if p.chapter > 0 {
		g.printf("<section id=\"%s\">\n", p.chapterID())
	}
	g.heading()
	return g.err
}

// chapterID returns the name of a chapter in a page.
func (p *published) chapterID() string { return fmt.Sprintf("c%d", p.chapter) }

// messageID returns the name of a message in a page.
func (p *published) messageID(index string) string {
	if p.chapter == 0 {
		return "m" + index
	}
	return p.chapterID() + "m" + index
}

// openBook begins a page with chapters, and lists them.
func (g *pager) openBook() {
	title := plural.Many(len(g.chapters), "chat")
	owner := g.chapters[0].owner
	isOther := func(p *published) bool { return p.owner != owner }
	isOne := owner != "" && !slices.ContainsFunc(g.chapters, isOther)
	if isOne {
		title = owner
	}
	g.head(title, true)
	g.printf("<div id=\"bar\" role=\"banner\"><b>%s</b></div>\n<main>\n<nav aria-label=\"Chapters\"><ul>\n", bdi(title))
	for _, p := range g.chapters {
		g.printf("<li><a href=\"#%s\">%s</a> <span class=\"sub\">%s</span></li>\n", p.chapterID(), bdi(p.title()), p.about(bdi(p.owner)))
	}
	g.print("</ul></nav>\n")
}

// openChat begins the page of one chat.
func (g *pager) openChat() {
	p := g.p
	full := p.title()
	shown := bdi(full)
	if p.owner != "" {
		full = p.owner + " · " + full
		shown = bdi(p.owner) + " · " + shown
	}
	g.head(full, true)
	g.printf("<div id=\"bar\" role=\"banner\"><b>%s</b>", shown)
	links := g.forkLinks()
	if len(links) > 0 {
		g.print("<nav aria-label=\"Checkpoints and branches\">", strings.Join(links, ""), "</nav>")
	}
	g.print("</div>\n<main>\n")
}

// forkLinks returns a link to each message at which a checkpoint or a branch begins; two that begin at
// one message share it.
func (g *pager) forkLinks() (links []string) {
	for _, c := range g.kin.children {
		at := forkOf(c)
		if at == nil {
			continue
		}
		link := fmt.Sprintf("<a href=\"#m%[1]d\">%[2]s#%[1]d</a>", *at, sign(c))
		if !slices.Contains(links, link) {
			links = append(links, link)
		}
	}
	return links
}

// heading writes what stands above the messages of a chat.
func (g *pager) heading() {
	p := g.p
	owner := bdi(p.owner)
	if g.e.opt.Folder {
		owner = `<a href="` + g.e.toIndex(p) + `">` + owner + "</a>"
	}
	g.printf("<h1>%s</h1>\n<p class=\"sub\">%s</p>\n", bdi(p.title()), p.about(owner))
	if at, above := forkOf(g.kin.chat), g.kin.chat.Above; above != nil {
		g.printf("<p class=\"sub\">from %s of %s</p>\n", indexShown(at), g.e.link(p, above, at, names.Short(p.owner, above.Name)))
	}
}

// toIndex returns the way from a page to that which lists all: over the folder of its owner and, if there are several
// users, that of its user.
func (e *exporter) toIndex(p *published) string {
	const index = "index.html"
	up, err := filepath.Rel(filepath.Dir(p.output), e.opt.Output)
	if err != nil {
		return index
	}
	return prose.Escape(address(filepath.Join(up, index)))
}

// endChapter ends a chapter, if the chat is one.
func (g *pager) endChapter() {
	if g.p != nil && g.p.chapter > 0 {
		g.print("</section>\n")
	}
}

func (g *pager) end() error {
	g.endChapter()
	g.print("</main>\n", g.avatars.symbols())
	g.foot(true)
	return g.err
}

// message writes one message.
func (g *pager) message(m *look.Message) error {
	at, dated := m.Time()
	if day := at.Local().Format("Monday " + dayForm); dated && day != g.day {
		g.day = day
		g.printf("<h2 class=\"day\">%s</h2>\n", day)
	}
	class := classOf(message.Who(m.Role))
	if m.Hidden {
		class += " hidden"
	}
	who := name(m)
	id := index(m)
	place := g.p.messageID(id)
	g.print("<article id=\"", place, "\" class=\"", class, "\">", g.avatar(m, who), "<div class=\"t\"><header><h3>", bdi(who), "</h3>")
	for _, about := range []string{map[bool]string{true: "hidden"}[m.Hidden], m.Type} {
		if about != "" {
			g.print("<span>", about, "</span>")
		}
	}

	g.print("<a href=\"#", place, "\">#", id, "</a>")
	if dated {
		g.print("<time datetime=\"", at.UTC().Format(time.RFC3339), "\">", at.Local().Format("15:04"), "</time>")
	}
	g.print("</header>\n")
	if m.Reasoning != nil && *m.Reasoning != "" && g.e.opt.Reasoning {
		g.printf("<details><summary>%s</summary><div class=\"alt\" dir=\"auto\">%s</div></details>\n", m.Thought(), g.text(m, *m.Reasoning))
	}
	g.print("<div dir=\"auto\">", g.text(m, shownText(m)), "</div>\n")
	for _, media := range m.Media {
		g.print("<figure>" + g.picture(m, media.URL, media.Kind(), media.Name(), media.Missing()) + "</figure>\n")
	}
	for _, file := range m.Files {
		g.print("<p class=\"sub\">" + attachment("file", file.Name(), file.Missing()) + "</p>\n")
	}
	g.swipes(m)
	g.margin(m)
	g.print("</div></article>\n")
	return g.err
}

// classOf returns how the page's style calls who says a message.
func classOf(who message.Who) string {
	switch who {
	case message.User:
		return "u"
	case message.Character:
		return "c"
	}
	return "s"
}

// text returns a text as markup, with the pictures in it.
func (g *pager) text(m *look.Message, text string) string {
	g.markup.Picture = func(url, title string) string { return g.picture(m, url, "picture", title, "") }
	return cmp.Or(g.markup.Text(text), "<p class=\"sub\">(no text)</p>")
}

// swipes writes the other swipes, if they are wanted.
func (g *pager) swipes(m *look.Message) {
	if len(m.SwipeTexts) < 2 {
		return
	}
	chosen, about := 0, plural.S(m.Swipes, "swipe") // no number says which of them is shown
	if m.Swipe != nil {
		chosen, about = *m.Swipe, fmt.Sprintf("‹%d/%d›", *m.Swipe, m.Swipes)
	}
	g.print("<details class=\"sw\"><summary>", about, "</summary>")
	for i, text := range m.SwipeTexts {
		if i+1 != chosen {
			g.printf("<div class=\"alt\" dir=\"auto\"><b>%d</b>%s</div>", i+1, g.text(m, ops.Or(text, "")))
		}
	}

	g.print("</details>\n")
}

// margin writes what leads on from a message: checkpoints and branches, beside the message where they
// part, or that names them if none is common, and the names of those that are not there.
func (g *pager) margin(m *look.Message) {
	if m.Index == nil {
		return
	}

	var links []string
	known := map[string]bool{}
	for _, c := range g.kin.children {
		known[c.Name] = true
		at := forkOf(c)
		leadsOn := isNamed(m, c.Name)
		if at != nil {
			leadsOn = *at == *m.Index
		}
		if leadsOn {
			links = append(links, sign(c)+g.e.link(g.p, c, at, names.Short(g.p.owner, c.Name, g.p.name)))
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

// isNamed reports whether a message names a chat as its checkpoint or as a branch.
func isNamed(m *look.Message, chat string) bool {
	isCheckpoint := m.Checkpoint != nil && *m.Checkpoint == chat
	return isCheckpoint || slices.Contains(m.Branches, chat)
}

// avatar returns the picture of who says a message, else the first grapheme of the name that can be seen.
func (g *pager) avatar(m *look.Message, who string) string {
	if n := g.avatars.find(g, m); n >= 0 {
		return fmt.Sprintf(`<svg class="av" aria-hidden="true"><use href="#a%d"/></svg>`, n)
	}
	letter := "?"
	for each := graphemes.FromString(who); letter == "?" && each.Next(); {
		if c := []rune(each.Value())[0]; !strings.ContainsRune("\ufffd\u2800\u3164", c) && unicode.In(c, unicode.L, unicode.N, unicode.So) {
			letter = each.Value()
		}
	}

	h := fnv.New32a()
	h.Write([]byte(who))
	return fmt.Sprintf(`<span class="av l%d" aria-hidden="true">%s</span>`, h.Sum32()%6, prose.Escape(letter))
}

func (g *pager) leftPicture(m *look.Message, url, reason string) {
	g.p.Doc.PicturesLeftOut = append(g.p.Doc.PicturesLeftOut, LeftPicture{ops.Or(m.Index, -1), cutURL(url), reason})
}

// cutURL returns an address short enough to report.
func cutURL(url string) string {
	if len(url) > 200 {
		return url[:200] + plural.S(len(url)-200, " more byte")
	}
	return url
}

// Stats writes what was counted as a page without script: charts, and a table behind each.
func Stats(w io.Writer, s *look.Statistics) error {
	p := &page{w: w}
	p.head("What was written", false)
	p.print("<main class=\"index\"><h1>What was written</h1>\n<p class=\"sub\">")
	if span := look.Span(s.First, s.Last, dayForm); span != "" {
		p.printf("%s · ", span)
	}
	p.printf("%s, %s, %s (yours %s, theirs %s%s)</p>\n", plural.Many(s.Chats, "chat"), plural.Many(s.Messages, "message"),
		plural.Many(s.Words, "word"), plural.Grouped(s.UserWords), plural.Grouped(s.Words-s.UserWords), map[string]string{"all": "; every copy counts"}[s.Counted])
	heat(p, s)
	by := look.By("owner")
	if len(s.Rows) > 0 {
		by = s.Rows[0].By
	}
	if y, ok := look.YearOf(s.Rows); ok && by == "week" {
		year(p, y)
	} else {
		statsRows(p, s, by)
	}

	if s.Sessions.Count > 0 {
		p.printf("<section><h2>When</h2>\n<p class=\"sub\">%s, %s in all, median %s and %s", plural.Many(s.Sessions.Count, "session"), look.TimeText(s.TimeMS),
			plural.Many(int((s.Sessions.MedianMS+30_000)/60_000), "minute"), plural.Many(s.Sessions.MedianMessages, "message"))
		if s.Streak != nil {
			p.printf("; longest streak %s", plural.Many(s.Streak.Days, "day"))
		}
		p.print("</p>\n<table><thead><tr><th>hour</th><th>messages</th><th class=\"share\">share</th></tr></thead><tbody>\n")
		most := max(slices.Max(s.Hours), 1)
		for hour, n := range s.Hours {
			p.printf("<tr><td>%02d</td><td>%s</td><td class=\"share\">%s</td></tr>\n", hour, plural.Grouped(n), bar(float64(n)*100/float64(most)))
		}
		p.print("</tbody></table></section>\n")
	}

	p.print("</main>\n")
	p.foot(false)
	return p.err
}

// statsRows lists the rows that were counted.
func statsRows(p *page, s *look.Statistics, by look.By) {
	p.printf("<section><h2>By %[1]s</h2>\n<table class=\"by\"><thead><tr><th>%[1]s</th><th>chats</th><th>messages</th><th>words</th><th class=\"share\">share</th></tr></thead><tbody>\n", by)
	for _, t := range s.Rows {
		about := look.Span(t.First, t.Last, time.DateOnly)
		if t.Swipes > 0 {
			about += " · " + plural.Many(t.Swipes, "other swipe")
		}
		if t.TimeMS > 0 {
			about += " · " + look.TimeText(t.TimeMS)
		}
		share := float64(t.Words) * 100 / float64(max(s.Words, 1))
		p.printf("<tr><td>%s<small>%s</small></td><td>%s</td><td>%s</td><td>%s</td><td class=\"share\">%s %.0f %%</td></tr>\n",
			bdi(cmp.Or(t.Key, "(none)")), strings.TrimPrefix(about, " · "), plural.Grouped(t.Chats), plural.Grouped(t.Messages), plural.Grouped(t.Words), bar(share), share)
	}

	p.print("</tbody></table></section>\n")
}

// bar draws a part of a hundred.
func bar(percent float64) string {
	return fmt.Sprintf(`<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect width="%.0f" height="10"/></svg>`, percent)
}

// heat draws a square for each day, a column a week, and lists the months behind it.
func heat(p *page, s *look.Statistics) {
	levels, from, weeks := look.Heat(s.Daily, 53)
	if weeks < 1 {
		return
	}
	const margin = 44
	width := weeks*12 + margin
	// The size of its letters on a phone, where all of it is made to fit; elsewhere the style gives it.
	p.printf("<section><h2>Days</h2>\n<svg class=\"heat\" viewBox=\"-%d -20 %d 104\" width=\"%[2]d\" font-size=\"%d\" role=\"img\" aria-label=\"words a day\">", margin, width, max(width/33, 10))
	for weekday, name := range []string{"Mon", "", "Wed", "", "Fri", "", "Sun"} {
		p.printf("<text x=\"-%d\" y=\"%d\">%s</text>", margin, weekday*12+9, name)
	}
	for week := range weeks {
		monday := look.DayTime(from + int32(7*week))
		if month := look.MonthAbove(monday, week == 0); month != "" {
			p.printf("<text x=\"%d\" y=\"-5\">%s</text>", week*12, month)
		}
	}

	months := map[string]int{}
	for day := from; day < from+int32(7*weeks); day++ {
		words := s.Daily[day]
		if words > 0 {
			months[look.DayTime(day).Format("2006-01")] += words
		}
		at := int(day - from)
		p.printf("<rect class=\"w%d\" x=\"%d\" y=\"%d\" width=\"10\" height=\"10\"><title>%s: %s</title></rect>", levels[day], at/7*12, at%7*12, look.DayText(day), plural.Many(words, "word"))
	}

	p.print("</svg>\n<p class=\"sub\">less <svg viewBox=\"0 0 48 10\" width=\"48\" aria-hidden=\"true\">")
	for level := 1; level <= 4; level++ {
		p.printf("<rect class=\"w%d\" x=\"%d\" width=\"10\" height=\"10\"/>", level, (level-1)*12)
	}
	p.print("</svg> more, words a day")
	if best := s.BestDay; best != nil {
		p.printf("; best day <time>%s</time>, %s", best.Day, plural.Many(best.Words, "word"))
	}
	p.print("</p>\n<details><summary>months</summary><table><thead><tr><th>month</th><th>words</th></tr></thead><tbody>\n")
	for _, month := range slices.Sorted(maps.Keys(months)) {
		at, _ := time.Parse("2006-01", month)
		p.printf("<tr><td>%s</td><td>%s</td></tr>\n", at.Format("January 2006"), plural.Grouped(months[month]))
	}

	p.print("</tbody></table></details></section>\n")
}
