// Package state holds the verbs for what extensions keep beside chats and characters:
// Luker's sidecars and floor logs, and views of what Auto-Recap and
// Auto-Illustrator keep in the metadata. The verbs list, read, change and delete it,
// and show its history. Luker itself does all of this in a browser; package luker follows
// its source.
package state

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/extension/luker"
	"stchat/internal/folder/library"
	"stchat/internal/json/metadiff"
	"stchat/internal/ops"
)

// Options are common to the verbs that change state.
type Options struct {
	Path    string
	Data    string // the user folder
	Changes changeset.Options

	again bool // the change can be made of what there is then, if others save it meanwhile
}

// Changed describes the changes to the state of one chat or character: the document of state set.
type Changed struct {
	Schema    int       `json:"schema"`
	Path      string    `json:"path" is:"path"`
	Namespace *string   `json:"namespace"` // null if the one named is none
	Changed   bool      `json:"changed"`
	Commit    *Made     `json:"commit"` // added to a floor log; null for none
	Removed   []Removed `json:"removed"`
	DidWrite  bool      `json:"written"`
	ops.Warned
	ops.Written
}

// Removed counts what was removed.
type Removed struct {
	What  string `json:"what"` // a namespace
	Count int    `json:"count"`
}

// Made is a commit that was added to a floor log.
type Made struct {
	Floor      int `json:"floor"`
	Swipe      int `json:"swipe"` // from 1
	Operations int `json:"operations"`
}

// Result is the result for one chat or character.
type Result struct {
	ops.Result[Changed]
	Keys []metadiff.Change // what changes in the namespace
}

func newResult(opt *Options) *Result {
	r := &Result{}
	r.Doc = Changed{Schema: 1, Path: opt.Path}
	return r
}

// run opens the target, runs draft in a change set of its own, and returns the result, which it
// fills in. It refuses a chat that must not be edited.
func run(ctx context.Context, opt *Options, r *Result, draft func(ctx context.Context, t *target, s *changeset.Set) error) *Result {
	empty := *r
	u := changeset.Unit{Root: changeset.RootOf(opt.Path)}
	u.Draft = func(ctx context.Context, s *changeset.Set) error {
		*r = empty
		t, err := openTarget(ctx, new(library.Library), opt.Data, opt.Path, ops.WithHeader)
		if err != nil {
			return err
		}
		defer t.Close()
		if _, err := t.chosen(ctx); err != nil { // a damaged chat is not edited
			return err
		}
		return draft(ctx, t, s)
	}

	if opt.again {
		u.Again = ops.ChangedMeanwhile
	}
	return ops.One(ctx, opt.Changes, r, u)
}

// Complete implements [ops.Completer].
func (r *Result) Complete(o changeset.Outcome, dryRun bool) {
	r.Result.Complete(o, dryRun)
	r.Doc.Changed = len(o.Steps) > 0
	r.Doc.DidWrite = r.Doc.Changed && !dryRun
}

// remove removes a namespace: a plain one's sidecar, or a floor log and the copy that an older Luker
// left beside it. A missing one is not an error.
func (t *target) remove(namespace string, r *Result, s *changeset.Set) error {
	for _, name := range []string{luker.LogOf(namespace), namespace} {
		sidecar, ok := t.sidecar(name)
		if !ok {
			continue
		}
		was, err := safefile.StampPath(sidecar.Path)
		if err != nil {
			return err
		}
		if err := s.Remove(sidecar.Path, was, "state of an extension"); err != nil {
			return err
		}
		r.Doc.Removed = append(r.Doc.Removed, Removed{name, 1})
	}
	return nil
}

// deletable returns an error that says what can be deleted, if a namespace cannot.
func (t *target) deletable(namespace string) error {
	if viewed(namespace) != nil {
		return fmt.Errorf("%s: %w", t.path, &viewError{namespace, "delete it in the extension"})
	}
	if namespace != luker.SyncNamespace {
		return nil
	}

	var list []string
	for _, s := range t.sidecars {
		if s.Kind == luker.Plain || s.Kind == luker.FloorLog {
			list = append(list, luker.DataOf(s.Namespace))
		}
	}

	there := "nothing else is kept beside it"
	if list = slices.Compact(list); len(list) > 0 {
		there = "there is " + strings.Join(list, ", ")
	}
	return fmt.Errorf("%s: %q: %w: it is Luker's own bookkeeping; %s", t.path, namespace, ErrNamespace, there)
}

// viewError is the error of a change of what an extension keeps in the chat itself. It wraps [ErrNamespace].
type viewError struct {
	namespace string
	instead   string // what changes it
}

func (e *viewError) Error() string {
	extension := "Auto-Illustrator"
	if e.namespace == Recap {
		extension = "Auto-Recap"
	}
	return extension + "'s data is in the chat; " + e.instead
}

func (e *viewError) Unwrap() error { return ErrNamespace }
