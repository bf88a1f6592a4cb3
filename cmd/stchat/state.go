package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"stchat/internal/chat"
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
it back. A damaged chat is refused: see 'stchat repair'. Sidecars have no slug:
a tab of Luker that has the chat open keeps what it has read until reloaded.
`

// stateFlags are the flags of every command that changes state.
type stateFlags struct{ state.Options }

func (o *stateFlags) options(c *console, path string) state.Options {
	opt := o.Options
	opt.ExpectMessages = -1
	opt.BumpIntegrity = c.newSlugs()
	opt.Path, opt.Data = path, userFolder(c, []string{path})
	c.changes(&opt.Changes)
	return opt
}

// report prints what became of the state of each PATH, and returns the worst outcome.
func (o *stateFlags) report(c *console, results []*state.Result) error {
	edited := false
	how := &saying{steps: !c.json, hints: editHints(), bumped: c.newSlugs()}
	how.end = func() {
		if edited && len(how.edited) == 0 {
			c.note("if this chat is open in Luker, reload it there: it keeps the state that it has read")
		}
	}
	of := func(r *state.Result) (string, *ops.Result[state.Changed]) { return r.Doc.Path, &r.Result }
	return sayAll(c, how, results, of, func(r *state.Result) {
		if edited = edited || r.Doc.DidWrite; r.Doc.DidWrite && r.Chat {
			how.edited = append(how.edited, r.Doc.Path)
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

// stateTable returns a table with such titles; those of numbers begin with a number sign, and those
// after the fourth go where there is no room.
func stateTable(titles ...string) *grid.Table {
	t := &grid.Table{}
	for i, title := range titles {
		number := strings.HasPrefix(title, "#")
		t.Columns = append(t.Columns, grid.Column{
			Title: strings.TrimPrefix(title, "#"), Code: either(title == "date", dim, when(number && i > 1, green)),
			Right: number, Name: i == 0 && !number, Optional: i > 3,
		})
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
func countText(n *int) string { return cmp.Or(digits(n), "-") }

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
}

func (o *stateListOptions) addFlags(fs *pflag.FlagSet) {
	o.listFlags.addFlags(fs)
}

func (o *stateListOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	paths, err := o.chats(ctx, c, args, "name a chat or a card, e.g. `stchat state list chat.jsonl`")
	if err != nil {
		return err
	}
	lib := new(library.Library)
	t := stateTable("namespace", "kind", "#size", "#entries", "#commits", "floors", "replays")
	for _, path := range paths {
		l, err := state.ListOf(ctx, lib, state.ReadOptions{Path: path, Data: userFolder(c, []string{path})})
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
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
	return c.outcome(false)
}

// addStates adds the state of one chat or character to a table, if titled below its path.
func addStates(c *console, t *grid.Table, l *state.List, titled bool) {
	switch {
	case titled && c.shown && len(l.Namespaces) > 0:
		t.Rows = append(t.Rows, grid.Row{Heading: visible.Text(l.Path)})
	case titled && !c.shown:
		fmt.Fprintln(c.w, l.Path)
		c.flush()
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
			replays = either(*n.Replays, "yes", "no")
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
}

func (o *stateGetOptions) addFlags(fs *pflag.FlagSet) {
	fs.VarP(messageNumber(&o.at), "at", "a", "as of message `N`; -1 is the last")
	fs.BoolVar(&o.stored, "stored", false, "the file as it is, and not what its commits come to")
}

// messageNumber returns the value of an --at that takes the number of one message.
func messageNumber(to *int) flagValue { return number(to, -1<<31, "the number of a message") }

func (o *stateGetOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	path, namespaces, err := onePath(args, 0, "get chat.jsonl memory_graph")
	if err != nil {
		return err
	}
	opt := state.GetOptions{ReadOptions: state.ReadOptions{Path: path, Data: userFolder(c, []string{path})}, Namespaces: namespaces, Stored: o.stored}
	opt.At = given(fs, "at", &o.at)
	v, err := state.Get(ctx, new(library.Library), opt)
	if err != nil {
		return &ops.SourceError{Path: path, Err: stateUsage(err)}
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

type stateLogOptions struct{}

func (*stateLogOptions) addFlags(*pflag.FlagSet) {}

func (o *stateLogOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	path, rest, err := onePath(args, 1, "log chat.jsonl memory_graph")
	if err != nil {
		return err
	}
	l, err := state.LogOf(ctx, new(library.Library), state.ReadOptions{Path: path, Data: userFolder(c, []string{path})}, rest[0])
	if err != nil {
		return &ops.SourceError{Path: path, Err: stateUsage(err)}
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
				either(v.Current, "current", "-"), either(v.Scene, "there", "gone"),
			}})
		}
		printStates(c, t)
		return nil
	}
	t := stateTable("#message", "#swipe", "counts", "#operations", "#bytes")
	for _, m := range l.Commits {
		counts := either(!m.Valid, "not valid", either(m.Active, "yes", "no"))
		t.Rows = append(t.Rows, grid.Row{Cells: []string{countText(m.Floor), countText(m.Swipe), counts, strconv.Itoa(m.Operations), strconv.Itoa(m.Bytes)}})
	}
	printStates(c, t)
	return nil
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
		doc: `Change what a namespace holds. An empty namespace counts as {}; the result must
be an object.

Changes are made in this order: --replace, --merge, --patch, --set,
--unset. If there is a floor log, the change becomes one commit, of the
last message or that of --at, and of its chosen swipe or that of --swipe; if the
last commit is of a later message, so is this one. --floor starts a floor log
for an empty namespace. --reset FILE replaces the log with a list of commits; []
empties it.

If others write there meanwhile, --set, --unset and the merges are applied to
what they wrote; nothing is lost. --expect refuses that: it is for a script that
decides by what it has read.

recap: takes only --version K: version K of the running recap becomes current,
or with --scene N that of the scene that ends with message N, like Auto-Recap's
arrows.
` + stateChangeDoc, no: "a test of --patch does not hold, a path is not there,\n     or the chat is not as it was expected to be",
		example: `  stchat state set chat.jsonl memory_graph --set /nodes/mira={}
  stchat state set chat.jsonl hp --replace hp.json
  stchat state set chat.jsonl hp --floor --set value=10
  stchat state set chat.jsonl hp --set value=9 --expect "$SHA256"
  stchat state set chat.jsonl recap: --version 2
  stchat state set characters/Mira.png mood --merge mood.json`,
		rules: []string{
			"force needs reset",
			"reset excludes set|unset|merge|patch|replace = --reset stands alone: it puts a whole log in place",
			"reset excludes at|swipe|floor = --reset takes no --at, --swipe or --floor: each commit says where it belongs",
		},
		means:   &subjects{most: 1, chats: true, writes: true},
		options: &stateSetOptions{},
	}
}

type stateSetOptions struct {
	valueFlags
	stateFlags
	reset, expect  string // expect is a SHA-256 in hex
	floor          bool
	at, swipe      int
	scene, version int
}

func (o *stateSetOptions) addFlags(fs *pflag.FlagSet) {
	o.valueFlags.addFlags(fs)
	fs.StringVar(&o.reset, "reset", "", "put the list of commits in `FILE` in place of the floor log; - is stdin")
	fs.Var(parsed(sum, func(text string) { o.expect = text }).notEmpty(), "expect", "change nothing, and exit with 1, unless the SHA-256 of what 'state get' prints, without its line end, is `SHA256`")
	fs.BoolVar(&o.floor, "floor", false, "begin a floor log, where NS holds nothing yet")
	fs.VarP(messageNumber(&o.at), "at", "a", "the commit is of message `N`; -1 is the last")
	fs.Var(number(&o.swipe, 1, "a swipe's number, from 1"), "swipe", "the commit is of swipe `K` of that message")
	fs.Var(number(&o.scene, 0, "the number of a message"), "scene", "with recap: and --version: of the scene that ends with message `N`")
	fs.Var(number(&o.version, 0, "the number of a version"), "version", "with recap: make version `K` current")
	fs.BoolVar(&o.Force, "force", false, "with --reset: also commits that Luker cannot replay")
}

func (o *stateSetOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	path, rest, err := onePath(args, 1, "set chat.jsonl memory_graph --set key=value")
	if err != nil {
		return err
	}
	opt := state.SetOptions{Options: o.options(c, path), Namespace: rest[0], Floor: o.floor, Expect: o.expect}
	if opt.Values, err = o.changes(ctx, c, o.reset == chat.Stdin); err != nil {
		return err
	}
	if o.reset != "" {
		if opt.Reset, err = readJSON(ctx, c, o.reset); err != nil {
			return err
		}
	}
	opt.At, opt.Version, opt.Scene = given(fs, "at", &o.at), given(fs, "version", &o.version), given(fs, "scene", &o.scene)
	if fs.Changed("swipe") {
		swipe := o.swipe - 1
		opt.Swipe = &swipe
	}
	switch {
	case (opt.Version != nil) != (rest[0] == state.Recap) || opt.Scene != nil && opt.Version == nil:
		return usagef("--version K, and --scene N with it, go with recap:")
	case opt.Version != nil && (!opt.Values.Empty() || o.reset != "" || o.floor || opt.At != nil || opt.Swipe != nil || o.expect != ""):
		return usagef("recap: takes --version K alone, or with --scene N")
	case o.reset == "" && opt.Values.Empty() && opt.Version == nil:
		return usagef("say what to change, e.g. --set key=value")
	}
	return o.report(c, []*state.Result{state.Set(ctx, opt)})
}

// sum reads a SHA-256.
func sum(text string) (string, error) {
	if sum, err := hex.DecodeString(text); err != nil || len(sum) != sha256.Size {
		return "", refusal(fmt.Sprintf("takes a SHA-256, 64 hexadecimal digits, not %q", text))
	}
	return strings.ToLower(text), nil
}

func newStateDelete() verb {
	return verb{
		writes: true,
		use:    "delete PATH NS...", short: "Delete namespaces",
		doc: `Delete namespaces: the sidecar, or the floor log and what an older Luker left
beside it. What is not there is no error.
` + stateChangeDoc, no: "the chat is not as it was expected to be",
		example: "  stchat state delete chat.jsonl memory_graph\n  stchat state delete characters/Mira.png mood",
		means:   &subjects{most: 1, chats: true, writes: true},
		options: &stateDeleteOptions{},
	}
}

type stateDeleteOptions struct{ stateFlags }

func (o *stateDeleteOptions) addFlags(*pflag.FlagSet) {}

func (o *stateDeleteOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	path, namespaces, err := onePath(args, 0, "delete chat.jsonl memory_graph")
	if err != nil {
		return err
	}
	return o.report(c, []*state.Result{state.Delete(ctx, o.options(c, path), namespaces)})
}

func newStatePrune() verb {
	return verb{
		writes: true,
		use:    "prune PATH... [NS...]", short: "Drop what is provably dead",
		doc: `Drop what is certainly unused by the extensions' own rules: Auto-Recap's pending
operations older than --older-than, versions of the running recap whose scene
no longer has a recap, Auto-Illustrator's prompts for messages beyond the end,
images without a prompt, and commits in Luker's floor logs that are invalid or
beyond the end.

Arguments that end in .jsonl or .png, paths that exist and OWNER/NAME are PATHs;
the others are namespaces, such as recap: and illustrator:, and limit the
command to these. Prints what was dropped, and how much.
` + stateChangeDoc, no: "the chat is not as it was expected to be",
		example: "  stchat state prune chat.jsonl --dry-run\n  stchat state prune chats/Mira/*.jsonl recap: --older-than 48h",
		options: &statePruneOptions{},
	}
}

type statePruneOptions struct {
	listFlags
	stateFlags
	before time.Time
}

func (o *statePruneOptions) addFlags(fs *pflag.FlagSet) {
	fs.Var(until(&o.before).notEmpty(), "older-than", "drop pending operations noted before `TIME`, such as 12h, 7d or 2026-03-01; default: 24h")
	o.listFlags.addFlags(fs)
}

func (o *statePruneOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	named, namespaces, err := c.amongWords(&o.listFlags, args, true)
	if err != nil {
		return err
	}
	paths, err := o.chats(ctx, c, named, "name a chat, e.g. `stchat state prune chat.jsonl`")
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return nil
	}
	before := cmp.Or(o.before, c.Now().Add(-24*time.Hour))
	results, err := state.Prune(ctx, state.PruneOptions{Options: o.options(c, paths[0]), Paths: paths, Namespaces: namespaces, Before: before})
	if err != nil {
		return stateUsage(err)
	}
	if !c.json {
		for _, r := range results {
			for _, gone := range r.Doc.Removed {
				if r.Err == nil {
					c.row(c.path(r.Doc.Path), strconv.Itoa(gone.Count), gone.What)
				}
			}
		}
	}
	c.flush()
	return o.report(c, results)
}
