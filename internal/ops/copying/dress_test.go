package copying

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/jsonl"
	"stchat/internal/ops/address"
	"stchat/internal/place/names"
)

// mira is a character with a name and a picture that need quoting in addresses.
func mira() *address.Owner { return &address.Owner{Name: "Mira", Avatar: "Mira & co.png", Card: "x"} }

// dressed returns messages as d makes them.
func dressed(t *testing.T, d *dress, lines ...string) (got []string) {
	t.Helper()
	var buf jsonl.Buffer
	damage, err := buf.Each(jsonl.Bytes([]byte(strings.Join(lines, "\n"))), jsonl.MapOptions{Keys: messageKeys()}, func(l *jsonl.Line) {
		got = append(got, string(d.message(l, l.Raw, l.Index)))
	})
	if err != nil || damage.Total > 0 {
		t.Fatal(err, damage)
	}
	return got
}

// TestPutAndTake: to a group as convertSoloToGroupChat of SillyTavern 1.19 (public/scripts/bookmarks.js),
// and back.
func TestPutAndTake(t *testing.T) {
	const bears = `"original_avatar":"Mira & co.png","force_avatar":"/thumbnail?type=avatar&file=Mira%20%26%20co.png"`
	for _, tc := range []struct {
		name, solo, group string
		back              string // "": as it was
	}{
		{"a reply", `{"name":"Mira","mes":"a","extra":{"model":"x"}}`, `{"name":"Mira","mes":"a","extra":{"model":"x","gen_id":1000},` + bears + `}`, ""},
		{"under another name", `{"name":"Old","mes":"a","extra":{}}`, `{"name":"Mira","mes":"a","extra":{"gen_id":1000},` + bears + `}`, `{"name":"Mira","mes":"a","extra":{}}`},
		{"no extra", `{"name":"Mira","mes":"a"}`, `{"name":"Mira","mes":"a","extra":{"gen_id":1000},` + bears + `}`, `{"name":"Mira","mes":"a","extra":{}}`},
		{"extra is null", `{"name":"Mira","extra":null}`, `{"name":"Mira","extra":{"gen_id":1000},` + bears + `}`, `{"name":"Mira","extra":{}}`},
		{"extra is a list", `{"name":"Mira","extra":[1]}`, `{"name":"Mira","extra":[1],` + bears + `}`, ""},
		{"extra is text", `{"name":"Mira","extra":"t"}`, `{"name":"Mira","extra":{"gen_id":1000},` + bears + `}`, `{"name":"Mira","extra":{}}`},
		{"spaces stay", `{ "name" : "Mira", "extra" : { "a" : 1 } }`, `{ "name" : "Mira", "extra" : { "a" : 1,"gen_id":1000 },` + bears + ` }`, ""},
		{"the user's", `{"name":"Tom","is_user":true,"extra":{}}`, "", ""},
		{"the user's, as JavaScript reads it", `{"name":"Tom","is_user":"yes"}`, "", ""},
		{"hidden", `{"name":"Mira","is_system":true}`, "", ""},
		{"a narrator's", `{"name":"N","extra":{"type":"narrator"}}`, "", ""},
		{"a comment", `{"name":"Mira","extra":{"type":"comment"}}`, `{"name":"Mira","extra":{"type":"comment","gen_id":1000},` + bears + `}`, ""},
		{"with a face of its own", `{"name":"Guest","force_avatar":"g.png"}`, "", ""},
		{"with an empty face", `{"name":"Guest","force_avatar":null}`, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			group := tc.group
			if group == "" {
				group = tc.solo
			}
			back := tc.back
			if back == "" {
				back = tc.solo
			}
			all := func(speech) bool { return true }
			to := &dress{owner: &address.Owner{}, kind: toGroup, face: &face{"Mira", "Mira & co.png", 1000}, seen: map[string]int{}, is: all}
			got := dressed(t, to, tc.solo)
			if diff := cmp.Diff([]string{group}, got); diff != "" {
				t.Errorf("to a group (-want +got):\n%s", diff)
			}
			from := &dress{owner: mira(), kind: toCharacter, face: &face{avatar: "Mira & co.png"}, seen: map[string]int{}, is: all}
			if diff := cmp.Diff([]string{back}, dressed(t, from, got...)); diff != "" {
				t.Errorf("and back (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGenerations: gen_id counts up with the messages, also those that get none.
func TestGenerations(t *testing.T) {
	d := &dress{owner: &address.Owner{}, kind: toGroup, face: &face{"Mira", "M.png", 7}, seen: map[string]int{}, is: func(speech) bool { return true }}
	const bears = `"original_avatar":"M.png","force_avatar":"/thumbnail?type=avatar&file=M.png"`
	got := dressed(t, d, `{"name":"Mira","extra":{}}`, `{"is_user":true}`, `{"name":"Mira","extra":{}}`)
	want := []string{
		`{"name":"Mira","extra":{"gen_id":7},` + bears + `}`,
		`{"is_user":true}`,
		`{"name":"Mira","extra":{"gen_id":9},` + bears + `}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOthersKeepAll: in a character's chat the messages of others are what they were, and are counted.
func TestOthersKeepAll(t *testing.T) {
	is := func(s speech) bool { return s.avatar == "Mira.png" || s.avatar == "" && s.name == "Mira" }
	d := &dress{owner: &address.Owner{Name: "Mira"}, kind: toCharacter, face: &face{avatar: "Mira.png"}, seen: map[string]int{}, is: is}
	got := dressed(t, d,
		`{"name":"Ines","original_avatar":"Ines.png","force_avatar":"i","extra":{"gen_id":1}}`,
		`{"name":"Mira","original_avatar":"Mira.png","force_avatar":"m","extra":{"gen_id":2},"swipe_info":[{"extra":{"gen_id":2,"a":1}}]}`,
		`{"name":"Mira","extra":{"gen_id":3}}`,
		`{"name":"Ines","extra":{"gen_id":4}}`,
	)
	want := []string{
		`{"name":"Ines","original_avatar":"Ines.png","force_avatar":"i","extra":{"gen_id":1}}`,
		`{"name":"Mira","extra":{},"swipe_info":[{"extra":{"a":1}}]}`,
		`{"name":"Mira","extra":{"gen_id":3}}`,
		`{"name":"Ines","extra":{"gen_id":4}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"Ines": 2}, d.seen); diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}
}

func TestUnlinked(t *testing.T) {
	here := func(name string) bool { return name == "here" }
	for _, tc := range []struct{ line, want string }{
		{`{"mes":"bookmark_link branches","extra":{}}`, ""},
		{`{"extra":{"bookmark_link":"here","branches":["here"]}}`, ""},
		{`{"extra":{"bookmark_link":"gone","branches":["here","gone"]}}`, `{"extra":{"branches":["here"]}}`},
		{`{"extra":{"a":1,"\u0062ookmark_link":"gone"}}`, `{"extra":{"a":1}}`},
		{`{"extra":{},"swipe_info":[{"extra":{"branches":["gone"]}},{"extra":{"bookmark_link":"here"}}]}`, `{"extra":{},"swipe_info":[{"extra":{}},{"extra":{"bookmark_link":"here"}}]}`},
	} {
		want, counted := tc.want, 1
		if want == "" {
			want, counted = tc.line, 0
		}
		var buf jsonl.Buffer
		_, err := buf.Each(jsonl.Bytes([]byte(tc.line)), jsonl.MapOptions{Keys: messageKeys()}, func(l *jsonl.Line) {
			n := 0
			got := string(unlinked(l, here, &n))
			if diff := cmp.Diff(want, got); diff != "" || n != counted {
				t.Errorf("%s: counted %d, want %d (-want +got):\n%s", tc.line, n, counted, diff)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestGenerated(t *testing.T) {
	long := strings.Repeat("é", 130)
	for _, tc := range []struct {
		chat  string
		taken []string
		want  string
	}{
		{"Harbour", nil, "Harbour copy"},
		{"Harbour", []string{"harbour copy"}, "Harbour copy 2"},
		{"Harbour", []string{"harbour copy", "harbour copy 2"}, "Harbour copy 3"},
		{"Harbour copy", []string{"harbour copy"}, "Harbour copy copy"},
		{long, nil, strings.Repeat("é", 57) + "…" + strings.Repeat("é", 57) + " copy"},
	} {
		taken := map[string]bool{}
		for _, name := range tc.taken {
			taken[name] = true
		}
		got, err := generated(tc.chat, " copy", names.MaxBytes, func(name string) bool { return taken[names.Fold(name)] })
		if err != nil || len(got) > names.MaxBytes || tc.chat != long && got != tc.want {
			t.Errorf("%s: %q, %v; want %q", tc.chat, got, err, tc.want)
		}
	}
}
