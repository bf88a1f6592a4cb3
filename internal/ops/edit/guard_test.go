package edit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"stchat/internal/changeset"
	"stchat/internal/choose"
)

// TestGuard plants defects into what slim writes: the guard must see each, and nothing is written.
func TestGuard(t *testing.T) {
	const text = `{"chat_metadata":{}}` + "\n" + `{"name":"A","is_user":false,"mes":"one","extra":{"x":1,"reasoning":"r"}}` + "\n" + `{"name":"B","is_user":true,"mes":"two"}` + "\n"
	for name, defect := range map[string]struct {
		edit Edit
		ok   bool
	}{
		"none": {func(line []byte) ([]byte, error) { return line, nil }, true},
		"reasoning": {func([]byte) ([]byte, error) {
			return []byte(`{"name":"A","is_user":false,"mes":"one","extra":{"x":1}}`), nil
		}, true},
		"text": {func([]byte) ([]byte, error) {
			return []byte(`{"name":"A","is_user":false,"mes":"on","extra":{"x":1}}`), nil
		}, false},
		"extra": {func([]byte) ([]byte, error) {
			return []byte(`{"name":"A","is_user":false,"mes":"one","extra":{"x":2}}`), nil
		}, false},
		"gone": {func([]byte) ([]byte, error) { return []byte(`{"name":"A","is_user":false,"mes":"one"}`), nil }, false},
	} {
		path := filepath.Join(t.TempDir(), "a.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		opt := Options{Chats: []string{path}, Terms: Terms{ExpectMessages: -1, Changes: changeset.Options{NewUUID: uuid.NewString}}}
		s := &slimming{opt: &SlimOptions{Reasoning: true}}
		r := run(context.Background(), opt, func(ctx context.Context, o *open) (*Plan, error) {
			places, err := o.list(ctx, scanning{Choice: choose.Choice{First: 1}})
			return &Plan{Change: places, Edits: each(defect.edit), Guard: s.mark}, err
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
