package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"stchat/internal/grid"
	"stchat/internal/library"
	"stchat/internal/ops"
	"stchat/internal/ops/state"
	"stchat/internal/visible"
)

func newState() verb {
	return verb{
		use: "state COMMAND", short: "Read and edit what extensions keep",
		doc: `Read and edit what extensions keep: Luker's sidecars beside a chat, its floor
logs, which say what each message changed, the state beside a character's card,
and views of what Auto-Recap and Auto-Illustrator keep (recap:, illustrator:).

See 'stchat state COMMAND --help' for each command.`, no: "there is no such state",
		example: "  stchat state list chat.jsonl\n  stchat state get chat.jsonl memory_graph",
		below: []named{
			{"delete", "", newStateDelete},
			{"get", "", newStateGet},
			{"list", "", newStateList},
			{"log", "", newStateLog},
			{"prune", "", newStatePrune},
			{"set", "", newStateSet},
		},
	}
}

// namespaceDoc explains namespaces in a command's help.
const namespaceDoc = `
PATHS AND NAMESPACES
PATH is a chat, or a card such as characters/Mira.png. NS is normalised as Luker
does it: lower case, and an underscore for all but a-z, 0-9, point, underscore
and hyphen. Where a namespace has a floor log, the log counts.
`

// stateChangeDoc explains what the commands that change state have in common.
const stateChangeDoc = namespaceDoc + `
All that a call changes is changed together or not at all; 'stchat undo' takes
it back. Sidecars have no integrity slug. A tab of Luker that has the chat open
keeps what it has read until it is reloaded.
`

// stateFlags are the flags of every command that changes state.
type stateFlags struct{ termFlags }

func (o *stateFlags) addFlags(fs *pflag.FlagSet) {
	o.addDryRun(fs)
	o.addTerms(fs, "a chat that is edited itself")
	fs.Var(filled(&o.Data), "data", "the SillyTavern user folder `DIR`; default: found from the path")
	fs.Bool("json", false, "print a JSON document for each PATH")
}

func (o *stateFlags) options(c *console, path string) (opt state.Options, err error) {
	opt.Path = path
	opt.Terms, err = o.terms(c, []string{path})
	return opt, err
}

// report prints what became of the state of each PATH, and returns the worst outcome.
func (o *stateFlags) report(c *console, results []*state.Result) error {
	edited := false
	var chats []string
	how := saying{dryRun: o.Changes.DryRun, steps: !c.json, hints: editHints(), end: func() {
		switch {
		case len(chats) > 0:
			c.closeTabs(o.BumpIntegrity, chats...)
		case edited:
			c.note("if this chat is open in Luker, reload it there: it keeps the state that it has read")
		}
	}}
	of := func(r *state.Result) (string, *ops.Result[state.Changed]) { return r.Doc.Path, &r.Result }
	return sayAll(c, how, results, of, func(r *state.Result) {
		if edited = edited || r.Doc.DidWrite; r.Doc.DidWrite && r.Chat {
			chats = append(chats, r.Doc.Path)
		}
		if !r.Doc.Changed {
			c.note("%s: unchanged", r.Doc.Path)
		}
	})
}

// onePath splits arguments into one PATH and the namespaces after it, and requires both. most is
// how many namespaces there may be; 0: any number.
func onePath(args []string, most int, example string) (path string, rest []string, err error) {
	switch {
	case len(args) == 0 || args[0] == "":
		return "", nil, usagef("name a chat or a card, e.g. `stchat state %s`", example)
	case len(args) == 1:
		return "", nil, usagef("say which namespace, e.g. `stchat state %s`", example)
	case most > 0 && len(args) > 1+most:
		return "", nil, usagef("one namespace, not %q too", args[2])
	}
	return args[0], args[1:], nil
}

// stateUsage makes the error of a bad namespace a usage error, and adds hints to others.
func stateUsage(err error) error {
	if errors.Is(err, state.ErrNamespace) {
		return usagef("%v", err)
	}
	return withHint(err, editHints())
}

// stateTable returns a table with such titles; those of numbers begin with a number sign.
func stateTable(titles ...string) *grid.Table {
	t := &grid.Table{}
	for i, title := range titles {
		number := strings.HasPrefix(title, "#")
		t.Columns = append(t.Columns, grid.Column{Title: strings.TrimPrefix(title, "#"), Right: number, Name: i == 0 && !number})
	}
	return t
}

// printStates prints the rows of a table, if there are any, in a pipe with nothing cut.
func printStates(c *console, t *grid.Table) {
	if len(t.Rows) == 0 {
		return
	}
	s := newScreen(c, 0)
	if !c.shown {
		s.width = math.MaxInt
		for i := range t.Columns {
			t.Columns[i].Title, t.Columns[i].Right = strings.ToUpper(t.Columns[i].Title), false
		}
	}
	s.table(t)
	t.Rows = nil
}

// countText returns a number, - if it is unknown.
func countText(n *int) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}

func newStateList() verb {
	return verb{
		use: "list PATH...", short: "List what extensions keep",
		doc: `List the state of chats and characters: namespace, kind, size, entries, and for
a floor log its commits, the first and the last message that they belong to, and
whether it can be replayed.

Kinds: plain and floor are state of extensions; legacy is what an older Luker
left beside a floor log; orphans is what Luker set aside; chat_sync is Luker's
copy of the chat's slug; recap: and illustrator: are in the chat itself.
` + namespaceDoc,
		example: "  stchat state list chat.jsonl\n  stchat state list chats/Mira/*.jsonl characters/Mira.png --json",
		means:   reads(),
		pages:   everything,
		options: &stateListOptions{},
	}
}

type stateListOptions struct {
	listFlags
	data string
}

func (o *stateListOptions) addFlags(fs *pflag.FlagSet) {
	o.listFlags.addFlags(fs)
	fs.Var(filled(&o.data), "data", "the SillyTavern user folder `DIR`; default: found from the path")
	fs.Bool("json", false, "print JSON documents, one per line")
}

func (o *stateListOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	paths, err := o.chats(ctx, c, args, "name a chat or a card, e.g. `stchat state list chat.jsonl`")
	if err != nil {
		return err
	}
	lib := new(library.Library)
	failed := false
	t := stateTable("namespace", "kind", "#size", "#entries", "#commits", "floors", "replays")
	for _, path := range paths {
		l, err := state.ListOf(ctx, lib, state.ReadOptions{Path: path, Data: userFolder(c, o.data, []string{path})})
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			failed = true
			c.failed(path, stateUsage(err))
			continue
		}
		if c.json {
			c.document(l)
		} else {
			addStates(c, t, l, len(paths) > 1)
		}
		if !c.shown {
			printStates(c, t) // each has its own
		}
		if err := c.printed(); err != nil {
			return err
		}
	}
	printStates(c, t)
	return outcome(failed, false)
}

// addStates adds the state of one chat or character to a table, if titled below its path.
func addStates(c *console, t *grid.Table, l *state.List, titled bool) {
	switch {
	case titled && c.shown && len(l.Namespaces) > 0:
		t.Rows = append(t.Rows, grid.Row{Heading: visible.Text(l.Path)})
	case titled && !c.shown:
		fmt.Fprintln(c.w, l.Path)
	}
	if len(l.Namespaces) == 0 {
		c.note("%s: no extension state", l.Path)
	}
	for _, n := range l.Namespaces {
		floors, replays := "-", "-"
		if n.FirstFloor != nil && n.LastFloor != nil {
			floors = fmt.Sprintf("%d..%d", *n.FirstFloor, *n.LastFloor)
		}
		if n.Replays != nil {
			replays = map[bool]string{true: "yes", false: "no"}[*n.Replays]
		}
		t.Rows = append(t.Rows, grid.Row{Cells: []string{visible.Text(n.Name), n.Kind, formatBytes(n.Bytes), countText(n.Entries), countText(n.Commits), floors, replays}})
	}
}

func newStateGet() verb {
	return verb{
		use: "get PATH NS...", short: "Print what a namespace holds",
		doc: `Print what a namespace holds, on one line; for several namespaces, an object
with a value or null for each.

If there is a floor log, its commits are replayed: those of the chosen swipes,
and with --at N only those of messages 0 to N. --stored prints the file as it
is, in this case the log itself.

recap: shows what Auto-Recap keeps: the running recap, the recap of each scene,
and pending work. illustrator: shows Auto-Illustrator's prompts as trees, by
message, and its images, with whether each file exists.
` + namespaceDoc, no: "the one NS holds nothing; null is printed",
		example: `  stchat state get chat.jsonl memory_graph
  stchat state get chat.jsonl memory_graph --at 40
  stchat state get chat.jsonl recap: illustrator:
  stchat state get characters/Mira.png mood`,
		rules:   []string{"at excludes stored: the file is as it is now"},
		means:   &subjects{most: 1, chats: true},
		pages:   everything,
		options: &stateGetOptions{},
	}
}

type stateGetOptions struct {
	at     int
	stored bool
	data   string
}

func (o *stateGetOptions) addFlags(fs *pflag.FlagSet) {
	fs.VarP(messageNumber(&o.at), "at", "a", "as of message `N`; -1 is the last")
	fs.BoolVar(&o.stored, "stored", false, "the file as it is, and not what its commits come to")
	fs.Var(filled(&o.data), "data", "the SillyTavern user folder `DIR`; default: found from the path")
	fs.Bool("json", false, "print a JSON document")
}

// messageNumber returns the value of an --at that takes the number of one message.
func messageNumber(to *int) flagValue { return number(to, -1<<31, "the number of a message") }

func (o *stateGetOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	path, namespaces, err := onePath(args, 0, "get chat.jsonl memory_graph")
	if err != nil {
		return err
	}
	opt := state.GetOptions{ReadOptions: state.ReadOptions{Path: path, Data: userFolder(c, o.data, []string{path})}, Namespaces: namespaces, Stored: o.stored}
	if fs.Changed("at") {
		opt.At = &o.at
	}
	v, err := state.Get(ctx, new(library.Library), opt)
	if err != nil {
		return stateUsage(err)
	}
	c.warns(v.Warnings)
	c.notes(v.Notes)
	switch {
	case c.json:
		c.document(v)
	case len(namespaces) > 1:
		c.line(strings.TrimSuffix(string(v.Values), "\n"))
	case v.Only == nil:
		c.line("null")
	default:
		c.line(strings.TrimSuffix(string(v.Only), "\n"))
	}
	return outcome(false, len(namespaces) == 1 && v.Only == nil)
}

func newStateLog() verb {
	return verb{
		use: "log PATH NS", short: "Print the history of a namespace",
		doc: `Print the history of a namespace: the commits of its floor log, with message,
swipe (from 1), whether it counts, the number of operations, and size.

For recap:, print the versions of the running recap, with number, date, scenes,
the messages at which the previous scene and this one end, and whether the scene
still exists.
` + namespaceDoc,
		example: "  stchat state log chat.jsonl memory_graph\n  stchat state log chat.jsonl recap:",
		means:   &subjects{most: 1, chats: true},
		pages:   everything,
		options: &stateLogOptions{},
	}
}

type stateLogOptions struct {
	data string
}

func (o *stateLogOptions) addFlags(fs *pflag.FlagSet) {
	fs.Var(filled(&o.data), "data", "the SillyTavern user folder `DIR`; default: found from the path")
	fs.Bool("json", false, "print a JSON document")
}

func (o *stateLogOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	path, rest, err := onePath(args, 1, "log chat.jsonl memory_graph")
	if err != nil {
		return err
	}
	l, err := state.LogOf(ctx, new(library.Library), state.ReadOptions{Path: path, Data: userFolder(c, o.data, []string{path})}, rest[0])
	if err != nil {
		return stateUsage(err)
	}
	c.notes(l.Notes)
	if c.json {
		return c.document(l)
	}
	if l.Namespace == state.Recap {
		t := stateTable("#version", "date", "#scenes", "prev > new", "current", "scene")
		for _, v := range l.Versions {
			t.Rows = append(t.Rows, grid.Row{Cells: []string{
				orDash(string(v.Version)), orDash(shownDate(c, deref(v.Date))), countText(v.Scenes), countText(v.Prev) + " > " + countText(v.New),
				map[bool]string{true: "current", false: "-"}[v.Current], map[bool]string{true: "there", false: "gone"}[v.Scene],
			}})
		}
		printStates(c, t)
		return nil
	}
	t := stateTable("#message", "#swipe", "counts", "#operations", "#bytes")
	for _, m := range l.Commits {
		counts := map[bool]string{true: "yes", false: "no"}[m.Active]
		if !m.Valid {
			counts = "not valid"
		}
		t.Rows = append(t.Rows, grid.Row{Cells: []string{countText(m.Floor), countText(m.Swipe), counts, strconv.Itoa(m.Operations), strconv.Itoa(m.Bytes)}})
	}
	printStates(c, t)
	return nil
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return visible.Text(s)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// digits returns a number, "" if it is unknown.
func digits[N int | int64](n *N) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}
