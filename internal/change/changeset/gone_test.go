package changeset

import (
	"errors"
	"os"
	"slices"
	"testing"
	"time"
)

// An edit of a file that was deleted since, or has a folder in its place, is not taken back.
func TestUndoOfGone(t *testing.T) {
	for name, replace := range map[string]func(path string) error{
		"deleted":  os.Remove,
		"a folder": func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o777)) },
	} {
		dir, chat := aFolder(t)
		if out := Run(t.Context(), []Unit{replacing(dir, "chats/A/old.jsonl", "1", nil)}, Options{NoSync: true, Now: time.Now()}); out[0].Err != nil {
			t.Fatal(out[0].Err)
		}
		if err := replace(chat); err != nil {
			t.Fatal(err)
		}
		back, err := Undo(dir, "", false)
		if err != nil {
			t.Fatal(err)
		}
		out := Run(t.Context(), []Unit{back.Unit}, Options{NoSync: true, Now: time.Now()})
		if changed, ok := errors.AsType[*SinceError](out[0].Err); !ok || !slices.Equal(changed.Files, []string{chat}) {
			t.Errorf("%s: %v", name, out[0].Err)
		}
		if info, err := os.Stat(chat); err == nil && !info.IsDir() {
			t.Errorf("%s: it is there again", name)
		}
	}
}
