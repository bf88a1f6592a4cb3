package cut_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"stchat/internal/change/changeset"
	"stchat/internal/jsonl"
	"stchat/internal/ops/cut"
	"stchat/internal/place/names"
)

// A source that SillyTavern saves while it is read gives no new chat: neither
// half of the one, half of the other, nor one that only looks whole.
func TestSourceChangesMeanwhile(t *testing.T) {
	const before = "{\"chat_metadata\":{}}\n{\"mes\":\"0\"}\n{\"mes\":\"1\"}"
	changes := map[string]func(path string) error{
		"longer":  func(path string) error { return os.WriteFile(path, []byte(before+"\n{\"mes\":\"2\"}"), 0o666) },
		"shorter": func(path string) error { return os.Truncate(path, int64(len(before)-12)) },
		"other text": func(path string) error {
			return os.WriteFile(path, bytes.ReplaceAll([]byte(before), []byte("1"), []byte("x")), 0o666)
		},
	}
	for name, change := range changes {
		for _, kind := range []names.Kind{names.Checkpoint, names.Branch} {
			t.Run(name+" "+kind.String(), func(t *testing.T) {
				dir := t.TempDir()
				path := filepath.Join(dir, "c.jsonl")
				if err := os.WriteFile(path, []byte(before), 0o666); err != nil {
					t.Fatal(err)
				}
				old := time.Now().Add(-time.Hour)
				if err := os.Chtimes(path, old, old); err != nil {
					t.Fatal(err)
				}
				results := cut.Run(t.Context(), cut.Options{
					Kind: kind, Sources: []string{path}, At: -1, Integrity: cut.IntegrityNew,
					Lorebook: cut.LorebookShare,
					// the header is made once the chat is open and before it is copied
					Changes: changeset.Options{Now: time.Now(), NewUUID: func() string {
						if err := change(path); err != nil {
							t.Error(err)
						}
						return "99999999-8888-4777-8666-555555555555"
					}},
				})
				if got := results[0].Err; !errors.Is(got, jsonl.ErrChanged) || len(results[0].Steps) > 0 {
					t.Errorf("error %v, steps %v; want %v", got, results[0].Steps, jsonl.ErrChanged)
				}
				if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
					t.Errorf("the folder has %v, %v; want the source alone", entries, err)
				}
			})
		}
	}
}

// A source that is saved after its lorebook's clone was named, and before it is
// copied, gives no chat: its header may name another book by then.
func TestSourceChangesAfterPlanning(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // one source after the other
	dir := t.TempDir()
	write := func(name, data string) string {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("worlds/Old.json", `{"entries":{}}`)
	write("worlds/New.json", `{"entries":{}}`)
	const chat = "{\"chat_metadata\":{\"world_info\":\"%s\"}}\n{\"mes\":\"0\"}"
	first := write("chats/Mira/a.jsonl", fmt.Sprintf(chat, "Old"))
	second := write("chats/Mira/b.jsonl", fmt.Sprintf(chat, "Old"))
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(second, old, old); err != nil {
		t.Fatal(err)
	}
	results := cut.Run(t.Context(), cut.Options{
		Kind: names.Checkpoint, Sources: []string{first, second}, At: -1, Name: "p", Integrity: cut.IntegrityNew,
		Lorebook: cut.LorebookClone, Changes: changeset.Options{Now: time.Now(), NewUUID: func() string { // while the first is drafted
			write("chats/Mira/b.jsonl", fmt.Sprintf(chat, "New"))
			return "99999999-8888-4777-8666-555555555555"
		}},
	})
	if results[0].Err != nil || !errors.Is(results[1].Err, jsonl.ErrChanged) {
		t.Errorf("errors %v, %v; want none, %v", results[0].Err, results[1].Err, jsonl.ErrChanged)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*", "*b__*")); left != nil {
		t.Errorf("left: %v", left)
	}
}

// A source that is cut short before the lorebook noted at a scene break is read again gives no
// chat, and the error says why.
func TestSourceChangesBeforeSnapshot(t *testing.T) {
	dir := t.TempDir()
	book := filepath.Join(dir, "worlds", "Book.json")
	path := filepath.Join(dir, "chats", "Mira", "c.jsonl")
	const header = `{"chat_metadata":{"world_info":"Book"}}`
	for name, data := range map[string]string{
		book: `{"entries":{}}`,
		path: header + "\n" + `{"mes":"0","extra":{"auto_recap_memory":{"scene_break":true,"scene_recap_metadata":{"0":{"allEntries":[{"uid":1}]}}}}}` + "\n" + `{"mes":"1"}`,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	results := cut.Run(t.Context(), cut.Options{
		Kind: names.Branch, Sources: []string{path}, At: 1, Name: "p", Integrity: cut.IntegrityNone, Lorebook: cut.LorebookSnapshot,
		Message: func(m *cut.SourceMessage) ([]byte, error) { // the messages have been read, the snapshot has not
			return []byte(`{"mes":"x"}`), os.Truncate(path, int64(len(header)))
		},
		Changes: changeset.Options{Now: time.Now()},
	})
	if got := results[0].Err; !errors.Is(got, jsonl.ErrChanged) {
		t.Errorf("error %v; want %v", got, jsonl.ErrChanged)
	}
	for _, name := range []string{book, path} {
		if entries, err := os.ReadDir(filepath.Dir(name)); err != nil || len(entries) != 1 {
			t.Errorf("the folder has %v, %v; want %s alone", entries, err, name)
		}
	}
}
