package lorebook

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/jsonl/rawjson"
	"stchat/internal/place/userdir"
)

const demoWorlds = "../../testdata/demo/worlds"

func open(t *testing.T, path string) *Book {
	t.Helper()
	b, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func parse(t *testing.T, raw string) *Book {
	t.Helper()
	b, err := Parse([]byte(raw), "Book.json")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestFindStaysInside(t *testing.T) {
	dir := t.TempDir()
	worlds := filepath.Join(dir, "worlds")
	if err := os.Mkdir(worlds, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "x.json"), filepath.Join(worlds, "日本 😀.json")} {
		if err := os.WriteFile(path, []byte(`{"entries":{}}`), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if path, err := Find(worlds, "日本 😀"); err != nil || path != filepath.Join(worlds, "日本 😀.json") {
		t.Errorf("got %q, %v", path, err)
	}
	if _, err := Find(worlds, "absent"); !errors.Is(err, ErrMissing) {
		t.Errorf("absent: %v", err)
	}
	if err := os.Mkdir(filepath.Join(worlds, "folder.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(worlds, "folder"); !isNotReadable(err) {
		t.Errorf("folder: %v", err)
	}
	if path, err := Find(worlds, "日:本 😀?"); err != nil || path != filepath.Join(worlds, "日本 😀.json") {
		t.Errorf("made safe: %q, %v", path, err)
	}
	for _, name := range []string{"", "../x", `..\x`, "../../x", filepath.Join(dir, "x"), `C:\x`, "C:x", "x\x00", "NUL", "con", "a/b", "x:stream", "a\nb", strings.Repeat("x", 300)} {
		path, err := Find(worlds, name)
		if _, ok := errors.AsType[*userdir.UnsafeNameError](err); !ok {
			t.Errorf("%q: %q, %v", name, path, err)
		}
	}
}

func isNotReadable(err error) bool {
	_, ok := errors.AsType[*NotReadableError](err)
	return ok
}

func TestNotReadable(t *testing.T) {
	for raw, want := range map[string]string{
		"":                            "B.json:1:1:",
		"{\n \"entries\": {,}}":       "B.json:2:14:",
		"\ufeff{\"entries\":{}}":      "B.json:1:1:",
		`[]`:                          "not a JSON object",
		`{}`:                          "its entries are nothing",
		`{"entries":null}`:            "its entries are null",
		strings.Repeat("[", 20_000):   "B.json:1:10001:",
		`{"entries":{}} {"entries":1`: "B.json:1:16:",
	} {
		_, err := Parse([]byte(raw), "B.json")
		if !isNotReadable(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: %v, want %q in it", raw, err, want)
		}
	}
	if runtime.GOOS != "windows" {
		if _, err := Open(os.DevNull); !isNotReadable(err) {
			t.Errorf("device: %v", err)
		}
	}
}

func TestKindOf(t *testing.T) {
	for comment, want := range map[string]Kind{
		"__operation_queue": QueueLog, "_operations_queue_": QueueLog, "_registry_character": Registry, "__index_locations": Index,
		"": User, "__operation_queue ": User, "my __operation_queue": User, "registry_x": User, "_Registry_x": User, "character-_registry_": User,
	} {
		if got := KindOf(comment); got != want {
			t.Errorf("KindOf(%q) = %d, want %d", comment, got, want)
		}
	}
}

func hasQueue(b *Book) bool {
	return slices.ContainsFunc(b.Entries, func(e Entry) bool { return e.Kind() == QueueLog })
}

func TestQueue(t *testing.T) {
	b := open(t, filepath.Join(demoWorlds, "z-AutoLB-Gull Rock.json"))
	q, err := b.Queue()
	if err != nil || !hasQueue(b) {
		t.Fatalf("%+v, %v", q, err)
	}
	b = open(t, "../../testdata/golden/group/before/worlds/z-AutoLB-main123.json")
	if q, err = b.Queue(); err != nil || q.Pending() != 1 {
		t.Fatalf("%+v, %v", q, err)
	}
	content := func(c string) string {
		return `{"entries":{"9":{"uid":9,"comment":"__operation_queue","content":` + c + `}}}`
	}
	for c, want := range map[string]int{
		`""`: 0, `"  "`: 0, `null`: 0, `"{}"`: 0, `"{\"queue\":null}"`: 0, `"{\"queue\":[]}"`: 0,
		`"{\"queue\":[{\"status\":\"pending\"},{\"status\":\"in_progress\"},{\"status\":\"retrying\"},{\"status\":\"completed\"},{\"status\":\"failed\"},{},5]}"`: 3,
		`"{\"operations\":[{\"status\":\"pending\"}]}"`: 1,
	} {
		q, err := parse(t, content(c)).Queue()
		if err != nil || q.Pending() != want {
			t.Errorf("%s: %+v, %v; want %d pending", c, q, err, want)
		}
	}
	for _, c := range []string{`"{"`, `"[]"`, `5`, `{}`, `"{\"queue\":{}}"`, `"{\"queue\":\"x\"}"`} {
		if _, err := parse(t, content(c)).Queue(); err == nil || !strings.Contains(err.Error(), "uid 9") {
			t.Errorf("%s: %v", c, err)
		}
	}
	if q, err := parse(t, `{"entries":[{"comment":"x"}]}`).Queue(); err != nil || q != nil {
		t.Errorf("no queue: %+v, %v", q, err)
	}
}

// The clone of a book is the book with only what was asked for changed, and keeps
// the bytes of every entry.
func TestClone(t *testing.T) {
	const book = "{\n    \"name\": \"Old\",\n    \"x\": 1.0,\n    \"entries\": {\n        \"5\": {\"uid\":5.0,\"comment\":\"__operation_queue\",\"content\":\"{\\\"queue\\\":[1]}\",\"z\":1},\n        \"0\": {\"uid\":0,\"comment\":\"a/b\"},\n        \"7\": {\"uid\":7,\"comment\":\"_registry_q\"},\n        \"1\": {\"uid\":1,\"\\u0063omment\":\"plan [1]\"}\n    },\n    \"extensions\": {}\n}"
	for name, c := range map[string]struct {
		opt              CloneOptions
		entries, dropped int
		want             string
	}{
		"drop": {
			CloneOptions{Name: "N\"w"},
			2, 2,
			"{\n    \"name\": \"N\\\"w\",\n    \"x\": 1.0,\n    \"entries\": {\n        \"0\": {\"uid\":0,\"comment\":\"a/b\"},\n        \"1\": {\"uid\":1,\"\\u0063omment\":\"plan [1]\"}\n    },\n    \"extensions\": {}\n}",
		},
		"keep": {CloneOptions{Name: "Old", Internal: Keep}, 4, 0, book},
		"reset": {
			CloneOptions{Name: "Old", Internal: Reset},
			4, 0,
			strings.Replace(book, `"{\"queue\":[1]}"`, string(rawjson.Quote(emptyQueue)), 1),
		},
		"globs": {
			CloneOptions{Name: "Old", Internal: Keep, Drop: []string{"a*", `plan \[?\]`}},
			2, 2,
			"{\n    \"name\": \"Old\",\n    \"x\": 1.0,\n    \"entries\": {\n        \"5\": {\"uid\":5.0,\"comment\":\"__operation_queue\",\"content\":\"{\\\"queue\\\":[1]}\",\"z\":1},\n        \"7\": {\"uid\":7,\"comment\":\"_registry_q\"}\n    },\n    \"extensions\": {}\n}",
		},
		"all": {
			CloneOptions{Name: "Old", Drop: []string{"*"}},
			0, 4,
			"{\n    \"name\": \"Old\",\n    \"x\": 1.0,\n    \"entries\": {},\n    \"extensions\": {}\n}",
		},
		"case counts": {CloneOptions{Name: "Old", Internal: Keep, Drop: []string{"A*", "[^a]/b", "b"}}, 4, 0, book},
	} {
		got := parse(t, book).Clone(c.opt)
		if diff := cmp.Diff(c.want, string(got.Data)); diff != "" || got.Entries != c.entries || got.Dropped != c.dropped {
			t.Errorf("%s: %d entries, %d dropped (-want +got):\n%s", name, got.Entries, got.Dropped, diff)
		}
	}
	if CheckGlob("[a") == nil {
		t.Error("a bad glob is taken")
	}
}

func TestCloneOfAList(t *testing.T) {
	b := parse(t, `{"entries":[ {"uid":0,"comment":"a"},{"uid":1,"comment":"__operation_queue","content":"x"}, {"uid":2,"comment":"b"} ]}`)
	c := b.Clone(CloneOptions{Name: "n"})
	if want := `{"entries":[ {"uid":0,"comment":"a"}, {"uid":2,"comment":"b"} ]}`; string(c.Data) != want {
		t.Errorf("got %s", c.Data)
	}
	if c = b.Clone(CloneOptions{Name: "n", Internal: Reset}); c.Entries != 3 {
		t.Fatal(c)
	}
	reset := parse(t, string(c.Data))
	if q, err := reset.Queue(); err != nil || len(q) != 0 || !hasQueue(reset) {
		t.Errorf("queue %+v, %v", q, err)
	}
}

// Numbers of uids in names of keys must not depend on the width of an int.
func TestUID(t *testing.T) {
	b := parse(t, `{"entries":{"1700000000000":{"uid":1700000000000},"1":{"uid":"7"},"2":{"uid":1e2},"3":{"uid":null},"4":5}}`)
	got := make([]string, 0, len(b.Entries))
	for _, e := range b.Entries {
		got = append(got, e.UID)
	}
	if diff := cmp.Diff([]string{"1700000000000", "7", "100", "", ""}, got); diff != "" {
		t.Error(diff)
	}
}

func TestSnapshot(t *testing.T) {
	current := parse(t, "{\n    \"name\": \"Cur\",\n    \"entries\": {\n        \"3\": {\"uid\": 3, \"comment\": \"__operation_queue\"},\n        \"9\": {\"uid\": 9}\n    },\n    \"kept\": [1]\n}")
	all := `[{"comment":"_registry_x","uid":4,"world":"Old","key":[],"strategy":"normal","tags":["t"],"order":1.50},
	 {"comment":"a","uid":0,"content":"é <b>","sticky":2},{"comment":"__operation_queue","uid":8},{"comment":"b","uid":"2"}]`
	c, err := current.Snapshot([]byte(all), CloneOptions{Name: "Snap"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Entries != 4 || c.Dropped != 0 {
		t.Errorf("%d entries, %d dropped", c.Entries, c.Dropped)
	}
	b := parse(t, string(c.Data))
	var keys []string
	for _, e := range b.Entries {
		keys = append(keys, e.Key+"="+e.UID+"="+e.Comment)
	}
	if diff := cmp.Diff([]string{"0=0=a", "2=2=b", "4=4=_registry_x", "3=3=__operation_queue"}, keys); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if q, err := b.Queue(); err != nil || !hasQueue(b) || len(q) != 0 || b.InnerName != "Snap" {
		t.Errorf("queue %+v, %v; name %q", q, err, b.InnerName)
	}
	for _, want := range []string{"\n            \"content\": \"é <b>\",\n", "\"order\": 1.50,", "\"sticky\": 2,", "\"tags\": [\n", "\"displayIndex\": 4\n", "\n    \"kept\": [1]\n}"} {
		if !strings.Contains(string(c.Data), want) {
			t.Errorf("%q is not in\n%s", want, c.Data)
		}
	}
	for _, never := range []string{`"world"`, `"strategy"`} {
		if strings.Contains(string(c.Data), never) {
			t.Errorf("%s is in the snapshot", never)
		}
	}
	// An entry that SillyTavern made has the members of a filled one, in its order.
	demo := open(t, filepath.Join(demoWorlds, "Saltmere.json"))
	if diff := cmp.Diff(memberNames(demo.Entries[0].Raw), memberNames(b.Entries[0].Raw)); diff != "" {
		t.Errorf("members (-SillyTavern +snapshot):\n%s", diff)
	}
	c, err = current.Snapshot([]byte(all), CloneOptions{Name: "Snap", Internal: Drop, Drop: []string{"b"}})
	if err != nil || c.Entries != 1 || c.Dropped != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	for bad, want := range map[string]string{`{}`: "not a list", `[]`: "no entries", `[{"comment":"x"}]`: "no uid", `[{"uid":1.5}]`: "no uid", `[{"uid":-1}]`: "no uid"} {
		if _, err := current.Snapshot([]byte(bad), CloneOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func memberNames(raw []byte) []string {
	var names []string
	for key := range rawjson.Members(raw) {
		names = append(names, string(key))
	}
	return names
}

// The queue's uid collides neither with an entry of the snapshot nor with a later
// entry of the present book.
func TestSnapshotQueueUID(t *testing.T) {
	for current, want := range map[string]string{
		`{"entries":{}}`: "2",
		`{"entries":{"1":{"uid":1,"comment":"__operation_queue"}}}`:   "2",
		`{"entries":{"50":{"uid":50},"0":{"uid":0}}}`:                 "51",
		`{"entries":{"50":{"uid":50,"comment":"__operation_queue"}}}`: "50",
		`{"entries":{"9":{"uid":9007199254740991}}}`:                  "2",
	} {
		c, err := parse(t, current).Snapshot([]byte(`[{"uid":1},{"uid":0}]`), CloneOptions{Name: "s"})
		if err != nil {
			t.Fatal(err)
		}
		entries := parse(t, string(c.Data)).Entries
		if got := entries[len(entries)-1].UID; len(entries) != 3 || got != want {
			t.Errorf("%s: queue has uid %s, want %s", current, got, want)
		}
	}
}

func TestShelf(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"Book.json", "book (1).json", "Book__CP_Point.json", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := OpenShelf(dir)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("界", 100)
	for _, c := range []struct {
		got  func() (string, error)
		want string
	}{
		{func() (string, error) { return s.Duplicate("Book") }, "Book (2)"},
		{func() (string, error) { return s.Duplicate("Book (7)") }, "Book (3)"},
		{func() (string, error) { return s.ForChat("Book", "Point") }, "Book__CP_Point (1)"},
		{func() (string, error) { return s.ForChat("Book", "point") }, "Book__CP_point (2)"},
		{func() (string, error) { return s.ForChat("Book", "a:b/../c") }, "Book__CP_ab..c"},
		{func() (string, error) { return s.Given("New?") }, "New"},
		{func() (string, error) { return s.Given("NEW") }, "NEW (1)"},
		{func() (string, error) { return s.Duplicate("x ()") }, "x () (1)"},
		{func() (string, error) { return s.ForChat(long, "Branch #12 - now") }, strings.Repeat("界", 36) + "…" + strings.Repeat("界", 35) + "__CP_Branch #12 - now"},
		{func() (string, error) { return s.ForChat("B", long) }, strings.Repeat("界", 79)},
		{func() (string, error) { return s.ForChat(long, long) }, strings.Repeat("界", 78) + " (1)"},
	} {
		got, err := c.got()
		if err != nil || got != c.want {
			t.Errorf("got %q, %v; want %q", got, err, c.want)
		}
	}
	for range 3 {
		if name, err := s.Given(strings.Repeat("n", 400)); err != nil || len(name) != MaxBytes {
			t.Errorf("%d bytes, %v", len(name), err)
		}
	}
	for _, bad := range []string{"", "///", "NUL"} {
		if name, err := s.Given(bad); err == nil {
			t.Errorf("%q gave %q", bad, name)
		}
	}
	if _, err := OpenShelf(filepath.Join(dir, "absent")); err != nil {
		t.Error(err)
	}
}

func TestStringHash(t *testing.T) {
	for s, want := range map[string]int64{
		"": 3338908027751811, "a": 7929297801672961, "hello": 4625896200565286, "é😀": 402108947828814,
		`{"uid":3,"world":"Book","key":["sea"],"comment":"Sea","content":"Blue.","sticky":2,"decorators":[]}`: 4220533123557421,
	} {
		if got := StringHash(s); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
}

func TestEntryHash(t *testing.T) {
	hash := func(s string) int64 { return StringHash(s) }
	for _, c := range []struct {
		entry string
		want  int64
		ok    bool
	}{
		{`{"key":["sea"],"uid":3,"comment":"Sea","content":"Blue.","sticky":2}`, 4220533123557421, true},
		{`{"key" : [ "\u0073ea" ],"uid":3.0,"comment":"no","comment":"Sea","content":"Blue.","sticky":0.2e1}`, 4220533123557421, true},
		{`{"uid":1,"world":"Own","7":1,"content":""}`, hash(`{"7":1,"uid":1,"world":"Own","content":"","decorators":[]}`), true},
		{`{"content":null,"n":1e999}`, hash(`{"world":"Book","content":"","n":null,"decorators":[]}`), true},
		{`{"uid":1}`, hash(`{"uid":1,"world":"Book","decorators":[],"content":""}`), true},
		{`{"content":"@@activate\ntext\n@@activate"}`, hash(`{"world":"Book","content":"text\n@@activate","decorators":["@@activate"]}`), true},
		{`{"content":"@@depth 3\n@@@dont_activate\n@@@activate\ntext"}`, hash(`{"world":"Book","content":"text","decorators":["@@dont_activate"]}`), true},
		{`{"content":"@@@activate\n@@activate only","decorators":5}`, hash(`{"world":"Book","content":"@@@activate\n@@activate only","decorators":["@@activate only"]}`), true},
		{`{"content":5}`, 0, false},
		{`[]`, 0, false},
		{`{`, 0, false},
	} {
		got, ok := EntryHash([]byte(c.entry), "Book")
		if got != c.want || ok != c.ok {
			t.Errorf("%s: %d %v, want %d %v", c.entry, got, ok, c.want, c.ok)
		}
	}
	if got, _ := EntryHash([]byte(`{"uid":3,"key":["sea"],"comment":"Sea","content":"Blue.","sticky":2}`), "Book copy"); got != 4485850599142036 {
		t.Errorf("other book: %d", got)
	}
	// The demo's effect carries the hash that SillyTavern would have noted.
	for _, e := range open(t, filepath.Join(demoWorlds, "z-AutoLB-Gull Rock.json")).Entries {
		if e.UID == "4" {
			if got, ok := EntryHash(e.Raw, "z-AutoLB-Gull Rock"); !ok || got != 8949842416717303 {
				t.Errorf("demo: %d %v", got, ok)
			}
		}
	}
}

func FuzzClone(f *testing.F) {
	f.Add([]byte(`{"entries":{"1":{"comment":"_registry_a"}, "2" : {"comment":"__operation_queue","content":"{}"}, "1":{"comment":"x"}},"name":"n"}`), byte(0), "x*")
	f.Add([]byte("{\n \"entries\": [\n  {},\n  {\"comment\":\"__index_\"}\n ]\n}"), byte(3), "?")
	f.Fuzz(func(t *testing.T, raw []byte, internal byte, glob string) {
		b, err := Parse(raw, "b.json")
		if err != nil {
			return
		}
		opt := CloneOptions{Name: "clone", Internal: Internal(internal % 4), Drop: []string{glob}}
		c := b.Clone(opt)
		if !json.Valid(c.Data) {
			t.Fatalf("%q gave %q", raw, c.Data)
		}
		again, err := Parse(c.Data, "c.json")
		if err != nil {
			t.Fatal(err)
		}
		if len(again.Entries) != c.Entries || c.Entries+c.Dropped != len(b.Entries) {
			t.Fatalf("%q: %d of %d entries, %d dropped, %d read", raw, c.Entries, len(b.Entries), c.Dropped, len(again.Entries))
		}
		if twice := again.Clone(opt); string(twice.Data) != string(c.Data) {
			t.Fatalf("a clone's clone differs: %q, %q", c.Data, twice.Data)
		}
	})
}
