package isolate

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/extension"
	"stchat/internal/extension/autorecap"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/lorebook"
)

// scanned scans messages as of at.
func scanned(t *testing.T, at int, messages ...string) *Facts {
	t.Helper()
	f, err := Scan(t.Context(), jsonl.Bytes([]byte(strings.Join(messages, "\n"))), Options{At: at})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// object parses metadata.
func object(t *testing.T, raw string) *rawjson.Object {
	t.Helper()
	o, err := rawjson.ParseObject([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// applied isolates metadata and gives it with what was said.
func applied(t *testing.T, f *Facts, metadata string) (string, []string) {
	t.Helper()
	o := object(t, metadata)
	said := []string{}
	for _, c := range f.Apply(o, "new") {
		said = append(said, c.Extension+": "+c.Change)
	}
	return string(o.Bytes()), said
}

const plain = `{"mes":""}`

func repeat(n int, message string) []string {
	messages := make([]string, n)
	for i := range messages {
		messages[i] = message
	}
	return messages
}

func TestScan(t *testing.T) {
	messages := []string{
		`{"mes":"0"}`, `{"is_system":true}`, "", `{"is_system":"yes","extra":{"tool_invocations":[]}}`, `damaged`, `{"is_system":0}`,
		`{"is_system":true,"extra":{"tool_invocations":{}}}`, `{"is_system":false,"is_system":true}`,
	}
	const total = 6
	for at, visible := range map[int]int{0: 1, 1: 1, 2: 2, 3: 3, 4: 3, 5: 3, -1: 3, -2: 3, -3: 3, -4: 2, -5: 1, -6: 1} {
		f := scanned(t, at, messages...)
		want := at
		if at < 0 {
			want += total
		}
		m := f.branch(nil, "x")
		if m.At != want || m.Visible != visible || f.Messages != total || m.Messages() != want+1 {
			t.Errorf("at %d: %+v of %d messages, want message %d, %d visible", at, m, f.Messages, want, visible)
		}
	}
	for _, at := range []int{6, -7, math.MaxInt, math.MinInt} {
		_, err := Scan(t.Context(), jsonl.Bytes([]byte(strings.Join(messages, "\n"))), Options{At: at})
		if r, ok := errors.AsType[*RangeError](err); !ok || r.Messages != total || r.At != at {
			t.Errorf("at %d: %v", at, err)
		}
	}
	if _, err := Scan(t.Context(), jsonl.Bytes(nil), Options{At: -1}); err == nil || !strings.Contains(err.Error(), "empty") {
		t.Errorf("empty chat: %v", err)
	}
}

// What is found does not depend on from which end N is counted, on the size of the
// chat or on the goroutines.
func TestScanLong(t *testing.T) {
	var b strings.Builder
	const n = 60_000
	for i := range n {
		switch {
		case i%7 == 0:
			b.WriteString(`{"is_system":true,"extra":{"auto_recap":{"scene_recap_memory":"x"}}}`)
		case i%5 == 0:
			b.WriteString(`{"extra":{"var_ops":[{"op":"incvar","key":"k"},{"op":"pushvar","key":"l","value":"1"}]}}`)
		default:
			b.WriteString(`{"mes":"` + strings.Repeat("text ", 6) + `"}`)
		}
		b.WriteByte('\n')
	}
	src := jsonl.Bytes([]byte(b.String()))
	var want string
	for _, at := range []int{40_000, 40_000 - n} {
		for _, workers := range []int{1, 4} {
			f, err := Scan(t.Context(), src, Options{At: at, Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			o := object(t, `{"variables":{"k":1},"auto_recap_running_scene_recaps":{"versions":[{"version":0,"new_scene_index":39998},{"version":1,"new_scene_index":39999},{"version":2,"new_scene_index":40005}]}}`)
			f.Apply(o, "new")
			got := string(o.Bytes())
			if want == "" {
				want = got
			}
			if f.At != 40_000 || got != want || !strings.Contains(got, `"versions":[{"version":0`) || strings.Contains(got, "4000") {
				t.Errorf("at %d with %d workers: message %d, %.300s", at, workers, f.At, got)
			}
		}
	}
}

func TestCore(t *testing.T) {
	f := scanned(t, 4, append(repeat(4, plain), `{"is_system":true}`, plain)...) // 4 visible
	for _, c := range []struct{ in, want, said string }{
		{`{"lastInContextMessageId":5}`, `{}`, "core: lastInContextMessageId 5 removed: beyond message 4"},
		{`{"lastInContextMessageId":4.0}`, `{"lastInContextMessageId":4.0}`, ""},
		{`{"lastInContextMessageId":null}`, `{"lastInContextMessageId":null}`, ""},
		{
			`{"timedWorldInfo": {"sticky":{"B.1":{"start":5},"B.2":{"start":4,"protected":true},"B.3":{"start":3 }},"cooldown":{"B.4":{"start":4,"protected":false},"x":7}},"z":[]}`,
			`{"timedWorldInfo": {"sticky":{"B.2":{"start":4,"protected":true},"B.3":{"start":3 }},"cooldown":{"x":7}},"z":[]}`,
			"core: 2 of 3 sticky effects kept at 4 visible messages|core: 1 of 2 cooldown effects kept at 4 visible messages",
		},
		{`{"timedWorldInfo":[],"variables":{"a":1}}`, `{"timedWorldInfo":[],"variables":{"a":1}}`, ""},
	} {
		got, said := applied(t, f, c.in)
		if got != c.want || strings.Join(said, "|") != c.said {
			t.Errorf("%s:\n%s\n%q", c.in, got, said)
		}
	}
}

func TestAutoRecap(t *testing.T) {
	recap := func(module, text string) string {
		return `{"extra":{"` + module + `":{"scene_recap_memory":` + text + `}}}`
	}
	messages := []string{plain, recap("auto_recap_memory", `"one"`), recap("auto_recap_memory", `""`), recap("auto_recap", `"three"`), plain, recap("auto_recap_memory", `"five"`)}
	version := func(n, scene string) string {
		return `{"version":` + n + `,"new_scene_index":` + scene + `,"content":"c"}`
	}
	store := func(current string, versions ...string) string {
		return `{"auto_recap_running_scene_recaps":{"chat_id":"new","current_version":` + current + `,"versions":[` + strings.Join(versions, ",") + `],"x":1.50}}`
	}
	for _, c := range []struct {
		name, in, want string
		said           []string
	}{
		{
			"later scenes go", store("10", version("0", "1"), version("1", "3.0"), version("9", "5"), version("10", "9")),
			store("1", version("0", "1"), version("1", "3.0")),
			[]string{"auto_recap: 2 of 4 versions kept, current 10 → 1"},
		},
		{"the current one stays", store("0", version("0", "1"), version("1", "5")), store("0", version("0", "1")), []string{"auto_recap: 1 of 2 versions kept"}},
		{"a scene without its recap", store("1", version("0", "1"), version("1", "2"), version("2", "4")), store("0", version("0", "1")), []string{"auto_recap: 1 of 3 versions kept, current 1 → 0"}},
		{"nothing is left", store("3", version("3", "5")), store("0"), []string{"auto_recap: 0 of 1 version kept, current 3 → 0"}},
		{"index 0 by default", store("2", `{"version":2}`, `{"version":1,"new_scene_index":null}`, `{"version":1,"new_scene_index":"1"}`), store("0"), []string{"auto_recap: 0 of 3 versions kept, current 2 → 0"}},
		{"a current one that is not there", store("4", version("0", "1")), store("0", version("0", "1")), []string{"auto_recap: current 4 → 0"}},
		{"nothing to do", store("0"), store("0"), []string{}},
		{"no list", `{"auto_recap_running_scene_recaps":{"chat_id":"old","versions":{}}}`, `{"auto_recap_running_scene_recaps":{"chat_id":"new","versions":{}}}`, []string{`auto_recap: chat_id set to "new"`}},
		{"no store", `{"auto_recap_running_scene_recaps":null}`, `{"auto_recap_running_scene_recaps":null}`, []string{}},
		{"work in flight", `{"autoLorebooks":{"pendingOps":{"entry_1":{},"entry_2":{}},"k":[]}}`, `{"autoLorebooks":{"pendingOps":{},"k":[]}}`, []string{"auto_recap: 2 pending operations removed"}},
		{"no work in flight", `{"autoLorebooks":{"pendingOps":{ }}}`, `{"autoLorebooks":{"pendingOps":{ }}}`, []string{}},
		{"combined recap of later messages", `{"auto_recap":{"enabled":true,"combined_recap":{"chat_id":"old","message_count":6}}}`, `{"auto_recap":{"enabled":true}}`, []string{"auto_recap: combined recap of 6 messages removed"}},
		{"combined recap", `{"auto_recap":{"combined_recap":{"chat_id":"old","message_count":5}}}`, `{"auto_recap":{"combined_recap":{"chat_id":"new","message_count":5}}}`, []string{`auto_recap: chat_id of the combined recap set to "new"`}},
		{
			"no rule", `{"auto_lorebooks_processed_recaps":["a"],"auto_recap_checkpoint_state":{"message_id":40},"auto_lorebooks":{"lorebookName":"B"},"third":{"party":1},"empty":{},"number":4}`,
			`{"auto_lorebooks_processed_recaps":["a"],"auto_recap_checkpoint_state":{"message_id":40},"auto_lorebooks":{"lorebookName":"B"},"third":{"party":1},"empty":{},"number":4}`,
			[]string{
				"auto_recap: auto_lorebooks_processed_recaps left as it is at the end of the source: no rule says what it was at message 4",
				"auto_recap: auto_recap_checkpoint_state left as it is at the end of the source: no rule says what it was at message 4",
				"third: left as it is at the end of the source: stchat does not know this extension",
			},
		},
	} {
		got, said := applied(t, scanned(t, 4, messages...), c.in)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if diff := cmp.Diff(c.said, said); diff != "" {
			t.Errorf("%s: said (-want +got):\n%s", c.name, diff)
		}
	}
	o := object(t, store("0"))
	if scanned(t, 4, messages...).Apply(o, ""); o.Edited() {
		t.Error("a branch without a name changes chat_id")
	}
}

func TestSceneAndSnapshot(t *testing.T) {
	message := func(data string) string { return `{"extra":{"auto_recap_memory":{` + data + `}}}` }
	noted := func(version, entries string) string {
		return `"scene_recap_metadata":{` + version + `:{"allEntries":` + entries + `}}`
	}
	messages := []string{
		message(`"scene_break":true,` + noted(`"0"`, `[{"uid":0}]`)),
		message(`"scene_break":true,"scene_break_visible":false,"scene_recap_memory":"r",` + noted(`"0"`, `[{"uid":1}]`)),
		message(`"scene_break":true,"scene_recap_current_index":1,` + noted(`"0"`, `[{"uid":2}]`)),
		message(`"scene_break":true,"scene_recap_memory":"",` + noted(`"0"`, `[]`)),
		`{"extra":{"auto_recap":{"scene_break":1,"scene_break_visible":true,"scene_recap_current_index":2,` + noted(`"2"`, ` [{"uid":4}]`) + `}}}`,
		`{"extra":{"auto_recap":{"scene_break":true,"scene_recap_memory":"old"},"auto_recap_memory":{"scene_break":false}}}`,
		plain,
	}
	source := jsonl.Bytes([]byte(strings.Join(messages, "\n")))
	for at, want := range []struct {
		scene   autorecap.Scene
		entries string
		from    int
	}{
		{autorecap.Scene{Break: true}, `[{"uid":0}]`, 0},
		{autorecap.Scene{Break: true, Hidden: true, Recap: true}, `[{"uid":0}]`, 0},
		{autorecap.Scene{Break: true}, `[{"uid":0}]`, 0},
		{autorecap.Scene{Break: true}, `[{"uid":0}]`, 0},
		{autorecap.Scene{Break: true}, `[{"uid":4}]`, 4},
		{autorecap.Scene{Recap: true}, `[{"uid":4}]`, 4},
		{autorecap.Scene{}, `[{"uid":4}]`, 4},
	} {
		for _, at := range []int{at, at - len(messages)} {
			f := scanned(t, at, messages...)
			entries, from, ok, err := f.Recap().Snapshot(source)
			if err != nil || !ok || string(entries) != want.entries || from != want.from || f.Recap().Scene() != want.scene {
				t.Errorf("at %d: %s of message %d, %v, %v; scene %+v", at, entries, from, ok, err, f.Recap().Scene())
			}
		}
	}
	if _, _, ok, err := scanned(t, 0, plain).Recap().Snapshot(source); ok || err != nil {
		t.Errorf("a snapshot out of nothing: %v", err)
	}
	f := scanned(t, 6, messages...)
	f.Choose([]byte(message(`"scene_break":true,` + noted(`"0"`, `[{"uid":9}]`))))
	if entries, from, ok, err := f.Recap().Snapshot(source); err != nil || !ok || string(entries) != `[{"uid":9}]` || from != 6 {
		t.Errorf("another swipe: %s of %d, %v", entries, from, err)
	}
	f = scanned(t, 4, messages...)
	if _, _, _, err := f.Recap().Snapshot(jsonl.Bytes([]byte(strings.Repeat("{}\n", 400)))); !errors.Is(err, jsonl.ErrChanged) {
		t.Errorf("another file: %v", err)
	}
}

func TestAutoIllustrator(t *testing.T) {
	const in = `{"auto_illustrator":{"v":1,"promptRegistry":{"nodes":{"a":{"messageId":1,"parentId":null,"childIds":["b","c"],"n":1.0},"b":{"messageId":9,"parentId":"a","childIds":["d"]},"c":{"messageId":2,"parentId":"a","childIds":[]},"d":{"messageId":2,"parentId":"b","childIds":[]},"e":{"messageId":3,"parentId":"a"}},` +
		`"imageToPromptId":{"/1.png":"a","/2.png":"b","/3.png":"ghost"},"rootPromptIds":["a","b"]},"galleryWidget":{"visible":true,"expandedMessages":[1,9,3,"x"]}}}`
	const want = `{"auto_illustrator":{"v":1,"promptRegistry":{"nodes":{"a":{"messageId":1,"parentId":null,"childIds":["c"],"n":1.0},"c":{"messageId":2,"parentId":"a","childIds":[]},"d":{"messageId":2,"parentId":null,"childIds":[]}},` +
		`"imageToPromptId":{"/1.png":"a"},"rootPromptIds":["a","d"]},"galleryWidget":{"visible":true,"expandedMessages":[1,"x"]}}}`
	f := scanned(t, 2, repeat(5, plain)...)
	got, said := applied(t, f, in)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"auto_illustrator: 3 of 5 prompts kept", "auto_illustrator: 1 of 3 images kept", "auto_illustrator: 2 of 4 open messages of the gallery kept"}, said); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}
	if again, said := applied(t, f, got); again != got || len(said) > 0 {
		t.Errorf("again: %s, %q", again, said)
	}
	for _, odd := range []string{`{"auto_illustrator":null}`, `{"auto_illustrator":{"promptRegistry":[],"galleryWidget":5}}`, `{"auto_illustrator":{"promptRegistry":{"nodes":[],"imageToPromptId":{"x":"y"}},"galleryWidget":{"expandedMessages":{}}}}`, `{"auto_illustrator":{"promptRegistry":{"nodes":{"a":5},"rootPromptIds":7}}}`} {
		if got, said := applied(t, f, odd); got != odd || len(said) > 0 {
			t.Errorf("%s became %s, %q", odd, got, said)
		}
	}
}

func TestLukerVariables(t *testing.T) {
	ops := func(list string) string { return `{"extra":{"var_ops":[` + list + `]}}` }
	messages := []string{
		ops(`{"op":"setvar","key":"hp","value":"10"},{"op":"setvar","key":"bag","path":"0","value":"lamp"}`),
		ops(`{"op":"addvar","key":"hp","value":"-3"},{"op":"deletevar","key":"old"}`),
		ops(`{"op":"setvar","key":"same","value":"A"},{"op":"setvar","key":"far","path":"99999999","value":"x"}`),
		ops(`{"op":"setvar","key":"hp","value":"99"},{"op":"setvar","key":"late","value":"1"}`),
	}
	const in = `{"variables":{"hp":"99","late":"1","old":"x","same":"\u0041","script":"kept","far":5},"z":1}`
	for at, want := range map[int]struct {
		got  string
		said []string
	}{
		2:  {`{"variables":{"hp":7,"same":"\u0041","script":"kept","far":5,"bag":"[\"lamp\"]"},"z":1}`, []string{`luker: variable "far" left as it is at the end of the source: its operations write far behind the ends of lists`, "luker: 2 variables replayed", "luker: 2 variables deleted"}},
		1:  {`{"variables":{"hp":7,"script":"kept","bag":"[\"lamp\"]"},"z":1}`, []string{"luker: 2 variables replayed", "luker: 4 variables deleted"}},
		-4: {`{"variables":{"hp":"10","script":"kept","bag":"[\"lamp\"]"},"z":1}`, []string{"luker: 2 variables replayed", "luker: 4 variables deleted"}},
	} {
		got, said := applied(t, scanned(t, at, messages...), in)
		if diff := cmp.Diff(want.got, got); diff != "" {
			t.Errorf("at %d (-want +got):\n%s", at, diff)
		}
		if diff := cmp.Diff(want.said, said); diff != "" {
			t.Errorf("at %d: said (-want +got):\n%s", at, diff)
		}
	}
	// Another swipe of the last message: what only the one in the source did goes.
	f := scanned(t, 3, messages...)
	f.Choose([]byte(ops(`{"op":"setvar","key":"hp","value":"1"}`)))
	if got, _ := applied(t, f, in); got != `{"variables":{"hp":"1","same":"\u0041","script":"kept","far":5,"bag":"[\"lamp\"]"},"z":1}` {
		t.Errorf("another swipe: %s", got)
	}
	// SillyTavern's own variables have no operations and stay.
	if got, said := applied(t, scanned(t, 0, plain), in); got != in || len(said) > 0 {
		t.Errorf("no operations: %s, %q", got, said)
	}
	if got, said := applied(t, scanned(t, 0, messages...), `{"variables":[]}`); got != `{"variables":[]}` || len(said) != 1 {
		t.Errorf("a list: %s, %q", got, said)
	}
	if got, _ := applied(t, scanned(t, 0, messages...), `{}`); got != `{"variables":{"hp":"10","bag":"[\"lamp\"]"}}` {
		t.Errorf("none yet: %s", got)
	}
}

func book(t *testing.T, name, raw string) *lorebook.Book {
	t.Helper()
	b, err := lorebook.Parse([]byte(raw), name+".json")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRebind(t *testing.T) {
	const entries = `{"entries":{"3":{"uid":3,"key":["sea"],"comment":"Sea","content":"Blue.","sticky":2},"4":{"uid":4,"world":"Book","content":""},"7":{"uid":7}}}`
	from := book(t, "Book", entries)
	clone := book(t, "Book copy", strings.Replace(entries, `,"7":{"uid":7}`, "", 1))
	const in = `{"world_info":"Book","auto_lorebooks":{"lorebookName":"Other","attachedAt":1,"registry":{"index":{"3":{"uid":3},"7":{"uid":7.0},"8":{"uid":8}},"counters":{}}},"timedWorldInfo":{"sticky":{"Book.3":{"hash":4220533123557421,"start":7,"end":10,"protected":false},"Book.4":{"hash":1},"Book.7":{"hash":2},"Book.5.3":{"hash":4},"Else.3":{"hash":5}},"cooldown":{"Book.3":{"hash":6},"Book.99":{}}},"x":1}`
	for _, c := range []struct {
		snapshot bool
		index    string
		said     []string
	}{
		{false, `"3":{"uid":3},"8":{"uid":8}`, []string{`auto_recap: lorebookName set to "Book copy"`, "auto_recap: 2 of 3 entries in the registry's index kept", "core: 1 timed effect moved to the lorebook's clone", "core: 3 timed effects removed: the clone has no entry that fits"}},
		{true, `"3":{"uid":3}`, []string{`auto_recap: lorebookName set to "Book copy"`, "auto_recap: 1 of 3 entries in the registry's index kept", "core: 1 timed effect moved to the lorebook's clone", "core: 3 timed effects removed: the clone has no entry that fits"}},
	} {
		want := `{"world_info":"Book copy","auto_lorebooks":{"lorebookName":"Book copy","attachedAt":1,"registry":{"index":{` + c.index + `},"counters":{}}},"timedWorldInfo":{"sticky":{"Book.4":{"hash":1},"Book.5.3":{"hash":4},"Else.3":{"hash":5},"Book copy.3":{"hash":4485850599142036,"start":7,"end":10,"protected":false}},"cooldown":{}},"x":1}`
		o := object(t, in)
		said := []string{}
		r := &extension.Renaming{Metadata: o, From: from, To: clone, Snapshot: c.snapshot}
		Rebind(r)
		for _, change := range r.Changes {
			said = append(said, change.Extension+": "+change.Change)
		}
		if diff := cmp.Diff(want, string(o.Bytes())); diff != "" {
			t.Errorf("snapshot %v (-want +got):\n%s", c.snapshot, diff)
		}
		if diff := cmp.Diff(c.said, said); diff != "" {
			t.Errorf("snapshot %v: said (-want +got):\n%s", c.snapshot, diff)
		}
	}
	o := object(t, `{"timedWorldInfo":[],"auto_lorebooks":{"registry":5}}`)
	r := &extension.Renaming{Metadata: o, From: from, To: clone}
	if Rebind(r); len(r.Changes) > 0 || string(o.Bytes()) != `{"timedWorldInfo":[],"auto_lorebooks":{"registry":5},"world_info":"Book copy"}` {
		t.Errorf("%s, %v", o.Bytes(), r.Changes)
	}
}

// SillyTavern notes the name of a lorebook as it was typed: a clone takes over what names its book so, its
// timed effects, too, and nothing else.
func TestRebindTypedNames(t *testing.T) {
	const entries = `{"entries":{"3":{"uid":3,"content":"Blue."}}}`
	hash := func(book string) int64 {
		hash, ok := lorebook.EntryHash([]byte(`{"uid":3,"content":"Blue."}`), book)
		if !ok {
			t.Fatal("the entry has no hash")
		}
		return hash
	}
	in := fmt.Sprintf(`{"world_info":"Sea","STMemoryBooks":{"manualLorebook":"Mem: Book"},"timedWorldInfo":{"sticky":{"Mem: Book.3":{"hash":%d},"Sea.3":{"hash":%d}}}}`, hash("Mem: Book"), hash("Sea"))
	want := fmt.Sprintf(`{"world_info":"Sea 2","STMemoryBooks":{"manualLorebook":"Mem 2"},"timedWorldInfo":{"sticky":{"Sea 2.3":{"hash":%d},"Mem 2.3":{"hash":%d}}}}`, hash("Sea 2"), hash("Mem 2"))
	md := object(t, in)
	Rebind(&extension.Renaming{Metadata: md, From: book(t, "Sea", entries), To: book(t, "Sea 2", entries)})
	Rebind(&extension.Renaming{Metadata: md, From: book(t, "Mem Book", entries), To: book(t, "Mem 2", entries)})
	if diff := cmp.Diff(want, string(md.Bytes())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The demo's main chat, isolated at the message of its checkpoint, has the state
// that the checkpoint of the demo has.
func TestDemo(t *testing.T) {
	folder := filepath.Join("..", "..", "..", "testdata", "demo", "chats", "Maren Holm")
	read := func(name string) (header, body []byte) {
		raw, err := os.ReadFile(filepath.Join(folder, name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		head, rest, _ := strings.Cut(string(raw), "\n")
		return []byte(head), []byte(rest)
	}
	header, body := read("Maren Holm - 2026-03-01@18h42m07s311ms")
	wantHeader, wantBody := read("Before the storm")
	f, err := Scan(t.Context(), jsonl.Bytes(body), Options{At: strings.Count(string(wantBody), "\n")})
	if err != nil {
		t.Fatal(err)
	}
	source, _ := rawjson.Lookup(header, "chat_metadata")
	want, _ := rawjson.Lookup(wantHeader, "chat_metadata")
	got := object(t, string(source))
	f.Apply(got, "Before the storm")
	for _, key := range []string{"auto_recap_running_scene_recaps", "autoLorebooks", "auto_illustrator", "timedWorldInfo"} {
		value, _ := got.Get(key)
		expect, _ := rawjson.Lookup(want, key)
		if diff := cmp.Diff(string(expect), string(value)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
}
