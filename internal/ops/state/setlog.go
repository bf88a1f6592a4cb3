package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"stchat/internal/changeset"
	"stchat/internal/chat"
	"stchat/internal/luker"
	"stchat/internal/metadiff"
	"stchat/internal/patch"
	"stchat/internal/plural"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
)

// commit adds one commit to a floor log, or begins a log with it: the operations that turn
// the log's present value into the wanted one (createFloorState's update).
func commit(ctx context.Context, opt *SetOptions, t *target, path, namespace string, r *Result, s *changeset.Set) error {
	floor, swipe, err := place(ctx, opt, t)
	if err != nil {
		return err
	}
	var replay luker.Replay
	last := -1
	f, was, err := openLog(path)
	if err != nil {
		return err
	}
	if f != nil {
		defer f.Close()
		active := luker.Active(t.swipes, -1)
		err := replay.Log(f, func(c *luker.Commit) bool {
			last = c.Floor
			return active(c)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if floor < last {
		return fmt.Errorf("%s: %w: the last commit is of message %d", t.path, ErrFalls, last)
	}
	now := replay.State()
	next, err := changed(now, &opt.Values)
	if err != nil {
		return fmt.Errorf("%s: %q: %w", t.path, namespace, err)
	}
	operations, n, err := difference(now, next)
	if err != nil || n == 0 {
		return err
	}
	made := luker.NewCommit(floor, swipe, operations)
	if c := luker.ReadCommit(made); t.swipes[floor] == swipe {
		if err := replay.Apply(c); err != nil {
			return fmt.Errorf("%s: %q: Luker could not follow: %w", t.path, namespace, err)
		}
	}
	r.Doc.Commit = &Made{floor, swipe + 1, n}
	s.Rely(t.path, t.chat.Stamp)
	about := fmt.Sprintf("a commit of %s at message %d", plural.S(n, "operation"), floor)
	var log io.ReadSeeker = bytes.NewReader([]byte("{}"))
	if f != nil {
		log = f
	} else {
		path = t.pathOf(luker.LogOf(namespace))
	}
	d, err := t.draft(s, path, f != nil, was, about)
	if err == nil {
		_, err = log.Seek(0, io.SeekStart)
	}
	if err == nil {
		_, err = luker.Rewrite(d, log, stays, made)
	}
	return err
}

func stays(c *luker.Commit) (floor, swipe int, keep bool) { return c.Floor, c.Swipe, true }

// openLog opens a floor log. For "" it returns nil.
func openLog(path string) (f *os.File, was safefile.Stamp, err error) {
	if path == "" {
		return nil, was, nil
	}
	if f, err = chat.OpenRegular(path); err != nil {
		return nil, was, err
	}
	if was, err = safefile.StampOf(f); err != nil {
		return nil, was, errors.Join(err, f.Close())
	}
	return f, was, nil
}

// place returns the message and the swipe that a commit belongs to (resolveCommitTarget
// of floor-state/core.js).
func place(ctx context.Context, opt *SetOptions, t *target) (floor, swipe int, err error) {
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
	swipe = swipes[floor]
	if opt.Swipe != nil {
		swipe = *opt.Swipe
	}
	return floor, swipe, nil
}

// difference returns the operations that turn object a into b, on one line, and how many
// there are. It returns [ErrUnsafe] if one has an unsafe path.
func difference(a, b []byte) (operations []byte, n int, err error) {
	diff, err := metadiff.Compare(a, b, metadiff.Selection{})
	if err != nil {
		return nil, 0, err
	}
	for _, c := range diff.Changes {
		path, err := patch.ParsePointer(c.Path)
		if err != nil {
			return nil, 0, err
		}
		if unsafePath(path) {
			return nil, 0, ErrUnsafe
		}
	}
	return rawjson.Compact(diff.Patch()), len(diff.Changes), nil
}

// reset replaces a floor log with a list of commits. If one of them is refused, nothing is
// written.
func reset(ctx context.Context, opt *SetOptions, t *target, namespace string, s *changeset.Set) error {
	swipes, err := t.chosen(ctx)
	if err != nil {
		return err
	}
	if kind := rawjson.KindOf(opt.Reset); kind != rawjson.Array {
		return fmt.Errorf("%w: %s, not a list", ErrCommits, kind)
	}
	var commits [][]byte
	last := 0
	for raw := range rawjson.Elements(opt.Reset) {
		c := luker.ReadCommit(raw)
		switch {
		case !c.Valid:
			return fmt.Errorf("%w: %d needs floor and swipeId, whole numbers from 0, and patches, a list of operations", ErrCommits, len(commits))
		case c.Floor >= len(swipes):
			return fmt.Errorf("%w: %d is of message %d, and the chat has %d", ErrCommits, len(commits), c.Floor, len(swipes))
		case c.Floor < last:
			return fmt.Errorf("%w: %d: %w: message %d after message %d", ErrCommits, len(commits), ErrFalls, c.Floor, last)
		}
		last = c.Floor
		commits = append(commits, rawjson.Compact(raw))
	}
	var log bytes.Buffer
	if _, err := luker.Rewrite(&log, bytes.NewReader([]byte("{}")), stays, commits...); err != nil {
		return err
	}
	if _, err := luker.ReplayLog(bytes.NewReader(log.Bytes()), luker.Active(swipes, -1)); err != nil && !opt.Force {
		return fmt.Errorf("%w: %w", ErrCommits, err)
	}
	s.Rely(t.path, t.chat.Stamp)
	about := fmt.Sprintf("a floor log of %s", plural.S(len(commits), "commit"))
	path := t.pathOf(luker.LogOf(namespace))
	old, was, err := safefile.Read(path)
	there := !errors.Is(err, fs.ErrNotExist)
	if there && (err != nil || bytes.Equal(old, log.Bytes())) {
		return err
	}
	d, err := t.draft(s, path, there, was, about)
	if err == nil {
		_, err = d.Write(log.Bytes())
	}
	return err
}
