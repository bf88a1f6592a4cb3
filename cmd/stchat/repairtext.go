package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"

	"stchat/internal/jsondoc"
	"stchat/internal/ops/mend"
	"stchat/internal/plural"
	"stchat/internal/visible"
)

// tell prints what was, or would be, mended, and says what is to be said about it;
// failed says whether anything went wrong. The error is that of printing.
func (o *repairOptions) tell(c *console, rep *mend.RepairReport, ended bool) (failed bool, err error) {
	note := func(printed error) {
		if err == nil {
			err = printed
		}
	}
	for _, e := range rep.Ended {
		c.ended(e)
	}
	for _, e := range rep.Errs {
		c.fail(e)
		if o.json {
			note(writeError(c.Out, e.Path, e))
		}
	}
	failed = len(rep.Errs) > 0
	if n := len(rep.Others); n > 0 {
		c.note("%s left alone", plural.Of(n, ".jsonl file that is not a chat", ".jsonl files that are not chats"))
	}
	var sum repaired
	for _, r := range rep.Results {
		note(say(c, saying{json: o.json}, r.Doc.Path, &r.Result))
		failed = failed || r.Err != nil
		if r.Doc.Total == 0 {
			continue
		}
		if err == nil {
			note(o.print(c, r, sum.files == 0))
		}
		sum.add(r)
	}
	if sum.chats && o.write {
		c.closeTabs(o.bump, true)
	}
	switch {
	case sum.changes == 0 && (failed || ended):
	case sum.changes == 0:
		c.note("%s looked at, nothing to mend", plural.S(rep.Chats, "chat"))
	case o.write:
		c.note("%s in %s mended; 'stchat undo' takes it back", plural.S(sum.changes, "thing"), plural.S(sum.files, "file"))
	default:
		c.note("%s in %s would be mended; --write does it", plural.S(sum.changes, "thing"), plural.S(sum.files, "file"))
	}
	return failed, err
}

// repaired is the sum of what was, or would be, mended.
type repaired struct {
	files, changes int
	chats          bool
}

func (s *repaired) add(r *mend.RepairResult) {
	s.files++
	s.changes += r.Doc.Total
	s.chats = s.chats || r.Chat
}

// print puts one result on stdout.
func (o *repairOptions) print(c *console, r *mend.RepairResult, first bool) error {
	if o.json {
		doc := r.Doc
		doc.Path = filepath.ToSlash(doc.Path)
		for _, path := range []**string{&doc.Backup, &doc.Quarantine} {
			if *path != nil {
				*path = new(filepath.ToSlash(**path))
			}
		}
		return jsondoc.Write(c.Out, doc, "")
	}
	var b bytes.Buffer
	if !first {
		b.WriteByte('\n')
	}
	if o.write {
		writeMended(&b, c, r)
	} else {
		writeDiff(&b, c, r)
	}
	_, err := c.Out.Write(b.Bytes())
	return err
}

// writeDiff shows what would be done to a file, in the manner of a diff.
func writeDiff(w io.Writer, c *console, r *mend.RepairResult) {
	path := visible.Text(r.Doc.Path)
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

// writeMended tells what was done to a file, rule by rule.
func writeMended(w io.Writer, c *console, r *mend.RepairResult) {
	fmt.Fprintln(w, paint(c.outColor, bold, visible.Text(r.Doc.Path)))
	for _, n := range r.Doc.Counts {
		fmt.Fprintf(w, "  mended  %s: %s\n", n.Rule, plural.S(n.Count, "change"))
	}
	if r.Doc.Backup != nil {
		fmt.Fprintf(w, "  as it was: %s\n", visible.Text(*r.Doc.Backup))
	}
	if r.Doc.Quarantine != nil {
		fmt.Fprintf(w, "  taken out: %s\n", visible.Text(*r.Doc.Quarantine))
	}
}
