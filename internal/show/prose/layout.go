package prose

import (
	"slices"
	"strings"

	"stchat/internal/text/visible"
)

// Layout says how blocks are laid out in lines of cells.
type Layout struct {
	Cells int
	Marks bool // Markdown's signs are shown as typed, since styles cannot be
	ASCII bool
}

// Lines lays out blocks, with an empty line between them but not between the items of a list.
// What comes out is safe to show, and no line is wider than the cells, but for a letter that is
// wider itself.
func (l Layout) Lines(blocks []Block) [][]Run {
	lines := make([][]Run, 0, 4*len(blocks))
	for i, b := range blocks {
		if i > 0 && (b.Kind != Item || blocks[i-1].Kind != Item) {
			lines = append(lines, nil)
		}
		first, further := l.prefix(b)
		for _, line := range l.rows(b) {
			for _, line := range Wrap(line, l.Cells-visible.Width(first)) {
				if first != "" {
					line = append([]Run{{Text: first, Mark: true}}, line...)
				}
				lines = append(lines, line)
				first = further
			}
		}
	}
	return lines
}

// prefix returns what stands before the first line of a block, and before the others.
func (l Layout) prefix(b Block) (first, further string) {
	sign := "│ "
	if l.ASCII {
		sign = "| "
	}
	if l.Marks {
		sign = "> "
	}
	depth := max(min(b.Quote, l.Cells/4), 0)
	further = strings.Repeat(sign, depth)
	switch b.Kind {
	case Item:
		further += strings.Repeat("  ", min(b.Level-1, l.Cells/4))
		return further + b.Mark + " ", further + strings.Repeat(" ", len(b.Mark)+1)
	case Paragraph, Fence:
		further += strings.Repeat("  ", min(b.Level, l.Cells/4))
	}
	return further, further
}

// rows returns the lines that a block has before they are wrapped.
func (l Layout) rows(b Block) [][]Run {
	runs := b.Runs
	switch {
	case b.Kind == Rule && l.Marks:
		runs = []Run{{Text: b.Mark, Mark: true}}
	case b.Kind == Rule && l.ASCII:
		runs = []Run{{Text: strings.Repeat("-", max(l.Cells/2, 3)), Mark: true}}
	case b.Kind == Rule:
		runs = []Run{{Text: strings.Repeat("─", max(l.Cells/2, 3)), Mark: true}}
	case b.Kind == Heading && l.Marks:
		runs = append([]Run{{Text: b.Mark + " ", Mark: true}}, runs...)
	case b.Kind == Fence && l.Marks:
		runs = append([]Run{{Text: b.Mark + "\n", Style: Code, Mark: true}}, runs...)
		runs = append(runs, Run{Text: "\n" + strings.TrimRight(b.Mark, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+#-. "), Style: Code, Mark: true})
	}

	rows := [][]Run{nil}
	for _, run := range runs {
		if run.Mark && !l.Marks && b.Kind != Rule {
			continue
		}
		if b.Kind == Heading {
			run.Style |= Bold
		}
		if run.Style&Picture != 0 {
			run.Text = "[picture: " + visible.Text(run.Text) + "]"
		}
		first := true
		for text := range strings.SplitSeq(run.Text, "\n") {
			if !first {
				rows = append(rows, nil)
			}
			first = false
			text = visible.Text(strings.ReplaceAll(strings.TrimSuffix(text, "\r"), "\t", "    "))
			if text != "" {
				run.Text = text
				rows[len(rows)-1] = append(rows[len(rows)-1], run)
			}
		}
	}
	return rows
}

// Text returns what runs say.
func Text(runs []Run) string {
	if len(runs) == 1 {
		return runs[0].Text
	}
	var text strings.Builder
	for _, run := range runs {
		text.WriteString(run.Text)
	}
	return text.String()
}

// Wrap breaks a line of runs, which are safe to show, into lines of at most so many cells.
func Wrap(runs []Run, cells int) [][]Run {
	spans := visible.Wrap(Text(runs), cells)
	lines := make([][]Run, 0, len(spans))
	all := make([]Run, 0, len(runs)+len(spans)-1) // of all lines: each has a part of its own
	at := 0                                       // where runs[0] begins
	for _, span := range spans {
		line := all[len(all):]
		for len(runs) > 0 && at < span[1] {
			from, to := max(span[0]-at, 0), span[1]-at
			run := runs[0]
			if to < len(run.Text) {
				run.Text = run.Text[from:to]
				line = append(line, run)
				break
			}
			if from < len(run.Text) {
				run.Text = run.Text[from:]
				line = append(line, run)
			}
			at += len(runs[0].Text)
			runs = runs[1:]
		}

		lines = append(lines, slices.Clip(line))
		all = all[:len(all)+len(line)]
	}
	return lines
}
