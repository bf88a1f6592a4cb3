package state

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"stchat/internal/changeset"
	"stchat/internal/luker"
	"stchat/internal/ops/edit"
)

// take takes over the result of an edit.
func (r *Result) take(edited *edit.Result) {
	r.Warnings, r.Notes = append(r.Warnings, edited.Warnings...), append(r.Notes, edited.Notes...)
	r.Complete(edited.Outcome, edited.Doc.DryRun)
	r.Chat = slices.ContainsFunc(edited.Steps, func(s changeset.Step) bool { return s.Path == edited.Doc.Path })
}

// setRecap makes a version of an Auto-Recap recap current.
func setRecap(ctx context.Context, opt *SetOptions) *Result {
	r := newResult(&opt.Options, Recap)
	if IsCard(opt.Path) {
		r.Err = fmt.Errorf("%s: %w: a character has no recaps", opt.Path, ErrNamespace)
		return r
	}
	r.take(edit.SetRecap(ctx, edit.RecapOptions{Options: edit.Options{Terms: opt.Terms, Chats: []string{opt.Path}}, Scene: opt.Scene, Version: *opt.Version})[0])
	return r
}

// PruneOptions says which dead state to drop.
type PruneOptions struct {
	Options
	Paths      []string
	Namespaces []string // none: all
	OlderThan  time.Duration
}

// Prune drops what is provably dead in the state of chats; see [edit.Prune]. For a character
// there is nothing to drop. The results of characters come first. The error is about a
// namespace.
func Prune(ctx context.Context, opt PruneOptions) ([]*Result, error) {
	var notes Result
	wanted := map[string]bool{}
	var names []string
	for _, given := range opt.Namespaces {
		namespace, err := namespaceOf(given, notes.Note)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", given, err)
		}
		wanted[namespace] = true
		names = append(names, namespace)
	}
	is := func(namespace string) bool { return len(wanted) == 0 || wanted[namespace] }
	var chats []string
	var results []*Result
	for _, path := range opt.Paths {
		if !IsCard(path) {
			chats = append(chats, path)
			continue
		}
		opt.Path = path
		r := newResult(&opt.Options, names...)
		run(ctx, &opt.Options, r, nothing)
		results = append(results, r)
	}
	edited, pruned := edit.Prune(ctx, edit.PruneOptions{
		Options: edit.Options{Terms: opt.Terms, Chats: chats}, Recap: is(Recap), Illustrator: is(Illustrator), Logs: is, OlderThan: opt.OlderThan,
	})
	for i, e := range edited {
		opt.Path = e.Doc.Path
		r := newResult(&opt.Options, names...)
		r.count(pruned[i])
		r.take(e)
		if r.Err == nil && pruned[i].Last >= 0 {
			r.Doc.PrunedTo = &pruned[i].Last
		}
		results = append(results, r)
	}
	if len(results) > 0 {
		results[0].Notes = append(notes.Notes, results[0].Notes...)
	}
	return results, nil
}

// count adds what was dropped to the document.
func (r *Result) count(p *edit.Pruned) {
	add := func(what string, n int) {
		if n > 0 {
			r.Doc.Removed = append(r.Doc.Removed, Removed{what, n})
		}
	}
	add("pending operations", p.Pending)
	add("versions of the running recap", p.Versions)
	add("prompts", p.Prompts)
	add("images", p.Images)
	add("open messages of the gallery", p.Open)
	for _, namespace := range slices.Sorted(maps.Keys(p.Commits)) {
		add("commits of "+luker.LogOf(namespace), p.Commits[namespace])
	}
}

// nothing drafts no change.
func nothing(context.Context, *target, *changeset.Set) error { return nil }
