package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/visible"
)

const rootDoc = `stchat does for SillyTavern chats what git does for source: it checkpoints,
branches, inspects, compares, checks and repairs them, offline, from the
shell, without ever losing a byte.

Results go to stdout, everything said about them to stderr.`

const exitDoc = `
EXIT STATUS
  0  done
  1  the answer is no: %s
  2  trouble: wrong usage, unreadable or damaged input, a file that exists,
     a failed write`

// exitStatus is the EXIT STATUS section of a command's help; no says what
// exit code 1 means for it.
func exitStatus(no string) string { return fmt.Sprintf(exitDoc, no) }

// Exit codes (SPEC: 0 done, 1 no, 2 trouble).
const (
	exitNo      = 1
	exitTrouble = 2
)

// errNo ends a command whose answer is no, after it has been given.
var errNo = errors.New("the answer is no")

// errReported ends a command whose errors were printed one by one.
var errReported = errors.New("already reported")

// usageError is wrong usage that only the command itself can see.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// globals are the flags that every command has.
type globals struct {
	color string
	quiet bool
}

func (g *globals) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&g.color, "color", "auto", "colour: `WHEN` is auto, always or never; NO_COLOR turns it off too")
	fs.BoolVarP(&g.quiet, "quiet", "q", false, "no notes, warnings and progress; errors are always shown")
}

// app is what every command is made from.
type app struct {
	*env
	globals
	started string // the command whose RunE was entered
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "stchat COMMAND",
		Short:         "Checkpoint, branch, inspect and mend SillyTavern chats",
		Long:          rootDoc,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return usagef("a command is needed")
		},
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: false},
	}
	root.SetHelpCommand(&cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about any command",
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return usagef("there is no command %q", strings.Join(args, " "))
			}
			return topic.Help()
		},
	})
	a.addFlags(root.PersistentFlags())
	root.AddCommand(
		newBranchCmd(a),
		newCheckCmd(a),
		newCheckpointCmd(a),
		newCloneLorebookCmd(a),
		newDiffMetaCmd(a),
		newInspectCmd(a),
		newRepairCmd(a),
		newVersionCmd(a),
	)
	return root
}

// run executes the program and gives its exit code. Whatever fails before a
// command's RunE is entered is wrong usage: Cobra itself does not tell.
func run(ctx context.Context, e *env, args []string) int {
	a := &app{env: e}
	root := newRoot(a)
	root.SetArgs(args)
	for _, cmd := range root.Commands() {
		if inner := cmd.RunE; inner != nil {
			cmd.RunE = func(cmd *cobra.Command, args []string) error {
				a.started = cmd.CommandPath()
				if _, ok := colorWhen(a.color); !ok {
					return usagef("--color is auto, always or never, not %q", a.color)
				}
				return inner(cmd, args)
			}
		}
	}
	cmd, err := root.ExecuteContextC(ctx)
	var usage *usageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errNo):
		return exitNo
	case errors.Is(err, errReported):
		return exitTrouble
	case isClosedPipe(err):
		return 0 // the reader had enough: head, less
	case errors.Is(err, context.Canceled):
		a.errorLine("interrupted")
	case a.started == "" || errors.As(err, &usage):
		a.errorLine(err.Error())
		fmt.Fprintf(a.Err, "Run '%s --help' for usage.\n", cmd.CommandPath())
	default:
		a.errorLine(err.Error())
	}
	return exitTrouble
}

// errorLine prints one error: a line, whatever its text holds.
func (a *app) errorLine(text string) {
	fmt.Fprintf(a.Err, "stchat: %s\n", visible.Text(text))
}

func isClosedPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

// completeChats offers chat files.
func completeChats(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"jsonl"}, cobra.ShellCompDirectiveFilterFileExt
}
