package follow

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/extension"
	"stchat/internal/extension/exttest"
	"stchat/internal/jsonl/rawjson"
)

// An extension in the list follows in the metadata and in messages.
func TestListedExtension(t *testing.T) {
	fake := &exttest.Fake{}
	lines := []string{`{"extra":{"fake":2}}`, `{"extra":{"fake":0}}`, `{}`, `{"extra":{"fake":2}}`}
	md, err := rawjson.ParseObject([]byte(`{"fake":{"at":3}}`))
	if err != nil {
		t.Fatal(err)
	}
	state, err := lookFor(t.Context(), []extension.Extension{fake}, source(lines), &Change{Messages: 4, Gone: []int{1}}, md, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]extension.Change{{Extension: "fake", Change: "message 3 → 2"}}, state.Metadata(md)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"message 1 names message 0"}, state.Warnings()); diff != "" {
		t.Error(diff)
	}
	var edited []string
	for _, l := range state.Lines() {
		edited = append(edited, string(state.Line(l.Index, []byte(lines[l.Index]))))
	}
	if diff := cmp.Diff([]string{`{"extra":{"fake":1}}`, `{"extra":{"fake":1}}`}, edited); diff != "" || fake.Kept != 2 || fake.Dropped != 1 {
		t.Errorf("%d kept, %d dropped: %s", fake.Kept, fake.Dropped, diff)
	}
}

// What comes and what is edited is handed to extensions: what a message said before goes, what it
// says now stays.
func TestFreshFacts(t *testing.T) {
	lines := []string{`{"extra":{"fake":1}}`, `{"extra":{"fake":2}}`, `{}`, `{}`}
	for _, tt := range []struct {
		name          string
		change        Change
		kept, dropped int
	}{
		{"nothing", Change{}, 2, 0},
		{"another fact", Change{Edited: map[int][]byte{0: []byte(`{"fake":7}`)}}, 2, 1},
		{"no fact any more", Change{Edited: map[int][]byte{1: []byte(`{}`)}}, 1, 1},
		{"a fact where there was none", Change{Edited: map[int][]byte{2: []byte(`{"fake":7}`)}}, 3, 1},
		{"edited and gone", Change{Edited: map[int][]byte{0: []byte(`{"fake":7}`)}, Gone: []int{0}}, 1, 1},
		{"two at the end", Change{Inserted: []Insert{{At: 4, Extra: []byte(`{"fake":7}`)}, {At: 4, Extra: []byte(`{}`)}}}, 3, 0},
	} {
		tt.change.Messages = len(lines)
		fake := &exttest.Fake{}
		if _, err := lookFor(t.Context(), []extension.Extension{fake}, source(lines), &tt.change, rawjson.NewObject(), nil); err != nil {
			t.Fatal(err)
		}
		if fake.Kept != tt.kept || fake.Dropped != tt.dropped {
			t.Errorf("%s: %d kept, %d dropped; want %d and %d", tt.name, fake.Kept, fake.Dropped, tt.kept, tt.dropped)
		}
	}
}

func TestMatters(t *testing.T) {
	const timed = `{"timedWorldInfo":{"sticky":{"B.1":{"hash":1,"start":0,"end":3}}}}`
	for _, tt := range []struct {
		name     string
		change   Change
		metadata string
		want     bool
	}{
		{"nothing", Change{}, timed, false},
		{"a message goes", Change{Gone: []int{3}}, `{}`, true},
		{"one is edited", Change{Edited: map[int][]byte{0: []byte(`{}`)}}, `{}`, true},
		{"one comes at the end", Change{Inserted: []Insert{{At: 4, Extra: []byte(`{"n":1}`)}}}, `{}`, false},
		{"one comes in between", Change{Inserted: []Insert{{At: 3}}}, `{}`, true},
		{"one with a summary comes at the end", Change{Inserted: []Insert{{At: 4, Extra: []byte(`{"memory":"m"}`)}}}, `{}`, true},
		{"one comes that an effect counts", Change{Inserted: []Insert{{At: 4}}}, timed, true},
		{"one is hidden", Change{Hidden: []int{0}}, `{}`, false},
		{"one is hidden that an effect counts", Change{Hidden: []int{0}}, timed, true},
		{"one is shown that an effect will count", Change{Shown: []int{0}}, timed, true},
	} {
		tt.change.Messages = 4
		md, err := rawjson.ParseObject([]byte(tt.metadata))
		if err != nil {
			t.Fatal(err)
		}
		if got := Matters(&tt.change, md); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

func TestRoles(t *testing.T) {
	facts := factsOf(t, NewReader(rawjson.NewObject(), false), []string{
		`{"is_user":false,"mes":""}`,
		`{"is_user":true,"mes":""}`,
		`{"is_user":false,"is_system":true,"mes":"","extra":{"tool_invocations":[]}}`,
		`{"is_user":false,"is_system":true,"mes":"","extra":{"tool_invocations":{}}}`,
		`{"is_user":false,"is_system":false,"mes":"","extra":{"tool_invocations":[]}}`,
	})
	var replies, calls []bool
	for i := range 5 {
		replies, calls = append(replies, facts.Reply(i)), append(calls, facts.Call(i))
	}
	if diff := cmp.Diff([][]bool{{true, false, false, false, true}, {false, false, true, false, false}}, [][]bool{replies, calls}); diff != "" {
		t.Errorf("replies and calls (-want +got):\n%s", diff)
	}
}
