package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/chat"
	"stchat/internal/jsonl"
	"stchat/internal/ops/edit"
	"stchat/internal/patch"
	"stchat/internal/rawjson"
)

func newMessageAdd() verb {
	return verb{
		use: "add CHAT [FILE]", short: "Add messages",
		doc: `Add messages to a chat: at the end, or with --at N before message N.

Without --text, FILE or stdin is read: with --role as plain text, else as JSON:
one message, a list of them, or one per line, as 'message get --format raw'
prints them. Objects keep their keys, order and spelling; name, is_user,
is_system and send_date are added where they are missing. One that has the same
extra.gen_id as the chat's last message is not added again.

Prints the indexes of the new messages, one per line.
` + inPlaceDoc, no: "--expect-… fails",
		example: `  stchat message add chat.jsonl --role user --text "Where were we?"
  stchat message get a.jsonl -a 3..9 --format raw | stchat message add b.jsonl
  stchat message add chat.jsonl --at 12 removed.jsonl`,
		args: cobra.RangeArgs(1, 2),
		rules: []string{
			"text needs role = --text goes with --role, and not with a FILE",
			"text excludes ARGS = --text goes with --role, and not with a FILE",
			"name needs role: messages that are read bear their own names",
		},
		means:   &subjects{most: 1, chats: true, writes: true},
		options: &messageAddOptions{},
	}
}

type messageAddOptions struct {
	inPlaceFlags
	at               int
	role, name, text string
}

func addRoles() []string {
	return []string{edit.RoleUser, edit.RoleCharacter, edit.RoleSystem, edit.RoleNarrator, edit.RoleComment}
}

func (o *messageAddOptions) addFlags(fs *pflag.FlagSet) {
	fs.VarP(number(&o.at, math.MinInt, "a message number such as 23 or -1"), "at", "a", "add before `MESSAGE`; -1 is the last one; default: at the end")
	fs.Var(oneOf(&o.role, "", addRoles()...), "role", "make one message with this `ROLE`: "+strings.Join(addRoles(), ", "))
	fs.Var(filled(&o.name), "name", "`NAME` of who speaks; default: that of the last message of the same role")
	fs.StringVar(&o.text, "text", "", "`TEXT` of the message")
	o.inPlaceFlags.addFlags(fs, "go on where pending work of an extension refers to messages that move")
}

func (o *messageAddOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	opt := edit.AddOptions{Options: o.options(c, args[:1]), Role: o.role, Name: o.name, Text: o.text, At: given(fs, "at", &o.at)}
	if !fs.Changed("text") {
		if err := o.read(ctx, c, args[1:], &opt); err != nil {
			return err
		}
	}
	return o.report(c, edit.Add(ctx, opt), func(r *edit.Result) { o.printIndexes(c, r, r.Doc.Added) })
}

// read reads the messages to add into opt, or with --role the text of one.
func (o *messageAddOptions) read(ctx context.Context, c *console, args []string, opt *edit.AddOptions) error {
	path := slices.Concat(args, []string{chat.Stdin})[0]
	data, err := readInput(ctx, c, path)
	if err != nil {
		return err
	}
	if o.role != "" {
		opt.Text = strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
		return nil
	}
	opt.Objects, err = objects(chat.Label(path), data)
	return err
}

// objects splits data into JSON objects: one, a list of them, or one per line.
func objects(path string, data []byte) ([][]byte, error) {
	if jsonl.Check(data) == nil {
		if rawjson.KindOf(data) != rawjson.Array {
			return [][]byte{data}, nil
		}
		return slices.Collect(rawjson.Elements(data)), nil
	}
	var list [][]byte
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if d := jsonl.Check(line); d != nil {
			d.Line = number
			return nil, &jsonl.LineError{Path: path, Damage: *d}
		}
		list = append(list, line)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: there is no message in it", path)
	}
	return list, nil
}

func newMessageApply() verb {
	return verb{
		use: "apply CHAT OPS", short: "Make many edits of one chat together",
		doc: `Make many edits of one chat together: all of them or none.

OPS, or - for stdin, holds one JSON object per line. All indexes are those
before the call, whatever the order, so deleting shifts nothing. "at" is a
number, a range such as "3..9", or a list of both.

  {"op":"add","at":12,"message":{…}}          at the end without "at"
  {"op":"set","at":"3..9","set":{"/extra/x":1},"unset":["k"]}
                         also "merge":{…}, "merge_patch":{…}, "patch":[…]
  {"op":"delete","at":[4,"7..9"]}
  {"op":"hide","at":3}   {"op":"unhide","at":3}
  {"op":"swipe","at":5,"choose":1}            or "add":"TEXT", or "delete":2
  {"op":"meta","set":{…},"unset":[…],"merge":{…}}     as set, of the metadata
  {"op":"test","at":5,"sha256":"…"}           of the line; or "value":{…}

With --patch, OPS is one JSON patch (RFC 6902) of the list of messages, whose
operations are applied one after the other: add, remove, replace, test.

Prints the indexes of the messages that were added, one per line.
` + inPlaceDoc, no: "a test or --expect-… fails",
		example: "  stchat message apply chat.jsonl ops.jsonl\n  echo '{\"op\":\"delete\",\"at\":[3,\"7..9\"]}' | stchat message apply chat.jsonl -",
		args:    cobra.ExactArgs(2),
		means:   &subjects{most: 1, chats: true, writes: true},
		options: &messageApplyOptions{},
	}
}

// deletes is the usage of --force for a command that may delete messages.
const deletes = "delete all messages of a chat; go on where pending work of an extension refers to messages that move"

type messageApplyOptions struct {
	inPlaceFlags
	patch bool
}

func (o *messageApplyOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.patch, "patch", false, "OPS is a JSON patch over the list of messages")
	o.inPlaceFlags.addFlags(fs, deletes)
}

func (o *messageApplyOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	data, err := readInput(ctx, c, args[1])
	if err != nil {
		return err
	}
	common := o.options(c, args[:1])
	var results []*edit.Result
	if o.patch {
		list, err := patch.ParseOperations(data)
		if err != nil {
			return fmt.Errorf("%s: %w", chat.Label(args[1]), err)
		}
		results = edit.ApplyPatch(ctx, edit.PatchOptions{Options: common, Patch: list})
	} else {
		list, err := edit.ReadOperations(ctx, chat.Label(args[1]), data)
		if err != nil {
			return err
		}
		results = edit.Apply(ctx, edit.BatchOptions{Options: common, Operations: list})
	}
	return o.report(c, results, func(r *edit.Result) { o.printIndexes(c, r, r.Doc.Added) })
}

func newMessageSet() verb {
	return verb{
		use: "set CHAT...", short: "Change messages",
		doc: `Change messages: keys of the stored object, or parts of the text.

Changes are made in this order: --replace, --merge, --merge-patch, --patch,
--set, --unset, --sub. --sub RE=TEXT replaces every match of the regular
expression RE (RE2) in the text; TEXT may contain $1 and ${name}; write a = in
RE as \=. If the text changes, so does the chosen swipe; --all-swipes makes the
substitution in all swipes.
` + manyDoc + choiceDoc + asBranchDoc + inPlaceDoc, no: "no message was chosen, or a test or --expect-… fails",
		example: `  stchat message set chat.jsonl -a 0.. --sub "Jon\b=John"
  stchat message set chat.jsonl -a 12 --set /extra/model=other
  stchat message set chat.jsonl -a 12 --sub storm=calm --as-branch -n "calm sea"
  stchat message set chats/Mira/*.jsonl --role user --set name=Ines`,
		means:   edits(),
		options: &messageSetOptions{},
	}
}

type messageSetOptions struct {
	choiceFlags
	valueFlags
	inPlaceFlags
	asBranchFlags
	sub       []edit.Substitution
	allSwipes bool
}

func (o *messageSetOptions) addFlags(fs *pflag.FlagSet) {
	o.choiceFlags.addFlags(fs)
	o.valueFlags.addFlags(fs)
	fs.Var(parsed(substitution, func(s edit.Substitution) { o.sub = append(o.sub, s) }), "sub", "`RE=TEXT`: replace every match of RE in the text with TEXT")
	fs.BoolVar(&o.allSwipes, "all-swipes", false, "with --sub: in all swipes too")
	o.asBranchFlags.addFlags(fs)
	o.addManyFlags(fs, "")
}

func (o *messageSetOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	choice, common, err := o.chosenIn(ctx, c, &o.choiceFlags, args, "name a chat, e.g. `stchat message set chat.jsonl -a 12 --set name=Ines`")
	if err != nil {
		return err
	}
	opt := edit.SetOptions{Options: common, Choice: choice, Sub: o.sub, AllSwipes: o.allSwipes}
	if err := o.check(fs); err != nil {
		return err
	}
	if opt.Values, err = o.changes(ctx, c, o.filesFrom == chat.Stdin); err != nil {
		return err
	}
	switch {
	case opt.Values.Empty() && len(opt.Sub) == 0:
		return usagef("say what to change, e.g. --set name=Ines or --sub Jon=John")
	case o.allSwipes && len(opt.Sub) == 0:
		return usagef("--all-swipes goes with --sub")
	}
	if o.as {
		return o.asBranchFlags.run(ctx, c, &o.inPlaceFlags, common.Chats, choice, true, func(_ int, line []byte, _ *rawjson.Object) ([]byte, error) { return opt.Line(line) })
	}
	return o.reportMany(c, edit.Set(ctx, opt), func(r *edit.Result) { o.printIndexes(c, r, r.Doc.Changed) })
}

// substitution parses RE=TEXT, split at the first = that no backslash escapes.
func substitution(text string) (s edit.Substitution, err error) {
	at := -1
	for i := 0; i < len(text) && at < 0; i++ {
		switch text[i] {
		case '\\':
			i++
		case '=':
			at = i
		}
	}
	if at < 1 {
		return s, refusal(fmt.Sprintf("takes RE=TEXT, not %q", text))
	}
	s.Match, err = regexp.Compile(strings.ReplaceAll(text[:at], `\=`, `=`))
	s.With = text[at+1:]
	return s, err
}

func newMessageSwipe() verb {
	return verb{
		use: "swipe CHAT", short: "Choose, add or delete a swipe",
		doc: `Choose, add or delete a swipe of one message. Swipes count from 1, as the
screen shows them.

--choose K first stores what the message has now in its own swipe, as
SillyTavern does before it swipes. --add TEXT adds a swipe at the end and prints
its number; with --choose and no number it is chosen. --delete K deletes a
swipe; if it was the chosen one, the next is chosen, or the last.
` + asBranchDoc + inPlaceDoc, no: "no message was chosen, or --expect-… fails",
		example: "  stchat message swipe chat.jsonl -a -1 --choose 2\n  stchat message swipe chat.jsonl -a 12 --add \"Not tonight.\"\n  stchat message swipe chat.jsonl -a 12 --choose 1 --as-branch -n \"other answer\"",
		args:    cobra.RangeArgs(1, 2),
		means:   &subjects{most: 1, chats: true, writes: true},
		options: &messageSwipeOptions{},
	}
}

type messageSwipeOptions struct {
	choiceFlags
	inPlaceFlags
	asBranchFlags
	choose string // a number, or newest
	add    string
	remove int
}

func (o *messageSwipeOptions) addFlags(fs *pflag.FlagSet) {
	o.choiceFlags.addFlags(fs)
	fs.StringVar(&o.choose, "choose", "", "choose swipe `K`; with --add and no number, the new one")
	fs.Lookup("choose").NoOptDefVal = newest
	fs.StringVar(&o.add, "add", "", "add a swipe with this `TEXT`; - reads it from stdin")
	fs.Var(number(&o.remove, 1, "a swipe's number, from 1"), "delete", "delete swipe `K`")
	o.asBranchFlags.addFlags(fs)
	o.inPlaceFlags.addFlags(fs, "with --add: also for messages of the user and of the system")
}

func (o *messageSwipeOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	choice := o.choice()
	if choice.All() {
		return usagef("say which message, e.g. --at -1")
	}
	opt := edit.SwipeOptions{Choice: choice, SwipeChange: edit.SwipeChange{Delete: o.remove}}
	args, err := o.chosenSwipe(args, &opt)
	if err != nil {
		return err
	}
	if fs.Changed("add") {
		if opt.Add = &o.add; o.add == chat.Stdin {
			data, err := readInput(ctx, c, chat.Stdin)
			if err != nil {
				return err
			}
			o.add = strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
		}
	}
	wanted := either(opt.Choose > 0, 1, 0) + either(opt.Add != nil, 1, 0) + either(opt.Delete > 0, 1, 0)
	switch {
	case wanted != 1:
		return usagef("give one of --choose K, --add TEXT and --delete K")
	case opt.Chosen && opt.Add == nil:
		return usagef("--choose takes a swipe's number, from 1")
	}
	opt.Options = o.options(c, args)
	if err := o.check(fs); err != nil {
		return err
	}
	if o.as {
		return o.asBranchFlags.run(ctx, c, &o.inPlaceFlags, args, choice, opt.Taints(), func(at int, line []byte, metadata *rawjson.Object) ([]byte, error) {
			return opt.Line(at+1, line, metadata)
		})
	}
	return o.report(c, edit.Swipe(ctx, opt), func(r *edit.Result) {
		if r.Swipe != 0 {
			fmt.Fprintln(c.w, r.Swipe)
		}
	})
}

// newest is the value of --choose for the swipe that --add adds.
const newest = "new"

// chosenSwipe reads --choose into opt and returns the other arguments. As --choose may
// stand alone, pflag takes its value only after an equals sign: in "--choose 2" the number
// arrives as an argument.
func (o *messageSwipeOptions) chosenSwipe(args []string, opt *edit.SwipeOptions) ([]string, error) {
	text := o.choose
	if len(args) == 2 {
		if text != newest {
			return nil, usagef("one CHAT, not %q too", args[1])
		}
		text, args = args[1], args[:1]
	}
	switch text {
	case "":
	case newest:
		opt.Chosen = true
	default:
		if err := number(&opt.Choose, 1, "a swipe's number, from 1").Set(text); err != nil {
			return nil, usagef("--choose %v", err)
		}
	}
	return args, nil
}

const messageHideDoc = `%s messages %s the prompt, as SillyTavern's /%s does:
is_system becomes %v. Messages with an extra.type, such as the narrator's
notes, and calls of tools, which the model sees, stay as they are unless --all
is given. Prints the indexes of the messages that changed.
` + manyDoc + choiceDoc + inPlaceDoc

func newMessageHide(hide bool) verb {
	name, short, doc := "hide", "Hide messages from the prompt", fmt.Sprintf(messageHideDoc, "Hide", "from", "hide", hide)
	if !hide {
		name, short, doc = "unhide", "Show hidden messages to the prompt again", fmt.Sprintf(messageHideDoc, "Put hidden", "back into", "unhide", hide)
	}
	return verb{
		use: name + " CHAT...", short: short,
		doc: doc, no: "no message was chosen, or --expect-… fails",
		example: "  stchat message " + name + " chat.jsonl -a 0..19",
		means:   edits(),
		options: &messageHideOptions{hide: hide},
	}
}

type messageHideOptions struct {
	choiceFlags
	inPlaceFlags
	hide, all bool
}

func (o *messageHideOptions) addFlags(fs *pflag.FlagSet) {
	o.choiceFlags.addFlags(fs)
	fs.BoolVar(&o.all, "all", false, "also messages with an extra.type, and calls of tools")
	o.addManyFlags(fs, "")
}

func (o *messageHideOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	choice, common, err := o.chosenIn(ctx, c, &o.choiceFlags, args, "name a chat, e.g. `stchat message hide chat.jsonl -a 0..19`")
	if err != nil {
		return err
	}
	results := edit.Hide(ctx, edit.HideOptions{Options: common, Choice: choice, Hide: o.hide, All: o.all})
	return o.reportMany(c, results, func(r *edit.Result) { o.printIndexes(c, r, r.Doc.Changed) })
}

func newMessageDelete() verb {
	return verb{
		use: "delete CHAT...", short: "Delete messages",
		doc: `Delete messages. Whole lines are removed; the others keep every byte, except for
indexes and ids that have to follow.

--save FILE writes the deleted lines to a new file, ready for 'message add
--at'. --tool-calls also deletes the tool calls directly before a deleted reply,
as SillyTavern's own button does. Prints the indexes of the deleted messages,
with several CHATs each after its path, and a tab.
` + choiceDoc + inPlaceDoc, no: "no message was chosen, or --expect-… fails",
		example: `  stchat message delete chat.jsonl -a -10..
  stchat message delete chat.jsonl -a 40..45 --save removed.jsonl
  stchat undo`,
		means:   &subjects{chats: true, writes: true, whole: true},
		options: &messageDeleteOptions{inPlaceFlags: inPlaceFlags{listFlags: listFlags{noFolders: true}}},
	}
}

type messageDeleteOptions struct {
	choiceFlags
	inPlaceFlags
	toolCalls bool
	save      string
}

func (o *messageDeleteOptions) addFlags(fs *pflag.FlagSet) {
	o.choiceFlags.addFlags(fs)
	fs.BoolVar(&o.toolCalls, "tool-calls", false, "also delete the tool calls directly before a deleted reply")
	fs.Var(filled(&o.save), "save", "write the deleted lines to this new `FILE`")
	o.addManyFlags(fs, deletes)
}

func (o *messageDeleteOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	choice, common, err := o.chosenIn(ctx, c, &o.choiceFlags, args, "name a chat, e.g. `stchat message delete chat.jsonl -a -10..`")
	if err != nil {
		return err
	}
	switch {
	case o.save == chat.Stdin:
		return usagef("--save takes the name of a new file, not -")
	case o.save != "" && len(common.Chats) > 1: // one that cannot be read is reported by its name
		return usagef("--save takes one CHAT, not %d", len(common.Chats))
	}
	results := edit.Delete(ctx, edit.DeleteOptions{Options: common, Choice: choice, ToolCalls: o.toolCalls, Save: o.save})
	return o.reportMany(c, results, func(r *edit.Result) { o.printIndexes(c, r, r.Doc.Deleted) })
}
