package publish

import (
	"context"
	"io"
	"path/filepath"
	"strconv"

	"stchat/internal/folder/family"
	"stchat/internal/ops/look"
	"stchat/internal/place/userdir"
	"stchat/internal/show/prose"
	"stchat/internal/show/treeview"
	"stchat/internal/text/plural"
)

// relative is a chat among its relatives.
type relative struct {
	chat     *treeview.Chat
	short    string
	children []*treeview.Chat
	as       *published // nil: it is not exported
}

// ownerOf is an owner's chats for the index.
type ownerOf struct {
	name  string
	user  string // whose it is, if chats of several users are exported
	chats []*relative
}

// relate finds out which chat was made from which, also where only the child tells.
func (e *exporter) relate(ctx context.Context) error {
	e.kin = map[string]*relative{}
	res, err := look.Tree(ctx, look.TreeOptions{List: e.opt.List, All: true, By: family.ByLinks})
	if err != nil {
		return err
	}
	as := map[string]*published{}
	for _, p := range e.chats {
		if p.Err == nil && p.messages > 0 {
			as[userdir.RealPath(p.path)] = p
		}
	}

	short := res.Tree.Shorts()
	for _, o := range res.Tree.Owners {
		owner := &ownerOf{name: o.Name}
		for _, c := range o.Chats {
			owner.user = e.opt.UserOf(c.Path)
			path := userdir.RealPath(c.Path)
			r := &relative{chat: c, short: short[c], as: as[path]}
			e.kin[path] = r
			if c.Above != nil {
				if above := e.kin[userdir.RealPath(c.Above.Path)]; above != nil {
					above.children = append(above.children, c)
				}
			}
			if r.as != nil {
				owner.chats = append(owner.chats, r)
			}
		}

		if len(owner.chats) > 0 {
			e.owner = append(e.owner, owner)
		}
	}
	return nil
}

// link returns markup for a chat: a link to its message at, or to its top for nil, if it is exported
// in the same call, else its name.
func (e *exporter) link(from *published, to *treeview.Chat, at *int, text string) string {
	text = bdi(text)
	r := e.kin[userdir.RealPath(to.Path)]
	isChapter := r != nil && r.as != nil && r.as.chapter > 0
	if isChapter {
		place := r.as.chapterID()
		if at != nil {
			place = r.as.messageID(strconv.Itoa(*at))
		}
		return `<a href="#` + place + `">` + text + "</a>"
	}

	isExported := r != nil && r.as != nil && r.as.output != ""
	canLink := from != nil || e.opt.Folder
	if !isExported || !canLink {
		return "<span>" + text + "</span>"
	}

	folder := e.opt.Output
	if from != nil {
		folder = filepath.Dir(from.output)
	}
	rel, err := filepath.Rel(folder, r.as.output)
	if err != nil {
		return "<span>" + text + "</span>"
	}
	href := prose.Escape(address(rel))
	if at != nil {
		href += "#m" + strconv.Itoa(*at)
	}
	return `<a href="` + href + `">` + text + "</a>"
}

// index writes the page that leads to all others.
func (e *exporter) index(w io.Writer) error {
	p := &page{w: w}
	p.head("Chats", false)
	p.print("<main class=\"index\"><h1>Chats</h1>\n")
	count := 0
	for _, o := range e.owner {
		count += len(o.chats)
		heading := bdi(o.name)
		if o.user != "" {
			heading = bdi(o.user) + " / " + heading
		}
		p.printf("<section><h2>%s</h2>\n", heading)
		p.print("<table class=\"kin\"><thead><tr><th>chat</th><th>fork</th><th>messages</th><th>last</th></tr></thead><tbody>\n")
		for _, r := range o.chats {
			c, fork := r.chat, ""
			if c.Above != nil {
				fork = indexShown(forkOf(c))
			}
			last := ""
			if !c.Until.IsZero() {
				last = c.Until.Local().Format("2006-01-02 15:04")
			}
			p.printf("<tr><td class=\"d%d\">%s%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
				min(c.Depth, 9), sign(c), e.link(nil, c, nil, r.short), fork, plural.Grouped(c.Messages), last)
		}

		p.print("</tbody></table></section>\n")
	}

	p.printf("<p class=\"sub\">%s</p></main>\n", plural.Many(count, "chat"))
	p.foot(false)
	return p.err
}

// sign returns what kind of relative a chat is.
func sign(c *treeview.Chat) string {
	switch {
	case c.Above == nil:
		return ""
	case c.Role == string(family.CheckpointRole):
		return `<span class="cp">◆</span> `
	}
	return `<span class="br">├</span> `
}

// forkOf returns the message of its parent at which a chat parts; nil: that is not known, or they
// have none in common.
func forkOf(c *treeview.Chat) *int {
	if c.AtParent == nil || *c.AtParent < 0 {
		return nil
	}
	return c.AtParent
}

func indexShown(at *int) string {
	if at == nil {
		return "#?"
	}
	return "#" + strconv.Itoa(*at)
}
