package main

import (
	"bufio"
	"fmt"

	"stchat/internal/ops"
	"stchat/internal/plural"
	"stchat/internal/visible"
)

// tell prints what was, or would be, mended.
func (o *repairOptions) tell(w *bufio.Writer, c *console, rep *ops.RepairReport) error {
	first := true
	for _, r := range rep.Results {
		if len(r.Actions) == 0 || o.write && !r.Written {
			continue
		}
		if o.json {
			if err := writeJSON(w, r); err != nil {
				return err
			}
			continue
		}
		if !first {
			fmt.Fprintln(w)
		}
		first = false
		if o.write {
			writeMended(w, c, r)
		} else {
			writeDiff(w, c, r)
		}
	}
	return nil
}

// writeDiff shows what would be done to a file, in the manner of a diff.
func writeDiff(w *bufio.Writer, c *console, r *ops.RepairResult) {
	path := visible.Text(r.Path)
	fmt.Fprintln(w, paint(c.outColor, bold, "--- "+path))
	fmt.Fprintln(w, paint(c.outColor, bold, "+++ "+path+" (mended)"))
	for _, d := range r.Diffs {
		fmt.Fprintf(w, "%s %s: %s\n", paint(c.outColor, cyan, "@@"+placeOfDiff(d)+" @@"), d.Rule, visible.Text(d.Change))
		if d.Before != nil {
			fmt.Fprintln(w, paint(c.outColor, red, "-"+visible.Text(*d.Before)))
		}
		if d.After != nil {
			fmt.Fprintln(w, paint(c.outColor, green, "+"+visible.Text(*d.After)))
		}
	}
	if n := len(r.Actions) - len(r.Diffs); n > 0 {
		fmt.Fprintf(w, "… and %d more (--json lists them)\n", n)
	}
}

func placeOfDiff(d ops.RepairDiff) string {
	s := ""
	if d.Line > 0 {
		s = fmt.Sprintf(" line %d", d.Line)
	}
	if d.Index >= 0 {
		s += fmt.Sprintf(", message %d", d.Index)
	}
	return s
}

// writeMended tells what was done to a file, rule by rule.
func writeMended(w *bufio.Writer, c *console, r *ops.RepairResult) {
	fmt.Fprintln(w, paint(c.outColor, bold, visible.Text(r.Path)))
	counts := map[string]int{}
	var order []string
	for _, a := range r.Actions {
		if counts[a.Rule] == 0 {
			order = append(order, a.Rule)
		}
		counts[a.Rule]++
	}
	for _, rule := range order {
		fmt.Fprintf(w, "  mended  %s: %s\n", rule, plural.S(counts[rule], "change"))
	}
	if r.Backup != nil {
		fmt.Fprintf(w, "  as it was: %s\n", visible.Text(*r.Backup))
	}
	if r.Quarantine != nil {
		fmt.Fprintf(w, "  taken out: %s\n", visible.Text(*r.Quarantine))
	}
}

// tellErrors says on stderr what went wrong, what was left, and the sum; failed
// says whether anything went wrong.
func (o *repairOptions) tellErrors(c *console, rep *ops.RepairReport) (failed bool) {
	for _, err := range rep.Errs {
		c.fail(err)
	}
	failed = len(rep.Errs) > 0
	files, changes, chats := 0, 0, false
	for _, r := range rep.Results {
		for _, left := range r.Left {
			c.warn("%s: %s", r.Path, left)
		}
		if r.Err != nil {
			c.fail(r.Err)
			failed = true
		}
		if len(r.Actions) > 0 && (r.Written || !o.write) {
			files++
			changes += len(r.Actions)
			chats = chats || r.Written
		}
	}
	if chats {
		c.closeTabs(o.bump, true)
	}
	switch {
	case changes == 0:
		c.note("%s looked at, nothing to mend", plural.S(rep.Chats, "chat"))
	case o.write:
		c.note("%s in %s mended", plural.S(changes, "thing"), plural.S(files, "file"))
	default:
		c.note("%s in %s would be mended; --write does it", plural.S(changes, "thing"), plural.S(files, "file"))
	}
	return failed
}
