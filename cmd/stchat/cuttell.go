package main

import (
	"errors"
	"fmt"

	"stchat/internal/chat"
	"stchat/internal/ops"
	"stchat/internal/plural"
)

// tell prints the results in the order of the sources, and gives the worst
// outcome.
func (o *cutOptions) tell(c *console, results []*ops.CutResult) error {
	done, failed, refused := 0, 0, 0
	inPlace := false
	var printed error
	for _, r := range results {
		if r.Written {
			o.remark(c, r)
			done++
			inPlace = inPlace || r.InPlace
			if printed == nil {
				printed = o.printResult(c, r)
			}
		}
		if r.Err == nil {
			continue
		}
		c.fail(r.Err)
		for _, err := range r.More {
			c.fail(err)
		}
		if errors.Is(r.Err, ops.ErrRequirement) {
			refused++
		} else {
			failed++
		}
	}
	if inPlace && !o.dryRun {
		c.closeTabs(o.bump, o.link)
	}
	if len(results) > 1 {
		c.note("%s", summary(o, done, failed, refused))
	}
	if err := unprinted(printed, fmt.Sprintf("every %s that was to be named there is written", o.kind)); err != nil {
		return err
	}
	switch {
	case failed > 0:
		return errReported
	case refused > 0:
		return errNo
	}
	return nil
}

// remark says what there is to say about a chat that was written.
func (o *cutOptions) remark(c *console, r *ops.CutResult) {
	source := r.Source
	if source == chat.Stdin {
		source = "standard input"
	}
	for _, s := range r.Skipped {
		done := "left out"
		if s.BOM {
			done = "the line is read without it"
		}
		c.warn("%s:%d:%d: %s: %s", source, s.Line, s.Column, done, s.Reason)
	}
	for _, w := range r.Warnings {
		c.warn("%s", w)
	}
	for _, n := range r.Notes {
		c.note("%s", n)
	}
	for _, s := range r.State {
		c.note("%s: %s: %s", r.Path, s.Extension, s.Change)
	}
}

func summary(o *cutOptions, done, failed, refused int) string {
	verb := "written"
	if o.dryRun {
		verb = "would be written"
	}
	s := fmt.Sprintf("%s %s", plural.S(done, o.kind.String()), verb)
	if o.kind.String() == "branch" {
		s = fmt.Sprintf("%s %s", plural.Of(done, "branch", "branches"), verb)
	}
	if failed > 0 {
		s += fmt.Sprintf(", %d failed", failed)
	}
	if refused > 0 {
		s += fmt.Sprintf(", %d refused by --require", refused)
	}
	return s
}

// printResult puts one result on stdout.
func (o *cutOptions) printResult(c *console, r *ops.CutResult) error {
	if o.json {
		return writeJSON(c.Out, r)
	}
	if o.dryRun {
		for _, act := range r.Actions {
			c.note("%s", act)
		}
	}
	if o.output == ops.Stdout {
		return nil
	}
	_, err := fmt.Fprintln(c.Out, c.path(r.Path))
	return err
}
