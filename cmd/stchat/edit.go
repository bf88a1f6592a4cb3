package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"stchat/internal/json/patch"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops/edit"
	"stchat/internal/sillytavern/chat"
)

func newEdit() verb {
	return verb{
		writes: true,
		use:    "edit CHAT... MESSAGES [TEXT]", short: "Change messages",
		doc: `TEXT is the new text of one message of one chat; its chosen swipe follows. With
neither TEXT nor a flag that changes something, the text opens in $VISUAL or
$EDITOR. --set changes keys of the stored messages; --ops makes many edits of
one chat together, all of them or none (docs/edit.md).
`, no: "no message is chosen, or a test or --expect fails",
		also: "replace, swipe, show, undo",
		example: `  stchat edit Mira/Harbour 12 "She smiles."
  stchat edit Mira/Harbour 12
  stchat edit "Mira/*" --role user --set name=Ines`,
		means:   &subjects{writes: true, messages: true, what: newText},
		rules:   []string{"ops excludes at|last|role|speaker|match|has|since|until|hidden|no-hidden = the edits in --ops say which messages they are about", "ops excludes set|unset|merge|replace|patch|text"},
		options: &editOptions{},
	}
}

type editOptions struct {
	choiceFlags
	valueFlags
	inPlaceFlags
	text  string
	texts bool // text is given
	ops   string
}

func (o *editOptions) addFlags(fs *pflag.FlagSet) {
	fs.Var(notEmptyText(&o.text), "text", "the new `TEXT` of one message; - reads it from stdin")
	fs.Var(notEmptyText(&o.ops), "ops", "make the edits that `FILE` lists, together; - is stdin")
	o.choiceFlags.addFlags(fs)
	o.valueFlags.addFlags(fs)
	o.addManyFlags(fs, "with --ops: "+deletes)
}

// takeWhat implements [whatTaker].
func (o *editOptions) takeWhat(fs *pflag.FlagSet, text string) error {
	if fs.Changed("text") {
		return usagef("give the text as an argument or with --text, not both")
	}
	o.text, o.texts = text, true
	return nil
}

func (o *editOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) error {
	if o.ops != "" {
		return o.runOps(ctx, c, args)
	}
	choice, common, err := o.chosenIn(ctx, c, &o.choiceFlags, args, "edit Mira/Harbour 12 \"She smiles.\"")
	if err != nil {
		return err
	}
	takesStdin := o.filesFrom == chat.Stdin || o.text == chat.Stdin
	o.texts = o.texts || fs.Changed("text")
	if o.texts {
		if o.text, err = textOrStdin(ctx, c, o.text); err != nil {
			return err
		}
	}

	values, err := o.changes(ctx, c, takesStdin)
	if err != nil {
		return err
	}
	if values.Empty() && !o.texts {
		return o.runEditor(ctx, c, choice, common)
	}
	if o.texts {
		if givesText(&values) {
			return usagef("the text is given twice: as TEXT, and in --set, --unset, --merge, --patch or --replace")
		}
		if len(common.Chats) > 1 {
			return usagef("a text is for one message of one chat, and these are %d chats; --set mes=TEXT gives it to all of them", len(common.Chats))
		}
		values.Edits = append(values.Edits, patch.Edit{Path: patch.Path{"mes"}, Value: rawjson.Quote(o.text)})
	}

	opt := edit.SetOptions{Options: common, Choice: choice, Values: values, One: o.texts}
	return o.reportMany(c, edit.Set(ctx, opt), func(r *edit.Result) { o.printIndexes(c, r, r.Doc.Changed) })
}

// givesText reports whether values are about the text of a message.
func givesText(values *patch.Changes) bool {
	isText := func(path patch.Path) bool { return len(path) > 0 && path[0] == "mes" }
	inEdits := slices.ContainsFunc(values.Edits, func(e patch.Edit) bool { return isText(e.Path) })
	inPatch := slices.ContainsFunc(values.Patch, func(o patch.Operation) bool { return isText(o.Path) })
	inMerge := rawjson.Value(values.Merge, "mes") != nil || rawjson.Value(values.MergePatch, "mes") != nil
	return inEdits || inPatch || inMerge || values.Replace != nil
}

// runOps makes the edits of --ops.
func (o *editOptions) runOps(ctx context.Context, c *console, args []string) error {
	if len(o.chosenBy.Ranges) > 0 {
		return usagef("the edits in --ops say which messages they are about")
	}
	if o.filesFrom != "" {
		return usagef("--ops takes one CHAT: leave --files-from out")
	}
	if len(args) != 1 {
		return usagef("--ops takes one CHAT, not %d", len(args))
	}
	data, err := readInput(ctx, c, o.ops)
	if err != nil {
		return err
	}
	common := o.options(c, args)
	label := chat.Label(o.ops)

	var results []*edit.Result
	if isJSONList(data) {
		list, err := patch.ParseOperations(data)
		if err != nil {
			return fmt.Errorf("%s: %w", label, err)
		}
		results = edit.ApplyPatch(ctx, edit.PatchOptions{Options: common, Patch: list})
	} else {
		list, err := edit.ReadOperations(ctx, label, data)
		if err != nil {
			return err
		}
		results = edit.Apply(ctx, edit.BatchOptions{Options: common, Operations: list})
	}
	return o.report(c, results, func(r *edit.Result) { o.printIndexes(c, r, r.Doc.Added) })
}

// isJSONList reports whether data begins like a list: a JSON patch, and no operations one a line.
func isJSONList(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("["))
}
