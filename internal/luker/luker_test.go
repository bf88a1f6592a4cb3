package luker

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestSidecars(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"A.jsonl", "A.luker-state.chat_sync.json", "A.luker-state.memory_graph__floor_log.json", "A.luker-state.memory_graph__orphans.json",
		"A.luker-state.my.plugin.json", "A.luker-state..json", "A.luker-state.x.json.123.tmp", "A.luker-state.json",
		"A - Branch #1.luker-state.chat_sync.json", "a.luker-state.x.json", "AA.luker-state.x.json", "A.luker-stateX.json",
	} {
		write(t, filepath.Join(dir, name), "{}")
	}
	if err := os.Mkdir(filepath.Join(dir, "A.luker-state.folder.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	got, err := Sidecars(filepath.Join(dir, "A.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range got {
		if filepath.Base(s.Path) != SidecarName("A", s.Namespace) {
			t.Errorf("%q is not the name of namespace %q", s.Path, s.Namespace)
		}
		names = append(names, s.Namespace+"="+string(s.Kind))
	}
	if diff := cmp.Diff([]string{"chat_sync=chat_sync", "memory_graph__floor_log=floor log", "memory_graph__orphans=orphans", "my.plugin=plain"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, err := Sidecars(filepath.Join(dir, "none", "A.jsonl")); err != nil || got != nil {
		t.Errorf("no folder: %v, %v", got, err)
	}
}

func TestInDatabase(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		found      bool
	}{
		"nothing":          {"data/user/chats/x", "", false},
		"sqlite":           {"data/user/luker-storage.sqlite", "", true},
		"sqlite above":     {"data/luker-storage.sqlite", "", true},
		"sqlite far above": {"luker-storage.sqlite", "", false},
		"plain config":     {"config.yaml", "port: 8000\nmode: sqlite\nbackups:\n  mode: x\n", false},
		"fs":               {"config.yaml", "storage:\n  mode: fs\n", false},
		"block":            {"config.yaml", "a: 1\nstorage: # where\n  # mode: fs\n  path: x\n  mode: 'SQLite' # all\n", true},
		"quoted":           {"config.yaml", "\"storage\":\n    \"mode\": \"postgres\"\r\n", true},
		"braces":           {"config.yaml", "storage: { dir: x, mode: mysql }\n", true},
		"other block":      {"config.yaml", "storage:\n  dir: x\nother:\n  mode: mysql\n", false},
		"in data":          {"data/config.yaml", "storage:\n\tmode: mysql\n", true},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "data/user/worlds/w.json"), "{}")
		write(t, filepath.Join(dir, filepath.FromSlash(c.file)), c.text)
		if reason := InDatabase(filepath.Join(dir, "data", "user")); (reason != "") != c.found {
			t.Errorf("%s: %q", name, reason)
		}
	}
}

const log = ` {"version":1,"extra":true,"commits":[
	{"floor":0,"swipeId":0,"patches":[{"op":"add","path":"/n","value":1.0}], "note" : "k"},
	{"floor":1.0,"swipeId":1,"patches":[{"op":"replace","path":"/n","value":2}]},
	{"floor":1,"swipeId":0,"patches":[{"op":"replace","path":"/n","value":3}]},
	{"floor":2,"swipeId":0,"patches":[]}, {"floor":-1,"swipeId":0,"patches":[1]}, {"floor":1.5,"swipeId":0,"patches":[1]}, {"floor":1,"patches":[1]}, null, 7, {"floor":"1","swipeId":0,"patches":[1]},
	{"floor":3,"swipeId":0,"patches":[{"op":"add","path":"/list","value":["a"]},{"op":"add","path":"/list/-","value":"b"}]}
]}`

func TestCutFloorLog(t *testing.T) {
	const first = `{"floor":0,"swipeId":0,"patches":[{"op":"add","path":"/n","value":1.0}],"note":"k"}`
	const both = `,{"floor":1.0,"swipeId":1,"patches":[{"op":"replace","path":"/n","value":2}]},{"floor":1,"swipeId":0,"patches":[{"op":"replace","path":"/n","value":3}]}`
	for n, want := range map[int]string{
		0: "", 1: first, 2: first + both, 3: first + both,
		4: first + both + `,{"floor":3,"swipeId":0,"patches":[{"op":"add","path":"/list","value":["a"]},{"op":"add","path":"/list/-","value":"b"}]}`,
	} {
		if want != "" {
			want = `{"version":1,"commits":[` + want + `]}`
		}
		got, kept, dropped, err := CutFloorLog([]byte(log), n)
		if err != nil || string(got) != want || kept+dropped != 11 || (got == nil) != (kept == 0) {
			t.Errorf("%d messages: %s, %d kept, %d dropped, %v", n, got, kept, dropped, err)
		}
		if got == nil {
			continue
		}
		again, _, dropped, err := CutFloorLog(got, n)
		if err != nil || string(again) != want || dropped != 0 {
			t.Errorf("cut again: %s, %v", again, err)
		}
	}
	for _, raw := range []string{"", "{", "[1,2]x"} {
		if _, _, _, err := CutFloorLog([]byte(raw), 1); err == nil {
			t.Errorf("%q: no error", raw)
		}
	}
	for _, raw := range []string{"null", "[]", "{}", `{"commits":{}}`} {
		if out, _, _, err := CutFloorLog([]byte(raw), 1); err != nil || out != nil {
			t.Errorf("%q: %s, %v", raw, out, err)
		}
	}
}

func TestReplay(t *testing.T) {
	for swipe, want := range map[int]string{0: `{"n":3,"list":["a","b"]}`, 1: `{"n":2,"list":["a","b"]}`, 2: `{"n":1,"list":["a","b"]}`} {
		got, err := Replay([]byte(log), func(floor int) (int, bool) {
			if floor == 1 {
				return swipe, true
			}
			return 0, true
		})
		if err != nil || string(got) != want {
			t.Errorf("swipe %d: %s, %v", swipe, got, err)
		}
	}
	got, err := Replay([]byte(log), func(floor int) (int, bool) { return 0, floor < 3 })
	if err != nil || string(got) != `{"n":3}` {
		t.Errorf("short chat: %s, %v", got, err)
	}
	bomb := `{"op":"add","path":"/0","value":[1,1,1,1,1,1,1,1]}` + strings.Repeat(`,{"op":"copy","from":"","path":"/x"},{"op":"copy","from":"","path":"/y"}`, 20)
	for _, patches := range []string{bomb, `{"op":"remove","path":"/x"}`, `{"op":"test","path":"/x","value":1}`, `{"op":"add","path":"x","value":1}`, `{"op":"x","path":""}`, `5`, `{"op":"add","path":"/a"}`} {
		raw := `{"commits":[{"floor":0,"swipeId":0,"patches":[` + patches + `]}]}`
		if _, err := Replay([]byte(raw), func(int) (int, bool) { return 0, true }); err == nil {
			t.Errorf("%.60s: no error", patches)
		}
	}
}

// A state replayed here is the one another implementation of RFC 6902 comes to.
func TestReplayOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	paths := []string{"/a", "/b", "/a/x", "/a/0", "/a/-", "/b/1", "/b/y/z", "/~0~1", "/a/0/c"}
	values := []string{`1`, `{}`, `[]`, `[1,2]`, `{"x":{"y":[]}}`, `"s"`, `null`}
	applied := 0
	for range 800 {
		doc, want := `{}`, []byte(`{}`)
		var commits []string
		for floor := range 12 {
			op := fmt.Sprintf(`{"op":%q,"path":%q,"from":%q,"value":%s}`, []string{"add", "add", "add", "replace", "remove", "move", "copy", "test"}[r.IntN(8)],
				paths[r.IntN(len(paths))], paths[r.IntN(len(paths))], values[r.IntN(len(values))])
			if strings.Contains(op, `"op":"test"`) && strings.Contains(op, "null") {
				continue // the oracle takes what is missing for null
			}
			p, err := jsonpatch.DecodePatch([]byte("[" + op + "]"))
			if err != nil {
				t.Fatal(err)
			}
			opt := jsonpatch.NewApplyOptions()
			opt.SupportNegativeIndices = false
			next, oracleErr := p.ApplyWithOptions(want, opt)
			commit := fmt.Sprintf(`{"floor":%d,"swipeId":0,"patches":[%s]}`, floor, op)
			got, err := Replay([]byte(`{"commits":[`+strings.Join(append(commits, commit), ",")+`]}`), func(int) (int, bool) { return 0, true })
			if strings.Contains(op, `"op":"move"`) && (err != nil) != (oracleErr != nil) {
				continue // the oracle lets a value move into itself
			}
			if (err != nil) != (oracleErr != nil) {
				t.Fatalf("%s to %s: %v, oracle %v", op, doc, err, oracleErr)
			}
			if err != nil {
				continue
			}
			var a, b any
			if json.Unmarshal(got, &a) != nil || json.Unmarshal(next, &b) != nil || !cmp.Equal(a, b) {
				t.Fatalf("%s to %s: %s, oracle %s", op, doc, got, next)
			}
			doc, want = string(got), next
			commits = append(commits, commit)
			applied++
		}
	}
	if applied < 800 {
		t.Errorf("only %d operations applied: the test tests too little", applied)
	}
}

func TestSyncData(t *testing.T) {
	if got := string(SyncData("0f6f-\"", 1767225600000)); got != `{"integrity":"0f6f-\"","updated_at":1767225600000}` {
		t.Error(got)
	}
}
