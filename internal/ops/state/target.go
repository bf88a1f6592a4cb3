package state

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/extension/autorecap"
	"stchat/internal/extension/luker"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl"
	"stchat/internal/ops"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/choose"
)

var (
	// ErrNotBeside means that the chat is standard input, which has no files beside it.
	ErrNotBeside = errors.New("state lies beside a chat, so it must be a file")
	// ErrNamespace means that a text is not a namespace, or not one for this call.
	ErrNamespace = errors.New("not a namespace for this")
	// ErrDamaged means that a sidecar is damaged.
	ErrDamaged = errors.New("it is damaged")
)

// Recap is the namespace of what Auto-Recap keeps.
const Recap = autorecap.Namespace

// target is the chat or character that state belongs to.
type target struct {
	path     string
	chat     *chat.Chat // nil for a character
	sidecars []luker.Sidecar
	swipes   []int // the chosen swipe of each message, once read
}

// openTarget opens a chat that meets the demand, or a character by its card. The target must be closed.
func openTarget(ctx context.Context, lib *library.Library, data, path string, demand ops.Demand) (*target, error) {
	if path == chat.Stdin {
		return nil, ErrNotBeside
	}
	t := &target{path: path}
	if !IsCard(path) {
		c, err := ops.Open(ctx, lib, path, demand, chat.Options{Data: data})
		if err != nil {
			return nil, err
		}
		if t.sidecars, err = c.Sidecars(); err != nil {
			c.Close()
			return nil, err
		}
		t.chat = c.Chat
		return t, nil
	}

	f, err := chat.OpenRegular(path)
	if err != nil {
		return nil, ops.PathError(err)
	}
	defer f.Close()
	if dir, ok := userdir.Enclosing(path); ok {
		if err := ops.InFiles(lib, dir, path); err != nil {
			return nil, err
		}
	}

	t.sidecars, err = luker.CharacterStates(userdir.Follow(path))
	return t, ops.PathError(err)
}

// IsCard reports whether a path is that of a character's card.
func IsCard(path string) bool { return strings.EqualFold(filepath.Ext(path), ".png") }

// Close closes the chat.
func (t *target) Close() { t.chat.Close() }

// sidecar returns the sidecar of a namespace; ok is false if there is none.
func (t *target) sidecar(namespace string) (s luker.Sidecar, ok bool) {
	i := slices.IndexFunc(t.sidecars, func(s luker.Sidecar) bool { return s.Namespace == namespace })
	if i < 0 {
		return s, false
	}
	return t.sidecars[i], true
}

// pathOf returns where the sidecar of a namespace is, or would be.
func (t *target) pathOf(namespace string) string {
	real := userdir.Follow(t.path)
	if t.chat == nil {
		return filepath.Join(filepath.Dir(real), luker.CharacterStateName(strings.TrimSuffix(filepath.Base(real), filepath.Ext(real)), namespace))
	}
	return filepath.Join(filepath.Dir(real), luker.SidecarName(userdir.ChatName(real), namespace))
}

// log returns the floor log of a namespace, false if there is none. A character never has
// one.
func (t *target) log(namespace string) (luker.Sidecar, bool) {
	s, ok := t.sidecar(luker.LogOf(namespace))
	return s, ok && t.chat != nil
}

// noLog returns the error that a namespace lacks a floor log.
func (t *target) noLog(namespace string) error {
	if t.chat == nil {
		return fmt.Errorf("%s: a character has no messages, and so no log of Luker's", t.path)
	}
	why := ErrNoLog
	if _, hasValue := t.sidecar(namespace); hasValue {
		why = errOnlyValue
	}
	if viewed(namespace) != nil {
		why = errViewLog
	}
	return fmt.Errorf("%s: %q: %w", t.path, namespace, why)
}

// chosen returns the chosen swipe of each message, nil for a character. The error wraps
// [chat.ErrDamaged] if the chat has a damaged line.
func (t *target) chosen(ctx context.Context) ([]int, error) {
	if t.swipes != nil || t.chat == nil {
		return t.swipes, nil
	}
	swipes, damage, err := luker.Swipes(ctx, t.chat.Source, t.chat.Body, t.chat.BodyLine)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.path, err)
	}
	if damage.Total > 0 {
		return nil, t.chat.DamageError(damage.First[0])
	}
	if swipes == nil {
		swipes = []int{}
	}
	t.swipes = swipes
	return swipes, nil
}

// swipeCount returns how many swipes message i has. One without a list of them has its text as the only one.
func (t *target) swipeCount(ctx context.Context, i int) (count int, err error) {
	opt := jsonl.MapOptions{From: t.chat.Body, Line: t.chat.BodyLine, Keys: jsonl.NewKeys("swipes")}
	err = jsonl.Each(ctx, t.chat.Source, opt, func(l *jsonl.Line, base jsonl.Base) error {
		if base.Index+l.Index == i {
			count = max(l.Count(0), 1)
		}
		return nil
	})
	return count, ops.PathError(err)
}

// message returns the index of a message, counted from the end if at is below 0; -1 if at is
// nil. The error is a [*choose.OutOfRangeError] if there is no such message.
func (t *target) message(ctx context.Context, at *int) (int, error) {
	if at == nil {
		return -1, nil
	}
	swipes, err := t.chosen(ctx)
	if err != nil {
		return 0, err
	}
	found, err := choose.Range{From: *at, To: *at}.Indexes(len(swipes))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", t.path, err)
	}
	return found[0], nil
}

// write drafts the whole content of a state file. One that does not exist yet, and so was nothing,
// becomes as private as the chat.
func (t *target) write(s *changeset.Set, path string, was safefile.Stamp, about string, data []byte) error {
	if was == (safefile.Stamp{}) {
		var like safefile.Stamp
		if t.chat != nil {
			like = t.chat.Stamp
		}
		return ops.Create(s, path, about, data, changeset.Like(like))
	}

	d, err := s.Replace(path, was, about)
	if err == nil {
		_, err = d.Write(data)
	}
	return err
}

// namespaceOf returns a namespace normalized as Luker does, and notes if that changes it.
func namespaceOf(given string, notes *[]string) (string, error) {
	if viewed(given) != nil {
		return given, nil
	}
	namespace := luker.Normalize(given)
	switch namespace {
	case "":
		return "", fmt.Errorf("%q: %w: it is empty", given, ErrNamespace)
	case given:
	default:
		*notes = append(*notes, fmt.Sprintf("the namespace %q is %q for Luker", given, namespace))
	}
	return namespace, nil
}

// read reads a sidecar. The error wraps [ErrDamaged] if it is not valid JSON.
func read(path string) (raw []byte, was safefile.Stamp, err error) {
	if raw, was, err = safefile.Read(path); err != nil {
		return nil, was, ops.PathError(err)
	}
	if d := jsonl.Check(raw); d != nil {
		return nil, was, fmt.Errorf("%s: %w: %w", path, ErrDamaged, d)
	}
	return raw, was, nil
}

// replay replays the floor log at path and returns its value as of message last, or of the
// last message if last is below 0.
func (t *target) replay(ctx context.Context, path string, last int) ([]byte, error) {
	swipes, err := t.chosen(ctx)
	if err != nil {
		return nil, err
	}
	f, err := chat.OpenRegular(path)
	if err != nil {
		return nil, ops.PathError(err)
	}
	defer f.Close()
	state, err := luker.ReplayLog(f, luker.Active(swipes, last))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return state, nil
}
