package move

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"stchat/internal/change/changeset"
	"stchat/internal/place/userdir"
)

// TestClear: a chat goes if it is old and nothing needs it; a circle of parents is no reason to stay.
func TestClear(t *testing.T) {
	const old, young = "2020-01-01T00:00:00.000Z", "2030-01-01T00:00:00.000Z"
	type chats map[string][2]string // main_chat and date by name
	for _, test := range []struct {
		name  string
		chats chats
		clear Clearing
		gone  []string
		kept  map[string]string
	}{
		{
			name: "a parent stays with its child, and so does its own parent", chats: chats{"a": {"", old}, "b": {"a", old}, "c": {"b", young}, "d": {"a", old}},
			gone: []string{"d"}, kept: map[string]string{"a": "has a child that stays", "b": "has a child that stays", "c": "too young"},
		},
		{
			name: "a chat that merely begins with the same messages is no child", chats: chats{"a": {"", old}, "b": {"", young}},
			gone: []string{"a"}, kept: map[string]string{"b": "too young"},
		},
		{
			name: "a circle", chats: chats{"a": {"b", old}, "b": {"a", old}},
			gone: []string{"a", "b"}, kept: map[string]string{},
		},
		{
			name: "the newest stay, whose names decide where dates are the same", chats: chats{"a": {"", old}, "b": {"", old}, "c": {"", young}},
			clear: Clearing{Newest: 2}, gone: []string{"a"}, kept: map[string]string{"b": "one of the newest", "c": "too young"},
		},
		{
			name: "a date that cannot be read is the file's", chats: chats{"a": {"", "some day"}},
			kept: map[string]string{"a": "too young"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			opt := DeleteOptions{Options: Options{Changes: changeset.Options{NoSync: true, Now: time.Now(), NewUUID: uuid.NewString}}}
			for name, c := range test.chats {
				path := filepath.Join(folder, name+".jsonl")
				parent, date := c[0], c[1]
				lines := `{"chat_metadata":{"main_chat":"` + parent + `"}}` + "\n" + `{"name":"A","is_user":false,"send_date":"` + date + `","mes":"x"}` + "\n"
				if err := os.WriteFile(path, []byte(lines), 0o666); err != nil {
					t.Fatal(err)
				}
				opt.Chats = append(opt.Chats, path)
			}
			test.clear.Before = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

			results, kept := Clear(t.Context(), opt, test.clear)
			var gone []string
			for _, r := range results {
				if r.Err != nil {
					t.Fatal(r.Err)
				}
				gone = append(gone, userdir.ChatName(r.Doc.From))
			}
			stay := map[string]string{}
			for _, k := range kept {
				stay[userdir.ChatName(k.Path)] = k.Why
			}
			slices.Sort(gone)
			if diff := cmp.Diff(test.gone, gone); diff != "" {
				t.Errorf("deleted (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.kept, stay); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
		})
	}
}
