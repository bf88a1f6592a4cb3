package message

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"stchat/internal/jsonl/rawjson"
)

func TestRoleAndVisible(t *testing.T) {
	tests := []struct {
		line    string
		role    Who
		visible bool
	}{
		{`{"is_user":true,"is_system":false}`, User, true},
		{`{"is_user":"yes"}`, User, true},
		{`{"is_user":0}`, Character, true},
		{`{"is_user":""}`, Character, true},
		{`{"is_user":null,"is_system":0.0}`, Character, true},
		{`{}`, Character, true},
		{`{"is_user":false,"is_user":1}`, User, true},
		{`{"is_user":true,"is_user":false}`, Character, true},
		{`{"is_\u0075ser":[]}`, User, true},
		{`{"is_user":true,"is_system":{}}`, User, false},
		{`{"is_user":false,"is_system":true}`, Character, false},
		{`{"name":"System","is_user":false,"is_system":false}`, Character, true},
		{`{"name":"System","is_user":false,"is_system":true}`, System, false},
		{`{"name":"S\u0079stem","is_user":true,"is_system":1}`, System, false},
		{`{"is_user":true,"extra":{"type":"narrator"}}`, Narrator, true},
		{`{"is_system":true,"extra":{"type":"narrator","isSmallSys":true}}`, Narrator, false},
		{`{"name":"Note","is_system":true,"extra":{"type":"comment"}}`, Comment, false},
		{`{"is_system":true,"extra":{"type":"help"}}`, System, false},
		{`{"is_user":true,"extra":{"type":5}}`, System, true},
		{`{"is_user":true,"extra":{"type":"","isSmallSys":false}}`, User, true},
		{`{"is_user":true,"extra":{"isSmallSys":true}}`, System, true},
		{`{"is_system":true,"extra":{"tool_invocations":[]}}`, System, true},
		{`{"is_system":true,"extra":{"tool_invocations":{}}}`, Character, false},
		{`{"is_system":true,"extra":null,"tool_invocations":[]}`, Character, false},
		{`{"is_system":true,"extra":{"tool_invocations":[1]},"extra":{}}`, Character, false},
	}
	for _, tt := range tests {
		value := func(path ...string) []byte {
			raw, _ := rawjson.Lookup([]byte(tt.line), path...)
			return raw
		}
		role := Role(value("name"), value("is_user"), value("is_system"), value("extra"))
		visible := Visible(value("is_system"), func() []byte { return value("extra", "tool_invocations") })
		if role != tt.role || visible != tt.visible {
			t.Errorf("%s: %s, visible %v; want %s, %v", tt.line, role, visible, tt.role, tt.visible)
		}
	}
}

func TestChooseSwipe(t *testing.T) {
	tests := []struct {
		name, line string
		swipe      int
		want       string
	}{
		{
			"everything in its place",
			`{"name":"M","send_date":"d0","mes":"a","gen_started":"s0","gen_finished":"f0","extra":{"x":0},"swipe_id":0,"swipes":["a","b"],"swipe_info":[{"send_date":"d0","extra":{}},{"send_date":"d1","gen_started":"s1","gen_finished":"f1","extra":{"y":1.0,"\u00e9":"\ud800"}}],"z":1}`,
			2,
			`{"name":"M","send_date":"d1","mes":"b","gen_started":"s1","gen_finished":"f1","extra":{"y":1.0,"\u00e9":"\ud800"},"swipe_id":1,"swipes":["a","b"],"swipe_info":[{"send_date":"d0","extra":{}},{"send_date":"d1","gen_started":"s1","gen_finished":"f1","extra":{"y":1.0,"\u00e9":"\ud800"}}],"z":1}`,
		},
		{
			"the swipe that is chosen already",
			`{"mes":"a","send_date":"d","extra":{},"swipe_id":0,"swipes":["a"],"swipe_info":[{"send_date":"d","extra":{}}]}`,
			1,
			`{"mes":"a","send_date":"d","extra":{},"swipe_id":0,"swipes":["a"],"swipe_info":[{"send_date":"d","extra":{}}]}`,
		},
		{
			"keys that swipe_info lacks go, keys that the message lacks come last",
			`{"gen_started":"s","send_date":"d","gen_finished":"f","extra":{"x":1},"swipes":["a"],"swipe_id":0,"swipe_info":[{"gen_finished":"g"}]}`,
			1,
			`{"gen_finished":"g","extra":{},"swipes":["a"],"swipe_id":0,"swipe_info":[{"gen_finished":"g"}],"mes":"a"}`,
		},
		{
			"a swipe_id that is no number: the message is that of the first swipe",
			`{"mes":"edited","send_date":"d","extra":{"x":1},"swipes":["a","b"],"swipe_id":"1","swipe_info":[{"gen_finished":"g","send_date":"e"},{"send_date":"f"}]}`,
			2,
			`{"mes":"b","send_date":"f","extra":{},"swipes":["edited","b"],"swipe_id":1,"swipe_info":[{"send_date":"d","extra":{"x":1}},{"send_date":"f"}]}`,
		},
		{
			"null is a value, but not an extra",
			`{"send_date":"d","mes":"a","swipes":["b"],"swipe_id":0,"swipe_info":[{"send_date":null,"extra":null}]}`,
			1,
			`{"send_date":null,"mes":"b","swipes":["b"],"swipe_id":0,"swipe_info":[{"send_date":null,"extra":null}],"extra":{}}`,
		},
		{
			"an extra that is no object is copied",
			`{"mes":"","swipes":["b"],"swipe_id":0,"swipe_info":[{"extra":[ 1, 2 ]}]}`,
			1,
			`{"mes":"b","swipes":["b"],"swipe_id":0,"swipe_info":[{"extra":[ 1, 2 ]}],"extra":[ 1, 2 ]}`,
		},
		{
			"missing swipe_info is filled",
			`{"send_date":"d","gen_started":"s","mes":"a","extra":{"x":1},"swipe_id":0,"swipes":["a", "" ,"c"]}`,
			2,
			`{"send_date":"d","gen_started":"s","mes":"","extra":{},"swipe_id":1,"swipes":["a", "" ,"c"],"swipe_info":[{"send_date":"d","gen_started":"s","extra":{"x":1}},{"send_date":"d","gen_started":"s","extra":{}},{"send_date":"d","gen_started":"s","extra":{}}]}`,
		},
		{
			"swipe_info that is no list is filled, without a date where there is none",
			`{"swipe_info":{"0":1},"swipes":["a"]}`,
			1,
			`{"swipe_info":[{}],"swipes":["a"],"swipe_id":0,"mes":"a","extra":{}}`,
		},
		{
			"swipe_info too short: the chosen swipe takes over what the message says",
			`{"send_date":"d","extra":{"x":1},"mes":"A","gen_finished":"f","swipe_id":0,"swipes":["a","b"],"swipe_info":[{"send_date":"e","gen_started":"s","extra":{"old":1},"own":2}]}`,
			2,
			`{"send_date":"d","extra":{},"mes":"b","gen_finished":"f","swipe_id":1,"swipes":["A","b"],"swipe_info":[{"send_date":"d","extra":{"x":1},"own":2,"gen_finished":"f"},{"send_date":"d","gen_finished":"f","extra":{}}]}`,
		},
		{
			"swipe_info too short, and the chosen swipe itself is asked for",
			`{"send_date":"d","extra":{"x":1},"mes":"A","swipe_id":0,"swipes":["a","b"],"swipe_info":[{"send_date":"e","extra":{"old":1}}]}`,
			1,
			`{"send_date":"d","extra":{"x":1},"mes":"A","swipe_id":0,"swipes":["A","b"],"swipe_info":[{"send_date":"d","extra":{"x":1}},{"send_date":"d","extra":{}}]}`,
		},
		{
			"swipe_info too short, and a swipe_id of no swipe",
			`{"send_date":"d","extra":{"x":1},"mes":"A","swipe_id":5,"swipes":["a","b"],"swipe_info":[{"send_date":"e"}]}`,
			1,
			`{"send_date":"e","extra":{},"mes":"a","swipe_id":0,"swipes":["a","b"],"swipe_info":[{"send_date":"e"},{"send_date":"d","extra":{}}]}`,
		},
		{
			"swipe_info with null",
			`{"send_date":"d","extra":{"x":1},"mes":"a","swipe_id":0,"swipes":["a"],"swipe_info":[null]}`,
			1,
			`{"send_date":"d","extra":{"x":1},"mes":"a","swipe_id":0,"swipes":["a"],"swipe_info":[{"send_date":"d","extra":{"x":1}}]}`,
		},
		{
			"entries that belong to no swipe stay",
			`{"mes":"a","swipes":["a"],"swipe_info":[ 1, {} , null]}`,
			1,
			`{"mes":"a","swipes":["a"],"swipe_info":[ {}, {} , null],"swipe_id":0,"extra":{}}`,
		},
		{
			"no swipes: the text is the only one",
			`{"mes":"a","send_date":"d","extra":{"x":1}}`,
			1,
			`{"mes":"a","send_date":"d","extra":{"x":1},"swipes":["a"],"swipe_id":0,"swipe_info":[{"send_date":"d","extra":{"x":1}}]}`,
		},
		{
			"swipes that is no list gives way to the text, and no text is empty",
			`{"mes":7,"swipes":{"0":"a"}}`,
			1,
			`{"mes":"","swipes":[""],"swipe_id":0,"swipe_info":[{}],"extra":{}}`,
		},
		{
			"a swipe that is no text is empty",
			`{"mes":"a","swipes":["a", null , 5],"swipe_info":[{},{},{}]}`,
			2,
			`{"mes":"","swipes":["a", "" , ""],"swipe_info":[{},{},{}],"swipe_id":1,"extra":{}}`,
		},
		{
			"the page fills in nothing more of the user's messages than their dates",
			`{"is_user":true,"send_date":"d","gen_started":"s","mes":"a","swipes":["a",null]}`,
			1,
			`{"is_user":true,"send_date":"d","mes":"a","swipes":["a",null],"swipe_id":0,"swipe_info":[{"send_date":"d","extra":{}},{"send_date":"d","extra":{}}],"extra":{}}`,
		},
		{
			"nor of small system messages",
			`{"extra":{"isSmallSys":true},"send_date":"d","mes":"a","swipes":["a","b"],"swipe_info":[{"send_date":"e"}]}`,
			2,
			`{"extra":{},"mes":"b","swipes":["a","b"],"swipe_info":[{"send_date":"e"}],"swipe_id":1}`,
		},
		{
			"repeated keys: the last of each counts",
			`{"mes":"x","swipes":["no"],"mes":"y","gen_started":1,"gen_started":2,"swipe_id":7,"swipes":["a","b"],"swipe_info":[],"swipe_info":[0,{"extra":{"k":1,"k":2}}]}`,
			2,
			`{"mes":"x","swipes":["no"],"mes":"b","swipe_id":1,"swipes":["a","b"],"swipe_info":[],"swipe_info":[{"gen_started":2,"extra":{}},{"extra":{"k":1,"k":2}}],"extra":{"k":1,"k":2}}`,
		},
		{
			"white space outside stays",
			` { "mes" : "a" , "swipes":["a", "\u0062"],"swipe_info":[ {},{} ], "swipe_id" : 0, "extra":{ } } `,
			2,
			` { "mes" : "\u0062" , "swipes":["a", "\u0062"],"swipe_info":[ {},{} ], "swipe_id" : 1, "extra":{} } `,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ChooseSwipe([]byte(tt.line), tt.swipe, false)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestChooseSwipeRefuses(t *testing.T) {
	tests := []struct {
		line  string
		swipe int
		want  string
	}{
		{`{"swipes":[]}`, 1, "swipe 1: the message has no swipes"},
		{`{"is_user":1,"mes":"a"}`, 1, "swipe 1: the message has no swipes"},
		{`{"is_user":true,"swipes":{"0":"a"}}`, 1, "swipe 1: the message has no swipes"},
		{`{"mes":"a"}`, 2, "swipe 2: the message has 1 swipe"},
		{`{"swipes":["a"]}`, 2, "swipe 2: the message has 1 swipe"},
		{`{"swipes":["a","b","c"]}`, 4, "swipe 4: the message has 3 swipes"},
		{`{"swipes":["a","b","c"]}`, 0, "swipe 0: the message has 3 swipes"},
		{`{"swipes":["a","b","c"]}`, -1, "swipe -1: the message has 3 swipes"},
		{`{"is_user":true,"swipes":["a",null]}`, 2, "swipe 2 is not text"},
		{`{"swipes":["a","b"],"swipes":["c"]}`, 2, "swipe 2: the message has 1 swipe"},
	}
	for _, tt := range tests {
		out, err := ChooseSwipe([]byte(tt.line), tt.swipe, false)
		if _, ok := errors.AsType[*SwipeError](err); !ok || err.Error() != tt.want || out != nil {
			t.Errorf("%s, %d: %s, %v; want %q", tt.line, tt.swipe, out, err, tt.want)
		}
	}
	if _, err := ChooseSwipe([]byte("[]"), 1, false); !errors.Is(err, rawjson.ErrNotObject) {
		t.Errorf("a list: %v", err)
	}
	hostile := `{"send_date":"` + strings.Repeat("x", 1<<20) + `","swipes":[` + strings.Repeat(`"",`, 1<<12) + `""]}`
	if _, err := ChooseSwipe([]byte(hostile), 1, false); err == nil || !strings.Contains(err.Error(), "4097 entries") {
		t.Errorf("4 GiB of swipe_info: %v", err)
	}
}

func TestBookmark(t *testing.T) {
	tests := []struct{ line, name, want, replaced string }{
		{`{"mes":"a","extra":{"x":1.0}}`, `a "b"`, `{"mes":"a","extra":{"x":1.0,"bookmark_link":"a \"b\""}}`, ""},
		{`{"mes":"a"}`, "n", `{"mes":"a","extra":{"bookmark_link":"n"}}`, ""},
		{`{"extra":null,"mes":"a"}`, "n", `{"extra":{"bookmark_link":"n"},"mes":"a"}`, ""},
		{`{"extra":"text"}`, "n", `{"extra":{"bookmark_link":"n"}}`, ""},
		{`{"extra":{"bookmark_link":"old","x":1}}`, "n", `{"extra":{"bookmark_link":"n","x":1}}`, "old"},
		{`{"extra":{"bookmark_link":"\u006e"}}`, "n", `{"extra":{"bookmark_link":"\u006e"}}`, ""},
		{`{"extra":{"bookmark_link":5}}`, "n", `{"extra":{"bookmark_link":"n"}}`, ""},
		{`{"extra":{"bookmark_link":"first"},"extra":{"bookmark_link":"p","bookmark_link":"q"}}`, "n", `{"extra":{"bookmark_link":"first"},"extra":{"bookmark_link":"p","bookmark_link":"n"}}`, "q"},
	}
	for _, tt := range tests {
		out, replaced, err := setBookmark([]byte(tt.line), tt.name)
		if err != nil || string(out) != tt.want || replaced != tt.replaced {
			t.Errorf("%s: %s, replaced %q, %v; want %s, %q", tt.line, out, replaced, err, tt.want, tt.replaced)
		}
	}
	if _, _, err := setBookmark([]byte(`{"extra":[1]}`), "n"); !errors.Is(err, ErrExtraList) {
		t.Errorf("extra is a list: %v", err)
	}
	if _, _, err := setBookmark([]byte(`1`), "n"); !errors.Is(err, rawjson.ErrNotObject) {
		t.Errorf("a number: %v", err)
	}
}

// addBranch returns the message with one more name in extra.branches.
func addBranch(line []byte, name string) ([]byte, error) {
	s, err := BranchSplice(line, name)
	if err != nil || s == nil {
		return line, err
	}
	return s.Apply(line), nil
}

func TestAddBranch(t *testing.T) {
	tests := []struct{ line, want string }{
		{`{"mes":"a","extra":{}}`, `{"mes":"a","extra":{"branches":["n"]}}`},
		{`{"mes":"a"}`, `{"mes":"a","extra":{"branches":["n"]}}`},
		{`{"extra":{"branches":["a", 1 ],"x":2}}`, `{"extra":{"branches":["a", 1,"n" ],"x":2}}`},
		{`{"extra":{"branches":["\u006e"]}}`, `{"extra":{"branches":["\u006e"]}}`},
		{`{"extra":{"branches":null}}`, `{"extra":{"branches":["n"]}}`},
		{`{"extra":{"branches":"abc"}}`, `{"extra":{"branches":["n"]}}`},
		{`{"extra":{"branches":["n"],"branches":[]}}`, `{"extra":{"branches":["n"],"branches":["n"]}}`},
		{`{"extra":false}`, `{"extra":{"branches":["n"]}}`},
	}
	for _, tt := range tests {
		if out, err := addBranch([]byte(tt.line), "n"); err != nil || string(out) != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.line, out, err, tt.want)
		}
	}
	if _, err := addBranch([]byte(`{"extra":[]}`), "n"); !errors.Is(err, ErrExtraList) {
		t.Errorf("extra is a list: %v", err)
	}
}

// What SillyTavern 1.19.0 itself writes into the source when it makes a
// checkpoint or a branch is what BookmarkSplice and BranchSplice make of the line
// before.
func TestLinksAsSillyTavernWritesThem(t *testing.T) {
	golden := filepath.Join("..", "..", "..", "testdata", "golden")
	const chat = "chats/Mira/Mira - 2026-01-02@03h04m05s006ms.jsonl"
	linked := 0
	for _, scenario := range []string{"solo-checkpoint", "solo-branch", "solo-autoname"} {
		before := readLines(t, filepath.Join(golden, scenario, "before", filepath.FromSlash(chat)))
		after := readLines(t, filepath.Join(golden, scenario, "after", filepath.FromSlash(chat)))
		if len(before) != len(after) {
			t.Fatalf("%s: %d lines before, %d after", scenario, len(before), len(after))
		}
		for i := 1; i < len(before); i++ {
			got := []byte(before[i])
			var err error
			if link := gjson.Get(after[i], "extra.bookmark_link"); link.Exists() && !gjson.Get(before[i], "extra.bookmark_link").Exists() {
				linked++
				if got, _, err = setBookmark(got, link.String()); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range gjson.Get(after[i], "extra.branches").Array() {
				linked++
				if got, err = addBranch(got, name.String()); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(after[i], string(got)); diff != "" {
				t.Errorf("%s, line %d (-want +got):\n%s", scenario, i+1, diff)
			}
		}
	}
	if linked == 0 {
		t.Error("no link in any scenario")
	}
}

// setBookmark returns the message with its checkpoint noted.
func setBookmark(line []byte, name string) (out []byte, replaced string, err error) {
	s, replaced, err := BookmarkSplice(line, name)
	if err != nil || s == nil {
		return line, "", err
	}
	return s.Apply(line), replaced, nil
}

func readLines(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(data), "\n")
}

// FuzzEdits checks each edit against encoding/json: the result is one valid
// line, has the values that the rule asks for, and every top-level key that the
// edit does not name keeps its raw bytes and its place.
func FuzzEdits(f *testing.F) {
	f.Add(`{"mes":"a","swipes":["a","b"],"swipe_info":[{},{"send_date":1,"extra":{"x":2}}],"extra":{"branches":["q"]},"x":1.0}`, 1, "n")
	f.Add(`{"send_date":"d","swipes":["a"],"mes":"x","mes":"y","extra":null}`, 0, `a"\`)
	f.Add(` { "a" : 1 , "swipes" : [ "b" ] , "swipe_info":[[]] } `, 0, "\u2028")
	f.Fuzz(func(t *testing.T, line string, k int, name string) {
		var before map[string]json.RawMessage
		if json.Unmarshal([]byte(line), &before) != nil || before == nil {
			// whatever it is, it must not panic
			ChooseSwipe([]byte(line), k, false)
			addBranch([]byte(line), name)
			setBookmark([]byte(line), name)
			return
		}
		if strings.ContainsAny(line, "\n\r") {
			return
		}
		name = strings.ToValidUTF8(name, "?")

		if out, err := ChooseSwipe([]byte(line), k, false); err == nil {
			after := checkEdit(t, line, out, keySwipeID, keySwipes, keySwipeInfo, keyText, keyDate, keyGenStarted, keyGenFinished, keyExtra)
			checkSwipe(t, before, after, k)
		} else if want, ok := swipeAt(before, k); ok {
			t.Errorf("%s: %v, but swipe %d is %q", line, err, k, want)
		}
		if out, _, err := setBookmark([]byte(line), name); err == nil {
			after := checkEdit(t, line, out, keyExtra)
			var extra map[string]any
			if json.Unmarshal(after[keyExtra], &extra) != nil || extra[keyBookmark] != name {
				t.Errorf("%s: bookmark_link is %v", out, extra[keyBookmark])
			}
		}
		if out, err := addBranch([]byte(line), name); err == nil {
			checkEdit(t, line, out, keyExtra)
			list, _ := rawjson.Lookup(out, keyExtra, keyBranches)
			if !slices.Contains(texts(list), name) {
				t.Errorf("%s: no branch %q", out, name)
			}
			if again, err := addBranch(out, name); err != nil || string(again) != string(out) {
				t.Errorf("%s: added twice: %s, %v", out, again, err)
			}
		}
	})
}

// checkEdit checks that out is one valid line in which only the keys named may
// differ from line, and returns it decoded.
func checkEdit(t *testing.T, line string, out []byte, edited ...string) map[string]json.RawMessage {
	t.Helper()
	var after map[string]json.RawMessage
	if err := json.Unmarshal(out, &after); err != nil || strings.ContainsAny(string(out), "\n\r") {
		t.Fatalf("%s became %s: %v", line, out, err)
	}
	rest := func(raw []byte) (kept []string) {
	members:
		for key, value := range rawjson.Members(raw) {
			for _, name := range edited {
				if rawjson.KeyIs(key, name) {
					continue members
				}
			}
			kept = append(kept, string(key)+":"+string(value))
		}
		return kept
	}
	if diff := cmp.Diff(rest([]byte(line)), rest(out)); diff != "" {
		t.Errorf("other keys of %s (-want +got):\n%s", line, diff)
	}
	return after
}

// pageMessage is a message as the page holds it after it has shown it: ensureSwipes and
// syncMesToSwipe of SillyTavern (public/script.js), worked out anew.
type pageMessage struct {
	swipes  []any             // what is no text is ""
	infos   []json.RawMessage // swipe_info; the entries that the page made are in own
	offered bool              // the page offers swipes for it
	own     map[int]bool      // the swipes whose swipe_info is the message's
	extra   bool              // the message's extra is the chosen swipe's
	chosen  int               // from 0
}

// shownByPage returns what the page makes of a message.
func shownByPage(m map[string]json.RawMessage) pageMessage {
	page := pageMessage{own: map[int]bool{}, chosen: swipeNumber(m[keySwipeID])}
	small, _ := rawjson.Lookup(m[keyExtra], keySmall)
	page.offered = !rawjson.Truthy(m[keyIsUser]) && !rawjson.Truthy(small)
	isList := rawjson.KindOf(m[keySwipes]) == rawjson.Array
	if isList {
		json.Unmarshal(m[keySwipes], &page.swipes)
	}
	if rawjson.KindOf(m[keySwipeInfo]) == rawjson.Array {
		json.Unmarshal(m[keySwipeInfo], &page.infos)
	}
	if !page.offered {
		return page
	}

	updated := rawjson.KindOf(m[keySwipeID]) != rawjson.Number
	var text any
	json.Unmarshal(m[keyText], &text)
	if !isList {
		updated = true
		page.swipes = []any{text}
	}
	for i, swipe := range page.swipes {
		if _, ok := swipe.(string); !ok {
			updated = true
			page.swipes[i] = ""
		}
		if i >= len(page.infos) || rawjson.KindOf(page.infos[i]) != rawjson.ObjectKind {
			updated = true
			page.own[i] = true
		}
	}
	if updated && page.chosen >= 0 && page.chosen < len(page.swipes) {
		page.own[page.chosen] = true
		page.extra = true
		if _, ok := text.(string); ok {
			page.swipes[page.chosen] = text
		}
	}
	return page
}

// swipeAt returns the text of swipe k, from 1.
func swipeAt(m map[string]json.RawMessage, k int) (string, bool) {
	swipes := shownByPage(m).swipes
	if k < 1 || k > len(swipes) {
		return "", false
	}
	s, ok := swipes[k-1].(string)
	return s, ok
}

// checkSwipe compares the edited message with the rule, worked out anew.
func checkSwipe(t *testing.T, before, after map[string]json.RawMessage, k int) {
	t.Helper()
	page := shownByPage(before)
	var text string
	want, ok := swipeAt(before, k)
	if err := json.Unmarshal(after[keyText], &text); err != nil || !ok || text != want {
		t.Errorf("mes is %s, want %q", after[keyText], want)
	}
	if n, ok := rawjson.Int(after[keySwipeID]); !ok || n != k-1 {
		t.Errorf("swipe_id is %s, want %d", after[keySwipeID], k-1)
	}
	var texts []any
	if err := json.Unmarshal(after[keySwipes], &texts); err != nil || !cmp.Equal(page.swipes, texts) {
		t.Errorf("swipes are %s, want %v", after[keySwipes], page.swipes)
	}
	var infos []json.RawMessage
	if err := json.Unmarshal(after[keySwipeInfo], &infos); err != nil {
		t.Fatal(err)
	}
	if want := max(len(page.infos), len(page.swipes)); page.offered && len(infos) != want {
		t.Errorf("%d entries of swipe_info, want %d", len(infos), want)
	}

	var info map[string]json.RawMessage
	if k <= len(infos) && rawjson.KindOf(infos[k-1]) == rawjson.ObjectKind {
		json.Unmarshal(infos[k-1], &info)
	}
	if page.own[k-1] {
		info = map[string]json.RawMessage{}
		for _, key := range generated() {
			info[key] = before[key]
		}
		if page.extra && page.chosen == k-1 {
			info[keyExtra] = before[keyExtra]
		}
	}
	for _, key := range generated() {
		if diff := cmp.Diff(string(info[key]), string(after[key])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
	wantExtra := string(info[keyExtra])
	if wantExtra == "" || wantExtra == "null" {
		wantExtra = "{}"
	}
	if diff := cmp.Diff(wantExtra, string(after[keyExtra])); diff != "" {
		t.Errorf("extra (-want +got):\n%s", diff)
	}
}

// texts returns the strings among the elements of a list.
func texts(list []byte) (found []string) {
	for raw := range rawjson.Elements(list) {
		if s, ok := rawjson.Unquote(raw); ok {
			found = append(found, s)
		}
	}
	return found
}
