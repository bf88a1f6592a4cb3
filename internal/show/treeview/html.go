package treeview

import (
	"bufio"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"stchat/internal/show/webpage"
	"stchat/internal/text/visible"
)

//go:embed page/page.css
var pageStyle string

//go:embed page/page.js
var pageScript string

//go:embed page/page.html
var pageBody string

// pageData is what the page's script draws. Keys are short, since there may be
// thousands of chats.
type pageData struct {
	Owners []pageOwner `json:"owners"`
	Chats  []pageChat  `json:"chats"` // in the order of their lanes
	Whole  bool        `json:"whole"` // the texts are those of all own messages, and not cut
	Alone  bool        `json:"alone"` // there are chats without relatives
}

type pageOwner struct {
	Name string `json:"n"`
}

type pageChat struct {
	Owner    int        `json:"o"`
	Name     string     `json:"n"`
	Short    string     `json:"g"` // the name as it is shown below the owner's
	Path     string     `json:"p"`
	Quoted   string     `json:"q,omitempty"` // the path for a shell, where it is not shown as it is
	Role     string     `json:"r"`
	Parent   int        `json:"u"` // number of the chat; -1: none
	Above    int        `json:"h"` // see lane
	Via      string     `json:"v,omitempty"`
	At       int        `json:"a"`
	AtParent int        `json:"b"`
	Remarks  []string   `json:"e,omitempty"`
	Own      int        `json:"w"`
	Messages int        `json:"m"`
	Bytes    int64      `json:"s"`
	First    int64      `json:"f,omitempty"` // ms since 1970
	Last     int64      `json:"t,omitempty"`
	Current  bool       `json:"c,omitempty"`
	Dates    [][2]int64 `json:"k,omitempty"`
	Shift    int        `json:"z"`
	Fork     int        `json:"x"`
	From     int        `json:"i"`
	To       int        `json:"j"`
	Texts    []Message  `json:"l,omitempty"`
}

// HTML writes the tree as a page that needs no network and no server.
func HTML(w io.Writer, t *Tree) error {
	data, err := json.Marshal(pageOf(t)) // which writes & < > and line separators as \uXXXX
	if err != nil {
		return err
	}
	data = visible.JSON(data) // so that the file itself has no marks of direction

	title := "Families of chats"
	if len(t.Owners) == 1 {
		title += " - " + shown(t.Owners[0].Name, longest)
	}
	title = html.EscapeString(title)

	var text strings.Builder
	if err := Text(&text, t, TextOptions{Width: 120, Zone: time.UTC}); err != nil {
		return err
	}
	// Each cell apart, so that a name that is written from the right leaves the others in their places.
	rows := regexp.MustCompile(`[^ \n]+(?: [^ \n]+)*`).ReplaceAllString(html.EscapeString(text.String()), `<bdi dir="ltr">$0</bdi>`)

	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s<noscript>\n<h1>%s</h1>\n<pre>%s</pre>\n</noscript>\n<template id=\"page\">\n%s</template>\n<script type=\"application/json\" id=\"data\">%s</script>\n<script>%s</script>\n</body>\n</html>\n",
		webpage.Head(title, pageStyle, pageScript, false), title, rows, pageBody, data, pageScript)
	return b.Flush()
}

// pageText returns text as the page shows it, which isolates it: what only drives a terminal is
// U+FFFD, and marks of direction stay.
func pageText(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return utf8.RuneError
		}
		return r
	}, strings.ReplaceAll(s, "\r\n", "\n"))
}

// longest is how many cells of a name a page shows.
const longest = 80

// shown returns a name as a page shows it, in at most so many cells.
func shown(s string, cells int) string { return cutName(visible.Text(s), cells) }

func cutName(s string, cells int) string { return visible.CutLeft(s, cells, "…") }

// pageOf turns a tree into the page's data.
func pageOf(t *Tree) *pageData {
	list := lanes(t)
	d := &pageData{
		Owners: []pageOwner{},
		Chats:  make([]pageChat, 0, len(list)),
		Whole:  t.Whole,
		Alone:  t.Summary.Alone > 0,
	}

	owner := map[*Chat]int{}
	for _, o := range t.Owners {
		for _, c := range o.Chats {
			owner[c] = len(d.Owners)
		}
		d.Owners = append(d.Owners, pageOwner{pageText(cutName(o.Name, longest))})
	}

	number := make(map[*Chat]int, len(list))
	for i := range list {
		number[list[i].chat] = i
	}

	short := t.Shorts()
	for i := range list {
		c := list[i].chat
		p := pageChatOf(&list[i])
		p.Owner = owner[c]
		p.Short = pageText(cutName(short[c], 300))
		if c.Above != nil {
			p.Parent = number[c.Above]
			p.At = *c.At
			p.AtParent = *c.AtParent
		}
		d.Chats = append(d.Chats, p)
	}
	return d
}

// pageChatOf returns the page's data of a chat, but for what depends on others.
func pageChatOf(l *lane) pageChat {
	c := l.chat
	p := pageChat{
		Name:     pageText(cutName(c.Name, 300)),
		Path:     shown(c.Path, 1000),
		Role:     c.Role,
		Parent:   -1,
		Above:    l.above,
		At:       -1,
		AtParent: -1,
		Remarks:  remarks(c),
		Own:      c.Own,
		Messages: c.Messages,
		Bytes:    c.Bytes,
		First:    milliseconds(c.First),
		Last:     milliseconds(c.Until),
		Current:  c.Current,
		Shift:    l.shift,
		Fork:     l.fork,
		From:     l.from,
		To:       l.to,
	}

	if visible.Text(c.Path) != c.Path {
		p.Quoted = visible.Quote(c.Path)
	}
	if c.Via != nil {
		p.Via = *c.Via
	}

	for _, date := range c.Dates {
		p.Dates = append(p.Dates, [2]int64{int64(date.Index), date.At.UnixMilli()})
	}
	for _, m := range c.Texts {
		m.Name = pageText(m.Name)
		m.Text = pageText(cmp.Or(m.Said, "(no text)"))
		p.Texts = append(p.Texts, m)
	}
	return p
}

// milliseconds returns a time in ms since 1970, 0 for none.
func milliseconds(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixMilli()
}
