package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/change/changeset"
	"stchat/internal/place/userdir"
	"stchat/internal/text/words"
)

const rootDoc = `stchat does for SillyTavern chats what git does for source: it checkpoints,
branches, inspects, compares, checks and repairs them, offline, from the shell,
without ever losing a byte.

Name a chat by the path of its file, or by what people see: Mira/Harbour is a
chat of the character or group Mira, by its name or a part of it; Mira/@ is the
one that is open, Mira/* all of them; so is Mira alone, as the PATH of what only
reads.

Results go to stdout; notes, warnings and errors go to stderr.`

const exitDoc = `
EXIT STATUS
  0  done
%s  2  error: wrong usage, unreadable or damaged input, a file that exists,
     a failed write
  130, 143  interrupted
`

// exitStatus returns the EXIT STATUS section of a command's manual page; no is what exit code
// 1 means, "" if the command never returns it.
func exitStatus(no string) string {
	if no != "" {
		no = "  1  the answer is no: " + no + "\n"
	}
	return fmt.Sprintf(exitDoc, no)
}

// globals are the flags that every command has.
type globals struct {
	color   string
	data    string // the user folder that --data names, "" for none
	jqText  string // the program of --jq
	json    bool   // the results are JSON documents
	noPager bool
	quiet   bool
	verbose bool // what a person is usually spared is shown, too
}

func (g *globals) addFlags(fs *pflag.FlagSet) {
	fs.Var(notEmptyText(&g.data), "data", "the SillyTavern user folder `DIR`; default: found from the paths, else the one that you are in")
	fs.BoolVar(&g.json, "json", false, "print JSON documents, one per line")
	fs.Var(notEmptyText(&g.jqText), "jq", "print what the jq program `EXPR` makes of the documents; means --json")
	fs.BoolVarP(&g.verbose, "verbose", "v", false, "show what is usually left out")
	fs.Var(oneOf(&g.color, "auto", "auto", "always", "never"), "color", "use colour: `WHEN` is auto, always or never; NO_COLOR turns it off too")
	fs.BoolVar(&g.noPager, "no-pager", false, "print what is long to the terminal itself; also with an empty STCHAT_PAGER")
	fs.BoolVarP(&g.quiet, "quiet", "q", false, "print no notes, warnings or progress; errors are always printed")
}

func newRoot(c *console) *cobra.Command {
	version := false
	root := &cobra.Command{
		Use:   "stchat COMMAND",
		Short: "Checkpoint, branch, inspect and repair SillyTavern chats",
		Long:  rootDoc,
		Example: `  stchat check
  stchat branch Mira/Harbour --at 41 --isolate
  stchat show Mira/@ --last 10
  stchat snapshot && stchat log --since 1w`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          onlyCommands,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return c.version()
			}
			return cmd.Help()
		},
	}

	root.Flags().BoolVar(&version, "version", false, "print version, commit, Go version and known formats")
	root.SetFlagErrorFunc(c.flagError)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		c.started = cmd.CommandPath()
		newHelpPage(c).write(cmd)
	})
	root.SetHelpCommand(newHelpCommand(c, root))
	for _, title := range []string{"Make", "Look", "Edit", "Keep"} {
		root.AddGroup(&cobra.Group{ID: title, Title: title})
	}
	root.CompletionOptions.DisableDefaultCmd = true // ours may not be made
	c.addFlags(root.PersistentFlags())
	args := c.args
	if slices.Equal(args, []string{"--version"}) {
		args = []string{"version"} // says the same, and no other command is needed
	}
	c.addCommands(root, args, verbs())
	c.completeFlags(root)
	return root
}

// verbs returns the commands, in alphabetical order.
func verbs() []named {
	users := []named{
		{"add", "Edit", newAdd},
		{"branch", "Make", newBranch},
		{"check", "Look", newCheck},
		{"checkpoint", "Make", newCheckpoint},
		{"clone-lorebook", "Make", newCloneLorebook},
		{"completion", "", newCompletion},
		{"copy", "Make", newCopy},
		{"delete", "Edit", newDelete},
		{"diff", "Look", newDiff},
		{"diff-meta", "Look", newDiffMeta},
		{"edit", "Edit", newEdit},
		{"export", "Make", newExport},
		{"hide", "Edit", func() verb { return newHide(true) }},
		{"import", "Make", newImport},
		{"inspect", "Look", newInspect},
		{"join", "Make", newJoin},
		{"list", "Look", newList},
		{"log", "Look", newLog},
		{"lost", "Look", newLost},
		{"merge", "Make", newMerge},
		{"meta", "Edit", newMeta},
		{"move", "Edit", newMove},
		{"new", "Make", newNew},
		{"open", "Edit", newOpen},
		{"redo", "Keep", newRedo},
		{"rename", "Edit", newRename},
		{"repair", "Edit", newRepair},
		{"replace", "Edit", newReplace},
		{"restore", "Keep", newRestore},
		{"rm", "Edit", newRm},
		{"schemas", "", newSchemas},
		{"search", "Look", newSearch},
		{"show", "Look", newShow},
		{"slim", "Edit", newSlim},
		{"snapshot", "Keep", newSnapshot},
		{"split", "Make", newSplit},
		{"state", "Edit", newState},
		{"stats", "Look", newStats},
		{"store", "Keep", newStore},
		{"swipe", "Edit", newSwipe},
		{"tree", "Look", newTree},
		{"undo", "Keep", newUndo},
		{"unhide", "Edit", func() verb { return newHide(false) }},
		{"version", "", newVersion},
	}
	return append(users, forPackagers()...)
}

// verb is a command as data.
type verb struct {
	use, short, doc, example string

	more   string               // what help says below doc with --verbose, and the manual page always
	no     string               // what exit code 1 means; "": the command never returns it
	also   string               // other commands that help names
	args   cobra.PositionalArgs // nil: any
	means  *subjects            // which of them name chats; nil: none, or the command itself finds out
	offers cobra.CompletionFunc // completes arguments; nil: with chats
	hidden bool
	plain  bool     // it prints no documents
	writes bool     // it may change files
	empty  bool     // an argument may be empty
	rules  []string // which flags go together: see [agree]
	pages  string   // [everything], or the flag with which it goes through a pager; "": never
	options
	below []named // instead of all these: the commands below it
}

// options are the flags of a command, and what it does with them.
type options interface {
	addFlags(fs *pflag.FlagSet)
	run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error
}

// flagless is what a command without flags does with its arguments.
type flagless func(c *console, args []string) error

func (flagless) addFlags(*pflag.FlagSet) {}

func (f flagless) run(_ context.Context, c *console, _ *pflag.FlagSet, args []string) error {
	return f(c, args)
}

// command makes a command of Cobra's.
func (c *console) command(v verb) *cobra.Command {
	cmd := &cobra.Command{Use: v.use, Short: v.short, Long: v.page() + exitStatus(v.no), Example: v.example, Hidden: v.hidden, Args: v.early, ValidArgsFunction: v.offers}
	cmd.Annotations = map[string]string{seeAlso: v.also, leftOut: v.more}
	switch {
	case v.below != nil:
		c.group(cmd, v.below)
		return cmd
	case v.offers == nil:
		cmd.ValidArgsFunction = c.offering(func(t *tab) { t.arguments(&v) })
	}

	cmd.Annotations[exitMeans] = v.no
	v.addFlags(cmd.Flags())
	if v.writes {
		c.addWriting(cmd.Flags())
	}
	if v.means != nil && v.means.messages {
		cmd.Annotations[takesMessages] = "yes"
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c.started = cmd.CommandPath()
		return c.runVerb(&v, cmd, args)
	}
	return cmd
}

// page returns the whole text about a command.
func (v *verb) page() string {
	if v.more == "" {
		return v.doc
	}
	return v.doc + "\n" + strings.TrimLeft(v.more, "\n")
}

// runVerb runs a command once its flags are read.
func (c *console) runVerb(v *verb, cmd *cobra.Command, args []string) error {
	c.outColor, c.errColor = c.coloured(c.OutTTY), c.coloured(c.ErrTTY)
	c.shown = c.OutTTY || c.color == "always"
	if c.insteadOf != "" {
		c.note("this is 'stchat %s'", c.insteadOf)
	}
	if err := c.readJQ(cmd); err != nil {
		return err
	}
	if c.json && v.plain {
		return usagef("%s prints no JSON", cmd.Name())
	}
	if err := cmp.Or(agree(cmd.Flags(), v.rules), readTimes(cmd.Flags(), c.Now()), c.readUndoMost(cmd.Flags())); err != nil {
		return err
	}
	args, err := c.operands(v, cmd, args)
	if err != nil {
		return c.documented(err)
	}
	return c.throughPager(cmd.Flags(), v.pages, func() error {
		err := c.documented(v.run(cmd.Context(), c, cmd.Flags(), args))
		if printed := c.unprinted(); printed != nil && (err == nil || isAny(err, errNo, errReported) || c.jq != nil && !errors.Is(err, printed)) {
			return printed
		}
		return err
	})
}

// operands gives MESSAGES and what follows them to a command's options, and returns the other
// arguments, with paths in the place of OWNER/NAME.
func (c *console) operands(v *verb, cmd *cobra.Command, args []string) ([]string, error) {
	fs := cmd.Flags()
	for i, arg := range args {
		args[i] = strings.TrimPrefix(arg, negative)
	}
	if slices.Contains(args, "") && !v.empty {
		return nil, usagef("an argument is empty")
	}
	if err := unexpanded(fs); err != nil {
		return nil, err
	}
	if v.means == nil {
		return args, nil
	}
	means := *v.means
	if isGiven(fs, "output") {
		means.all = true
		means.toFile = true
	}

	means.listed = isGiven(fs, "files-from")
	if isGiven(fs, "at") {
		means.goesWith = flagOf(fs, means.what)
	}
	chats, err := means.following(fs, v.options, args)
	if err != nil {
		return nil, err
	}
	for _, arg := range args[len(chats):] {
		if means.what == newText && !looksLikeMessages(arg) {
			c.written[arg] = "…"
		}
	}
	miscounted := v.counted(cmd, chats)
	if miscounted != nil {
		means.others = 0 // what stands where CHATs do is judged as one
	}
	chats, err = c.resolve(&means, chats)
	return chats, cmp.Or(err, miscounted)
}

// flagOf returns the flag that does the same as what follows MESSAGES, "" if there is none or it is given.
func flagOf(fs *pflag.FlagSet, what string) string {
	switch {
	case what == newText && !fs.Changed("text"):
		return "--text"
	case what == newName && !fs.Changed("name"):
		return "-n"
	}
	return ""
}

// unexpanded refuses an -o in which the shell has left a ~, as in quotes or on Windows: a folder of that name
// would be made.
func unexpanded(fs *pflag.FlagSet) error {
	if !isGiven(fs, "output") {
		return nil
	}
	output := fs.Lookup("output").Value.String()
	_, inHome := strings.CutPrefix(filepath.ToSlash(output), "~/")
	if inHome && !userdir.IsDir("~") {
		return usagef("-o %s: the shell has left the ~ as it is; write the whole path", output)
	}
	return nil
}

// emptyFlag refuses a flag whose value is empty, as an unset variable makes it.
func emptyFlag(cmd *cobra.Command, args []string) error {
	before := "" // the flag whose value comes next
	for _, arg := range args {
		name, value, valued := strings.Cut(arg, "=")
		switch {
		case before != "" && arg == "":
			return usagef("%s is empty", before)
		case before != "":
			before = ""
		case arg == "--":
			return nil
		case strings.HasPrefix(arg, "--") && valued && value == "":
			return usagef("%s is empty", name)
		case wantsValue(cmd.Flags(), cmd.InheritedFlags(), arg):
			before = arg
		}
	}
	return nil
}

// early checks the arguments before the flags go together, unless they name chats: names are judged before
// anything else is missed.
func (v *verb) early(cmd *cobra.Command, args []string) error {
	if v.means != nil {
		return nil
	}
	return v.counted(cmd, args)
}

// counted checks how many arguments a command has, with an error that says what they are instead.
func (v *verb) counted(cmd *cobra.Command, args []string) error {
	if v.args == nil || v.args(cmd, args) == nil {
		return nil
	}
	_, names, _ := strings.Cut(v.use, " ")
	if names == "" {
		names = "no argument"
	}
	example, _, _ := strings.Cut(v.example, "\n")
	return usagef("%s takes %s, e.g. `%s`", cmd.Name(), names, strings.TrimSpace(example))
}

// next returns what a command's argument number n may be, in the words of its synopsis; nothing if it takes no more.
func (v *verb) next(n int) []string {
	operands := strings.Fields(v.use)[1:]
	for i, word := range operands {
		switch {
		case i == n:
			return operands[i : i+1]
		case strings.Contains(word, "..."):
			return operands[i:]
		}
	}
	return nil
}

// run executes the program and returns its exit code. An error before any command's
// RunE is called is wrong usage: Cobra itself does not distinguish.
func run(ctx context.Context, e env, args []string) int {
	args, command := accustomed(args)
	c := newConsole(e, args)
	c.insteadOf = command
	root := newRoot(c)
	cmd, err := c.execute(ctx, root)
	err = cmp.Or(err, c.unprinted()) // of help
	var usage *usageError
	switch {
	case err == nil, errors.Is(err, errNothing):
		return 0
	case errors.Is(err, errNo):
		return exitNo
	case isInterrupted(err), c.work.interrupted:
		c.errLine("", "", c.work.String())
		if signal, ok := errors.AsType[interruption](context.Cause(ctx)); ok {
			return exitSignal + int(signal.signal)
		}
	case errors.Is(err, errReported):
	case isClosedPipe(err):
		return 0 // the reader had enough: head, less
	case c.started == "" || errors.As(err, &usage):
		c.errColor = c.coloured(c.ErrTTY) // the flags may not have been read
		c.errLine(red, "", err.Error())
		fmt.Fprintln(c.Err, c.remark("Run '"+cmd.CommandPath()+" --help' for usage."))
	default:
		c.errLine(red, "", err.Error())
	}
	return exitTrouble
}

// execute finds the command, judges it before its flags, and runs it.
func (c *console) execute(ctx context.Context, root *cobra.Command) (*cobra.Command, error) {
	root.SetArgs(c.args)
	if len(c.args) > 0 && strings.HasPrefix(c.args[0], cobra.ShellCompRequestCmd) {
		return root.ExecuteContextC(ctx)
	}
	root.InitDefaultHelpCmd()
	cmd, rest, err := root.Find(c.args)
	if err != nil {
		return root, err
	}
	if word := firstOperand(cmd, rest); word != "" && len(cmd.Commands()) > 0 && cmd.Name() != "help" {
		isCommand := slices.Contains(commandNames(cmd), word)
		if strange := cmd.ParseFlags(rest); isCommand && strange != nil { // behind a flag unknown to Cobra
			return cmd, c.flagError(cmd, strange)
		}
		return cmd, onlyCommands(cmd, behind(rest, word))
	}
	if err := emptyFlag(cmd, rest); err != nil {
		return cmd, err
	}
	if cmd.Annotations[takesMessages] != "" {
		path := strings.Fields(cmd.CommandPath())[1:]
		root.SetArgs(slices.Concat(path, markNegatives(cmd, rest)))
	}
	return root.ExecuteContextC(ctx)
}

// behind returns the arguments from a word on.
func behind(args []string, word string) []string { return args[slices.Index(args, word):] }

// firstOperand returns the first argument of a command that is no flag and no flag's value, "" for none.
func firstOperand(cmd *cobra.Command, args []string) string {
	valued := false
	for _, arg := range args {
		isFlag := strings.HasPrefix(arg, "-") && arg != "-"
		if !valued && !isFlag {
			return arg
		}
		valued = !valued && isFlag && wantsValue(cmd.Flags(), cmd.PersistentFlags(), arg)
	}
	return ""
}

// readUndoMost reads how much undo may keep, for a command that writes.
func (c *console) readUndoMost(fs *pflag.FlagSet) error {
	text := c.Getenv(undoVariable)
	if text == "" || fs.Lookup("dry-run") == nil && !isGiven(fs, "output") {
		return nil
	}
	size, ok := parseSize(text)
	if !ok {
		return usagef("%s is a number of bytes such as 500M or 2G, not %q", undoVariable, text)
	}
	if size == 0 {
		size = -1 // keep none
	}
	c.undoMost = size
	return nil
}

// changes completes the options for writing that all commands share.
func (c *console) changes(opt *changeset.Options) {
	opt.Command = recorded(c.args, c.written)
	opt.Now = c.Now()
	opt.NewUUID = uuid.NewString
	opt.KeepBytes = c.undoMost
	opt.NoSync = c.Getenv(noSyncVariable) == "1"
	opt.DryRun = c.dryRun
}

// newSlugs reports whether every chat that is edited in place gets a new slug, so that an open tab of
// SillyTavern is stopped instead of overwriting the edit.
func (c *console) newSlugs() bool { return c.Getenv(newSlugVariable) == "1" }

// coloured reports whether to use colour. The first of these decides: --color never
// and NO_COLOR turn it off, --color always on, TERM=dumb off, FORCE_COLOR and
// CLICOLOR_FORCE on; else it is on for a terminal.
func (c *console) coloured(tty bool) bool {
	switch {
	case c.color == "never", c.Getenv("NO_COLOR") != "":
		return false
	case c.color == "always":
		return true
	case c.Getenv("TERM") == "dumb":
		return false
	case c.Getenv("FORCE_COLOR") != "", c.Getenv("CLICOLOR_FORCE") != "":
		return true
	}
	return tty
}

func isClosedPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

// named is a command that may not be made yet.
type named struct {
	name  string
	group string // below whose title help lists it
	make  func() verb
}

// addCommands adds the command that args begin with to cmd, and no other: making all
// of them with their flags takes longer than everything else at start. Where args begin
// with none of them it adds all, for help, completion, or an error that names what there is.
func (c *console) addCommands(cmd *cobra.Command, args []string, commands []named) {
	if i := slices.IndexFunc(commands, func(sub named) bool { return len(args) > 0 && sub.name == args[0] }); i >= 0 {
		commands = commands[i : i+1]
	}
	for _, sub := range commands {
		made := c.command(sub.make())
		made.GroupID = sub.group
		cmd.AddCommand(made)
	}
}

// group makes cmd the parent of commands, which does nothing by itself.
func (c *console) group(cmd *cobra.Command, commands []named) {
	cmd.Args, cmd.ValidArgsFunction = onlyCommands, cobra.NoFileCompletions
	cmd.RunE = func(*cobra.Command, []string) error {
		names, last := commandNames(cmd), len(commands)-1
		return usagef("a command is needed: %s or %s", strings.Join(names[:last], ", "), names[last])
	}
	var args []string
	if len(c.args) > 0 && c.args[0] == cmd.Name() {
		args = c.args[1:]
	}
	c.addCommands(cmd, args, commands)
}

// commandNames returns the names of the commands below cmd.
func commandNames(cmd *cobra.Command) (names []string) {
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return names
}

// onlyCommands is the Args of a parent of commands: an argument left over is a
// mistyped command.
func onlyCommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return noCommand(cmd, args[0], args[1:])
}

// didYouMean returns the known word nearest to a mistyped one, after prefix, as the end
// of an error; "" if none is near.
func didYouMean(word string, known []string, prefix string) string {
	best := nearest(word, known)
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", prefix+best)
}

// nearest returns the known word nearest to a mistyped one, "" if none is near.
func nearest(word string, known []string) string {
	best, least := "", max(1, len(word)/3)+1 // with more typing errors than that it is another word
	for _, k := range known {
		d := words.Distance(strings.ToLower(word), strings.ToLower(k))
		if len(word) > 1 && strings.HasPrefix(k, word) {
			d = 1
		}
		if d < least {
			best, least = k, d
		}
	}
	return best
}
