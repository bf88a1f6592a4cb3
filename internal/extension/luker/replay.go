package luker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"stchat/internal/json/jsvalue"
	"stchat/internal/jsonl"
)

// Replay replays the commits of a floor log (computeTargetState of floor-state/core.js).
// It starts with {} and applies each commit's operations with the semantics of applyPatch
// of util/fast-json-patch.js, which is not quite RFC 6902: there are only add, remove,
// replace and test, an index may have leading zeros, removing a missing key does nothing,
// and segments that could reach an object's prototype are errors. An operation on the whole
// value makes a new one, which computeTargetState drops at the commit's end. The only
// difference is that a test of one letter of a text fails here. The zero value is ready to
// use.
type Replay struct {
	root *jsvalue.Object
	effort
}

// BrokenError says that a commit does not apply. When Luker next reads the log, it keeps a
// copy and cuts the log at that floor.
type BrokenError struct {
	Commit int // from 0, counting all entries of the log
	Floor  int
	Err    error
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("commit %d, of message %d, does not apply: %v", e.Commit, e.Floor, e.Err)
}

func (e *BrokenError) Unwrap() error { return e.Err }

// ReplayLog replays a floor log as it reads it, and returns the state as JSON. active
// reports whether a commit counts; see [Active]. The error is a [*BrokenError], or that of
// reading the log.
func ReplayLog(r io.Reader, active func(c *Commit) bool) ([]byte, error) {
	var replay Replay
	if err := replay.Log(r, active); err != nil {
		return nil, err
	}
	return replay.State(), nil
}

// Log replays a log on top of the present state. The error is that of [ReplayLog]. It calls
// active for every valid commit, in the log's order.
func (r *Replay) Log(log io.Reader, active func(c *Commit) bool) error {
	entry := -1
	return EachCommit(log, func(c *Commit) error {
		entry++
		if !c.Valid || !active(c) {
			return nil
		}
		if err := r.Apply(c); err != nil {
			return &BrokenError{entry, c.Floor, err}
		}
		return nil
	})
}

// Active returns a function that reports whether a commit counts in a chat with these chosen
// swipes, one per message: it does if it is of the chosen swipe, up to message last, or to
// the end if last is below 0 (shouldKeepCommit of floor-state/core.js).
func Active(swipes []int, last int) func(c *Commit) bool {
	if last >= 0 && last < len(swipes) {
		swipes = swipes[:last+1]
	}
	return func(c *Commit) bool { return c.Floor < len(swipes) && swipes[c.Floor] == c.Swipe }
}

// Swipe reads a message's swipe_id as Luker does: what is not a whole number from 0 up is 0
// (buildSwipeMapFromChat of floor-state/core.js).
func Swipe(raw []byte) int { return max(0, index(raw)) }

// Apply applies a commit's operations. The error says why one of them does not apply.
func (r *Replay) Apply(c *Commit) error {
	parsed, _ := jsvalue.Parse(c.patches)
	list, _ := parsed.(*jsvalue.Array)
	if list == nil {
		return errors.New("its patches are not a list")
	}
	if r.root == nil {
		r.root = jsvalue.NewObject()
	}
	// r.root stays: Luker drops a new document at the commit's end (see Replay).
	var document jsvalue.Value = r.root
	for _, item := range list.Items {
		operation, ok := item.(*jsvalue.Object)
		if !ok {
			return errors.New("an operation is not an object")
		}
		var err error
		if document, err = r.applyOperation(document, operation); err != nil {
			return err
		}
	}
	return nil
}

// State returns the present state as JSON.stringify prints it.
func (r *Replay) State() []byte {
	if r.root == nil {
		return []byte("{}")
	}
	return jsvalue.Stringify(r.root)
}

// applyOperation applies one operation and returns the document, which is a new one where the
// operation is on the whole.
func (r *Replay) applyOperation(document jsvalue.Value, o *jsvalue.Object) (jsvalue.Value, error) {
	name, _ := o.Get("op")
	given, _ := o.Get("path")
	segments, err := pointer(given)
	if err != nil {
		return nil, err
	}
	value, hasValue := o.Get("value")
	verb := strings.ToLower(jsvalue.Trim(jsvalue.String(name)))

	switch verb {
	case "add", "replace":
		if !hasValue {
			return nil, fmt.Errorf("%s needs a value", verb)
		}
	case "remove", "test":
	default:
		return nil, fmt.Errorf("unsupported operation %.20q", verb)
	}

	if len(segments) == 0 {
		return whole(document, verb, value, hasValue)
	}
	container, err := walk(document, segments[:len(segments)-1])
	if err == nil {
		err = r.edit(container, verb, segments[len(segments)-1], value, hasValue)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %.100q: %w", verb, given, err)
	}
	return document, nil
}

// edit applies an operation to a member or an element of container.
func (r *Replay) edit(container jsvalue.Value, verb, key string, value jsvalue.Value, has bool) error {
	var old jsvalue.Value
	exists := true
	at := 0
	object, _ := container.(*jsvalue.Object)
	list, isList := container.(*jsvalue.Array)
	switch {
	case object != nil:
		old, exists = object.Get(key)
	case isList && verb == "add" && key == "-":
		at = len(list.Items)
	case isList:
		last := len(list.Items) - 1
		if verb == "add" {
			last++
		}
		var err error
		if at, err = indexIn(key, last); err != nil {
			return err
		}
		if verb != "add" {
			old = list.Items[at]
		}
	case verb == "test" && !has: // both sides are undefined
		return nil
	default:
		return errNoPlace
	}

	if isList && (verb == "add" || verb == "remove") {
		if err := r.spend(len(list.Items) - at); err != nil {
			return err
		}
	}

	switch verb {
	case "test":
		if exists != has || exists && !same(old, value) {
			return errTest
		}
	case "remove":
		if isList {
			list.Items = slices.Delete(list.Items, at, at+1)
		} else {
			object.Delete(key)
		}
	case "add", "replace":
		switch {
		case isList && verb == "add":
			list.Items = slices.Insert(list.Items, at, value)
		case isList:
			list.Items[at] = value
		case !exists && verb == "replace":
			return errNoPlace
		default:
			object.Set(key, value)
		}
	}
	return nil
}

// Swipes returns the chosen swipe of each message of a chat, without damaged lines, which
// it returns as damage. from is the offset at which the messages begin, line the number of
// physical lines before it.
func Swipes(ctx context.Context, src jsonl.Source, from int64, line int) (swipes []int, damage jsonl.Damages, err error) {
	err = jsonl.Map(ctx, src, jsonl.MapOptions{From: from, Line: line, Limit: -1, Keys: jsonl.NewKeys("swipe_id")},
		func(l *jsonl.Line, batch *[]int) {
			if l.Damage == nil {
				raw, _ := l.Value(0)
				*batch = append(*batch, Swipe(raw))
			}
		}, func(batch *[]int, _ jsonl.Base, damaged jsonl.Damages) error {
			swipes = append(swipes, *batch...)
			damage.Append(damaged)
			return nil
		}, func(batch *[]int) { *batch = (*batch)[:0] })
	return swipes, damage, err
}
