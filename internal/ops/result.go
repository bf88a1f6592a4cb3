package ops

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"stchat/internal/changeset"
	"stchat/internal/jsonl"
	"stchat/internal/safefile"
)

// Result is what a verb made of one CHAT. D is its JSON document, with nothing else in it.
type Result[D any] struct {
	Doc D
	// Warnings are what one should know before relying on the result; Notes are further
	// remarks.
	Warnings, Notes []string
	// Outcome is what became of the files; its Err is why there is no result.
	changeset.Outcome
}

// Warn adds a warning.
func (r *Result[D]) Warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// Note adds a remark that is not a warning.
func (r *Result[D]) Note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// Complete notes what became of the files, in the result and in those parts of its document
// that are a [Written] or a [Warned].
func (r *Result[D]) Complete(o changeset.Outcome, dryRun bool) {
	r.Outcome = o
	if d, ok := any(&r.Doc).(interface{ complete(o changeset.Outcome) }); ok {
		d.complete(o)
	}
	if d, ok := any(&r.Doc).(interface {
		warn(list []string, dryRun bool)
	}); ok {
		d.warn(r.Warnings, dryRun)
	}
}

// Completer is a result that takes what became of the files: a [Result], or what embeds one.
type Completer interface {
	Complete(o changeset.Outcome, dryRun bool)
}

// Each changes every subject in a unit of its own, and returns their results, in their order.
// unit returns a subject's result, still empty, and its unit, which fills it while it drafts.
func Each[S any, R Completer](ctx context.Context, opt changeset.Options, subjects []S, unit func(S) (R, changeset.Unit)) []R {
	results, units := make([]R, len(subjects)), make([]changeset.Unit, len(subjects))
	for i, s := range subjects {
		results[i], units[i] = unit(s)
		draft := units[i].Draft
		units[i].Draft = func(ctx context.Context, s *changeset.Set) error { return PathError(draft(ctx, s)) }
	}
	for i, o := range changeset.Run(ctx, units, opt) {
		results[i].Complete(o, opt.DryRun)
	}
	return results
}

// ChangedMeanwhile reports whether an error means that another program changed a file or took a
// name. It is for [changeset.Unit.Again].
func ChangedMeanwhile(err error) bool {
	return errors.Is(err, safefile.ErrChanged) || errors.Is(err, jsonl.ErrChanged) || errors.Is(err, fs.ErrExist)
}

// One is [Each] for a single subject. The change belongs to the root of path.
func One[R Completer](ctx context.Context, opt changeset.Options, r R, path string, draft func(context.Context, *changeset.Set) error) R {
	return Each(ctx, opt, []R{r}, func(R) (R, changeset.Unit) {
		return r, changeset.Unit{Root: changeset.RootOf(path), Draft: draft}
	})[0]
}

// Create drafts a new file with the given content.
func Create(s *changeset.Set, path, about string, data []byte, opts ...changeset.DraftOption) error {
	d, err := s.Create(path, about, opts...)
	if err == nil {
		_, err = d.Write(data)
	}
	return err
}

// LeftOut returns the note that keys were named which a merge or a patch cannot change.
func LeftOut(keys []string) string {
	return fmt.Sprintf("what is given for %s is left out", strings.Join(keys, " and "))
}

// Written is the part of the JSON document that all commands that write have in common.
type Written struct {
	Operation *string `json:"operation"` // what undo takes
	Steps     []Step  `json:"steps"`     // as done, or as they would be
}

func (w *Written) complete(o changeset.Outcome) { *w = WrittenBy(o) }

// Warned is the part of the JSON document with the warnings of a result.
type Warned struct {
	Warnings []string `json:"warnings"`
	DryRun   bool     `json:"dry_run"`
}

func (w *Warned) warn(list []string, dryRun bool) {
	w.Warnings, w.DryRun = list, dryRun
}

// Step is a step of a change as JSON documents show it.
type Step struct {
	Do    changeset.Do `json:"do"`
	Path  string       `json:"path" is:"path"`
	To    *string      `json:"to" is:"path"`
	About string       `json:"about"`
	Bytes int64        `json:"bytes"`
}

// WrittenBy returns the part of the document that an outcome fills.
func WrittenBy(o changeset.Outcome) Written {
	w := Written{}
	if o.ID != "" {
		w.Operation = &o.ID
	}
	for _, s := range o.Steps {
		step := Step{s.Do, s.Path, nil, s.About, s.Bytes}
		if s.To != "" {
			step.To = &s.To
		}
		w.Steps = append(w.Steps, step)
	}
	return w
}

// PathError puts the path in front of an error and leaves out the system call. An error without
// a path is returned as it is.
func PathError(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return err
}
