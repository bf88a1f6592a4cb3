// Package state holds the verbs for what extensions keep beside chats and characters
// (CONTENT.md 5): Luker's sidecars and floor logs, and views of what Auto-Recap and
// Auto-Illustrator keep in the metadata. The verbs list, read, change, delete and prune it,
// and show its history. Luker itself does all of this in a browser; package luker follows
// its source.
package state

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"stchat/internal/changeset"
	"stchat/internal/extension/illustrator"
	"stchat/internal/extension/luker"
	"stchat/internal/library"
	"stchat/internal/ops"
	"stchat/internal/ops/edit"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
)

// Options are common to the verbs that change state.
type Options struct {
	edit.Terms // only a chat that is itself edited gets a new slug
	Path       string

	again bool // the change can be made of what there is then, if others save it meanwhile
}

// Changed describes the changes to the state of one chat or character: the document of state
// set, delete and prune.
type Changed struct {
	Schema    int            `json:"schema"`
	Path      string         `json:"path" is:"path"`
	Namespace *string        `json:"namespace"` // null unless there is exactly one
	Changed   bool           `json:"changed"`
	Commit    *Made          `json:"commit"` // added to a floor log; null for none
	Removed   []edit.Removed `json:"removed"`
	PrunedTo  *int           `json:"pruned_to"` // the chat's last message when prune ran
	DidWrite  bool           `json:"written"`
	ops.Warned
	ops.Written
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

// run opens the target, runs draft in a change set of its own, and returns the result, which it
// fills in. It refuses a chat that must not be edited (CONTENT.md 1.3).
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
		if err := opt.expected(ctx, t); err != nil {
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

// expected returns an error if a chat has a damaged line, and one that wraps [edit.ErrExpected] if
// its slug or number of messages is not as expected.
func (opt *Options) expected(ctx context.Context, t *target) error {
	if t.chat == nil {
		return nil
	}
	if slug, _ := rawjson.Unquote(t.chat.Metadata().Value("integrity")); opt.ExpectIntegrity != "" && slug != opt.ExpectIntegrity {
		return fmt.Errorf("%s: %w: its integrity slug is %q", t.path, edit.ErrExpected, slug)
	}
	swipes, err := t.chosen(ctx)
	if err == nil && opt.ExpectMessages >= 0 && len(swipes) != opt.ExpectMessages {
		err = fmt.Errorf("%s: %w: it has %d messages", t.path, edit.ErrExpected, len(swipes))
	}
	return err
}

// Delete removes namespaces: a plain one's sidecar, or a floor log and the copy that an older
// Luker left beside it. A missing one is not an error. What is removed is kept for undo until
// the undo record is dropped.
func Delete(ctx context.Context, opt Options, namespaces []string) *Result {
	opt.Changes.Precious = true
	r := newResult(&opt)
	normal, err := namespacesOf(namespaces, &r.Notes)
	if len(normal) == 1 {
		r.Doc.Namespace = &normal[0]
	}
	if r.Err = err; err != nil {
		return r
	}
	return run(ctx, &opt, r, func(_ context.Context, t *target, s *changeset.Set) error {
		gone := map[string]bool{}
		for _, namespace := range normal {
			if err := t.deletable(namespace); err != nil {
				return err
			}
			for _, name := range []string{luker.LogOf(namespace), namespace} {
				sidecar, ok := t.sidecar(name)
				if !ok || gone[name] {
					continue
				}
				gone[name] = true
				was, err := safefile.StampPath(sidecar.Path)
				if err != nil {
					return err
				}
				if err := s.Remove(sidecar.Path, was, "state of an extension"); err != nil {
					return err
				}
				r.Doc.Removed = append(r.Doc.Removed, edit.Removed{What: name, Count: 1})
			}
		}
		return nil
	})
}

// deletable returns an error that says what can be deleted, if a namespace cannot.
func (t *target) deletable(namespace string) error {
	var why string
	switch {
	case strings.HasSuffix(namespace, ":"):
		why = "it is a view of what the chat itself keeps"
	case namespace == luker.SyncNamespace:
		why = "it is Luker's own bookkeeping"
	default:
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
	return fmt.Errorf("%s: %q: %w: %s; %s", t.path, namespace, ErrNamespace, why, there)
}

// record takes over the result of an edit.
func (r *Result) record(edited *edit.Result) {
	r.Warnings, r.Notes = append(r.Warnings, edited.Warnings...), append(r.Notes, edited.Notes...)
	r.Complete(edited.Outcome, edited.Doc.DryRun)
	r.Chat = slices.ContainsFunc(edited.Steps, func(s changeset.Step) bool { return s.Path == edited.Doc.Path })
}

// namespacesOf is [namespaceOf] for several.
func namespacesOf(given []string, notes *[]string) (list []string, err error) {
	for _, one := range given {
		namespace, err := namespaceOf(one, notes)
		if err != nil {
			return []string{one}, err
		}
		list = append(list, namespace)
	}
	return list, nil
}

// setRecap makes a version of an Auto-Recap recap current.
func setRecap(ctx context.Context, opt *SetOptions) *Result {
	r := newResult(&opt.Options, Recap)
	if IsCard(opt.Path) {
		r.Err = fmt.Errorf("%s: %w: a character has no recaps", opt.Path, ErrNamespace)
		return r
	}
	r.record(edit.SetRecap(ctx, edit.RecapOptions{Options: edit.Options{Terms: opt.Terms, Chats: []string{opt.Path}}, Scene: opt.Scene, Version: *opt.Version})[0])
	return r
}

// PruneOptions says which dead state to drop.
type PruneOptions struct {
	Options
	Paths      []string
	Namespaces []string  // none: all
	Before     time.Time // pending operations that were noted earlier go
}

// Prune drops what is provably dead in the state of chats; see [edit.Prune]. For a character
// there is nothing to drop. The results of characters come first. The error is about a
// namespace.
func Prune(ctx context.Context, opt PruneOptions) ([]*Result, error) {
	var notes []string
	names, err := namespacesOf(opt.Namespaces, &notes)
	if err != nil {
		return nil, err
	}
	is := func(namespace string) bool { return len(names) == 0 || slices.Contains(names, namespace) }
	var chats []string
	var results []*Result
	for _, path := range opt.Paths {
		if !IsCard(path) {
			chats = append(chats, path)
			continue
		}
		opt.Path = path
		results = append(results, run(ctx, &opt.Options, newResult(&opt.Options, names...), func(context.Context, *target, *changeset.Set) error { return nil }))
	}
	edited, pruned := edit.Prune(ctx, edit.PruneOptions{
		Options: edit.Options{Terms: opt.Terms, Chats: chats}, Recap: is(Recap), Illustrator: is(illustrator.Namespace), Logs: is, Before: opt.Before,
	})
	for i, e := range edited {
		opt.Path = e.Doc.Path
		r := newResult(&opt.Options, names...)
		r.Doc.Removed = pruned[i].Removed
		r.record(e)
		if r.Err == nil && pruned[i].Last >= 0 {
			r.Doc.PrunedTo = &pruned[i].Last
		}
		results = append(results, r)
	}
	if len(results) > 0 {
		results[0].Notes = append(notes, results[0].Notes...)
	}
	return results, nil
}
