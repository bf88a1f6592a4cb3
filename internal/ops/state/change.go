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

// Options hold for every verb that changes state.
type Options struct {
	edit.Terms // a new slug gets a chat that is edited itself
	Path       string
}

// Changed is what became of the state of one chat or character: the document of state set,
// delete and prune.
type Changed struct {
	Schema    int       `json:"schema"`
	Path      string    `json:"path" is:"path"`
	Namespace *string   `json:"namespace"` // null where more than one is meant
	Changed   bool      `json:"changed"`
	Commit    *Made     `json:"commit"` // that was added to a floor log
	Removed   []Removed `json:"removed"`
	PrunedTo  *int      `json:"pruned_to"` // the chat's last message, by which prune judged
	DidWrite  bool      `json:"written"`
	Warnings  []string  `json:"warnings"`
	DryRun    bool      `json:"dry_run"`
	ops.Written
}

// Made is a commit that was added to a floor log.
type Made struct {
	Floor      int `json:"floor"`
	Swipe      int `json:"swipe"` // from 1
	Operations int `json:"operations"`
}

// Removed counts what went.
type Removed struct {
	What  string `json:"what"`
	Count int    `json:"count"`
}

// Result is what became of one chat or character.
type Result struct {
	ops.Result[Changed]
	// Chat says that the chat itself was edited, and not what lies beside it alone.
	Chat bool
}

func newResult(opt *Options, namespaces ...string) *Result {
	r := &Result{}
	r.Doc = Changed{Schema: 1, Path: opt.Path, DryRun: opt.Changes.DryRun, Removed: []Removed{}, Warnings: []string{}}
	if len(namespaces) == 1 {
		r.Doc.Namespace = &namespaces[0]
	}
	return r
}

// run drafts one change of one target.
func run(ctx context.Context, opt *Options, r *Result, draft func(ctx context.Context, t *target, s *changeset.Set) error) {
	lib := new(library.Library)
	unit := changeset.Unit{Root: changeset.RootOf(opt.Path), Draft: func(ctx context.Context, s *changeset.Set) error {
		t, err := openTarget(ctx, lib, opt.Data, opt.Path)
		if err != nil {
			return err
		}
		defer t.Close()
		if err := opt.expected(ctx, t); err != nil {
			return err
		}
		return ops.PathError(draft(ctx, t, s))
	}}
	r.finish(changeset.Run(ctx, []changeset.Unit{unit}, opt.Changes)[0])
}

// expected refuses a chat that is not as it was said to be.
func (opt *Options) expected(ctx context.Context, t *target) error {
	if t.chat == nil {
		return nil
	}
	raw, _ := t.chat.Metadata().Get("integrity")
	if slug, _ := rawjson.Unquote(raw); opt.ExpectIntegrity != "" && slug != opt.ExpectIntegrity {
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
