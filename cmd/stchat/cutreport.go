package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/pflag"

	"stchat/internal/changeset"
	"stchat/internal/chat"
	"stchat/internal/choose"
	"stchat/internal/lorebook"
	"stchat/internal/names"
	"stchat/internal/ops/cut"
	"stchat/internal/patch"
	"stchat/internal/plural"
)

// cutHints returns the hints for a chat that cannot be made.
func cutHints(o *cutOptions) []hint {
	without := "; --lorebook share takes the name alone"
	if o.opt.Isolate {
		without = "; --unset world_info leaves the name out"
	}
	again, damaged := "; choose another name, --if-missing to let it be, or --force to make it again", "; see 'stchat check', or leave such lines out with --skip-damaged"
	if o.opt.Output != "" {
		again = "; choose another name, or --force to replace it"
	}
	if o.asEdit {
		again, damaged = "; choose another name with -n", "; see 'stchat repair'"
	}
	return []hint{
		{fs.ErrExist, again},
		{names.ErrTaken, again},
		{lorebook.ErrMissing, without},
		{chat.ErrDamaged, damaged},
	}
}

// reportCuts prints the results in the order of the sources, and returns the worst
// outcome.
func reportCuts(c *console, o *cutOptions, results []*cut.Result) error {
	var n counts
	inPlace := false
	var linked []string
	how := saying{
		dryRun: o.opt.Changes.DryRun && !c.json, hints: cutHints(o), no: isRefused,
		written: fmt.Sprintf("every %s that was to be named there is written", o.opt.Kind),
		end: func() {
			if inPlace && !o.opt.Changes.DryRun {
				c.closeTabs(o.opt.BumpIntegrity, linked...)
			}
			if len(results) > 1 && !c.work.interrupted {
				if c.json {
					c.document(n.document(len(results), o.opt.Changes.DryRun))
				}
				c.note("%s", n.summary(o))
			}
		},
	}
	of := func(r *cut.Result) (string, *cut.Result) {
		if n.add(r); r.Err == nil {
			remark(c, &r.Doc)
		}
		return r.Doc.Source, r
	}
	return sayAll(c, how, results, of, func(r *cut.Result) {
		if edited(&r.Doc) {
			if inPlace = true; o.opt.Link {
				linked = append(linked, r.Doc.Source)
			}
		}
		if o.opt.Output != cut.Stdout {
			c.made(r.Doc.Path)
		}
	})
}

// edited reports whether a file that SillyTavern may have open was edited.
func edited(d *cut.Document) bool {
	for _, s := range d.Steps {
		if s.Do == changeset.Replace && s.Path != d.Path {
			return true
		}
	}
	return false
}

// remark prints the warnings and notes about a chat that was written.
func remark(c *console, d *cut.Document) {
	source := d.Source
	if source == chat.Stdin {
		source = "standard input"
	}
	for _, s := range d.Skipped {
		done := "left out"
		if s.BOM {
			done = "the line is read without it"
		}
		c.warn("%s:%d:%d: %s: %s", source, s.Line, s.Column, done, s.Reason)
	}
	if more := d.SkippedTotal - len(d.Skipped); more > 0 {
		c.warn("%s: %s left out", source, plural.S(more, "more damaged line"))
	}
	for _, s := range d.State {
		c.note("%s: %s: %s", d.Path, s.Extension, s.Change)
	}
}

// counts sums up what became of the sources.
type counts struct{ done, existed, failed, refused, unfit int }

func (n *counts) add(r *cut.Result) {
	switch {
	case errors.Is(r.Err, cut.ErrRequirement):
		n.refused++
	case isRefused(r.Err):
		n.unfit++
	case r.Err != nil:
		n.failed++
	case r.Doc.Existed:
		n.existed++
	default:
		n.done++
	}
}

// isRefused reports whether a source is not as --require or a patch requires, or has no such
// message.
func isRefused(err error) bool {
	unfit := isA[*patch.OperationError](err) && (errors.Is(err, patch.ErrTest) || errors.Is(err, patch.ErrMissing))
	return unfit || errors.Is(err, cut.ErrRequirement) || errors.Is(err, choose.ErrNone)
}

// cutSummary is the last document where several chats are given.
type cutSummary struct {
	Schema  int  `json:"schema"`
	Summary bool `json:"summary"`
	Chats   int  `json:"chats"`
	Made    int  `json:"made"`
	Existed int  `json:"existed"`
	Refused int  `json:"refused"`
	Failed  int  `json:"failed"`
	DryRun  bool `json:"dry_run"`
}

// document returns the counts as a document.
func (n *counts) document(chats int, dryRun bool) cutSummary {
	return cutSummary{Schema: 1, Summary: true, Chats: chats, Made: n.done, Existed: n.existed, Refused: n.refused + n.unfit, Failed: n.failed, DryRun: dryRun}
}

// summary returns one line about what was done and what was not.
func (n *counts) summary(o *cutOptions) string {
	s := plural.S(n.done, o.opt.Kind.String())
	if o.opt.Kind.String() == "branch" {
		s = plural.Of(n.done, "branch", "branches")
	}
	if s += " written"; o.opt.Changes.DryRun {
		s = s[:len(s)-len("written")] + "would be written"
	}
	for _, more := range []struct {
		n    int
		text string
	}{{n.existed, "existed already"}, {n.failed, "failed"}, {n.refused, "refused by --require"}, {n.unfit, "not as was asked"}} {
		if more.n > 0 {
			s += fmt.Sprintf(", %d %s", more.n, more.text)
		}
	}
	return s
}

// asBranchDoc explains --as-branch in a command's help.
const asBranchDoc = `
AS A BRANCH
With --as-branch the chat stays as it is: a branch at the one chosen message is
written, as 'stchat branch' writes it, with the edit on that message. Prints the
path of the branch.
`

// asBranchFlags write an edit of one message to a new branch (CONTENT.md 2.3).
type asBranchFlags struct {
	as     bool
	branch cutOptions
	flags  *pflag.FlagSet // of branch; the command has some of them
}

// branchFlags returns the flags of branch that go with --as-branch. --name becomes
// --branch-name, because --name already chooses messages.
func branchFlags() []string { return []string{"name", "naming", "link", "isolate", "lorebook", "open"} }

func besideEdit(flag string) string {
	if flag == "name" {
		return "branch-name"
	}
	return flag
}

func (o *asBranchFlags) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.as, "as-branch", false, "leave the chat as it is, and write the edit to a branch at the message")
	o.branch.opt.Kind, o.branch.asEdit = names.Branch, true
	o.flags = pflag.NewFlagSet("branch", pflag.ContinueOnError)
	o.branch.addFlags(o.flags)
	addTopic(fs, "Flags that go with --as-branch", func(fs *pflag.FlagSet) {
		for _, name := range branchFlags() {
			f := *o.flags.Lookup(name)
			f.Name, f.Annotations = besideEdit(name), nil
			if name == "name" {
				f.Usage = "`NAME` of the branch"
			}
			fs.AddFlag(&f)
		}
	})
}

// check refuses flags that do not go together.
func (o *asBranchFlags) check(fs *pflag.FlagSet) error {
	for _, name := range branchFlags() {
		switch as := besideEdit(name); {
		case !fs.Changed(as):
			continue
		case !o.as:
			return usagef("--%s goes with --as-branch", as)
		}
		o.flags.Lookup(name).Changed = true
	}
	for _, name := range []string{"no-follow", "expect-messages", "expect-integrity"} {
		if o.as && fs.Changed(name) {
			return usagef("--%s is about an edit in place, not about --as-branch", name)
		}
	}
	return nil
}

// run makes the branches. taints marks an edit after which SillyTavern must not take another
// greeting.
func (o *asBranchFlags) run(ctx context.Context, c *console, in *inPlaceFlags, chats []string, choice choose.Choice, taints bool, edit cut.MessageEdit) error {
	b := &o.branch
	b.opt.Data, b.opt.Changes, b.opt.BumpIntegrity = in.Data, in.Changes, in.BumpIntegrity
	o.flags.Lookup("bump-integrity").Changed = in.BumpIntegrity
	opt, err := b.options(ctx, c, o.flags, chats)
	if err != nil {
		return err
	}
	opt.AtOne, opt.Message = choice, edit
	if taints {
		opt.Values.Edits = append(opt.Values.Edits, patch.Edit{Path: patch.Path{"tainted"}, Value: []byte("true")})
	}
	return b.cut(ctx, c, opt)
}
