package main

import (
	"bufio"
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/chat"
	"stchat/internal/inspect"
	"stchat/internal/ops"
)

const inspectDoc = `Tell what is in chats: messages by role, dates, swipes, what the bytes are
spent on, parent, checkpoints and branches, lorebook, state of extensions, and
damage. Nothing is written, and damage is told, not refused.

PATH is a chat, a folder (every *.jsonl below it, links not followed), or a
SillyTavern user folder (chats/*/ and "group chats"/ only); - is standard
input. One chat gets a card. Several get a table, a chat a row, in which
checkpoints and branches follow their parent, and a total; for a user folder
there is also what it holds in all.

What is counted, and how:
  role       system where is_system is true, else user where is_user is true,
             else character; truth is JavaScript's
  hidden     is_system without extra.type: what /hide makes
  swipes     messages with more than one swipe, and how many are stored in all
  parts      bytes as written, with quotes and brackets: mes, swipes,
             swipe_info, extra, and other, which is the rest of the lines
  dates      the first and last message's that has one; a date that cannot be
             read is shown as it stands
  damage     lines that --skip-damaged of other commands would leave out

With --messages there is a row for each message. In a pipe the output has no
colour, no headings and nothing is cut: columns are separated by tabs. With
--json there is one document a line, described in docs/json.md; for several
chats the last one sums up.
`

const inspectExample = `  stchat inspect "chats/Mira/Harbour.jsonl"
  stchat inspect SillyTavern/data/default-user
  stchat inspect chats --json | jq -r 'select(.damage != [] and .damage != null) | .path'
  stchat inspect chat.jsonl --messages | less
  stchat inspect - < chat.jsonl`

func newInspectCmd(a *app) *cobra.Command {
	o := &inspectOptions{}
	cmd := &cobra.Command{
		Use:               "inspect PATH...",
		Short:             "Tell what is in chats",
		Long:              inspectDoc + exitStatus("never"),
		Example:           inspectExample,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeChats,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runInspect(cmd.Context(), a, o, args)
		},
	}
	o.addFlags(cmd.Flags())
	return cmd
}

type inspectOptions struct {
	messages bool
	json     bool
}

func (o *inspectOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.messages, "messages", false, "a row for each message: index, role, name, date, swipe, marks, first line")
	fs.BoolVar(&o.json, "json", false, "one JSON document a line for each chat, or with --messages for each message")
}

func runInspect(ctx context.Context, a *app, o *inspectOptions, args []string) error {
	c := a.console()
	meter, end := c.meter("inspecting", o.json || o.messages)
	w := bufio.NewWriter(c.Out)
	opt := ops.InspectOptions{Paths: args, Stdin: a.In, Meter: meter}
	failed := false
	var reports []*inspect.Report
	opt.Each = func(r *inspect.Report, err error) error {
		switch {
		case err != nil:
			failed = true
			c.fail(err)
		case o.json:
			return writeJSON(w, r)
		default:
			reports = append(reports, r)
		}
		return nil
	}
	if o.messages {
		o.listMessages(c, w, &opt)
	}
	res, err := ops.Inspect(ctx, opt)
	end()
	if err == nil && !o.messages {
		err = o.finish(c, w, res, reports)
	}
	if flushErr := w.Flush(); err == nil {
		err = flushErr
	}
	if err != nil {
		return err
	}
	for _, err := range res.Errs {
		failed = true
		c.fail(err)
	}
	if failed {
		return errReported
	}
	return nil
}

// finish writes what comes after the last chat.
func (o *inspectOptions) finish(c *console, w *bufio.Writer, res *ops.Inspected, reports []*inspect.Report) error {
	switch {
	case o.json && res.Several:
		return writeJSON(w, res.Summary)
	case o.json:
	case res.Several:
		writeTable(w, c, inspect.Tree(reports), res.Summary)
	case len(reports) == 1:
		writeCard(w, c, reports[0])
		for _, text := range reports[0].Warnings {
			c.warn("%s: %s", label(reports[0].Path), text)
		}
	}
	return nil
}

// label is a path as a person knows it.
func label(path string) string {
	if path == chat.Stdin {
		return "standard input"
	}
	return path
}
