package state

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/extension/luker"
	"stchat/internal/json/metadiff"
	"stchat/internal/json/patch"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/ops/edit"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/plural"
)

// SetOptions says what to set in a namespace.
type SetOptions struct {
	Options
	Namespace string
	Values    patch.Changes
	Delete    bool   // the namespace goes; what is removed is kept for undo
	At        *int   // the message of the commit, with which a floor log begins; below 0 counted from the end; nil: the last
	Swipe     *int   // its swipe, from 0; nil: the chosen one
	Expect    string // SHA-256, in hex, of what Get returns for the namespace; "": anything
}

var (
	// ErrUnsafe means that a path could reach an object's prototype in JavaScript.
	ErrUnsafe = errors.New("a path with __proto__, prototype or constructor is refused by Luker")
	// ErrNotObject means that the state would not be an object.
	ErrNotObject = errors.New("state must be an object")
	// ErrFalls means that a log's floors would not be in ascending order (Luker:
	// VALIDATION_COMMIT).
	ErrFalls = errors.New("the log of Luker cannot go back")
	// ErrPlain means that a namespace has plain state and no floor log.
	ErrPlain = error(&ops.Kind{Text: "it has plain state, and no log of Luker's", Hint: "plain"})
	// ErrEmptyChat means that there is no message for a commit.
	ErrEmptyChat = errors.New("the chat has no message that a commit could belong to")
	// ErrSubset means that a patch has operations that Luker does not know.
	ErrSubset = errors.New("Luker knows only add, remove, replace and test") //nolint:staticcheck // a name
)

// Set changes the value of a namespace. If others change it meanwhile, the change is made of what
// they made of it, unless a patch or a whole value is given; with opt.Expect that is then what is
// expected, or not.
func Set(ctx context.Context, options SetOptions) *Result {
	opt := &options
	opt.again = opt.Expect != "" || opt.Values.Replace == nil && opt.Values.Patch == nil
	opt.Changes.Precious = opt.Delete
	r := newResult(&opt.Options)
	namespace, err := namespaceOf(opt.Namespace, &r.Notes)
	if wrong := opt.valid(namespace); err == nil && wrong != nil {
		err = fmt.Errorf("%q: %w", opt.Namespace, wrong)
	}
	r.Doc.Namespace = &namespace
	if err != nil {
		r.Err = err
		return r
	}

	opt.Values.Patch = slices.Clone(opt.Values.Patch)
	for i := range opt.Values.Patch {
		opt.Values.Patch[i].Lenient = true
	}
	return run(ctx, &opt.Options, r, func(ctx context.Context, t *target, s *changeset.Set) error {
		if err := opt.expectedValue(ctx, t, namespace, s); err != nil {
			return err
		}
		if opt.Delete {
			if err := t.deletable(namespace); err != nil {
				return err
			}
			return t.remove(namespace, r, s)
		}

		log, hasLog := t.log(namespace)
		data, hasData := t.sidecar(namespace)
		onLog := hasLog || opt.At != nil
		switch {
		case onLog && t.chat == nil:
			return t.noLog(namespace)
		case onLog && !hasLog && hasData:
			return fmt.Errorf("%s: %q: %w", t.path, namespace, ErrPlain)
		case !onLog && opt.Swipe != nil:
			return t.noLog(namespace)
		case onLog:
			if hasData {
				r.Warn("%s: an older Luker left this copy; Luker's log counts, and the copy stays as it is", data.Path)
			}
			return commit(ctx, opt, t, log.Path, namespace, r, s)
		}
		return setPlain(t, &opt.Values, namespace, r, s)
	})
}

// expectedValue returns an error that wraps [edit.ErrExpected] unless the namespace holds what is
// expected.
func (opt *SetOptions) expectedValue(ctx context.Context, t *target, namespace string, s *changeset.Set) error {
	if opt.Expect == "" {
		return nil
	}
	path := t.pathOf(namespace)
	if log, ok := t.log(namespace); ok {
		path = log.Path
	}
	was, err := safefile.StampPath(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s.Rely(path, was)
	raw, err := new(Values).read(ctx, t, &GetOptions{}, namespace)
	if err != nil {
		return err
	}
	value := []byte("null")
	if raw != nil {
		value = rawjson.Compact(raw)
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256(value)); sum != opt.Expect {
		return fmt.Errorf("%s: %w: the SHA-256 of %q is %s", t.path, edit.ErrExpected, namespace, sum)
	}
	return nil
}

// valid returns an error for what cannot be set in any chat.
func (opt *SetOptions) valid(namespace string) error {
	if opt.Delete {
		return nil
	}
	switch kind := luker.KindOf(namespace); {
	case viewed(namespace) != nil:
		return &viewError{namespace, "'stchat meta set' and 'stchat edit' change it"}
	case kind != luker.Plain:
		return fmt.Errorf("%w: %s is Luker's own bookkeeping", ErrNamespace, kind)
	case luker.Normalize(luker.LogOf(namespace)) != luker.LogOf(namespace) && opt.At != nil:
		return fmt.Errorf("%w: it is too long for a log of Luker's", ErrNamespace)
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
func setPlain(t *target, values *patch.Changes, namespace string, r *Result, s *changeset.Set) error {
	path := t.pathOf(namespace)
	old, was, err := read(path)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case missing:
		old = []byte("{}")
	case err != nil && (values.Replace == nil || !errors.Is(err, ErrDamaged)): // what is replaced whole may be damaged
		return err
	}

	next, err := changed(old, values)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	case !missing && bytes.Equal(next, rawjson.Compact(old)):
		return nil
	}
	diff, err := metadiff.Compare(old, next, metadiff.Selection{})
	if err == nil { // else what was there is no object
		r.Keys = diff.Changes
	}
	return t.write(s, path, was, "state of an extension", next)
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

// commit adds one commit to a floor log, or begins a log with it: the operations that turn the log's
// value into the wanted one (createFloorState's update), as it is while the commit's swipe is chosen.
func commit(ctx context.Context, opt *SetOptions, t *target, path, namespace string, r *Result, s *changeset.Set) error {
	floor, swipe, err := commitTarget(ctx, opt, t)
	if err != nil {
		return err
	}
	log, was := []byte("{}"), safefile.Stamp{}
	if path != "" {
		log, was, err = safefile.Read(path)
	} else {
		path = t.pathOf(luker.LogOf(namespace))
	}
	if err != nil {
		return ops.PathError(err)
	}
	last := -1
	if err := luker.EachCommit(bytes.NewReader(log), func(c *luker.Commit) error {
		if c.Valid {
			last = c.Floor
		}
		return nil
	}); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}

	switch {
	case last >= len(t.swipes):
		return fmt.Errorf("%s: %w: it speaks of message %d, and the chat ends before it", t.path, ErrFalls, last)
	case floor < last: // as the newest Luker does it
		floor, swipe = last, t.swipes[last]
		r.WarnOf(ops.Fact{Kind: ops.FactCommitted, Path: t.path, Count: last}, "%s: written at message %d: the log of Luker cannot go back", t.path, last)
	}

	var replay luker.Replay
	swipes := slices.Clone(t.swipes)
	if swipes[floor] != swipe {
		r.WarnOf(ops.Fact{Kind: ops.FactOtherSwipe, Path: t.path, Name: strconv.Itoa(floor), Count: swipe + 1, Of: swipes[floor] + 1},
			"%s: this counts only while swipe %d of message %d is chosen, and now swipe %d is", t.path, swipe+1, floor, swipes[floor]+1)
		swipes[floor] = swipe
	}
	if err := replay.Log(bytes.NewReader(log), luker.Active(swipes, -1)); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	now := replay.State()
	next, err := changed(now, &opt.Values)
	if err != nil {
		return fmt.Errorf("%s: %q: %w", t.path, namespace, err)
	}
	diff, err := difference(now, next)
	if err != nil || diff.Equal() {
		return err
	}
	r.Keys = diff.Changes
	made := luker.NewCommit(floor, swipe, rawjson.Compact(diff.Patch()))
	if err := replay.Apply(luker.ReadCommit(made)); err != nil {
		return fmt.Errorf("%s: %q: Luker could not follow: %w", t.path, namespace, err)
	}
	n := len(diff.Changes)
	r.Doc.Commit = &Made{floor, swipe + 1, n}
	s.Rely(t.path, t.chat.Stamp)
	var longer bytes.Buffer
	if _, err := luker.Rewrite(&longer, bytes.NewReader(log), stays, made); err != nil {
		return err
	}
	return t.write(s, path, was, fmt.Sprintf("a commit of %s at message %d", plural.S(n, "operation"), floor), longer.Bytes())
}

func stays(c *luker.Commit) (floor, swipe int, keep bool) { return c.Floor, c.Swipe, true }

// commitTarget returns the message and the swipe that a commit belongs to (resolveCommitTarget
// of floor-state/core.js).
func commitTarget(ctx context.Context, opt *SetOptions, t *target) (floor, swipe int, err error) {
	swipes, err := t.chosen(ctx)
	if err != nil {
		return 0, 0, err
	}
	if len(swipes) == 0 {
		return 0, 0, fmt.Errorf("%s: %w", t.path, ErrEmptyChat)
	}
	floor = len(swipes) - 1
	if opt.At != nil {
		if floor, err = t.message(ctx, opt.At); err != nil {
			return 0, 0, err
		}
	}
	if opt.Swipe == nil {
		return floor, swipes[floor], nil
	}
	count, err := t.swipeCount(ctx, floor)
	if err != nil {
		return 0, 0, err
	}
	if *opt.Swipe >= count {
		return 0, 0, fmt.Errorf("%s: message %d: %w", t.path, floor, &message.SwipeError{Swipe: *opt.Swipe + 1, Swipes: count})
	}
	return floor, *opt.Swipe, nil
}

// difference returns what turns object a into b. The error is [ErrUnsafe] if a change has an unsafe
// path.
func difference(a, b []byte) (*metadiff.Diff, error) {
	diff, err := metadiff.Compare(a, b, metadiff.Selection{})
	if err != nil {
		return nil, err
	}
	for _, c := range diff.Changes {
		path, err := patch.ParsePointer(c.Path)
		if err != nil {
			return nil, err
		}
		if unsafePath(path) {
			return nil, ErrUnsafe
		}
	}
	return diff, nil
}
