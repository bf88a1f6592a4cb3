package move

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"stchat/internal/change/changeset"
)

// TestRenameAndBack renames every chat and every lorebook of the demo, and back: then
// every file has its old bytes, those of its family, group, card and settings too.
func TestRenameAndBack(t *testing.T) {
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(filepath.Join("..", "..", "..", "testdata", "demo"))); err != nil {
		t.Fatal(err)
	}
	settings := `{"accountStorage":{"pinnedChats":"{\"char_Maren Holm.png_Before the storm.jsonl\":{\"avatar\":\"Maren Holm.png\",\"file_name\":\"Before the storm.jsonl\"}}"},"world_info_settings":{"world_info":{"globalSelect":["Saltmere"]}}}`
	if err := os.WriteFile(filepath.Join(folder, "settings.json"), []byte(settings), 0o666); err != nil {
		t.Fatal(err)
	}
	before := contents(t, folder)
	rename := func(path, name string, family bool) {
		t.Helper()
		opt := RenameOptions{Options: Options{Changes: changeset.Options{NoSync: true, Now: time.Now(), NewUUID: uuid.NewString}}, Chat: path, Name: name, Family: family}
		if strings.HasSuffix(path, ".json") {
			if r := RenameBook(t.Context(), opt); r.Err != nil {
				t.Fatal(r.Err)
			}
			return
		}
		for _, r := range Rename(t.Context(), opt) {
			if r.Err != nil {
				t.Fatal(r.Err)
			}
		}
	}
	tried := 0
	for file := range before {
		kind := filepath.Ext(file)
		if kind != ".jsonl" && filepath.Base(filepath.Dir(file)) != "worlds" {
			continue
		}
		old := filepath.Join(folder, file)
		fresh := filepath.Join(filepath.Dir(old), "another name"+kind)
		for _, family := range []bool{false, true} {
			if family && kind != ".jsonl" {
				continue
			}
			rename(old, "another name", family)
			between := contents(t, folder)
			if _, ok := between[file]; ok {
				t.Errorf("%s is still there", file)
			}
			rename(fresh, strings.TrimSuffix(filepath.Base(old), kind), family)
			if diff := cmp.Diff(before, contents(t, folder)); diff != "" {
				t.Fatalf("%s, family %t: renamed and back, the files differ:\n%s", file, family, diff)
			}
			tried++
		}
	}
	if tried < 15 {
		t.Errorf("only %d files were renamed", tried)
	}
}

// contents returns what the files of a user folder hold, by their paths.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if e.Name() == ".stchat" {
				return fs.SkipDir
			}
			return nil
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(folder, path)
		files[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
