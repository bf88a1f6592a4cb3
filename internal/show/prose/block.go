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
	return strings.Contains("-*_", sign) && strings.Trim(line, sign+" ") == "" && strings.Count(line, sign) >= 3 && !strings.Contains(line, "  ")
}

// item returns the mark of the item of a list that a line is, "" if it is none, and its text.
func item(line string) (mark, text string) {
	n := 1
	if strings.IndexByte("*+-", line[0]) < 0 {
		digits := strings.TrimLeft(line, "0123456789")
		if n = len(line) - len(digits) + 1; n < 2 || n > 10 || !strings.HasPrefix(digits, ".") {
			return "", ""
		}
	}
	if text = strings.TrimLeft(line[n:], " \t"); len(text) == len(line)-n {
		return "", ""
	}
	return line[:n], strings.TrimSpace(text)
}

type blockParser struct {
	*reader
	list    []Block
	block   Block
	lines   []string // of block; none: no block is open
	indents []int    // of the lists around
	open    []atom   // styles of tags that began in an earlier block
}

func (p *blockParser) line(line string) {
	quote, rest := quoted(line)
	text := strings.TrimSpace(rest)
	if text == "" {
		p.end()
		return
	}
	if len(p.lines) > 0 && quote < p.block.Quote {
		quote = p.block.Quote // a quote goes on without its sign until an empty line
	}
	indent := len(rest) - len(strings.TrimLeft(rest, " \t"))
	if a := p.fence(text); a != nil {
		if p.end(); indent < 2 {
			p.indents = nil
		}
		p.list = append(p.list, Block{Kind: Fence, Quote: quote, Mark: a.mark, Level: len(p.indents), Runs: []Run{{Text: a.text, Style: Code}}})
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
	if strings.HasPrefix(text, "|") && strings.HasSuffix(text, "|") && len(text) > 1 {
		if len(p.lines) == 0 || p.block.Kind != Rows || p.block.Quote != quote {
			p.begin(Block{Kind: Rows, Quote: quote}, text)
		} else {
			p.lines = append(p.lines, text)
		}
		return
	}
	if mark, text := item(rest[indent:]); mark != "" {
		p.begin(Block{Kind: Item, Mark: mark, Level: p.level(indent), Quote: quote}, text)
		return
	}
	if len(p.lines) > 0 && p.block.Quote == quote && (p.block.Kind == Paragraph || p.block.Kind == Item) {
		p.lines = append(p.lines, text)
		return
	}
	if indent < 2 {
		p.indents = nil
	}
	p.begin(Block{Kind: Paragraph, Level: len(p.indents), Quote: quote}, text)
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
	if n := len(p.indents); n == 0 || indent >= p.indents[n-1]+2 && n < deepest {
		p.indents = append(p.indents, indent)
	}
	return len(p.indents)
}

// begin ends the open block and opens another.
func (p *blockParser) begin(b Block, text string) {
	p.end()
	p.block, p.lines = b, append(p.lines, text)
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
	if said(p.block) {
		p.list = append(p.list, p.block)
	}
}

// said reports whether a block shows anything.
func said(b Block) bool {
	return b.Kind == Rule || b.Kind == Item || slices.ContainsFunc(b.Runs, func(run Run) bool {
		return run.Style&Picture != 0 || !run.Mark && strings.TrimSpace(run.Text) != ""
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
