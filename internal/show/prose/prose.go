// Package prose reads the text of a message as SillyTavern shows it: Markdown as showdown
// takes it with SillyTavern's options, with the HTML that models write
// (messageFormatting of SillyTavern's public/script.js). There is one reading for everything that
// shows a text: a terminal, a page, a snippet, a count of words.
//
// Every letter that the reading does not remove comes out once, in order. Text is not made safe
// here: what comes out may hold anything that an entity can spell.
package prose

import (
	"html"
	"strings"
	"unicode/utf8"

	"stchat/internal/json/jsvalue"
)

// Style is a set of ways in which a piece of text is set.
type Style uint16

// The styles. They may overlap.
const (
	Bold Style = 1 << iota
	Italic
	Underline
	Strike
	Quote   // speech, with its marks
	Code    // in fixed width, read by nothing else
	Link    // Run.URL says where to
	Picture // the text is its title
	Removed // of a comparison: only the old text has it
	Added   // only the new one has it
	Found   // what was searched for

	styles = iota
)

// Run is a piece of text in one style. It may hold line feeds.
type Run struct {
	Text  string
	Style Style
	Mark  bool   // the text is Markdown's own sign, hidden where the style can be shown
	URL   string // of a link: http or https; of a picture: whatever stands there
}

// Kind is what a block is.
type Kind int

// The kinds of blocks.
const (
	Paragraph Kind = iota
	Heading        // Level is 1 to 6
	Rule
	Item  // of a list; Level is its depth, from 1
	Rows  // lines of a table, in fixed width
	Fence // code
)

// Block is what stands on lines of its own.
type Block struct {
	Kind  Kind
	Level int    // see Kind; of a paragraph: the depth of the list that it belongs to
	Mark  string // as typed: "##", "-", "3.", "***", or the opening line of a fence
	Quote int    // how many > stand before it
	Runs  []Run
}

// deepest is how deep quotes and lists are followed; deeper ones are text.
const deepest = 32

// Read returns the blocks of a text.
func Read(text string) []Block {
	r := &reader{}
	text = strings.ReplaceAll(valid(text), "\r\n", "\n")
	text = r.code(text)
	text = r.markup(text)
	return r.blocks(text)
}

// valid returns a text with U+FFFD for what is not UTF-8.
func valid(text string) string {
	if utf8.ValidString(text) { // which is faster than the other
		return text
	}
	return strings.ToValidUTF8(text, "\ufffd")
}

// Plain returns what a text says, without marks: a line for each line of the blocks, and an
// empty one between them. Pictures are left out.
func Plain(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for _, block := range Read(text) {
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		for _, run := range block.Runs {
			if !run.Mark && run.Style&Picture == 0 {
				b.WriteString(run.Text)
			}
		}
	}
	return b.String()
}

// Line is [Plain] on one line.
func Line(text string) string { return strings.Join(strings.Fields(Plain(text)), " ") }

// An atom is something set aside while the rest is read. In the text it is \xff, its number and
// \xfe, which no UTF-8 contains, so that no later step takes it for letters.
type atom struct {
	text  string // shown in any case
	mark  string // shown where styles are not
	style Style  // of text; or what begins or ends here
	turn  int    // 1: the style begins, -1: it ends
	fence bool   // a block of code
	url   string
}

type reader struct {
	atoms   []atom
	scratch []byte // memory in which each step makes what it returns
}

// made returns what a step wrote into the scratch memory.
func (r *reader) made(b []byte) string {
	r.scratch = b[:0]
	return string(b)
}

// aside appends what stands for an atom in the text.
func (r *reader) aside(b []byte, a atom) []byte {
	n := len(r.atoms)
	r.atoms = append(r.atoms, a)
	b = append(b, 0xff, 0x80|byte(n&63))
	for n >>= 6; n > 0; n >>= 6 {
		b = append(b, 0x80|byte(n&63))
	}
	return append(b, 0xfe)
}

// atom returns the atom that s begins with, and its length in s.
func (r *reader) atom(s string) (*atom, int) {
	n, i := 0, 1
	for ; s[i] != 0xfe; i++ {
		n |= int(s[i]&63) << (6 * (i - 1))
	}
	return &r.atoms[n], i + 1
}

// runs makes runs of a text with atoms.
func (r *reader) runs(s string) []Run {
	if s != "" && strings.IndexByte(s, 0xff) < 0 {
		return []Run{{Text: html.UnescapeString(s)}}
	}
	w := runWriter{text: r.scratch}
	for s != "" {
		if s[0] != 0xff {
			end := strings.IndexByte(s, 0xff)
			if end < 0 {
				end = len(s)
			}
			w.add(html.UnescapeString(s[:end]), 0, false, "")
			s = s[end:]
			continue
		}

		a, n := r.atom(s)
		s = s[n:]
		switch {
		case a.turn > 0:
			w.turn(a)
			w.add(a.mark, 0, true, "")
		case a.turn < 0:
			w.add(a.mark, 0, true, "")
			w.turn(a)
		default:
			w.add(a.mark, a.style, true, "")
			w.add(a.text, a.style, false, a.url)
			if a.style&Code != 0 {
				w.add(a.mark, a.style, true, "")
			}
		}
	}

	w.flush()
	r.scratch = w.text
	return w.list
}

// runWriter collects runs; neighbours that are alike become one.
type runWriter struct {
	list  []Run
	last  Run    // its text is set while it is of one piece
	text  []byte // of last, if it is of several
	depth [styles]int
	style Style
	urls  []string // of the links around
}

func (w *runWriter) add(text string, style Style, mark bool, url string) {
	if text == "" {
		return
	}
	if url == "" && len(w.urls) > 0 {
		url = w.urls[len(w.urls)-1]
	}
	run := Run{Text: text, Style: w.style | style, Mark: mark, URL: url}
	if !w.continues(&run) || style&Picture != 0 {
		w.flush()
		w.last = run
		return
	}

	if len(w.text) == 0 {
		w.text = append(w.text, w.last.Text...)
	}
	w.text = append(w.text, text...)
}

// continues reports whether a run is like the last one.
func (w *runWriter) continues(run *Run) bool {
	isLike := run.Style == w.last.Style && run.Mark == w.last.Mark && run.URL == w.last.URL
	return isLike && w.last.Text != ""
}

// flush adds the last run to the list.
func (w *runWriter) flush() {
	if len(w.text) > 0 {
		w.last.Text = string(w.text)
		w.text = w.text[:0]
	}
	if w.last.Text != "" {
		w.list = append(w.list, w.last)
		w.last = Run{}
	}
}

// turn begins or ends the styles of an atom.
func (w *runWriter) turn(a *atom) {
	for i := range w.depth {
		bit := Style(1) << i
		if a.style&bit == 0 {
			continue
		}
		w.depth[i] = max(w.depth[i]+a.turn, 0)
		w.style &^= bit
		if w.depth[i] > 0 {
			w.style |= bit
		}
	}

	switch {
	case a.style != Link:
	case a.turn > 0:
		w.urls = append(w.urls, a.url)
	case len(w.urls) > 0:
		w.urls = w.urls[:len(w.urls)-1]
	}
}

// spaceAt and spaceBefore report whether white space, or nothing, stands at the beginning or the
// end of s. An atom is no space.
func spaceAt(s string) bool {
	c, _ := utf8.DecodeRuneInString(s)
	return s == "" || jsvalue.IsSpace(c)
}

func spaceBefore(s string) bool {
	c, _ := utf8.DecodeLastRuneInString(s)
	return s == "" || jsvalue.IsSpace(c)
}

// isWord is \w of JavaScript: ASCII only, so that Japanese beside a mark is no word.
func isWord(c byte) bool {
	lower := c | 0x20
	isLetter := lower >= 'a' && lower <= 'z'
	isDigit := c >= '0' && c <= '9'
	return isLetter || isDigit || c == '_'
}
