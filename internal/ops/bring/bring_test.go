package bring

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"stchat/internal/change/changeset"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops/bring/convert"
	"stchat/internal/sillytavern/chat"
)

func put(t *testing.T, path string, data []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// user makes a user folder with one character.
func user(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "chats", "Mira", "old.jsonl"), []byte(`{"chat_metadata":{}}`+"\n"+`{"name":"Mira","mes":"x"}`))
	return dir
}

func bring(t *testing.T, dir string, opt Options) []*Result {
	t.Helper()
	if opt.Owner == "" {
		opt.Owner = filepath.Join(dir, "chats", "Mira")
	}
	opt.Changes = changeset.Options{NoSync: true, Now: time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC), NewUUID: uuid.NewString}
	var results []*Result
	_, _, err := Run(t.Context(), opt, func(list []*Result) { results = append(results, list...) })
	if err != nil {
		t.Fatal(err)
	}
	return results
}

const talk = `{"mapping":{"a":{"message":{"author":{"role":"user"},"content":{"parts":["hello"]}}}},"id":%q,"current_node":"a"}`

// A zip gives what lies near its root; what is encrypted, too large or longer than declared does not keep
// the others from being read.
func TestZip(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range []string{"conversations.json", "export/conversations-001.json", "a/b/conversations.json", "other.json", "../conversations.json", "conversations.json/", "b/conversations.json/x", "locked/conversations.json", "bomb/conversations.json", "huge/conversations.json"} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(w, "["+talk+"]", name)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	raw := b.Bytes()
	entry := func(name string) int { // in the central directory
		return bytes.LastIndex(raw, []byte(name)) - 46
	}
	raw[entry("locked/conversations.json")+8] |= 1
	raw[entry("bomb/conversations.json")+24]--
	raw[entry("huge/conversations.json")+27] = 0xc0 // its length: 3 GB
	dir := user(t)
	results := bring(t, dir, Options{Files: []string{put(t, filepath.Join(dir, "export.zip"), raw)}})
	var got []string
	for _, r := range results {
		if r.Err != nil {
			got = append(got, r.Err.Error()[strings.Index(r.Err.Error(), "export.zip"):])
		} else {
			got = append(got, r.Doc.ID)
		}
	}
	want := []string{"conversations.json", "export/conversations-001.json"}
	if diff := cmp.Diff(want, got[:len(got)-1]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, text := range []string{"locked/conversations.json: is not read: it is encrypted", "bomb/conversations.json: ", "huge/conversations.json: is not read: it would be too large"} {
		if !strings.Contains(got[len(got)-1], text) {
			t.Errorf("no %q in %q", text, got[len(got)-1])
		}
	}
}

// A zip without an entry is one without conversations.
func TestEmptyZip(t *testing.T) {
	dir := user(t)
	empty := append([]byte("PK\x05\x06"), make([]byte, 18)...)
	r := bring(t, dir, Options{Files: []string{put(t, filepath.Join(dir, "export.zip"), empty)}})[0]
	if r.Err == nil || !strings.Contains(r.Err.Error(), "there is no conversations.json in it") {
		t.Error(r.Err)
	}
}

// Each entry of a zip that cannot be read is named; the others are read.
func TestZipEntries(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, entry := range []struct{ name, text string }{
		{"conversations-1.json", `{"torn":`}, {"conversations-2.json", ""}, {"conversations-3.json", `{"mes":"x"}`}, {"conversations-4.json", fmt.Sprintf(talk, "read")},
	} {
		w, err := z.Create(entry.name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(entry.text))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	dir := user(t)
	path := put(t, filepath.Join(dir, "export.zip"), b.Bytes())
	var got []string
	for _, r := range bring(t, dir, Options{Files: []string{path}}) {
		if got = append(got, r.Doc.ID); r.Err != nil {
			got[len(got)-1] = strings.TrimPrefix(r.Err.Error(), path+"/")
		}
	}
	want := []string{
		"conversations-1.json:1:9: the value has no end", "conversations-2.json:1:1: the file is empty",
		"conversations-3.json: this is a SillyTavern chat already", "read",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// lines returns the texts of a chat's messages, chosen swipes and others.
func lines(t *testing.T, path string) (texts, swipes []string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range bytes.Split(data, []byte("\n")) {
		if i == 0 {
			continue
		}
		s, _ := rawjson.Unquote(rawjson.Value(line, "mes"))
		texts = append(texts, s)
		for raw := range rawjson.Elements(rawjson.Value(line, "swipes")) {
			s, _ := rawjson.Unquote(raw)
			swipes = append(swipes, s)
		}
	}
	return texts, swipes
}

// Every leaf of a tree is the end of a chat, or a swipe of a reply; nothing is imported twice,
// and no text is lost.
func TestTreesWithBranches(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for n := range 60 {
		var mapping, texts []string
		size := 1 + random.IntN(25)
		leaf := make([]bool, size)
		for i := range size {
			role := []string{"user", "assistant"}[random.IntN(2)]
			parent := ""
			if i > 0 {
				up := max(0, i-1-random.IntN(4))
				parent, leaf[up] = fmt.Sprint("n", up), false
			}
			leaf[i] = true
			texts = append(texts, fmt.Sprint("text ", i))
			mapping = append(mapping, fmt.Sprintf(`"n%d":{"parent":%q,"message":{"author":{"role":%q},"content":{"parts":["text %d"]}}}`, i, parent, role, i))
		}
		file := fmt.Sprintf(`{"id":"t","title":"t","current_node":"n%d","mapping":{%s}}`, size-1, strings.Join(mapping, ","))
		dir := user(t)
		opt := Options{Files: []string{put(t, filepath.Join(dir, "f.json"), []byte(file))}, Branches: true}
		r := bring(t, dir, opt)[0]
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		seen := map[string]bool{}
		ends := map[string]bool{}
		for _, d := range append([]Document{r.Doc}, r.More...) {
			said, swipes := lines(t, d.Path)
			for _, s := range append(said, swipes...) {
				seen[s] = true
			}
			if end := said[len(said)-1]; ends[end] {
				t.Errorf("%d: two chats end in %s", n, end)
			} else {
				ends[end] = true
			}
		}
		for i, is := range leaf {
			if is && !seen[texts[i]] {
				t.Errorf("%d: %s is nowhere\n%s", n, texts[i], file)
			}
		}
		for _, s := range texts {
			if !seen[s] {
				t.Errorf("%d: %s is lost\n%s", n, s, file)
			}
		}
		if again := bring(t, dir, opt)[0]; !again.Doc.Existed || len(again.More) > 0 || again.Doc.Path != r.Doc.Path {
			t.Errorf("%d: imported twice", n)
		}
	}
}

// Calls side by side take names of their own.
func TestNamesAreTaken(t *testing.T) {
	dir := user(t)
	done := make(chan []*Result)
	for k := range 4 {
		var file strings.Builder
		for i := range 20 {
			fmt.Fprintf(&file, talk+"\n", fmt.Sprint(k, "-", i))
		}
		path := put(t, filepath.Join(dir, fmt.Sprint(k, ".json")), []byte(file.String()))
		stamp := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		if err := os.Chtimes(path, stamp, stamp); err != nil {
			t.Fatal(err)
		}
		go func() { done <- bring(t, dir, Options{Files: []string{path}}) }()
	}
	paths := map[string]bool{}
	for range 4 {
		for _, r := range <-done {
			if r.Err != nil {
				t.Error(r.Err)
			}
			paths[r.Doc.Path] = true
		}
	}
	found, _ := filepath.Glob(filepath.Join(dir, "chats", "Mira", "*.jsonl"))
	if len(paths) != 80 || len(found) != 81 {
		t.Errorf("%d paths, %d chats", len(paths), len(found))
	}
}

// Calls side by side import what is in all their FILEs once: who comes second finds it.
func TestSideBySide(t *testing.T) {
	for _, owner := range []string{"chats/Mira", "groups/7.json"} {
		dir := user(t)
		put(t, filepath.Join(dir, "groups", "7.json"), []byte(`{"id":"7","chats":[]}`))
		var file strings.Builder
		for i := range 20 {
			fmt.Fprintf(&file, talk+"\n", fmt.Sprint(i))
		}
		path := put(t, filepath.Join(dir, "f.json"), []byte(file.String()))
		done := make(chan []*Result)
		for range 4 {
			go func() { done <- bring(t, dir, Options{Files: []string{path}, Owner: filepath.Join(dir, owner)}) }()
		}
		paths, existed := map[string]bool{}, 0
		for range 4 {
			for _, r := range <-done {
				if r.Err != nil {
					t.Error(r.Err)
				}
				if paths[r.Doc.Path] = true; r.Doc.Existed {
					existed++
				}
			}
		}
		if len(paths) != 20 || existed != 60 {
			t.Errorf("%s: %d chats, %d were there already", owner, len(paths), existed)
		}
	}
}

// Many conversations are written and told in parts, as one record.
func TestManyAtATime(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a thousand chats")
	}
	dir := user(t)
	var file strings.Builder
	for i := range together + 50 {
		fmt.Fprintf(&file, talk+"\n", fmt.Sprint(i))
	}
	fmt.Fprintf(&file, talk, "7")
	opt := Options{
		Files: []string{put(t, filepath.Join(dir, "f.json"), []byte(file.String()))}, Owner: filepath.Join(dir, "chats", "Mira"),
		Changes: changeset.Options{NoSync: true, NewUUID: uuid.NewString},
	}
	var told []int
	operations, paths := map[string]bool{}, map[string]bool{}
	_, _, err := Run(t.Context(), opt, func(list []*Result) {
		told = append(told, len(list))
		for i, r := range list {
			switch n := i + together*(len(told)-1); {
			case r.Err != nil:
				t.Error(r.Err)
			case n == together+50:
				if !r.Doc.Existed || !paths[r.Doc.Path] {
					t.Errorf("%+v", r.Doc)
				}
			default:
				operations[*r.Doc.Operation], paths[r.Doc.Path] = true, true
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{together, 51}, told); diff != "" || len(operations) != 1 || len(paths) != together+50 {
		t.Errorf("%s, %d operations, %d chats", diff, len(operations), len(paths))
	}
	opt.Open = true
	if _, _, err := Run(t.Context(), opt, func([]*Result) { t.Error("something is told") }); !errors.Is(err, ErrOne) {
		t.Error(err)
	}
}

func TestDates(t *testing.T) {
	at := func(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
	for _, test := range []struct{ in, want []int64 }{
		{[]int64{0, 0, 0}, []int64{98_000, 99_000, 100_000}},
		{[]int64{0, 0, 5000, 0, 0, 9000}, []int64{4998, 4999, 5000, 5001, 5002, 9000}},
		{[]int64{7}, []int64{7}},
	} {
		list := make([]convert.Message, len(test.in))
		undated := 0
		for i, ms := range test.in {
			if ms > 0 {
				list[i].Date = at(ms)
			} else {
				undated++
			}
		}
		all, n := dates(list, at(100_000))
		var got []int64
		for _, d := range all {
			got = append(got, d.UnixMilli())
		}
		if !slices.Equal(got, test.want) || n != undated {
			t.Errorf("%v are %v, %d undated", test.in, got, n)
		}
	}
}

// Thousands may go on from one message: looking for the names one after the other took longer for each.
func TestManyBranches(t *testing.T) {
	dir := user(t)
	var file strings.Builder
	const many = 1500
	for i := range many {
		fmt.Fprintf(&file, `"%d":{"parent":"a","message":{"author":{"role":"user"},"content":{"parts":["%d"]}}},`, i, i)
	}
	json := `{"title":"Many","current_node":"0","mapping":{` + file.String() + `"a":{"message":{"author":{"role":"assistant"},"content":{"parts":["Hi"]}}}}}`
	r := bring(t, dir, Options{Files: []string{put(t, filepath.Join(dir, "f.json"), []byte(json))}, Branches: true})[0]
	for _, d := range r.More {
		if !strings.HasPrefix(d.Name, "Many__Branch #0 - ") {
			t.Fatalf("%q", d.Name)
		}
	}
	if r.Err != nil || len(r.More) != many-1 {
		t.Errorf("%v, %d branches", r.Err, len(r.More))
	}
}

// A reply may have many versions: with a copy of all at each, this would take minutes.
func TestManySwipes(t *testing.T) {
	dir := user(t)
	var file strings.Builder
	const many = 20_000
	for i := range many {
		fmt.Fprintf(&file, `,{"content":"version %d"}`, i)
	}
	json := `{"visible":[["Hi","version 7"]],"internal":[["Hi","version 7"]],"metadata":{"assistant_0":{"current_version_index":7,"versions":[` + file.String()[1:] + `]}}}`
	r := bring(t, dir, Options{Files: []string{put(t, filepath.Join(dir, "f.json"), []byte(json))}})[0]
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	if said, swipes := lines(t, r.Doc.Path); said[1] != "version 7" || len(swipes) != many || swipes[many-1] != fmt.Sprint("version ", many-1) || r.Doc.Swipes != many {
		t.Errorf("%q, %d swipes, %d told", said, len(swipes), r.Doc.Swipes)
	}
}

// An error about standard input names it once.
func TestStdinNamed(t *testing.T) {
	empty := "PK\x05\x06" + strings.Repeat("\x00", 18)
	r := bring(t, user(t), Options{Files: []string{"-"}, Stdin: strings.NewReader(empty)})[0]
	if r.Err == nil || !strings.HasPrefix(r.Err.Error(), "standard input: ") || r.Doc.Source != "standard input" {
		t.Errorf("%q: %v", r.Doc.Source, r.Err)
	}
}

// Texts in an old encoding lose letters, which is told.
func TestNotUTF8(t *testing.T) {
	dir := user(t)
	for text, want := range map[string]int{"caf\xe9": 1, "caf\u00e9": 0, `caf\ud800`: 0} {
		file := put(t, filepath.Join(dir, "f.json"), []byte(`{"messages":[{"role":"user","content":"`+text+`"},{"role":"assistant","content":"b"}]}`))
		if r := bring(t, dir, Options{Files: []string{file}})[0]; r.Err != nil || len(r.Facts) != want {
			t.Errorf("%q: %v, %v", text, r.Err, r.Facts)
		}
	}
}

// Bytes that are no text, long messages and odd keys come through.
func TestOddTexts(t *testing.T) {
	dir := user(t)
	long := strings.Repeat("långt ", 1<<20)
	file := "\xef\xbb\xbf{\r\n\"__proto__\":{},\"messages\":[{\"role\":\"user\",\"content\":\"\\ud83d \\u0000\"},{\"role\":\"assistant\",\"content\":\"" + long + "\"}]}\r\n"
	r := bring(t, dir, Options{Files: []string{put(t, filepath.Join(dir, "f.json"), []byte(file))}})[0]
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	data, err := os.ReadFile(r.Doc.Path)
	if err != nil || !bytes.Contains(data, []byte(`"mes":"\ud83d \u0000"`)) || !bytes.Contains(data, []byte(long)) {
		t.Errorf("%v: %.300s", err, data)
	}
	c, err := chat.Open(t.Context(), r.Doc.Path, chat.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}
