package state

import (
	"context"
	"fmt"

	"stchat/internal/changeset"
	"stchat/internal/library"
	"stchat/internal/ops"
	"stchat/internal/ops/edit"
	"stchat/internal/rawjson"
)

// Options are common to the verbs that change state.
type Options struct {
	edit.Terms // only a chat that is itself edited gets a new slug
	Path       string
}

// Changed describes the changes to the state of one chat or character: the document of state
// set, delete and prune.
type Changed struct {
	Schema    int       `json:"schema"`
	Path      string    `json:"path" is:"path"`
	Namespace *string   `json:"namespace"` // null unless there is exactly one
	Changed   bool      `json:"changed"`
	Commit    *Made     `json:"commit"` // added to a floor log; null for none
	Removed   []Removed `json:"removed"`
	PrunedTo  *int      `json:"pruned_to"` // the chat's last message when prune ran
	DidWrite  bool      `json:"written"`
	ops.Warned
	ops.Written
}

// Made is a commit that was added to a floor log.
type Made struct {
	Floor      int `json:"floor"`
	Swipe      int `json:"swipe"` // from 1
	Operations int `json:"operations"`
}

// Removed counts what was removed.
type Removed struct {
	What  string `json:"what"`
	Count int    `json:"count"`
}

// Result is the result for one chat or character.
type Result struct {
	ops.Result[Changed]
	// Chat reports that the chat itself was edited, not only files beside it.
	Chat bool
}

func newResult(opt *Options, namespaces ...string) *Result {
	r := &Result{}
	r.Doc = Changed{Schema: 1, Path: opt.Path}
	if len(namespaces) == 1 {
		r.Doc.Namespace = &namespaces[0]
	}
	return r
}

// run opens the target, runs draft in a change set of its own, and fills in the result.
func run(ctx context.Context, opt *Options, r *Result, draft func(ctx context.Context, t *target, s *changeset.Set) error) {
	lib := new(library.Library)
	ops.One(ctx, opt.Changes, r, opt.Path, func(ctx context.Context, s *changeset.Set) error {
		t, err := openTarget(ctx, lib, opt.Data, opt.Path)
		if err != nil {
			return err
		}
		defer t.Close()
		if err := opt.expected(ctx, t); err != nil {
			return err
		}
		return draft(ctx, t, s)
	})
}

// Complete implements [ops.Completer].
func (r *Result) Complete(o changeset.Outcome, dryRun bool) {
	r.Result.Complete(o, dryRun)
	r.Doc.Changed = len(o.Steps) > 0
	r.Doc.DidWrite = r.Doc.Changed && !dryRun
}

// expected returns an error that wraps [edit.ErrExpected] if a chat's slug or number of
// messages is not as expected.
func (opt *Options) expected(ctx context.Context, t *target) error {
	if t.chat == nil {
		return nil
	}
	if slug, _ := rawjson.Unquote(t.chat.Metadata().Value("integrity")); opt.ExpectIntegrity != "" && slug != opt.ExpectIntegrity {
		return fmt.Errorf("%s: %w: its integrity slug is %q", t.path, edit.ErrExpected, slug)
	}
	if opt.ExpectMessages < 0 {
		return nil
	}
	swipes, err := t.chosen(ctx)
	if err == nil && len(swipes) != opt.ExpectMessages {
		err = fmt.Errorf("%s: %w: it has %d messages", t.path, edit.ErrExpected, len(swipes))
	}
	return err
}
