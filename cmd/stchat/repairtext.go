package main

import (
	"fmt"
	"io"

	"stchat/internal/ops/mend"
	"stchat/internal/plural"
	"stchat/internal/visible"
)

// repaired sums up what was, or would be, fixed.
type repaired struct {
	files, changes int
	chats          []string
}

func (s *repaired) add(r *mend.RepairResult) {
	s.files++
	s.changes += r.Doc.Total
	if r.Chat {
		s.chats = append(s.chats, r.Doc.Path)
	}
}

// writeDiff writes what would be done to a file, in the style of a diff.
func writeDiff(w io.Writer, c *console, r *mend.RepairResult) {
	path := visible.Text(r.Doc.Path)
	fmt.Fprintln(w, paint(c.outColor, bold, "--- "+path))
	fmt.Fprintln(w, paint(c.outColor, bold, "+++ "+path+" (repaired)"))
	for _, d := range r.Diffs {
		fmt.Fprintf(w, "%s %s: %s\n", paint(c.outColor, cyan, "@@"+placeOfDiff(d)+" @@"), d.Rule, visible.Text(d.Change))
		if d.Before != nil {
			fmt.Fprintln(w, paint(c.outColor, red, "-"+visible.Text(*d.Before)))
		}
		if d.After != nil {
			fmt.Fprintln(w, paint(c.outColor, green, "+"+visible.Text(*d.After)))
		}
	}
	if n := r.Doc.Total - len(r.Diffs); n > 0 {
		fmt.Fprintf(w, "… and %d more:", n)
		for i, c := range r.Doc.Counts {
			if i > 0 {
				fmt.Fprint(w, ",")
			}
			fmt.Fprintf(w, " %d %s", c.Count, c.Rule)
		}
		fmt.Fprintln(w, " in all")
	}
}

func placeOfDiff(d mend.Diff) string {
	s := ""
	if d.Line > 0 {
		s = fmt.Sprintf(" line %d", d.Line)
	}
	if d.Index >= 0 {
		s += fmt.Sprintf(", message %d", d.Index)
	}
	return s
}

// writeMended writes what was done to a file, rule by rule.
func writeMended(w io.Writer, c *console, r *mend.RepairResult) {
	fmt.Fprintln(w, paint(c.outColor, bold, visible.Text(r.Doc.Path)))
	for _, n := range r.Doc.Counts {
		fmt.Fprintf(w, "  fixed  %s: %s\n", n.Rule, plural.S(n.Count, "change"))
	}
	if r.Doc.Backup != nil {
		fmt.Fprintf(w, "  as it was: %s\n", visible.Text(*r.Doc.Backup))
	}
	if r.Doc.Quarantine != nil {
		fmt.Fprintf(w, "  taken out: %s\n", visible.Text(*r.Doc.Quarantine))
	}
}
