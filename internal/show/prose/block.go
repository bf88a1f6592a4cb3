package prose

import (
	"slices"
	"strings"

	"stchat/internal/text/lazyregexp"
)

var headingLine = lazyregexp.New(`^(#{1,6})[ \t]*(.+?)[ \t]*#*$`)

// blocks reads the blocks of a text.
func (r *reader) blocks(s string) []Block {
	p := &blockParser{reader: r}
	for line := range strings.SplitSeq(s, "\n") {
		p.line(line)
	}
	p.end()
	return p.list
}

// isRule reports whether a line is three or more - or * or _, with at most a space between two.
func isRule(line string) bool {
	sign := line[:1]
	isAllSigns := strings.Contains("-*_", sign) && strings.Trim(line, sign+" ") == ""
	return isAllSigns && strings.Count(line, sign) >= 3 && !strings.Contains(line, "  ")
}

// item returns the mark of the item of a list that a line is, "" if it is none, and its text.
func item(line string) (mark, text string) {
	n := 1
	if strings.IndexByte("*+-", line[0]) < 0 {
		n = numberMark(line)
	}
	if n == 0 {
		return "", ""
	}
	behind := line[n:]
	text = strings.TrimLeft(behind, " \t")
	if len(text) == len(behind) { // no space between them
		return "", ""
	}
	return line[:n], strings.TrimSpace(text)
}

// numberMark returns the length of a number with a dot that begins a line, 0 if none does.
func numberMark(line string) int {
	const mostDigits = 9
	rest := strings.TrimLeft(line, "0123456789")
	digits := len(line) - len(rest)
	if digits == 0 || digits > mostDigits || !strings.HasPrefix(rest, ".") {
		return 0
	}
	return digits + len(".")
}

type blockParser struct {
	*reader
	list    []Block
	block   Block
	lines   []string // of block; none: no block is open
	indents []int    // of the lists around
	open    []atom   // styles of tags that began in an earlier block
}

// line reads a line.
func (p *blockParser) line(line string) {
	quote, rest := quoted(line)
	text := strings.TrimSpace(rest)
	if text == "" {
		p.end()
		return
	}
	isOpen := len(p.lines) > 0
	if isOpen && quote < p.block.Quote {
		quote = p.block.Quote // a quote goes on without its sign until an empty line
	}
	goesOn := isOpen && quote == p.block.Quote
	indent := len(rest) - len(strings.TrimLeft(rest, " \t"))

	if a := p.fence(text); a != nil {
		p.end()
		p.leaveLists(indent)
		code := []Run{{Text: a.text, Style: Code}}
		p.list = append(p.list, Block{Kind: Fence, Quote: quote, Mark: a.mark, Level: len(p.indents), Runs: code})
		return
	}

	if text[0] == '#' && indent == 0 {
		if m := headingLine().FindStringSubmatch(text); m != nil {
			p.begin(Block{Kind: Heading, Level: len(m[1]), Mark: m[1], Quote: quote}, m[2])
			p.end()
			return
		}
	}

	if isRule(text) {
		p.begin(Block{Kind: Rule, Mark: text, Quote: quote}, "")
		p.end()
		return
	}

	isRow := len(text) > 1 && strings.HasPrefix(text, "|") && strings.HasSuffix(text, "|")
	if isRow {
		if goesOn && p.block.Kind == Rows {
			p.lines = append(p.lines, text)
		} else {
			p.begin(Block{Kind: Rows, Quote: quote}, text)
		}
		return
	}

	if mark, text := item(rest[indent:]); mark != "" {
		p.begin(Block{Kind: Item, Mark: mark, Level: p.level(indent), Quote: quote}, text)
		return
	}
	takesLines := p.block.Kind == Paragraph || p.block.Kind == Item
	if goesOn && takesLines {
		p.lines = append(p.lines, text)
		return
	}
	p.leaveLists(indent)
	p.begin(Block{Kind: Paragraph, Level: len(p.indents), Quote: quote}, text)
}

// leaveLists ends the lists around if what follows is not indented as they are.
func (p *blockParser) leaveLists(indent int) {
	if indent < 2 {
		p.indents = nil
	}
}

// fence returns the block of code that a line is.
func (p *blockParser) fence(text string) *atom {
	if text[0] != 0xff {
		return nil
	}
	if a, n := p.atom(text); a.fence && n == len(text) {
		return a
	}
	return nil
}

// level returns the depth of an item that is so far indented.
func (p *blockParser) level(indent int) int {
	for len(p.indents) > 0 && indent < p.indents[len(p.indents)-1] {
		p.indents = p.indents[:len(p.indents)-1]
	}
	n := len(p.indents)
	isDeeper := n == 0 || indent >= p.indents[n-1]+2
	if isDeeper && n < deepest {
		p.indents = append(p.indents, indent)
	}
	return len(p.indents)
}

// begin ends the open block and opens another.
func (p *blockParser) begin(b Block, text string) {
	p.end()
	p.block = b
	p.lines = append(p.lines, text)
}

// end ends the open block, if there is one.
func (p *blockParser) end() {
	if len(p.lines) == 0 {
		return
	}
	if p.block.Kind != Item && p.block.Kind != Paragraph {
		p.indents = nil
	}
	text := strings.Join(p.lines, "\n")
	p.lines = p.lines[:0]
	outside := len(p.atoms)
	p.block.Runs = p.runs(p.carry(p.inline(text)))
	p.atoms = p.atoms[:outside]
	if showsAnything(p.block) {
		p.list = append(p.list, p.block)
	}
}

// showsAnything reports whether a block shows anything.
func showsAnything(b Block) bool {
	if b.Kind == Rule || b.Kind == Item {
		return true
	}
	return slices.ContainsFunc(b.Runs, func(run Run) bool {
		hasText := !run.Mark && strings.TrimSpace(run.Text) != ""
		return hasText || run.Style&Picture != 0
	})
}

// carry puts the styles of tags that are still open before a block, and notes those that it
// leaves open.
func (p *blockParser) carry(s string) string {
	if len(p.open) == 0 && strings.IndexByte(s, 0xff) < 0 {
		return s
	}
	var before []byte
	for _, a := range p.open {
		before = p.aside(before, a)
	}
	for i := 0; i < len(s); i++ {
		if s[i] != 0xff {
			continue
		}
		a, n := p.atom(s[i:])
		i += n - 1
		if a.mark != "" {
			continue
		}
		switch {
		case a.turn > 0:
			if len(p.open) < deepest {
				p.open = append(p.open, *a)
			}
		case a.turn < 0:
			for k, open := range slices.Backward(p.open) {
				if open.style == a.style {
					p.open = slices.Delete(p.open, k, k+1)
					break
				}
			}
		}
	}
	return string(before) + s
}

// quoted returns how many > begin a line, and what follows them.
func quoted(line string) (depth int, rest string) {
	for rest = line; depth < deepest; depth++ {
		inner, ok := strings.CutPrefix(indented(rest), ">")
		if !ok {
			break
		}
		rest = strings.TrimPrefix(inner, " ")
	}
	return depth, rest
}
