package move

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"stchat/internal/change/changeset"
)

// TestLetterCase renames a chat and a lorebook in letter case only, on a disk that ignores it: they get the
// name if nothing else in them changes, and otherwise the error says what to do.
func TestLetterCase(t *testing.T) {
	folder := t.TempDir()
	put := func(path, text string) string {
		path = filepath.Join(folder, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const rest = `},"user_name":"unused","character_name":"unused"}` + "\n" + `{"name":"Mira","mes":"x"}`
	plain := put("chats/Mira/Plain.jsonl", `{"chat_metadata":{"integrity":"a"`+rest)
	named := put("chats/Mira/Named.jsonl", `{"chat_metadata":{"integrity":"b","auto_recap_running_scene_recaps":{"chat_id":"Named","versions":[]}`+rest)
	book := put("worlds/Sea.json", `{"entries":{}}`)
	called := put("worlds/Lake.json", `{"name":"Lake","entries":{}}`)
	if _, err := os.Stat(filepath.Join(folder, "worlds", "SEA.json")); err != nil {
		t.Skip("this disk tells letter case apart")
	}

	for _, test := range []struct {
		path string
		want error
	}{{plain, nil}, {named, ErrLetterCase}, {book, nil}, {called, ErrLetterCase}} {
		file := filepath.Base(test.path)
		name := strings.ToUpper(strings.TrimSuffix(file, filepath.Ext(file)))
		opt := RenameOptions{Options: Options{Changes: changeset.Options{NoSync: true, Now: time.Now(), NewUUID: uuid.NewString}}, Chat: test.path, Name: name}
		var err error
		if filepath.Ext(file) == ".json" {
			err = RenameBook(t.Context(), opt).Err
		} else {
			err = Rename(t.Context(), opt)[0].Err
		}
		if !errors.Is(err, test.want) {
			t.Errorf("%s: %v, not %v", file, err, test.want)
		}

		if runtime.GOOS == "windows" { // Wine leaves a file the letter case that it has
			continue
		}
		list, err := fs.Glob(os.DirFS(filepath.Dir(test.path)), name+".*")
		if renamed := len(list) == 1; err != nil || renamed != (test.want == nil) {
			t.Errorf("%s: %q, %v", file, list, err)
		}
	}
}
