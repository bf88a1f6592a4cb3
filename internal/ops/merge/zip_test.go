package merge

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"stchat/internal/change/changeset"
	"stchat/internal/extension/luker"
)

// put writes files into a folder.
func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// options are those of a merge in a test.
func options(into, from string) Options {
	return Options{Into: into, From: from, Changes: changeset.Options{NoSync: true, Now: time.Now(), NewUUID: uuid.NewString}}
}

// TestZippedBase merges with a base that is in a zip: what it has is nobody's own, and an error names the zip.
func TestZippedBase(t *testing.T) {
	into, from, base := t.TempDir(), t.TempDir(), zipOf(t, entryOf("default-user/chats/A/old.jsonl"), entryOf("default-user/settings.json"))
	put(t, into, map[string]string{"chats/A/here.jsonl": strings.ReplaceAll(greeting, "Hello", "Welcome")})
	put(t, from, map[string]string{"chats/A/old.jsonl": greeting})
	opt := options(into, from)
	opt.Base = base
	if r := Run(context.Background(), opt); r.Err != nil || r.Doc.Done > 0 || len(r.Rows) != 1 || r.Rows[0].Sign != Behind {
		t.Errorf("%v, %+v", r.Err, r.Doc)
	}
	opt.Base = zipOf(t, entryOf("worlds/readme.txt"))
	if r := Run(context.Background(), opt); !errors.Is(r.Err, ErrZip) || !strings.HasPrefix(r.Err.Error(), opt.Base) || r.Doc.Done > 0 {
		t.Errorf("nothing in it: %v, %+v", r.Err, r.Doc)
	}
	opt.Base = zipOf(t, entryOf("default-user/chats/A/old.jsonl"), entryOf("default-user/luker-storage.sqlite"))
	if _, is := errors.AsType[*luker.DatabaseError](Run(context.Background(), opt).Err); !is {
		t.Error("what Luker keeps in a database is no base")
	}
	opt.From, opt.Base = base, base
	if r := Run(context.Background(), opt); !errors.Is(r.Err, ErrBase) {
		t.Errorf("FROM itself: %v", r.Err)
	}
}

const greeting = `{"chat_metadata":{"integrity":"a"}}` + "\n" + `{"name":"A","is_user":false,"mes":"Hello","send_date":"1"}`

func zipOf(t *testing.T, entries ...zip.FileHeader) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := range entries {
		w, err := z.CreateHeader(&entries[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(greeting)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "default-user backup.zip")
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func entryOf(name string) zip.FileHeader { return zip.FileHeader{Name: name, Method: zip.Deflate} }

// TestZip merges a user folder out of a zip as SillyTavern's backup makes it: at the root, or one
// folder down.
func TestZip(t *testing.T) {
	for _, prefix := range []string{"", "default-user/"} {
		into := t.TempDir()
		put(t, into, map[string]string{"chats/Mira/old.jsonl": greeting + "\n"})
		from := zipOf(t, entryOf("__MACOSX/chats/._Mira"), entryOf(prefix+"settings.json"), entryOf(prefix+"chats/Mira/new.jsonl"), entryOf(prefix+"thumbnails/x.exe"), entryOf(prefix+"chats/Ines/other.jsonl"))
		r := Run(context.Background(), options(into, from))
		if r.Err != nil || r.Doc.Done != 1 || !slices.Contains(r.Doc.Left, "settings") {
			t.Fatalf("%q: %v, %+v", prefix, r.Err, r.Doc)
		}
		for _, row := range r.Rows {
			if !strings.HasPrefix(row.From, from) {
				t.Errorf("%q: from %s", prefix, row.From)
			}
		}
		if _, err := os.Stat(filepath.Join(into, "chats/Ines/other.jsonl")); err != nil {
			t.Error(err)
		}
		if again := Run(context.Background(), options(into, from)); again.Doc.Done != 0 {
			t.Errorf("%q: again: %+v", prefix, again.Doc)
		}
	}
}

// TestHostileZip refuses entries that could lead elsewhere, and writes nothing.
func TestHostileZip(t *testing.T) {
	link := entryOf("chats/A/link.jsonl")
	link.SetMode(fs.ModeSymlink | 0o777)
	locked := entryOf("chats/A/locked.jsonl")
	locked.Flags = 1
	good := entryOf("chats/A/good.jsonl")
	for name, list := range map[string][]zip.FileHeader{
		"absolute":   {good, entryOf("/chats/A/x.jsonl")},
		"up":         {good, entryOf("chats/../../x.jsonl")},
		"up in user": {good, entryOf("user/images/../../../x.png")},
		"backslash":  {good, entryOf(`chats\..\..\x.jsonl`)},
		"drive":      {good, entryOf("chats/A/C:x.jsonl")},
		"device":     {good, entryOf("chats/A/CON.jsonl")},
		"control":    {good, entryOf("chats/A/\x01.jsonl")},
		"twice":      {good, entryOf("chats/A/Good.jsonl")},
		"link":       {good, link},
		"encrypted":  {good, locked},
		"nothing":    {entryOf("a/b/chats/A/x.jsonl"), entryOf("readme.txt")},
		"no chat":    {entryOf("default-user/chats/A/readme.txt")},
		"two users":  {entryOf("default-user/chats/A/good.jsonl"), entryOf("alice/chats/A/x.jsonl")},
	} {
		into := t.TempDir()
		put(t, into, map[string]string{"chats/A/old.jsonl": greeting})
		r := Run(context.Background(), options(into, zipOf(t, list...)))
		if !errors.Is(r.Err, ErrZip) {
			t.Errorf("%s: %v", name, r.Err)
		}
		if _, err := os.Stat(filepath.Join(into, "chats/A/good.jsonl")); err == nil {
			t.Errorf("%s: something was merged", name)
		}
	}
	// a few bytes that declare more than two GB, each or in all
	for _, n := range []uint64{1, 16} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for k := range n {
			if _, err := z.CreateRaw(&zip.FileHeader{Name: fmt.Sprintf("chats/A/%d.jsonl", k), Method: zip.Deflate, UncompressedSize64: 1<<31/n + 1}); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		into, path := t.TempDir(), filepath.Join(t.TempDir(), "bomb.zip")
		put(t, into, map[string]string{"chats/A/old.jsonl": greeting})
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		if r := Run(context.Background(), options(into, path)); !errors.Is(r.Err, ErrZip) || !strings.Contains(r.Err.Error(), "too large") {
			t.Errorf("%d entries: %v", n, r.Err)
		}
	}
	// one that says it is short
	path := zipOf(t, good)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(raw, []byte("PK\x01\x02"))
	raw[at+24]-- // its uncompressed size
	into := t.TempDir()
	put(t, into, map[string]string{"chats/A/old.jsonl": greeting, "short.zip": string(raw)})
	outside := filepath.Join(t.TempDir(), "short.zip")
	if err := os.WriteFile(outside, raw, 0o666); err != nil {
		t.Fatal(err)
	}
	if r := Run(context.Background(), options(into, outside)); r.Err == nil {
		t.Error("an entry longer than declared was taken")
	}
}

// TestZipIsNamed reads a zip in which nothing is what its name says: all that is told of it names the
// zip, and not the folder into which it was unpacked.
func TestZipIsNamed(t *testing.T) {
	into := t.TempDir()
	put(t, into, map[string]string{"chats/Mira/old.jsonl": greeting})
	from := zipOf(t, entryOf("chats/Mira/old.jsonl"), entryOf("worlds/W.json"), entryOf("groups/1.json"), entryOf("characters/Mira.png"))
	r := Run(context.Background(), options(into, from))
	if r.Err != nil || r.Doc.Refused < 3 {
		t.Fatalf("%v, %+v", r.Err, r.Doc)
	}
	told := append(slices.Clone(r.Notes), r.Warnings...)
	for _, row := range r.Rows {
		told = append(append(told, row.From), row.Told...)
		if row.Error != nil {
			told = append(told, *row.Error, row.Err.Error())
		}
	}
	for _, text := range told {
		if strings.Contains(text, "unpacked") {
			t.Error(text)
		}
	}

	err := (&zipError{"a.zip: not merged", ErrZip})
	if !errors.Is(err, ErrZip) || err.Error() != "a.zip: not merged" {
		t.Error(err)
	}
}
