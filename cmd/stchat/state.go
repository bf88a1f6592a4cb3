package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"stchat/internal/folder/library"
	"stchat/internal/ops"
	"stchat/internal/ops/state"
	"stchat/internal/show/grid"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

func newState() verb {
	return verb{
		use: "state COMMAND", short: "Read and edit what extensions keep",
		doc: `Read and edit what extensions keep: the files that Luker keeps beside a chat,
its logs, which say what each message changed, the state beside a character's
card, and views of what Auto-Recap and Auto-Illustrator keep (recap:,
illustrator:). See 'stchat state COMMAND --help' for each command.
`, no: "there is no such state",
		also: "meta, inspect",
		example: `  stchat state get Mira/Harbour
  stchat state get Mira/Harbour memory_graph
  stchat state set Mira/Harbour hp --set value=9`,
		below: []named{
			{"get", "", newStateGet},
			{"set", "", newStateSet},
		},
	}
}

// sayState prints what became of the state of a chat or a card.
func sayState(c *console, r *state.Result) error {
	how := &saying{hints: editHints()}
	how.end = func() {
		if r.Doc.DidWrite {
			c.note("reload this chat in Luker now: an open tab keeps the state that it has read")
		}
	}

	of := func(r *state.Result) (string, *ops.Result[state.Changed]) { return r.Doc.Path, &r.Result }
	return sayAll(c, how, []*state.Result{r}, of, func(r *state.Result) {
		if c.tells() {
			c.block(c.stateBlock(r))
			if c.dryRun && !c.quiet {
				c.changedKeys(r.Keys)
			}
		}
		c.tellUnchanged(r.Doc.Path, !r.Doc.Changed)
	})
}

// stateBlock tells a person what became of the state of a chat or a card.
func (c *console) stateBlock(r *state.Result) block {
	d := &r.Doc
	what := deref(d.Namespace)
	of := nameOf(d.Path)
	isDeleted := len(d.Removed) > 0
	b := block{}
	switch {
	case !d.Changed:
		b.sentence = fmt.Sprintf("%s of %s is unchanged", what, of)
		return b
	case isDeleted && c.dryRun:
		b.sentence = fmt.Sprintf("would delete %s of %s", what, of)
	case isDeleted:
		b.sentence = fmt.Sprintf("deleted %s of %s", what, of)
	case c.dryRun:
		b.sentence = fmt.Sprintf("would change %s of %s", what, of)
	default:
		b.sentence = fmt.Sprintf("changed %s of %s", what, of)
	}

	if d.Commit != nil {
		b.sentence += fmt.Sprintf(" at message %d", d.Commit.Floor)
		b.add("swipe", plural.Grouped(d.Commit.Swipe))
	}
	b.facts = append(b.facts, factsOf(r.Facts, "")...)
	if isDeleted && !c.dryRun {
		b.add("undo", "brings it back")
	}
	return b
}

// stateUsage makes the error of a bad namespace a usage error, and adds hints to others.
func stateUsage(err error) error {
	if errors.Is(err, state.ErrNamespace) {
		return usagef("%v", err)
	}
	return withHint(err, editHints())
}

// stateTable returns a table with such titles; those of numbers begin with a number sign, and those
// after the fourth go where there is no room.
func stateTable(titles ...string) *grid.Table {
	t := &grid.Table{}
	for i, title := range titles {
		name, isNumber := strings.CutPrefix(title, "#")
		code := ""
		switch {
		case name == "date":
			code = dim
		case isNumber && i > 1:
			code = green
		}
		t.Columns = append(t.Columns, grid.Column{Title: name, Code: code, Right: isNumber, Name: i == 0 && !isNumber, Optional: i > 3})
	}
	return t
}

// printStates prints the rows of a table, if there are any; in a pipe a tab stands between columns.
func printStates(c *console, t *grid.Table) {
	if len(t.Rows) == 0 {
		return
	}
	if c.shown {
		c.table(t)
		return
	}
	for _, row := range t.Rows {
		c.row(row.Cells...)
	}
}

// countText returns a number, - if it is unknown.
func countText(n *int) string { return cmp.Or(digits(n), "-") }

func newStateGet() verb {
	return verb{
		use: "get PATH [NS...]", short: "Print what extensions keep",
		doc: `Print what a namespace holds, on one line; for several, an object with a value
or null for each. With no NS, list what there is. PATH is a chat, or a card such
as characters/Mira.png; NS is normalised as Luker does it. Luker's log of NS is
replayed with the commits of the chosen swipes. recap: and illustrator: show
what Auto-Recap and Auto-Illustrator keep in the chat itself.
`, more: `In a pipe the list has namespace, kind, bytes, entries, and of Luker's logs
commits, their messages and whether they replay; --log has message, swipe,
whether it counts, operations and bytes.
`, no: "the one NS holds nothing",
		also: "state set, meta get",
		example: `  stchat state get Mira/Harbour
  stchat state get Mira/Harbour memory_graph --at 40
  stchat state get Mira/Harbour recap: --log`,
		rules: []string{
			"at excludes stored: the file is as it is now",
			"log excludes at|stored: it lists all commits",
		},
		means:   &subjects{most: 1, chats: true},
		pages:   everything,
		options: &stateGetOptions{},
	}
}

type stateGetOptions struct {
	at          oneMessage
	log, stored bool
}

func (o *stateGetOptions) addFlags(fs *pflag.FlagSet) {
	o.at.addFlag(fs, "as of message `N`; -1 is the last; or the name of a checkpoint or branch")
	fs.BoolVar(&o.log, "log", false, "what Luker's log has, commit by commit, or the versions of the running recap")
	fs.BoolVar(&o.stored, "stored", false, "the file as it is, and not what its commits come to")
}

func (o *stateGetOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	if len(args) == 0 || args[0] == "" {
		return usagef("name a chat or a card, e.g. `stchat state get Mira/Harbour`")
	}
	path, namespaces := args[0], args[1:]
	read := state.ReadOptions{Path: path, Data: userFolder(c, []string{path})}
	var err error
	switch {
	case o.log && len(namespaces) != 1:
		return usagef("--log is of one namespace, e.g. `stchat state get Mira/Harbour memory_graph --log`")
	case o.log:
		err = printStateLog(ctx, c, read, namespaces[0])
	case len(namespaces) == 0 && (fs.Changed("at") || o.stored):
		return usagef("say which namespace, e.g. `stchat state get Mira/Harbour memory_graph --at 40`")
	case len(namespaces) == 0:
		err = listState(ctx, c, read)
	default:
		return o.printValues(ctx, c, fs, read, namespaces)
	}
	return stateError(path, err)
}

// stateError is an error about a path, nil for none.
func stateError(path string, err error) error {
	if err == nil {
		return nil
	}
	return &ops.SourceError{Path: path, Err: stateUsage(err)}
}

// printValues prints what namespaces hold.
func (o *stateGetOptions) printValues(ctx context.Context, c *console, fs *pflag.FlagSet, read state.ReadOptions, namespaces []string) error {
	opt := state.GetOptions{ReadOptions: read, Namespaces: namespaces, Stored: o.stored}
	at, err := o.at.in(ctx, fs, read.Path)
	if err != nil {
		return err
	}
	opt.At = at
	v, err := state.Get(ctx, new(library.Library), opt)
	if err != nil {
		return stateError(read.Path, err)
	}
	c.warns(v.Warnings)
	c.notes(v.Notes)
	switch {
	case c.json:
		c.document(v)
	case len(namespaces) > 1:
		c.line(strings.TrimSuffix(string(v.Values), "\n"))
	case v.Only == nil && c.tells():
		c.note("nothing is kept under %q", namespaces[0])
	case v.Only == nil:
		c.line("null")
	default:
		c.line(strings.TrimSuffix(string(v.Only), "\n"))
	}
	return outcome(false, len(namespaces) == 1 && v.Only == nil)
}

// listState prints which namespaces a chat or a card has.
func listState(ctx context.Context, c *console, read state.ReadOptions) error {
	l, err := state.ListOf(ctx, new(library.Library), read)
	if err != nil {
		return err
	}
	if c.json {
		return c.document(l)
	}
	if len(l.Namespaces) == 0 {
		c.note("%s: no extension state", l.Path)
	}
	titles := []string{"namespace", "kind", "#size", "#entries", "#commits", "messages", "replays"}
	isLog := func(n state.Namespace) bool { return n.Commits != nil || n.Replays != nil }
	if c.shown && !slices.ContainsFunc(l.Namespaces, isLog) {
		titles = titles[:4] // only Luker's logs have the others
	}
	t := stateTable(titles...)
	for _, n := range l.Namespaces {
		floors, replays := "-", "-"
		if n.FirstFloor != nil && n.LastFloor != nil {
			floors = fmt.Sprintf("%d..%d", *n.FirstFloor, *n.LastFloor)
		}
		if n.Replays != nil {
			replays = yesOrNo(*n.Replays)
		}
		size := formatBytes(n.Bytes)
		if !c.shown {
			size = strconv.FormatInt(n.Bytes, 10)
		}
		cells := []string{visible.Text(n.Name), n.Kind, size, countText(n.Entries), countText(n.Commits), floors, replays}
		t.Rows = append(t.Rows, grid.Row{Cells: cells[:len(titles)]})
	}

	printStates(c, t)
	return nil
}

// printStateLog prints the history of a namespace.
func printStateLog(ctx context.Context, c *console, read state.ReadOptions, namespace string) error {
	l, err := state.LogOf(ctx, new(library.Library), read, namespace)
	if err != nil {
		return err
	}
	c.notes(l.Notes)
	if c.json {
		return c.document(l)
	}
	if l.Namespace == state.Recap {
		printStates(c, recapTable(c, l))
		return nil
	}
	t := stateTable("#message", "#swipe", "counts", "#operations", "#bytes")
	for _, m := range l.Commits {
		counts := "not valid"
		if m.Valid {
			counts = yesOrNo(m.Active)
		}
		t.Rows = append(t.Rows, grid.Row{Cells: []string{countText(m.Floor), countText(m.Swipe), counts, strconv.Itoa(m.Operations), strconv.Itoa(m.Bytes)}})
	}

	printStates(c, t)
	return nil
}

// recapTable returns the versions of a recap.
func recapTable(c *console, l *state.Log) *grid.Table {
	t := stateTable("#version", "date", "#scenes", "prev > new", "current", "scene")
	for _, v := range l.Versions {
		current := "-"
		if v.Current {
			current = "current"
		}
		scene := "gone"
		if v.Scene {
			scene = "there"
		}
		t.Rows = append(t.Rows, grid.Row{Cells: []string{
			orDash(string(v.Version)), orDash(shownDate(c, deref(v.Date))), countText(v.Scenes), countText(v.Prev) + " > " + countText(v.New),
			current, scene,
		}})
	}
	return t
}

func yesOrNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

func orDash(s string) string { return cmp.Or(visible.Text(s), "-") }

func deref(s *string) string { return ops.Or(s, "") }

// digits returns a number, "" if it is unknown.
func digits[N int | int64](n *N) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

func newStateSet() verb {
	return verb{
		writes: true,
		use:    "set PATH NS", short: "Change what a namespace holds",
		doc: `Change what a namespace holds: an object, an empty one if there is nothing yet.
If Luker keeps a log of it, the change is one commit, of the last message or
that of --at; --at begins a log where NS holds nothing. What others write there
meanwhile is kept, but for what --expect refuses. Luker keeps what it has read
until the chat is reloaded.
`, no: "a test of --patch or --expect does not hold, or a path is not there",
		also: "state get, meta set, undo",
		example: `  stchat state set Mira/Harbour memory_graph --set /nodes/mira={}
  stchat state set Mira/Harbour hp --at -1 --set value=10
  stchat state set characters/Mira.png mood --delete`,
		rules:   []string{"delete excludes set|unset|merge|patch|replace|at|swipe: the namespace goes"},
		means:   &subjects{most: 1, chats: true, writes: true, cards: true},
		options: &stateSetOptions{},
	}
}

type stateSetOptions struct {
	valueFlags
	remove bool
	expect string // a SHA-256 in hex
	at     oneMessage
	swipe  int
}

func (o *stateSetOptions) addFlags(fs *pflag.FlagSet) {
	o.valueFlags.addFlags(fs)
	fs.BoolVar(&o.remove, "delete", false, "delete the namespace: its file, or Luker's log and what an older Luker left beside it")
	fs.Var(parsed(sum, func(text string) { o.expect = text }).notEmpty(), "expect", "change nothing, and exit with 1, unless the SHA-256 of what 'state get' prints, without its line end, is `SHA256`")
	o.at.addFlag(fs, "the commit is of message `N`; -1 is the last; or the name of a checkpoint or branch")
	fs.Var(number(&o.swipe, 1, "a swipe's number, from 1"), "swipe", "the commit is of swipe `K` of that message")
}

func (o *stateSetOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	switch {
	case len(args) == 0 || args[0] == "":
		return usagef("name a chat or a card, e.g. `stchat state set Mira/Harbour hp --set value=9`")
	case len(args) == 1:
		return usagef("say which namespace, e.g. `stchat state set Mira/Harbour hp --set value=9`")
	case len(args) > 2:
		return usagef("one namespace, not %q too", args[2])
	}

	path := args[0]
	opt := state.SetOptions{Namespace: args[1], Delete: o.remove, Expect: o.expect}
	opt.Path, opt.Data = path, userFolder(c, []string{path})
	c.changes(&opt.Changes)
	values, err := o.changes(ctx, c, false)
	if err != nil {
		return err
	}
	opt.Values = values
	opt.At, err = o.at.in(ctx, fs, path)
	if err != nil {
		return err
	}
	if fs.Changed("swipe") {
		swipe := o.swipe - 1
		opt.Swipe = &swipe
	}
	if opt.Values.Empty() && !opt.Delete {
		return usagef("say what to change, e.g. --set key=value, or --delete")
	}
	return sayState(c, state.Set(ctx, opt))
}

// sum reads a SHA-256.
func sum(text string) (string, error) {
	if sum, err := hex.DecodeString(text); err != nil || len(sum) != sha256.Size {
		return "", refusal(fmt.Sprintf("takes a SHA-256, 64 hexadecimal digits, not %q", text))
	}
	return strings.ToLower(text), nil
}
