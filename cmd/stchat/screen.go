package main

import (
	"bufio"
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"stchat/internal/show/grid"
	"stchat/internal/show/prose"
	"stchat/internal/show/treeview"
	"stchat/internal/text/lazyregexp"
	"stchat/internal/text/visible"
)

// unknownWidth is how many cells a line has where the terminal does not say.
const unknownWidth = 80

// screen lays out what a person reads from top to bottom.
type screen struct {
	w            *bufio.Writer
	color, ascii bool
	width        int // cells of the terminal
	measure      int // cells in which heads, rules and texts end
	indent       int // of texts
}

// newScreen returns a screen whose measure is at most so many cells; 0: all there are.
func newScreen(c *console, most int) screen {
	s := screen{w: c.w, color: c.outColor, ascii: c.ascii(), width: cmp.Or(c.Width, unknownWidth), indent: 2}
	s.measure = s.width
	if most > 0 {
		s.measure = min(s.width-4, most)
	}
	if s.width < 40 {
		s.measure, s.indent = s.width, 0
	}
	return s
}

// runs prints a line of a text, all of it dimmed if faint is set.
func (s *screen) runs(line []prose.Run, faint bool) {
	if text := s.painted(line, faint); text != "" {
		_, _ = s.w.WriteString(s.pad() + text)
	}
	_ = s.w.WriteByte('\n')
}

// wrapped prints runs, which are safe to show, as wide as the terminal.
func (s *screen) wrapped(runs ...prose.Run) {
	for _, line := range prose.Wrap(runs, s.width) {
		fmt.Fprintln(s.w, s.painted(line, false))
	}
}

// painted returns runs in their colours.
func (s *screen) painted(line []prose.Run, faint bool) string {
	var b strings.Builder
	b.Grow(s.width)
	for _, run := range line {
		code := dim
		if s.color && !faint {
			code = runColor(run)
		}
		b.WriteString(paint(s.color, code, run.Text))
	}
	return strings.TrimRight(b.String(), " ")
}

// fit returns text in what the measure leaves beside so many cells; fitName loses its beginning.
func (s *screen) fit(text string, beside int) string {
	return visible.CutRight(text, max(s.measure-beside, 1), s.sign("…"))
}

func (s *screen) fitName(text string, beside int) string {
	return visible.CutLeft(text, max(s.measure-beside, 1), s.sign("…"))
}

// table prints a table.
func (c *console) table(t *grid.Table) {
	s := newScreen(c, 0)
	s.table(t)
}

// table prints a table.
func (s *screen) table(t *grid.Table) {
	for _, line := range s.tableLines(t) {
		fmt.Fprintln(s.w, line)
	}
}

// tableLines returns the lines of a table, as wide as the terminal.
func (s *screen) tableLines(t *grid.Table) []string {
	t.Width, t.ASCII = s.width, s.ascii
	t.Paint = func(code, text string) string {
		if code != signed {
			return paint(s.color, gridColor(code), text)
		}
		counts := strings.Fields(text)
		for i, n := range counts {
			counts[i] = paint(s.color, map[byte]string{'+': green, '-': red}[n[0]], n)
		}
		return strings.Join(counts, " ")
	}

	return t.Lines()
}

// signed is the code of counts such as +2 ~0 -1, which have the colours of their signs.
const signed = "signed"

// gridColor returns the colour of a part of a table or a tree.
func gridColor(code string) string {
	return cmp.Or(map[string]string{
		grid.Title: bold, grid.Heading: bold + ";" + cyan, grid.Dim: dim, treeview.Name: cyan, treeview.Open: bold + ";" + yellow,
		treeview.Checkpoint: yellow, treeview.Computed: magenta, treeview.Warning: red, treeview.Number: green,
	}[code], code)
}

// sign returns text of our own with signs that the terminal has.
func (s *screen) sign(text string) string {
	if s.ascii {
		return visible.ASCII(text)
	}
	return text
}

// sign returns text of our own with signs that the terminal has.
func (c *console) sign(text string) string {
	if c.ascii() {
		return visible.ASCII(text)
	}
	return text
}

// ascii reports whether standard output is a terminal that shows no more than ASCII.
func (c *console) ascii() bool { return c.OutTTY && !isUTF8(c.env) }

// cutMarks are what shows that a text was cut at its ends, or a name that is quoted in it.
var cutMarks = lazyregexp.New(`^…|…(?: \(\d+ characters\))?$|…"`)

// excerpt returns a text of which only a part is shown.
func (c *console) excerpt(text string) string {
	return cutMarks().ReplaceAllStringFunc(visible.Text(text), c.sign)
}

func (s *screen) pad() string { return strings.Repeat(" ", s.indent) }

// line prints a line in one colour.
func (s *screen) line(code, text string) {
	fmt.Fprintln(s.w, paint(s.color, code, strings.TrimRight(text, " ")))
}

// lines prints a text in one colour, wrapped at the measure.
func (s *screen) lines(code, text string) {
	for _, at := range visible.Wrap(text, s.measure) {
		s.line(code, text[at[0]:at[1]])
	}
}

// runColor returns the codes in which a run is painted.
func runColor(run prose.Run) string {
	var codes []string
	for _, c := range []struct {
		style prose.Style
		code  string
	}{{prose.Bold, bold}, {prose.Italic, "3"}, {prose.Underline, "4"}, {prose.Strike, "9"}, {prose.Quote, yellow}, {prose.Code, dim}, {prose.Link, "4"}, {prose.Removed, red}, {prose.Added, green}, {prose.Found, bold + ";" + yellow}} {
		if run.Style&c.style != 0 && !slices.Contains(codes, c.code) {
			codes = append(codes, c.code)
		}
	}

	if run.Mark && len(codes) == 0 {
		return dim // lanes of quotes, bullets, rules
	}
	return strings.Join(codes, ";")
}

// proseWidth is how wide prose is for a person at most.
const proseWidth = 100

// proseWidth is how wide prose is on this terminal.
func (c *console) proseWidth() int { return min(cmp.Or(c.Width, unknownWidth), proseWidth) }

// prosed returns text for a person as lines of at most so many cells, those after the first
// indented: it is wrapped between words. A quoted path or command is not broken, but gets a line
// of its own, and a path is not broken either. The text must be safe to show.
func prosed(text string, width int, indent string) string {
	width = min(width, proseWidth)
	if visible.Width(text) <= width {
		return text
	}
	var b strings.Builder
	used := 0 // cells of the open line
	put := func(word string) {
		n := visible.Width(word)
		switch {
		case used == 0:
		case used+1+n <= width:
			b.WriteByte(' ')
			used++
		default:
			b.WriteString("\n" + indent)
			used = len(indent)
		}

		b.WriteString(word)
		used += n
	}

	for _, word := range unbroken(text) {
		room := width - len(indent)
		whole := strings.HasPrefix(word, "$'") || strings.ContainsAny(word, "/ "+string(filepath.Separator))
		if n := visible.Width(word); n <= room || used == 0 && n <= width || whole {
			put(word)
			continue
		}
		for i, at := range visible.Wrap(word, room) { // a script without spaces
			if i > 0 {
				used = width // no space comes between its parts
			}
			put(word[at[0]:at[1]])
		}
	}
	return b.String()
}

// prose is [prosed] for a person, in lines behind pad; for a pipe the text stays one line.
func (c *console) prose(text, pad string) string {
	if c.shown {
		text = prosed(text, c.proseWidth()-len(pad), "  ")
		text = strings.ReplaceAll(text, "\n", "\n"+pad)
	}
	return pad + text
}

// whole prints what is to be copied behind what it is, for a person on a line of its own where it does not fit.
func (c *console) whole(what, copied string) {
	between := " "
	if isTight := c.shown && visible.Width(what+" "+copied) > cmp.Or(c.Width, unknownWidth); isTight {
		between = "\n  "
	}
	c.row(c.prose(what, "") + between + copied)
}

// pathPattern finds the paths that are named in a remark, which may have spaces: one before a
// colon at its beginning, and those with a folder.
const pathPattern = `^stchat:.(?:warning:.)?(?:would \w+ )?([^:'"]+\.(?:jsonl?|png)):|(\S*[/\\][^\s,:'"][^:'"]*?\.(?:jsonl?|png|zip|db|html))\b`

// quotePattern finds what is quoted, as [visible.Quote] and %q do it, and a command in single quotes,
// which may hold what is quoted.
const (
	quotePattern   = "\\$'(?:[^'\\\\]|\\\\.)*'|'[^']*'(?:\\\\''[^']*')*|\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`"
	commandPattern = "'stchat(?: (?:" + quotePattern + "|[^ '\"`]+))*'"
)

// unbroken returns the words of a text; what stands in quotes is one, and so is a path.
func unbroken(text string) (words []string) {
	from, whole := 0, 0 // before whole nothing is broken
	paths := regexp.MustCompile(pathPattern).FindAllStringSubmatchIndex(text, -1)
	quoted := regexp.MustCompile("^(?:" + commandPattern + "|" + quotePattern + ")")
	for i := range len(text) {
		if len(paths) > 0 && (i == paths[0][2] || i == paths[0][4]) {
			whole, paths = max(whole, paths[0][3], paths[0][5]), paths[1:]
		}
		if i < whole {
			continue
		}
		switch text[i] {
		case ' ':
			if i > from {
				words = append(words, text[from:i])
			}
			from = i + 1
		case '$', '\'', '"', '`':
			if before, _ := utf8.DecodeLastRuneInString(text[:i]); i == from || !isWordRune(before) { // else an apostrophe
				whole = i + len(quoted.FindString(text[i:]))
			}
		}
	}

	if from < len(text) {
		words = append(words, text[from:])
	}
	return words
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
