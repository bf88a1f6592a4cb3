package edit

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"stchat/internal/change/changeset"
)

// TestGuard plants defects into what slim writes: the guard must see each, and nothing is written.
func TestGuard(t *testing.T) {
	const (
		swiped = `{"name":"A","mes":"b","swipe_id":1,"swipes":["a","b"],"v":[1,2],"w":{"0":3,"1":4},"x":{"0":5},"y":{"hp":6},"z":7}`
		text   = `{"chat_metadata":{}}` + "\n" + `{"name":"A","is_user":false,"mes":"one","extra":{"x":1,"reasoning":"r"}}` + "\n" +
			`{"name":"B","is_user":true,"mes":"two"}` + "\n" + swiped + "\n"
	)
	swipe := func(edited string) Edit {
		return func(line []byte) ([]byte, error) {
			if string(line) == swiped {
				return []byte(edited), nil
			}
			return line, nil
		}
	}
	of := func(edited string) Edit {
		return func(line []byte) ([]byte, error) {
			if bytes.Contains(line, []byte("reasoning")) {
				return []byte(edited), nil
			}
			return line, nil
		}
	}
	for name, defect := range map[string]struct {
		edit Edit
		ok   bool
	}{
		"none":      {func(line []byte) ([]byte, error) { return line, nil }, true},
		"reasoning": {of(`{"name":"A","is_user":false,"mes":"one","extra":{"x":1}}`), true},
		"text":      {of(`{"name":"A","is_user":false,"mes":"on","extra":{"x":1}}`), false},
		"extra":     {of(`{"name":"A","is_user":false,"mes":"one","extra":{"x":2}}`), false},
		"gone":      {of(`{"name":"A","is_user":false,"mes":"one"}`), false},

		"swipes":                   {swipe(`{"name":"A","mes":"b","swipe_id":0,"swipes":["b"],"v":[2],"w":{"0":4},"x":{},"y":{"hp":6},"z":7}`), true},
		"another's entry":          {swipe(`{"name":"A","mes":"b","swipe_id":0,"swipes":["b"],"v":[1,2],"w":{"0":4},"x":{},"y":{"hp":6},"z":7}`), false},
		"another's number":         {swipe(`{"name":"A","mes":"b","swipe_id":0,"swipes":["b"],"v":[2],"w":{"1":4},"x":{},"y":{"hp":6},"z":7}`), false},
		"an entry that was none":   {swipe(`{"name":"A","mes":"b","swipe_id":0,"swipes":["b"],"v":[2],"w":{"0":4},"x":{"0":5},"y":{"hp":6},"z":7}`), false},
		"what is for all swipes":   {swipe(`{"name":"A","mes":"b","swipe_id":0,"swipes":["b"],"v":[2],"w":{"0":4},"x":{},"y":{"hp":7},"z":7}`), false},
		"a value beside the lists": {swipe(`{"name":"A","mes":"b","swipe_id":0,"swipes":["b"],"v":[2],"w":{"0":4},"x":{},"y":{"hp":6}}`), false},
	} {
		path := filepath.Join(t.TempDir(), "a.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		opt := Options{Chats: []string{path}, Terms: Terms{ExpectMessages: -1, Changes: changeset.Options{NewUUID: uuid.NewString}}}
		s := &slimming{opt: &SlimOptions{Reasoning: true}}
		r := run(context.Background(), opt, func(ctx context.Context, o *open) (*Plan, error) {
			places, err := o.list(ctx, scanning{})
			return &Plan{Change: places, Edits: each(defect.edit), Guard: s.staying}, err
		})[0]
		if defect.ok != (r.Err == nil) || !defect.ok && !errors.Is(r.Err, ErrGuard) {
			t.Errorf("%s: %v", name, r.Err)
		}
		now, err := os.ReadFile(path)
		if err != nil || !defect.ok && string(now) != text {
			t.Errorf("%s: the chat is %q, %v", name, now, err)
		}
	}
}
