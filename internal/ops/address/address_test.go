package address

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/folder/library"
)

func TestMatch(t *testing.T) {
	list := []string{
		"Harbour", "harbour", "Harbour lights", "@", "Mira - 2026-03-01@18h42m07s311ms", "Mira - 2026-03-01@18h42m09s000ms imported",
		"Mira - 2026-03-01@18h42m07s311ms - Branch #1", "Mira - 2026-03-01@18h42m07s311ms__phone",
		"Mira - 2026-03-02@18h42m07s311ms - Branch #1", "a*b", "cafe\u0301 by the sea",
	}
	for name, want := range map[string][]string{
		"harbour":                 {"harbour"},
		"HARBOUR":                 {"Harbour", "harbour"},
		"lights":                  {"Harbour lights"},
		"ghts":                    {"Harbour lights"},
		"2026-03-01 18:42":        {"Mira - 2026-03-01@18h42m07s311ms", "Mira - 2026-03-01@18h42m09s000ms imported"},
		"2026-03-01 18:42:07":     {"Mira - 2026-03-01@18h42m07s311ms"},
		"2026-03-01 18:42:07.311": {"Mira - 2026-03-01@18h42m07s311ms"},
		"2026-03-02 18:42":        nil,

		"2026-03-01 18:42 imported":    {"Mira - 2026-03-01@18h42m09s000ms imported"},
		"2026-03-01 18:42 - Branch #1": {"Mira - 2026-03-01@18h42m07s311ms - Branch #1"},
		"2026-03-01 18:42 - Branch":    nil,
		"2026-03-01 18:42__phone":      {"Mira - 2026-03-01@18h42m07s311ms__phone"},
		"2026-03-01 18:421":            nil,
		"2026-03-02":                   {"Mira - 2026-03-02@18h42m07s311ms - Branch #1"},
		"A*B":                          {"a*b"},
		"Caf\u00e9 by the Sea":         {"cafe\u0301 by the sea"},
		"nobody":                       nil,
	} {
		got, part := Match(list, name)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", name, diff)
		}
		if wanted := name == "lights" || name == "ghts" || name == "2026-03-02"; part != wanted {
			t.Errorf("%q is a part: %v", name, part)
		}
	}
}

// world makes a user folder.
func world(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, file := range files {
		path, text, _ := strings.Cut(file, "=")
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The folder comes before the card of that name, that before the group, and what is exact
// before what differs in letter case.
func TestWhoIsMeant(t *testing.T) {
	dir := world(t, "chats/Mira/a.jsonl=", "chats/Ann1/a.jsonl=", `characters/Ann1.json={"name":"Ann"}`, `characters/Mira1.json={"name":"Mira"}`,
		`groups/5.json={"id":"5","name":"Ann","chats":["g"]}`, `groups/6.json={"id":"6","name":"MIRA","chats":["g","none"]}`, "group chats/g.jsonl=",
		`groups/7.json={"id":"7","name":"Mate","chats":[]}`, `groups/8.json={"id":"8","name":"Mate","chats":[]}`,
		"chats/Zoe\u0308/a.jsonl=", `groups/9.json={"id":"9","name":"Mira/North/Sea","chats":["g"]}`)
	for arg, want := range map[string]string{
		"Mira": "chats/Mira", "mira": "chats/Mira", "MIRA/g": "group chats/g.jsonl", "Ann": "chats/Ann1", "ann/A": "chats/Ann1/a.jsonl",
		"5/*": "group chats/g.jsonl", "6": "group chats/g.jsonl", "Mira/": "chats/Mira", "zo\u00eb": "chats/Zoe\u0308",
		"Mira/North/Sea": "group chats/g.jsonl", "Mira/North/Sea/g": "group chats/g.jsonl", "mira/north/sea/*": "group chats/g.jsonl",
		"a/b/c": "", "Mira.jsonl": "", "./Mira": "", "-": "",
	} {
		found, err := (&Finder{Lib: new(library.Library), Data: dir}).Find(arg)
		got := ""
		if len(found.Paths) > 0 {
			rel, _ := filepath.Rel(dir, found.Paths[0])
			got = filepath.ToSlash(rel)
		}
		if err != nil || got != want {
			t.Errorf("%q is %q, %v; not %q", arg, got, err, want)
		}
	}
	for arg, want := range map[string]error{"Mate": ErrSeveral, "Mate/x": ErrSeveral, "nobody": new(NoneError), "Mira/b": new(NoneError)} {
		_, err := (&Finder{Lib: new(library.Library), Data: dir}).Find(arg)
		if _, none := errors.AsType[*NoneError](err); !errors.Is(err, want) && !none || err == nil {
			t.Errorf("%q: %v", arg, err)
		}
	}
}

// What cannot be read is told of, but not where it is not needed.
func TestUnreadable(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file in a folder's place is a folder that is not there")
	}
	find := func(arg string, files ...string) (Found, error) {
		return (&Finder{Lib: new(library.Library), Data: world(t, append(files, "chats/Mira/a.jsonl=")...)}).Find(arg)
	}
	if found, err := find("Mira/a", "groups="); err != nil || len(found.Paths) != 1 {
		t.Errorf("Mira/a: %v, %v", found.Paths, err)
	}
	if _, err := find("Trip/a", "groups="); err == nil || !strings.Contains(err.Error(), "groups") {
		t.Errorf("Trip/a: %v", err)
	}
	if _, err := find("Gull/a", "chats/Gull=", `characters/Gull.json={"name":"Gull"}`); err == nil || !strings.HasSuffix(err.Error(), "not a directory") {
		t.Errorf("Gull/a: %v", err)
	}
}

// A chat among 5,000 is found without reading them.
func BenchmarkFind(b *testing.B) {
	dir := b.TempDir()
	folder := filepath.Join(dir, "chats", "Mira")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		b.Fatal(err)
	}
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 5000 {
		name := begin.Add(time.Duration(i) * time.Hour).Format("Mira - 2006-01-02@15h04m05s000ms.jsonl")
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o666); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := (&Finder{Lib: new(library.Library), Data: dir}).Find("Mira/2026-03-01 18:00"); err != nil {
			b.Fatal(err)
		}
	}
}
