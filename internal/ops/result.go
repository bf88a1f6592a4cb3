package ops

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/jsonl"
	"stchat/internal/place/userdir"
)

// Result is what a verb made of one CHAT. D is its JSON document, with nothing else in it.
type Result[D any] struct {
	Doc D
	// Warnings are what one should know before relying on the result; Notes are what arguments
	// were taken to mean.
	Warnings, Notes []string
	Facts           []Fact
	// Outcome is what became of the files; its Err is why there is no result.
	changeset.Outcome
}

// Warn adds a warning.
func (r *Result[D]) Warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// Note says what an argument was taken to mean.
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

// Or returns what p points to, or otherwise for nil.
func Or[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
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

// One is [Each] for a single subject.
func One[R Completer](ctx context.Context, opt changeset.Options, r R, unit changeset.Unit) R {
	return Each(ctx, opt, []R{r}, func(R) (R, changeset.Unit) { return r, unit })[0]
}

// Create drafts a new file with the given content.
func Create(s *changeset.Set, path, about string, data []byte, opts ...changeset.DraftOption) error {
	d, err := s.Create(path, about, opts...)
	if err == nil {
		_, err = d.Write(data)
	}
	return err
}

// WarnLeftOut warns that keys were named which a merge or a patch cannot change.
func WarnLeftOut[D any](r *Result[D], keys []string) {
	named := strings.Join(keys, " and ")
	r.WarnOf(Fact{Kind: FactLeftOut, Name: named}, "what is given for %s is left out", named)
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
		return AtPath(pe.Path, pe.Err)
	}
	return err
}

// Kind is a kind of error, to be found with errors.Is and wrapped with what it is about.
type Kind struct {
	Code string // the code that scripts tell it by (docs/json.md); "": that of what it is wrapped with
	Text string
	Hint string // what would help, as a name; the caller knows how that is asked for. "": nothing
}

// Error implements error.
func (k *Kind) Error() string { return k.Text }

// ErrChatName means that a file that is not a chat would have a chat's name.
var ErrChatName = errors.New("would be taken for a chat; choose another name or place")

// ErrReserved means that a file would lie where SillyTavern or stchat keeps something else.
var ErrReserved = error(&Kind{Code: "refused", Text: "SillyTavern keeps its own files there; choose another place"})

// ErrNotOwn means that a file in a user folder is not one that the command wrote before.
var ErrNotOwn = error(&Kind{Code: "refused", Text: "is not what this command wrote before, and stays; choose another name"})

// JudgeOutput refuses the path of an output at which SillyTavern or stchat reads something
// else; isChat says that the output is a chat. The error wraps [ErrReserved].
func JudgeOutput(path string, isChat bool) error {
	for _, path := range []string{path, userdir.RealPath(path)} {
		if role := userdir.RoleOf(path); role == userdir.Reserved || role == userdir.ChatPlace && !isChat {
			return fmt.Errorf("%s: %w", path, ErrReserved)
		}
	}
	return nil
}

// ErrNotRead means that a chat would lie in a user folder where SillyTavern does not look for chats.
var ErrNotRead = error(&Kind{Code: "refused", Text: `in its user folder SillyTavern looks for chats only in chats/OWNER/ and "group chats/"`})

// JudgeChatPlace refuses a path for a new chat that is in a user folder, but not where SillyTavern
// looks for chats. The error wraps [ErrNotRead].
func JudgeChatPlace(path string) error {
	switch userdir.RoleOf(path) {
	case userdir.Outside, userdir.ChatPlace:
		return nil
	default:
		return fmt.Errorf("%s: %w", path, ErrNotRead)
	}
}

// Output is a file that is not a chat, and how it is written.
type Output struct {
	Path    string
	Folder  bool                   // its folder is made if it is missing
	Lines   bool                   // its name may be that of a chat, outside of user folders
	Force   bool                   // replace an existing file
	Own     func(head []byte) bool // recognises by its beginning what the command wrote before
	Changes changeset.Options
}

// WriteOutput writes an output, whole or not at all; see [Output.Unit].
func WriteOutput(ctx context.Context, x Output, write func(io.Writer) error) changeset.Outcome {
	return One(ctx, x.Changes, &Result[struct{}]{}, x.Unit(write)).Outcome
}

// Unit returns the unit that writes an output. It replaces an existing file only with
// Force; otherwise the error is a *safefile.ExistsError. In a user folder, and of Lines
// anywhere, it replaces only what is Own; in a user folder it keeps that for undo.
func (x Output) Unit(write func(io.Writer) error) changeset.Unit {
	inside, root := userdir.RoleOf(x.Path) != userdir.Outside, changeset.RootOf(x.Path)
	if around, ok := userdir.Around(filepath.Dir(x.Path)); inside && ok {
		root = around
	}
	return changeset.Unit{Root: root, Unrecorded: !inside, Draft: func(_ context.Context, s *changeset.Set) error {
		for _, at := range []string{x.Path, userdir.RealPath(x.Path)} {
			if userdir.HasExtension(at) && (!x.Lines || userdir.RoleOf(at) != userdir.Outside) {
				return fmt.Errorf("%s: %w", x.Path, ErrChatName)
			}
		}
		if err := JudgeOutput(x.Path, false); err != nil {
			return err
		}
		if x.Force && (inside || x.Lines) {
			if err := x.judgeReplaced(); err != nil {
				return err
			}
		}

		d, err := x.draft(s)
		if err != nil {
			return err
		}
		w := bufio.NewWriterSize(d, 1<<16)
		if err := write(w); err != nil {
			return err
		}
		return w.Flush()
	}}
}

// judgeReplaced refuses an existing file that is not Own.
func (x *Output) judgeReplaced() error {
	f, err := safefile.Open(x.Path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}

	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 512))
	if err == nil && !x.Own(head) {
		err = fmt.Errorf("%s: %w", x.Path, ErrNotOwn)
	}
	return err
}

func (x *Output) draft(s *changeset.Set) (*changeset.Draft, error) {
	const about = "the output"
	if x.Force {
		was, err := safefile.StampPath(x.Path)
		if err == nil {
			return s.Replace(x.Path, was, about)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}

	if x.Folder {
		return s.Create(x.Path, about, changeset.InFolder())
	}
	return s.Create(x.Path, about)
}
