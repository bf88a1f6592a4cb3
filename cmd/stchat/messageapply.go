package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/ops/edit"
	"stchat/internal/patch"
)

const messageApplyDoc = `Make many edits of one chat together: all of them or none.

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
` + inPlaceDoc

func newMessageApply(*app) verb {
	o := &messageApplyOptions{}
	return verb{
		use: "apply CHAT OPS", short: "Make many edits of one chat together",
		doc: messageApplyDoc, no: "a test or --expect-… fails",
		example: "  stchat message apply chat.jsonl ops.jsonl\n  echo '{\"op\":\"delete\",\"at\":[3,\"7..9\"]}' | stchat message apply chat.jsonl -",
		args:    cobra.ExactArgs(2),
		flags:   o.addFlags, run: o.run,
	}
}

type messageApplyOptions struct {
	inPlaceFlags
	patch bool
}

func (o *messageApplyOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.patch, "patch", false, "OPS is a JSON patch over the list of messages")
	o.inPlaceFlags.addFlags(fs, "go on where pending work of an extension refers to messages that move")
}

func (o *messageApplyOptions) run(ctx context.Context, a *app, _ *pflag.FlagSet, args []string) error {
	common, err := o.options(a, args[:1])
	if err != nil {
		return err
	}
	c := a.console()
	apply := o.list
	if o.patch {
		apply = o.patched
	}
	results, err := apply(ctx, a, args[1], common)
	if err != nil {
		return err
	}
	return o.tell(c, results, func(r *edit.Result) error { return o.printIndexes(c, r, r.Doc.Added) })
}

// list applies a list of operations.
func (o *messageApplyOptions) list(ctx context.Context, a *app, path string, common edit.Options) ([]*edit.Result, error) {
	data, err := readInput(ctx, a, path)
	if err != nil {
		return nil, err
	}
	list, err := edit.ReadOperations(ctx, label(path), data)
	if err != nil {
		return nil, err
	}
	return edit.Apply(ctx, edit.BatchOptions{Options: common, Operations: list}), nil
}

// patched applies a JSON patch.
func (o *messageApplyOptions) patched(ctx context.Context, a *app, path string, common edit.Options) ([]*edit.Result, error) {
	data, err := readInput(ctx, a, path)
	if err != nil {
		return nil, err
	}
	list, err := patch.ParseOperations(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", label(path), err)
	}
	return edit.ApplyPatch(ctx, edit.PatchOptions{Options: common, Patch: list}), nil
}
