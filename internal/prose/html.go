package prose

import (
	"html"
	"slices"
	"strconv"
	"strings"
)

// Markup writes blocks as HTML that is well-formed XML. Everything that a text says is escaped.
type Markup struct {
	// Picture returns the markup for a picture in a text; nil: its title in brackets.
	Picture func(url, title string) string
	b       []byte
	open    []string // the elements that are open
}

// Text is [Read] and HTML in one.
func (m *Markup) Text(text string) string { return m.HTML(Read(text)) }

// HTML returns blocks as HTML.
func (m *Markup) HTML(blocks []Block) string {
	m.b = m.b[:0]
	for _, b := range blocks {
		m.block(b)
	}
	m.close(0)
	return string(m.b)
}

// block writes a block inside the quotes and lists that it belongs to.
func (m *Markup) block(b Block) {
	around := slices.Repeat([]string{"blockquote"}, b.Quote)
	if b.Kind == Item {
		list := "ul"
		if b.Mark[0] >= '0' && b.Mark[0] <= '9' {
			list = "ol"
		}
		around = append(around, m.lists(len(around), b.Level-1, list)...)
		m.within(append(around, list))
		if list == "ol" {
			m.push("li", ` value="`+strconv.Itoa(min(number(b.Mark), 1<<30))+`"`)
		} else {
			m.push("li", "")
		}
		m.runs(b.Runs, false)
		return
	}
	if b.Kind == Paragraph || b.Kind == Fence {
		around = append(around, m.lists(len(around), b.Level, "ul")...)
	}
	m.within(around)
	switch b.Kind {
	case Heading:
		m.element("h4", b.Runs) // below a page's own, none left out
	case Rule:
		m.print("<hr/>")
	case Rows, Fence:
		m.push("pre", ` dir="auto" tabindex="0"`) // the keyboard scrolls it, too
		m.runs(b.Runs, true)
		m.close(len(m.open) - 1)
	default:
		m.element("p", b.Runs)
	}
}

func number(mark string) (n int) {
	for _, c := range strings.TrimSuffix(mark, ".") {
		n = n*10 + int(c-'0')
	}
	return n
}

// lists returns what must be open for something at a depth of a list: lists with an open item,
// those that are there already where there are any.
func (m *Markup) lists(from, depth int, kind string) (around []string) {
	for k := range depth {
		list := kind
		if at := from + 2*k; at < len(m.open) && (m.open[at] == "ul" || m.open[at] == "ol") {
			list = m.open[at]
		}
		around = append(around, list, "li")
	}
	return around
}

// within closes and opens elements until exactly these are open.
func (m *Markup) within(elements []string) {
	n := 0
	for n < min(len(elements), len(m.open)) && elements[n] == m.open[n] {
		n++
	}
	m.close(n)
	for _, name := range elements[n:] {
		m.push(name, "")
	}
}

func (m *Markup) print(s string) { m.b = append(m.b, s...) }

func (m *Markup) push(name, attributes string) {
	m.print("<" + name + attributes + ">")
	m.open = append(m.open, name)
}

func (m *Markup) close(n int) {
	for len(m.open) > n {
		m.print("</" + m.open[len(m.open)-1] + ">")
		m.open = m.open[:len(m.open)-1]
	}
}

func (m *Markup) element(name string, runs []Run) {
	m.print("<" + name + ">")
	m.runs(runs, false)
	m.print("</" + name + ">")
}

// runs writes runs; elements that go on in the next run stay open.
func (m *Markup) runs(runs []Run, fixed bool) {
	type element struct{ name, attributes string }
	var open []element
	closeTo := func(n int) {
		for ; len(open) > n; open = open[:len(open)-1] {
			m.print("</" + open[len(open)-1].name + ">")
		}
	}
	var want []element
	for _, run := range runs {
		if run.Mark {
			continue
		}
		want = want[:0]
		for _, s := range []struct { // the outer elements first
			style Style
			name  string
		}{{Quote, "q"}, {Link, "a"}, {Bold, "strong"}, {Italic, "em"}, {Underline, "u"}, {Strike, "del"}, {Code, "code"}} {
			switch {
			case run.Style&s.style == 0 || s.style == Code && fixed:
			case s.style == Link:
				want = append(want, element{s.name, ` href="` + Escape(run.URL) + `" rel="noopener noreferrer nofollow"`})
			default:
				want = append(want, element{s.name, ""})
			}
		}
		n := 0
		for n < min(len(want), len(open)) && want[n] == open[n] {
			n++
		}
		closeTo(n)
		for _, e := range want[n:] {
			m.print("<" + e.name + e.attributes + ">")
			open = append(open, e)
		}
		switch text := Escape(run.Text); {
		case run.Style&Picture != 0 && m.Picture != nil:
			m.print(m.Picture(run.URL, run.Text))
		case run.Style&Picture != 0:
			m.print("[picture: " + text + "]")
		case fixed:
			m.print(text)
		default:
			m.print(strings.ReplaceAll(text, "\n", "<br/>"))
		}
	}
	closeTo(0)
}

// Escape returns text for HTML and XML. Characters that XML does not know, and C0, are U+FFFD.
func Escape(text string) string {
	text = valid(text)
	strange := func(c rune) bool { return c < ' ' && c != '\t' && c != '\n' || c == 0xfffe || c == 0xffff }
	if strings.ContainsFunc(text, strange) {
		text = strings.Map(func(c rune) rune {
			if strange(c) {
				return 0xfffd
			}
			return c
		}, text)
	}
	return html.EscapeString(text)
}
