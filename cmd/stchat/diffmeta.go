package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/metadiff"
	"stchat/internal/ops"
	"stchat/internal/visible"
)

func newDiffMeta() verb {
	return verb{
		use: "diff-meta A B", short: "Compare the metadata of two chats",
		doc: `Compare the metadata of two chats as SillyTavern would load it: chat_metadata of
their headers, or for a group chat without one what its group file keeps. Only
the headers are read. A or B may be -, standard input.

Values compare exactly: keys in any order, the last of repeated keys, strings
decoded, numbers as decimals (1.0 is 1, 9007199254740993 is not ...992).

--ignore and --only take top-level keys of the metadata. A KEY that A or B has
means that key; any other is a glob with *, ? and [a-z].

Formats: text for people, long values cut around the difference; json, described
in docs/json.md; patch, a JSON Patch (RFC 6902), and merge-patch, a JSON Merge
Patch (RFC 7386), each of which applied to A's metadata gives B's. A merge patch
cannot put an explicit null anywhere: where B needs one, that is an error.
`, no: "the metadata differs",
		example: `  stchat diff-meta Harbour.jsonl "Harbour__before the storm.jsonl"
  stchat diff-meta A.jsonl B.jsonl --ignore integrity --ignore 'auto_*'
  stchat diff-meta A.jsonl B.jsonl --only variables --format patch
  git show HEAD:chat.jsonl | stchat diff-meta - chat.jsonl`,
		args:    cobra.ExactArgs(2),
		rules:   []string{"format excludes json"},
		means:   &subjects{chats: true, all: true},
		pages:   everything,
		options: &diffMetaOptions{},
	}
}

type diffMetaOptions struct {
	format string
	sel    metadiff.Selection
}

func (o *diffMetaOptions) addFlags(fs *pflag.FlagSet) {
	fs.Var(oneOf(&o.format, "text", "text", "json", "patch", "merge-patch"), "format", "`FORMAT` of the output: text, json, patch or merge-patch")
	fs.Bool("json", false, "the same as --format json")
	fs.StringArrayVar(&o.sel.Ignore, "ignore", nil, "leave the metadata key `KEY` out, or those that match it as a glob (repeatable)")
	fs.StringArrayVar(&o.sel.Only, "only", nil, "compare only the metadata key `KEY`, or those that match it as a glob (repeatable)")
}

func (o *diffMetaOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	if c.json {
		o.format = "json"
	}
	c.json = o.format == "json"
	d, err := ops.DiffMeta(ctx, ops.DiffMetaOptions{A: args[0], B: args[1], Stdin: c.In, Select: o.sel})
	if err != nil {
		return c.failedAs(err)
	}
	c.warns(d.Warnings)
	switch o.format {
	case "json":
		c.document(d)
	case "patch":
		c.w.Write(append(visible.JSON(d.Diff.Patch()), '\n'))
	case "merge-patch":
		patch, err := d.Diff.MergePatch()
		if null, ok := errors.AsType[*metadiff.NullError](err); ok {
			return fmt.Errorf("%s: %w; use --format patch", d.LabelB, null)
		} else if err != nil {
			return err
		}
		c.w.Write(append(visible.JSON(patch), '\n'))
	default:
		writeChanges(c, d)
		if d.Equal && c.shown {
			c.note("the metadata is equal")
		}
	}
	return outcome(false, !d.Equal)
}

// failedAs returns an error, and prints its document first if documents are wanted.
func (c *console) failedAs(err error) error {
	if c.json && !isA[*usageError](err) {
		c.document(documentOf("", err))
	}
	return err
}

// longValue is about how many characters of a value are shown, around what differs.
const longValue = 120

// writeChanges writes the changes for a person: each path with its old and new value,
// and at the end what the changes mean.
func writeChanges(c *console, d *ops.MetaDiff) {
	if d.Equal {
		return
	}
	w := c.w
	c.diffHead(d.LabelA, d.LabelB, "")
	for _, change := range d.Changes {
		sign := map[metadiff.Op]string{metadiff.Add: "+", metadiff.Remove: "-", metadiff.Replace: "~"}[change.Op]
		fmt.Fprintf(w, "%s %s\n", sign, paint(c.outColor, cyan, visible.Text(change.Path)))
		from, to := metadiff.Excerpts(string(change.From), string(change.To), longValue)
		if change.Op != metadiff.Add {
			c.diffLine(red, "    - ", from)
		}
		if change.Op != metadiff.Remove {
			c.diffLine(green, "    + ", to)
		}
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w, changeSummary(d.Changes))
	for _, meaning := range d.Meanings {
		fmt.Fprintf(w, "  %s\n", visible.Text(meaning))
	}
}

// changeSummary returns the counts of the changes.
func changeSummary(changes []metadiff.Change) string {
	n := map[metadiff.Op]int{}
	for _, change := range changes {
		n[change.Op]++
	}
	return fmt.Sprintf("%d changed, %d added, %d removed", n[metadiff.Replace], n[metadiff.Add], n[metadiff.Remove])
}
