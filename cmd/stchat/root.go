package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/changeset"
	"stchat/internal/visible"
)

const rootDoc = `stchat does for SillyTavern chats what git does for source: it checkpoints,
branches, inspects, compares, checks and repairs them, offline, from the shell,
without ever losing a byte.

A chat is the path of its file, or what people see: Mira/Harbour is a chat of
the character or group Mira, by its name or a part of it, Mira/@ the one that is
open, Mira/* all of them, and Mira alone her chats, for what only reads.

Results go to stdout; notes, warnings and errors go to stderr.`

const exitDoc = `
EXIT STATUS
  0  done
%s  2  error: wrong usage, unreadable or damaged input, a file that exists,
     a failed write
  130, 143  interrupted
`

// exitStatus returns the EXIT STATUS section of a command's help; no is what exit code
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
	quiet   bool
	noPager bool
}

func (g *globals) addFlags(fs *pflag.FlagSet) {
	fs.Var(oneOf(&g.color, "auto", "auto", "always", "never"), "color", "use colour: `WHEN` is auto, always or never; NO_COLOR turns it off too")
	fs.BoolVar(&g.noPager, "no-pager", false, "print what is long to the terminal itself; also with an empty STCHAT_PAGER")
	fs.BoolVarP(&g.quiet, "quiet", "q", false, "print no notes, warnings or progress; errors are always printed")
}

// app is what all commands share.
type app struct {
	env
	globals
	args    []string // of the program
	started string   // the command whose RunE was called
	work    work
}

func newRoot(a *app) *cobra.Command {
	version := false
	root := &cobra.Command{
		Use:   "stchat COMMAND",
		Short: "Checkpoint, branch, inspect and mend SillyTavern chats",
		Long:  rootDoc,
		Example: `  stchat check
  stchat branch Mira/Harbour --at 41 --isolate
  stchat message get Mira/@ --last 10
  stchat snapshot && stchat log --since 1w`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          onlyCommands,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return runVersion(a, false)
			}
			return cmd.Help()
		},
	}
	root.Flags().BoolVar(&version, "version", false, "print version, commit, Go version and known formats")
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { writeHelp(a.Out, cmd) })
	root.SetHelpCommand(&cobra.Command{
		Use:                   "help [COMMAND]",
		Short:                 "Print the help of a command",
		Long:                  "Print the help of a command, as 'stchat COMMAND --help' does.\n" + exitStatus(""),
		Example:               "  stchat help checkpoint\n  stchat help message get",
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, rest, err := root.Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return onlyCommands(topic, rest)
			}
			return topic.Help()
		},
	})
	root.CompletionOptions.DisableDefaultCmd = true // ours may not be made
	a.addFlags(root.PersistentFlags())
	args := a.args
	if slices.Equal(args, []string{"--version"}) {
		args = []string{"version"} // says the same, and no other command is needed
	}
	a.addCommands(root, args, verbs())
	addJQ(root)
	a.completeFlags(root)
	return root
}

// verbs returns the commands, in alphabetical order.
func verbs() []named {
	return []named{
		{"branch", newBranch},
		{"check", newCheck},
		{"checkpoint", newCheckpoint},
		{"clone-lorebook", newCloneLorebook},
		{"completion", newCompletion},
		{"delete", newDelete},
		{"diff", newDiff},
		{"diff-meta", newDiffMeta},
		{"export", newExport},
		{"history", newHistory},
		{"import", newImport},
		{"inspect", newInspect},
		{"log", newLog},
		{"lost", newLost},
		{"man", newMan},
		{"merge", newMerge},
		{"message", newMessage},
		{"meta", newMeta},
		{"move", newMove},
		{"new", newNew},
		{"open", newOpen},
		{"rename", newRename},
		{"repair", newRepair},
		{"restore", newRestore},
		{"schemas", newSchemas},
		{"search", newSearch},
		{"slim", newSlim},
		{"snapshot", newSnapshot},
		{"split", newSplit},
		{"state", newState},
		{"stats", newStats},
		{"tree", newTree},
		{"undo", newUndo},
		{"version", newVersion},
	}
}

// verb is a command as data.
type verb struct {
	use, short, doc, example string

	no     string               // what exit code 1 means; "": the command never returns it
	args   cobra.PositionalArgs // nil: any
	means  *subjects            // which of them name chats; nil: none, or the command itself finds out
	offers cobra.CompletionFunc // completes arguments; nil: with chats
	hidden bool
	flags  func(fs *pflag.FlagSet) // adds the flags; nil: there are none
	rules  []string                // which flags go together: see [agree]
	pages  string                  // [everything], or the flag with which it goes through a pager; "": never
	run    func(ctx context.Context, a *app, fs *pflag.FlagSet, args []string) error
	below  []named // instead of all these: the commands below it
}

// command makes a command of Cobra's.
func (a *app) command(v verb) *cobra.Command {
	cmd := &cobra.Command{Use: v.use, Short: v.short, Long: v.doc + exitStatus(v.no), Example: v.example, Hidden: v.hidden, Args: v.operands, ValidArgsFunction: v.offers}
	switch {
	case v.below != nil:
		a.group(cmd, v.below)
		return cmd
	case v.offers == nil:
		cmd.ValidArgsFunction = a.offering(func(t *tab) { t.arguments(&v) })
	}
	if v.flags != nil {
		v.flags(cmd.Flags())
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := agree(cmd.Flags(), v.rules); err != nil {
			return err
		}
		if v.means != nil {
			var err error
			if args, err = a.resolve(cmd.Flags(), v.means, args); err != nil {
				return err
			}
		}
		if v.pages == "" {
			return v.run(cmd.Context(), a, cmd.Flags(), args)
		}
		return a.throughPager(cmd.Flags(), v.pages, func() error { return v.run(cmd.Context(), a, cmd.Flags(), args) })
	}
	return cmd
}

// operands checks a command's arguments, with an error that says what they are instead of how
// many.
func (v verb) operands(cmd *cobra.Command, args []string) error {
	if v.args == nil || v.args(cmd, args) == nil {
		return nil
	}
	_, names, _ := strings.Cut(v.use, " ")
	example, _, _ := strings.Cut(v.example, "\n")
	return usagef("%s takes %s, e.g. `%s`", cmd.Name(), names, strings.TrimSpace(example))
}

// run executes the program and returns its exit code. An error before any command's
// RunE is called is wrong usage: Cobra itself does not distinguish.
func run(ctx context.Context, e env, args []string) int {
	a := &app{env: e, args: args}
	root := newRoot(a)
	root.SetArgs(args)
	a.watch(root)
	cmd, err := root.ExecuteContextC(ctx)
	var usage *usageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errNo):
		return exitNo
	case isInterrupted(err), a.work.interrupted:
		a.errorLine(a.work.String())
		if signal, ok := errors.AsType[interruption](context.Cause(ctx)); ok {
			return signal.code()
		}
	case errors.Is(err, errReported):
	case isClosedPipe(err):
		return 0 // the reader had enough: head, less
	case a.started == "" || errors.As(err, &usage):
		a.errorLine(err.Error())
		fmt.Fprintf(a.Err, "Run '%s --help' for usage.\n", cmd.CommandPath())
	default:
		a.errorLine(err.Error())
	}
	return exitTrouble
}

// watch makes every command below cmd note that it was called, and go through --jq.
func (a *app) watch(cmd *cobra.Command) {
	for _, cmd := range cmd.Commands() {
		a.watch(cmd)
		if inner := cmd.RunE; inner != nil {
			cmd.RunE = func(cmd *cobra.Command, args []string) error {
				a.started = cmd.CommandPath()
				return a.throughJQ(cmd, func() error { return inner(cmd, args) })
			}
		}
	}
}

// errorLine prints an error, on one line where no person reads it, whatever its text contains.
func (a *app) errorLine(text string) {
	fmt.Fprintf(a.Err, "stchat: %s\n", a.remark(visible.Text(text)))
}

// changes returns the options for writing that all commands share.
func (a *app) changes(dryRun, noSync bool) (changeset.Options, error) {
	opt := changeset.Options{DryRun: dryRun, NoSync: noSync, Command: recorded(a.args), Now: a.Now()}
	if text := a.Getenv(undoVariable); text != "" {
		size, ok := parseSize(text)
		if !ok {
			return opt, usagef("%s is a number of bytes such as 500M or 2G, not %q", undoVariable, text)
		}
		if opt.KeepBytes = size; size == 0 {
			opt.KeepBytes = -1 // keep none
		}
	}
	return opt, nil
}

func (a *app) console() *console {
	return &console{
		env:      a.env,
		quiet:    a.quiet,
		work:     &a.work,
		outColor: a.coloured(a.OutTTY),
		errColor: a.coloured(a.ErrTTY),
		shown:    a.OutTTY || a.color == "always",
	}
}

// coloured reports whether to use colour. The first of these decides: --color never
// and NO_COLOR turn it off, --color always on, TERM=dumb off, FORCE_COLOR and
// CLICOLOR_FORCE on; else it is on for a terminal.
func (a *app) coloured(tty bool) bool {
	switch {
	case a.color == "never", a.Getenv("NO_COLOR") != "":
		return false
	case a.color == "always":
		return true
	case a.Getenv("TERM") == "dumb":
		return false
	case a.Getenv("FORCE_COLOR") != "", a.Getenv("CLICOLOR_FORCE") != "":
		return true
	}
	return tty
}

// throughJQ calls run, with the documents it prints going through --jq if that is given.
func (a *app) throughJQ(cmd *cobra.Command, run func() error) error {
	flag := cmd.Flags().Lookup("jq")
	if flag == nil || !flag.Changed {
		return run()
	}
	code, err := compileJQ(flag.Value.String())
	if err != nil {
		return usagef("--jq: %v", err)
	}
	if err := cmd.Flags().Set("json", "true"); err != nil {
		return err
	}
	out := a.Out
	w := &jqWriter{ctx: cmd.Context(), out: out, code: code, terminal: a.OutTTY}
	a.Out = w
	defer func() { a.Out = out }()
	err = run()
	if w.err != nil {
		return w.err // whatever the command makes of a failed write
	}
	return err
}

func isClosedPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

// named is a command that may not be made yet.
type named struct {
	name string
	make func(a *app) verb
}

// addCommands adds the command that args begin with to cmd, and no other: making all
// of them with their flags takes longer than everything else at start. Where args begin
// with none of them it adds all, for help, completion, or an error that names what there is.
func (a *app) addCommands(cmd *cobra.Command, args []string, commands []named) {
	if i := slices.IndexFunc(commands, func(c named) bool { return len(args) > 0 && c.name == args[0] }); i >= 0 {
		commands = commands[i : i+1]
	}
	for _, c := range commands {
		cmd.AddCommand(a.command(c.make(a)))
	}
}

// group makes cmd the parent of commands, which does nothing by itself.
func (a *app) group(cmd *cobra.Command, commands []named) {
	cmd.Args, cmd.ValidArgsFunction = onlyCommands, cobra.NoFileCompletions
	cmd.RunE = func(*cobra.Command, []string) error {
		names, last := commandNames(cmd), len(commands)-1
		return usagef("a command is needed: %s or %s", strings.Join(names[:last], ", "), names[last])
	}
	var args []string
	if len(a.args) > 0 && a.args[0] == cmd.Name() {
		args = a.args[1:]
	}
	a.addCommands(cmd, args, commands)
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
	if name := habit(args[0]); name != "" && (!cmd.HasParent() || name == "undo") {
		return usagef("there is no command %q; did you mean %q?", args[0], "stchat "+name)
	}
	return usagef("there is no command %q%s", args[0], didYouMean(args[0], commandNames(cmd), ""))
}

// habit returns the command that does what a word of other programs means, "" for none.
func habit(word string) string {
	return map[string]string{
		"ls": "inspect", "list": "inspect", "status": "check", "info": "inspect",
		"grep": "search", "find": "search", "cat": "message get", "show": "message get",
		"mv": "rename", "rm": "delete", "remove": "delete", "cp": "branch", "copy": "branch",
		"backup": "snapshot", "replace": "message set", "undo": "undo",
	}[word]
}

// didYouMean returns the known word nearest to a mistyped one, after prefix, as the end
// of an error; "" if none is near.
func didYouMean(word string, known []string, prefix string) string {
	best, least := "", max(1, len(word)/3)+1 // with more typing errors than that it is another word
	for _, k := range known {
		d := distance(strings.ToLower(word), strings.ToLower(k))
		if len(word) > 1 && strings.HasPrefix(k, word) {
			d = 1
		}
		if d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", prefix+best)
}

// distance counts the bytes to insert, delete, change, or swap with the next one to
// turn a into b.
func distance(a, b string) int {
	var older, old []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		older, old, row = old, row, make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(old[j+1]+1, row[j]+1, old[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
