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
	open    []string // the elements that are open, with their attributes
	over    []int    // the levels of the headings that what follows is below
}

// Text is [Read] and HTML in one.
func (m *Markup) Text(text string) string { return m.HTML(Read(text)) }

// HTML returns blocks as HTML.
func (m *Markup) HTML(blocks []Block) string {
	m.b, m.over = m.b[:0], nil
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
		around = m.lists(around, b.Level-1, list)
		m.within(append(around, list))
		element := "li"
		if list == "ol" {
			element += ` value="` + strconv.Itoa(min(number(b.Mark), 1<<30)) + `"`
		}
		m.push(element)
		m.runs(b.Runs, false)
		return
	}

	if b.Kind == Paragraph || b.Kind == Fence {
		around = m.lists(around, b.Level, "ul")
	}
	m.within(around)
	switch b.Kind {
	case Heading:
		m.over = append(slices.DeleteFunc(m.over, func(level int) bool { return level >= b.Level }), b.Level)
		m.element("h"+strconv.Itoa(min(3+len(m.over), 6)), b.Runs, false) // below a page's own, none left out
	case Rule:
		m.print("<hr/>")
	case Rows, Fence:
		m.element(`pre dir="auto" tabindex="0"`, b.Runs, true) // the keyboard scrolls it, too
	default:
		m.element("p", b.Runs, false)
	}
}

func number(mark string) (n int) {
	for _, c := range strings.TrimSuffix(mark, ".") {
		n = n*10 + int(c-'0')
	}
	return n
}

// lists appends what must be open for something at a depth of a list: lists with an open item,
// those that are there already where there are any.
func (m *Markup) lists(around []string, depth int, kind string) []string {
	for range depth {
		at := len(around)
		if at < len(m.open) && slices.Equal(around, m.open[:at]) && (m.open[at] == "ul" || m.open[at] == "ol") {
			around = append(around, m.open[at:at+2]...)
		} else {
			around = append(around, kind, "li")
		}
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
	for _, element := range elements[n:] {
		m.push(element)
	}
}

func (m *Markup) print(s string) { m.b = append(m.b, s...) }

func (m *Markup) push(element string) {
	m.print("<" + element + ">")
	m.open = append(m.open, element)
}

func (m *Markup) close(n int) {
	for ; len(m.open) > n; m.open = m.open[:len(m.open)-1] {
		name, _, _ := strings.Cut(m.open[len(m.open)-1], " ")
		m.print("</" + name + ">")
	}
}

func (m *Markup) element(element string, runs []Run, fixed bool) {
	m.push(element)
	m.runs(runs, fixed)
	m.close(len(m.open) - 1)
}

// runs writes runs; elements that go on in the next run stay open.
func (m *Markup) runs(runs []Run, fixed bool) {
	around := len(m.open)
	want := slices.Clone(m.open)
	for _, run := range runs {
		if run.Mark {
			continue
		}
		want = want[:around]
		for _, s := range []struct { // the outer elements first
			style Style
			name  string
		}{{Quote, "q"}, {Link, "a"}, {Bold, "strong"}, {Italic, "em"}, {Underline, "u"}, {Strike, "del"}, {Code, "code"}} {
			switch {
			case run.Style&s.style == 0 || s.style == Code && fixed:
			case s.style == Link:
				want = append(want, `a href="`+Escape(run.URL)+`" rel="noopener noreferrer nofollow"`)
			default:
				want = append(want, s.name)
			}
		}

		m.within(want)
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

	m.close(around)
}

// Escape returns text for HTML and XML. Characters that XML does not know, and C0, are U+FFFD.
func Escape(text string) string {
	text = valid(text)
	if strings.ContainsFunc(text, isNotXML) {
		text = strings.Map(func(c rune) rune {
			if isNotXML(c) {
				return 0xfffd
			}
			return c
		}, text)
	}
	return html.EscapeString(text)
}

// isNotXML reports whether XML does not know a character, or it is of C0 and no tab or line feed.
func isNotXML(c rune) bool {
	switch c {
	case '\t', '\n':
		return false
	case 0xfffe, 0xffff:
		return true
	}
	return c < ' '
}
