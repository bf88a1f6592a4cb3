package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"stchat/internal/changeset"
	"stchat/internal/jsonl"
	"stchat/internal/luker"
	"stchat/internal/ops"
	"stchat/internal/patch"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
)

// SetOptions says what to set in a namespace.
type SetOptions struct {
	Options
	Namespace string
	Values    patch.Changes
	Reset     []byte // a list of commits to replace the floor log; nil: none
	Floor     bool   // start a floor log
	At        *int   // the message of the commit; below 0 counted from the end; nil: the last
	Swipe     *int   // its swipe, from 0; nil: the chosen one
	Version   *int   // of [Recap]: the version to make current
	Scene     *int   // of [Recap]: the message that ends its scene; nil: the running recap
}

var (
	// ErrUnsafe means that a path could reach an object's prototype in JavaScript.
	ErrUnsafe = errors.New("a path with __proto__, prototype or constructor is refused by Luker")
	// ErrNotObject means that the state would not be an object.
	ErrNotObject = errors.New("state must be an object")
	// ErrFalls means that a log's floors would not be in ascending order (Luker:
	// VALIDATION_COMMIT).
	ErrFalls = errors.New("floors must not fall")
	// ErrCommits means that Luker would not accept a list of commits.
	ErrCommits = errors.New("no commits of a floor log")
	// ErrPlain means that a namespace has plain state and no floor log.
	ErrPlain = errors.New("it has plain state, and no floor log")
	// ErrEmptyChat means that there is no message for a commit.
	ErrEmptyChat = errors.New("the chat has no message that a commit could belong to")
	// ErrSubset means that a patch has operations that Luker does not know.
	ErrSubset = errors.New("Luker knows only add, remove, replace and test") //nolint:staticcheck // a name
)

// Set changes the value of a namespace. If the sidecar changes meanwhile, it tries once more,
// as Luker does after a conflict (updateChatState), unless a patch, a whole value or a list
// of commits is given.
func Set(ctx context.Context, opt SetOptions) *Result {
	r := set(ctx, &opt)
	again := opt.Values.Replace == nil && opt.Values.Patch == nil && opt.Reset == nil
	if again && (errors.Is(r.Err, safefile.ErrChanged) || errors.Is(r.Err, fs.ErrExist)) {
		r = set(ctx, &opt)
	}
	return r
}

func set(ctx context.Context, opt *SetOptions) *Result {
	if opt.Namespace == Recap && opt.Version != nil {
		return setRecap(ctx, opt)
	}
	var notes ops.Result[Changed]
	namespace, err := namespaceOf(opt.Namespace, notes.Note)
	if err == nil {
		err = opt.valid(namespace)
	}
	r := newResult(&opt.Options, namespace)
	r.Notes = notes.Notes
	if err != nil {
		r.Err = fmt.Errorf("%q: %w", opt.Namespace, err)
		return r
	}
	run(ctx, &opt.Options, r, func(ctx context.Context, t *target, s *changeset.Set) error {
		log, hasLog := t.log(namespace)
		data, hasData := t.sidecar(namespace)
		onLog := hasLog || opt.Floor || opt.Reset != nil
		switch {
		case onLog && t.chat == nil:
			return fmt.Errorf("%s: %w: a character has no messages", t.path, ErrNoLog)
		case onLog && !hasLog && hasData:
			return fmt.Errorf("%s: %q: %w", t.path, namespace, ErrPlain)
		case !onLog && (opt.At != nil || opt.Swipe != nil):
			return fmt.Errorf("%s: %q: %w", t.path, namespace, ErrNoLog)
		case opt.Reset != nil:
			return reset(ctx, opt, t, namespace, s)
		case onLog:
			if hasData {
				r.Warn("%s: an older Luker left this copy; the floor log counts, and the copy stays as it is", data.Path)
			}
			return commit(ctx, opt, t, log.Path, namespace, r, s)
		}
		return setPlain(t, &opt.Values, namespace, s)
	})
	return r
}

// valid returns an error for what cannot be set in any chat.
func (opt *SetOptions) valid(namespace string) error {
	switch kind := luker.KindOf(namespace); {
	case namespace == Recap || namespace == Illustrator:
		return fmt.Errorf("%w: it is a view of the chat's metadata", ErrNamespace)
	case kind != luker.Plain:
		return fmt.Errorf("%w: %s is Luker's own bookkeeping", ErrNamespace, kind)
	case luker.Normalize(luker.LogOf(namespace)) != luker.LogOf(namespace) && (opt.Floor || opt.Reset != nil):
		return fmt.Errorf("%w: it is too long for a floor log", ErrNamespace)
	}
	var paths []patch.Path
	for _, e := range opt.Values.Edits {
		paths = append(paths, e.Path)
	}
	for _, o := range opt.Values.Patch {
		if o.Op == "move" || o.Op == "copy" {
			return fmt.Errorf("%w: %w, not %s", patch.ErrMalformed, ErrSubset, o.Op)
		}
		paths = append(paths, o.Path)
	}
	if slices.ContainsFunc(paths, unsafePath) {
		return ErrUnsafe
	}
	return nil
}

func unsafePath(path patch.Path) bool { return slices.ContainsFunc(path, luker.Unsafe) }

// setPlain changes a plain sidecar. A missing one counts as {}.
func setPlain(t *target, values *patch.Changes, namespace string, s *changeset.Set) error {
	path := t.pathOf(namespace)
	old, was, err := read(path)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case missing:
		old = []byte("{}")
	case err != nil && values.Replace == nil:
		return err
	case err != nil: // it is replaced whole, so damage does not matter
		if _, was, err = safefile.Read(path); err != nil {
			return err
		}
	}
	next, err := changed(old, values)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	case !missing && bytes.Equal(next, rawjson.Compact(old)):
		return nil
	}
	d, err := t.draft(s, path, !missing, was, "state of an extension")
	if err == nil {
		_, err = d.Write(next)
	}
	return err
}

// changed returns a value with the changes applied. The error wraps [ErrNotObject] if that
// is not an object.
func changed(old []byte, values *patch.Changes) ([]byte, error) {
	next, err := values.Apply(old)
	if err != nil {
		return nil, err
	}
	next = rawjson.Compact(next)
	if d := jsonl.Check(next); d != nil {
		return nil, fmt.Errorf("it would be damaged: %s", d.Reason)
	}
	if kind := rawjson.KindOf(next); kind != rawjson.ObjectKind {
		return nil, fmt.Errorf("%w, and it would be %s", ErrNotObject, kind)
	}
	return next, nil
}
