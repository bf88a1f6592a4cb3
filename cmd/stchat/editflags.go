package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/spf13/pflag"

	"stchat/internal/chat"
	"stchat/internal/choose"
	"stchat/internal/message"
	"stchat/internal/ops"
	"stchat/internal/ops/edit"
	"stchat/internal/patch"
	"stchat/internal/plural"
	"stchat/internal/visible"
)

// inPlaceDoc explains what all commands that edit a chat in place have in common.
const inPlaceDoc = `
EDITING IN PLACE
All that a call changes in a chat and in what belongs to it is changed together
or not at all; 'stchat undo' takes it back. A damaged chat is refused: see
'stchat repair'. State that refers to messages by number follows (Auto-Recap,
Auto-Illustrator, timed lorebook effects); --no-follow leaves it as it is, as
SillyTavern does. If the chat is open in SillyTavern, reload it there: its next
save would undo the edit, unless --bump-integrity gives the chat a new slug. In
Luker close the chat first: what an open tab holds wins, whatever the slug.
`

// termFlags are the flags of every command that edits chats or their state in place.
type termFlags struct {
	data            string
	expectMessages  int
	expectIntegrity string
	bump            bool
	noSync          bool
	dryRun          bool
	json            bool
}

// addDryRun adds --dry-run, which comes first in the help.
func (o *termFlags) addDryRun(fs *pflag.FlagSet) {
	fs.BoolVar(&o.dryRun, "dry-run", false, "do everything but write; show what would change")
}

// addTerms adds the other flags of every edit; bumped names what gets a new slug.
func (o *termFlags) addTerms(fs *pflag.FlagSet, bumped string) {
	o.expectMessages = -1
	fs.Var(number(&o.expectMessages, 0, "a number of messages"), "expect-messages", "exit 1 unless the chat has `N` messages")
	fs.Var(filled(&o.expectIntegrity), "expect-integrity", "exit 1 unless the chat has this integrity `SLUG`")
	fs.BoolVar(&o.bump, "bump-integrity", false, "give "+bumped+" a new slug, so that an open tab is stopped instead of overwriting the edit; Luker's tab is not stopped")
	fs.BoolVar(&o.noSync, "no-sync", false, "do not force data to disk: faster on copies, not safe against power loss")
}

// terms turns the flags into edit.Terms; paths are what the command edits.
func (o *termFlags) terms(a *app, paths []string) (t edit.Terms, err error) {
	t = edit.Terms{
		Data: userFolder(a, o.data, paths), ExpectMessages: o.expectMessages, ExpectIntegrity: o.expectIntegrity,
		BumpIntegrity: o.bump, NewUUID: uuid.NewString,
	}
	t.Changes, err = a.changes(o.dryRun, o.noSync)
	return t, err
}

// inPlaceFlags are the flags of every command that edits chats in place.
type inPlaceFlags struct {
	listFlags
	termFlags
	noFollow bool
	force    bool
}

// addFlags adds the flags of every edit; force is the usage of --force, "" for a command
// without it.
func (o *inPlaceFlags) addFlags(fs *pflag.FlagSet, force string) {
	addTopic(fs, writing, func(fs *pflag.FlagSet) {
		o.addDryRun(fs)
		fs.BoolVar(&o.noFollow, "no-follow", false, "leave all state that refers to messages as it is")
		if force != "" {
			fs.BoolVar(&o.force, "force", false, force)
		}
		o.addTerms(fs, "the chat")
		fs.Lookup("expect-messages").DefValue = "" // any number
	})
	fs.Var(filled(&o.data), "data", "the SillyTavern user folder `DIR`; default: found from the chat's path")
	fs.BoolVar(&o.json, "json", false, "print a JSON document for each chat")
}

// addManyFlags adds the flags of [inPlaceFlags.addFlags] and those of a command that takes
// many chats.
func (o *inPlaceFlags) addManyFlags(fs *pflag.FlagSet, force string) {
	o.addFlags(fs, force)
	o.listFlags.addFlags(fs)
}

// options turns the flags into edit.Options.
func (o *inPlaceFlags) options(a *app, chats []string) (opt edit.Options, err error) {
	opt = edit.Options{Chats: chats, NoFollow: o.noFollow}
	opt.Terms, err = o.terms(a, chats)
	opt.Force = o.force
	return opt, err
}

// chosenIn reads which messages of which chats a command edits; hint is the error where no
// chat is named.
func (o *inPlaceFlags) chosenIn(ctx context.Context, a *app, f *choiceFlags, args []string, hint string) (c choose.Choice, opt edit.Options, err error) {
	if c, err = f.chosen(a); err != nil {
		return c, opt, err
	}
	paths, err := o.sources(ctx, a, args, hint)
	if err != nil {
		return c, opt, err
	}
	opt, err = o.options(a, paths)
	return c, opt, err
}

// editHints returns the hints for a chat that cannot be edited.
func editHints() []hint {
	return []hint{
		{chat.ErrDamaged, "; see 'stchat repair'"},
		{edit.ErrNoHeader, "; 'stchat repair' makes one"},
		{edit.ErrAll, "; --force does it"},
		{edit.ErrQueue, "; let the extension finish, or --force leaves them as they are"},
		{edit.ErrReplay, "; --force writes it, and Luker cuts it there"},
		{edit.ErrNoSpeaker, "; say who with --name"},
		{edit.ErrNoSwipes, "; --force does it"},
		{message.ErrChosenSwipe, "; see 'stchat repair'"},
		{edit.ErrNeedsSlug, "; leave --integrity out, or give new or a UUID"},
		{edit.ErrSwipeID, "; 'stchat message swipe --choose' chooses another"},
	}
}

// isNo reports whether an edit was not made because the answer is no: no message was
// chosen, or the chat is not as expected.
func isNo(err error) bool {
	for _, no := range []error{choose.ErrNone, edit.ErrExpected, patch.ErrTest, patch.ErrMissing} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}

// tell prints what became of the chats, and returns the worst outcome. result, if it is not
// nil, prints a chat's result on stdout; --json and --dry-run print their own.
func (o *inPlaceFlags) tell(c *console, results []*edit.Result, result func(r *edit.Result) error) error {
	how := saying{dryRun: o.dryRun, steps: o.dryRun && !o.json, json: o.json, hints: editHints()}
	of := func(r *edit.Result) (string, *ops.Result[edit.Edited]) { return r.Doc.Path, &r.Result }
	bumped := true // every one that was edited
	var edited []string
	failed, no, err := sayAll(c, how, results, of, func(r *edit.Result) (err error) {
		if r.Doc.DidWrite {
			edited, bumped = append(edited, r.Doc.Path), bumped && r.Bumped
		}
		switch {
		case o.json:
		case o.dryRun:
			o.show(c, r)
		case result != nil:
			err = result(r)
		}
		if err == nil && r.Doc.Unchanged {
			c.note("%s: unchanged", r.Doc.Path)
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(edited) > 0 {
		c.closeTabs(bumped, edited...)
	}
	return outcome(failed, no)
}

// show prints what a dry run would change, in the style of a diff.
func (o *inPlaceFlags) show(c *console, r *edit.Result) {
	if len(r.Diffs) == 0 {
		return
	}
	path := visible.Text(r.Doc.Path)
	fmt.Fprintln(c.Out, paint(c.outColor, bold, "--- "+path))
	fmt.Fprintln(c.Out, paint(c.outColor, bold, "+++ "+path+" (edited)"))
	for _, d := range r.Diffs {
		where := fmt.Sprintf("message %d", d.Index)
		if d.Index < 0 {
			where = "metadata"
		}
		fmt.Fprintln(c.Out, paint(c.outColor, cyan, "@@ "+where+" @@"))
		if d.Before != nil {
			fmt.Fprintln(c.Out, paint(c.outColor, red, "-"+visible.Text(string(d.Before))))
		}
		if d.After != nil {
			fmt.Fprintln(c.Out, paint(c.outColor, green, "+"+visible.Text(string(d.After))))
		}
	}
	if n := len(r.Doc.Changed) + len(r.Doc.Added) + len(r.Doc.Deleted) - len(r.Diffs); n > 0 {
		fmt.Fprintf(c.Out, "… and %s more\n", plural.S(n, "change"))
	}
}
