package main

import (
	"context"

	"github.com/spf13/pflag"

	"stchat/internal/choose"
	"stchat/internal/names"
	"stchat/internal/ops/cut"
	"stchat/internal/patch"
)

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
	o.branch.kind, o.branch.asEdit = names.Branch, true
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
func (o *asBranchFlags) run(ctx context.Context, a *app, in *inPlaceFlags, chats []string, choice choose.Choice, taints bool, edit cut.MessageEdit) error {
	b := &o.branch
	b.data, b.noSync, b.dryRun, b.json, b.bump = in.data, in.noSync, in.dryRun, in.json, in.bump
	opt, err := b.options(ctx, a, o.flags, chats)
	if err != nil {
		return err
	}
	opt.AtOne, opt.Message = choice, edit
	if taints {
		opt.Values.Edits = append(opt.Values.Edits, patch.Edit{Path: patch.Path{"tainted"}, Value: []byte("true")})
	}
	return b.cut(ctx, a, opt)
}
