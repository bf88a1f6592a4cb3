package luker

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"

	"stchat/internal/jsonl/rawjson"
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
	files := []string{
		"A.jsonl", "A.luker-state.chat_sync.json", "A.luker-state.memory_graph__floor_log.json", "A.luker-state.memory_graph__orphans.json",
		"A.luker-state.my.plugin.json", "A.luker-state..json", "A.luker-state.x.json.123.tmp", "A.luker-state.json",
		"A - Branch #1.luker-state.chat_sync.json", "a.luker-state.x.json", "AA.luker-state.x.json", "A.luker-stateX.json",
	}
	var names []string
	for _, s := range Among(files, "folder", "A") {
		if s.Path != filepath.Join("folder", SidecarName("A", s.Namespace)) {
			t.Errorf("%q is not the path of namespace %q", s.Path, s.Namespace)
		}
		names = append(names, s.Namespace+"="+string(s.Kind))
	}
	if diff := cmp.Diff([]string{"chat_sync=chat_sync", "memory_graph__floor_log=floor log", "memory_graph__orphans=orphans", "my.plugin=plain"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
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

func TestCut(t *testing.T) {
	const first = `{"floor":0,"swipeId":0,"patches":[{"op":"add","path":"/n","value":1.0}],"note":"k"}`
	const both = `,{"floor":1.0,"swipeId":1,"patches":[{"op":"replace","path":"/n","value":2}]},{"floor":1,"swipeId":0,"patches":[{"op":"replace","path":"/n","value":3}]}`
	for n, want := range map[int]string{
		0: "", 1: first, 2: first + both, 3: first + both,
		4: first + both + `,{"floor":3,"swipeId":0,"patches":[{"op":"add","path":"/list","value":["a"]},{"op":"add","path":"/list/-","value":"b"}]}`,
	} {
		if want != "" {
			want = `{"version":1,"commits":[` + want + `]}`
		}
		var got strings.Builder
		kept, dropped, err := Cut(&got, strings.NewReader(log), n)
		if err != nil || got.String() != want || kept+dropped != 11 {
			t.Errorf("%d messages: %s, %d kept, %d dropped, %v", n, got.String(), kept, dropped, err)
		}
		if kept == 0 {
			continue
		}
		var again strings.Builder
		if _, dropped, err = Cut(&again, strings.NewReader(got.String()), n); err != nil || again.String() != want || dropped != 0 {
			t.Errorf("cut again: %s, %v", again.String(), err)
		}
	}
	for _, raw := range []string{"", "{", "[1,2]x", `{"commits":[1,]}`, `{"commits":[1 2]}`, `{"commits":[1],}`, `{"commits":[1]}}`, `{"commits":[],"commits":[]}`, `{1:2}`, `{"a" 1}`, `{"commits":["\ud8]}`} {
		if kept, _, err := Cut(io.Discard, strings.NewReader(raw), 1); err == nil {
			t.Errorf("%q: no error, %d kept", raw, kept)
		}
	}
	for _, raw := range []string{"null", "[]", "{}", `{"commits":{}}`, ` {"commits" : [ ] , "a":"\\" } `, `5`} {
		if kept, _, err := Cut(io.Discard, strings.NewReader(raw), 1); err != nil || kept != 0 {
			t.Errorf("%q: %d, %v", raw, kept, err)
		}
	}
}

// What moves is edited where it stands; all else keeps its bytes.
func TestRewrite(t *testing.T) {
	where := func(c *Commit) (int, int, bool) {
		if c.Floor == 1 {
			return 7, c.Swipe, c.Swipe == 0
		}
		return c.Floor, c.Swipe, c.Valid
	}
	const in = "{\"v\":1.0, \"commits\": [ {\"floor\":0, \"swipeId\":0,\"patches\":[1]},\n{\"floor\":1,\"swipeId\":1,\"patches\":[1]}, null,{\"patches\":[1],\"floor\":1e0,\"swipeId\":0,\"x\":[ ]} ], \"w\":2 }"
	const want = "{\"v\":1.0, \"commits\": [{\"floor\":0, \"swipeId\":0,\"patches\":[1]},{\"patches\":[1],\"floor\":7,\"swipeId\":0,\"x\":[ ]},{\"new\":1}], \"w\":2 }"
	for _, r := range []io.Reader{strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in))} {
		var got strings.Builder
		did, err := Rewrite(&got, r, where, []byte(`{"new":1}`))
		if err != nil || got.String() != want || did != (Rewritten{Kept: 2, Moved: 1, Dropped: 2}) {
			t.Errorf("%s, %+v, %v", got.String(), did, err)
		}
	}
	for _, in := range []string{"{}", "null", `{"commits":5}`} {
		var got strings.Builder
		if _, err := Rewrite(&got, strings.NewReader(in), where, []byte(`{"new":1}`)); err != nil || got.String() != `{"version":1,"commits":[{"new":1}]}` {
			t.Errorf("%s: %s, %v", in, got.String(), err)
		}
	}
}

// What cannot be written is not said to be a damaged log, at whatever byte that is.
func TestRewriteFails(t *testing.T) {
	full := errors.New("no space left")
	for room := range 60 {
		_, err := Rewrite(&smallDisk{room, full}, strings.NewReader(`{"version":1,"commits":[{"floor":0,"swipeId":0,"patches":[]}],"w":2}`),
			func(c *Commit) (int, int, bool) { return c.Floor, c.Swipe, true })
		if !errors.Is(err, full) || strings.Contains(err.Error(), "JSON") {
			t.Errorf("room for %d bytes: %v", room, err)
		}
	}
}

type smallDisk struct {
	room int
	full error
}

func (d *smallDisk) Write(p []byte) (int, error) {
	if d.room -= len(p); d.room < 0 {
		return 0, d.full
	}
	return len(p), nil
}

func replayLog(log string, swipe func(floor int) int) (string, error) {
	state, err := ReplayLog(strings.NewReader(log), func(c *Commit) bool { return swipe(c.Floor) == c.Swipe })
	return string(state), err
}

func first(int) int { return 0 }

func TestReplay(t *testing.T) {
	for swipe, want := range map[int]string{0: `{"n":3,"list":["a","b"]}`, 1: `{"n":2,"list":["a","b"]}`, 2: `{"n":1,"list":["a","b"]}`} {
		got, err := ReplayLog(strings.NewReader(log), Active([]int{0, swipe, 0, 0}, -1))
		if err != nil || string(got) != want {
			t.Errorf("swipe %d: %s, %v", swipe, got, err)
		}
	}
	for n, active := range map[string]func(*Commit) bool{"short chat": Active([]int{0, 0, 0}, -1), "at 1": Active([]int{0, 0, 0, 0}, 1)} {
		if got, err := ReplayLog(strings.NewReader(log), active); err != nil || string(got) != `{"n":3}` {
			t.Errorf("%s: %s, %v", n, got, err)
		}
	}
	for patches, want := range map[string]string{
		`{"op":"remove","path":"/x"}`:                                                                `{}`,
		`{"op":" ADD ","path":"/a","value":1}`:                                                       `{"a":1}`,
		`{"op":"add","path":"","value":{"b":1}},{"op":"add","path":"/a","value":1}`:                  `{}`,
		`{"op":"remove"},{"op":"add","path":"/a","value":1}`:                                         `{}`,
		`{"op":"add","path":"/a","value":[1,2]},{"op":"replace","path":"/a/01","value":3}`:           `{"a":[1,3]}`,
		`{"op":"test","path":"/x"},{"op":"test","path":"/x/y"},{"op":"add","path":"/~01","value":1}`: `{"~1":1}`,
	} {
		got, err := replayLog(`{"commits":[{"floor":0,"swipeId":0,"patches":[`+patches+`]}]}`, first)
		if err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", patches, got, err, want)
		}
	}
	for _, patches := range []string{
		`{"op":"test","path":"/x","value":1}`, `{"op":"add","path":"x","value":1}`, `{"op":"x","path":""}`, `5`, `{"op":"add","path":"/a"}`,
		`{"op":"move","from":"/a","path":"/b"}`, `{"op":"copy","from":"/a","path":"/b"}`, `{"op":"add","path":"/__proto__","value":1}`,
		`{"op":"add","path":"/a/constructor/b","value":1}`, `{"op":"replace","path":"/x","value":1}`, `{"op":"remove","path":"/x/y"}`,
		`{"op":"add","path":"/a","value":[]},{"op":"remove","path":"/a/-"}`, `{"op":"add","path":"/a","value":[]},{"op":"add","path":"/a/1","value":1}`,
		`{"op":"add","path":"","value":5},{"op":"add","path":"/a","value":1}`,
	} {
		_, err := replayLog(`{"commits":[null,{"floor":0,"swipeId":0,"patches":[`+patches+`]}]}`, first)
		var broken *BrokenError
		if !errors.As(err, &broken) || broken.Commit != 1 || broken.Floor != 0 {
			t.Errorf("%.60s: %v", patches, err)
		}
	}
	var slow strings.Builder
	slow.WriteString(`{"commits":[{"floor":0,"swipeId":0,"patches":[{"op":"add","path":"/a","value":[1` + strings.Repeat(",1", 1<<20) + `]}`)
	for range 260 {
		slow.WriteString(`,{"op":"add","path":"/a/0","value":1}`)
	}
	slow.WriteString(`]}]}`)
	if _, err := replayLog(slow.String(), first); !errors.Is(err, errWork) {
		t.Errorf("a list that is filled from its front: %v", err)
	}
}

// A state replayed here is the one another implementation of RFC 6902 comes to, where
// Luker keeps to that.
func TestReplayOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	paths := []string{"/a", "/b", "/a/x", "/a/0", "/a/-", "/b/1", "/b/y/z", "/~0~1", "/a/0/c"}
	values := []string{`1`, `{}`, `[]`, `[1,2]`, `{"x":{"y":[]}}`, `"s"`, `null`}
	applied := 0
	for range 800 {
		doc, want := `{}`, []byte(`{}`)
		var commits []string
		for floor := range 12 {
			op := fmt.Sprintf(`{"op":%q,"path":%q,"value":%s}`, []string{"add", "add", "add", "replace", "remove", "test"}[r.IntN(6)],
				paths[r.IntN(len(paths))], values[r.IntN(len(values))])
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
			got, err := replayLog(`{"commits":[`+strings.Join(append(commits, commit), ",")+`]}`, first)
			if strings.Contains(op, `"op":"remove"`) && err == nil && oracleErr != nil {
				continue // Luker lets a member be removed that is not there
			}
			if (err != nil) != (oracleErr != nil) {
				t.Fatalf("%s to %s: %v, oracle %v", op, doc, err, oracleErr)
			}
			if err != nil {
				continue
			}
			var a, b any
			if json.Unmarshal([]byte(got), &a) != nil || json.Unmarshal(next, &b) != nil || !cmp.Equal(a, b) {
				t.Fatalf("%s to %s: %s, oracle %s", op, doc, got, next)
			}
			doc, want = got, next
			commits = append(commits, commit)
			applied++
		}
	}
	if applied < 800 {
		t.Errorf("only %d operations applied: the test tests too little", applied)
	}
}

func TestNormalize(t *testing.T) {
	for in, want := range map[string]string{
		"memory_graph": "memory_graph", "  My Plugin/2 ": "my_plugin_2", "": "", "\u00a0\ufeff ": "", "a:b": "a_b", "ÄÖ": "__", "😀": "__", "İK": "i_k", "A-1.b": "a-1.b",
		strings.Repeat("x", 200): strings.Repeat("x", 96), strings.Repeat("😀", 100): strings.Repeat("_", 96),
	} {
		if got := Normalize(in); got != want || Normalize(got) != got {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestCharacterStates(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"A.png", "A.state.x.json", "A.state.y.z.json", "A.state..json", "A.state.json", "AA.state.x.json", "A.state.x.json.1.tmp"} {
		write(t, filepath.Join(dir, name), "{}")
	}
	list, err := CharacterStates(filepath.Join(dir, "A.png"))
	var names []string
	for _, s := range list {
		if filepath.Base(s.Path) != CharacterStateName("A", s.Namespace) {
			t.Errorf("%q is not the name of %q", s.Path, s.Namespace)
		}
		names = append(names, s.Namespace)
	}
	if diff := cmp.Diff([]string{"x", "y.z"}, names); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// A log is read as encoding/json reads it, wherever its blocks end.
func FuzzEachCommit(f *testing.F) {
	for _, s := range []string{log, `{"commits":[{"floor":0,"swipeId":0,"patches":[{}]}],"x":"\\\""}`, `{"a":[{"commits":[1]}],"commits":["]"]}`, `[{}]`, `{"commits":[1e5 ,true]} `, `{"commits":1e400}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		read := func(r io.Reader) (list []string, err error) {
			err = EachCommit(r, func(c *Commit) error {
				list = append(list, string(c.Raw))
				return nil
			})
			return list, err
		}
		list, err := read(bytes.NewReader(raw))
		slow, slowErr := read(iotest.OneByteReader(bytes.NewReader(raw)))
		if (err != nil) != (slowErr != nil) || !cmp.Equal(list, slow) {
			t.Fatalf("%q, %v; in single bytes %q, %v", list, err, slow, slowErr)
		}
		if errors.Is(err, errTwice) {
			return
		}
		if (err == nil) != json.Valid(raw) {
			t.Fatalf("%q: %v", raw, err)
		}
		if err != nil {
			return
		}
		commits, _ := rawjson.Lookup(raw, "commits")
		var want []string
		for element := range rawjson.Elements(commits) {
			want = append(want, string(element))
		}
		if !cmp.Equal(list, want) {
			t.Fatalf("%q, want %q", list, want)
		}
		same := func(c *Commit) (int, int, bool) { return c.Floor, c.Swipe, true }
		var out bytes.Buffer
		if did, err := Rewrite(&out, bytes.NewReader(raw), same); err != nil || did.Changed() || !json.Valid(out.Bytes()) {
			t.Fatalf("rewritten: %s, %v", out.Bytes(), err)
		}
	})
}

func TestSyncData(t *testing.T) {
	if got := string(SyncData("0f6f-\"", 1767225600000)); got != `{"integrity":"0f6f-\"","updated_at":1767225600000}` {
		t.Error(got)
	}
}
