package copying

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/jsonl/rawjson"
)

// TestLeftOut: what of another chat's metadata people would miss is named, and what is the same is not.
func TestLeftOut(t *testing.T) {
	const first = `{"world_info":"Sea","note_prompt":"Rain","variables":{"a":1}}`
	for _, tc := range []struct {
		from string
		want []string
	}{
		{`{}`, nil},
		{first, nil},
		{`{"integrity":"x","main_chat":"y","tainted":true,"lastInContextMessageId":4}`, nil},
		{`{"world_info":"Tides","note_prompt":"Fog"}`, []string{`the lorebook "Tides"`, "the author's note"}},
		{`{"timedWorldInfo":{"sticky":{},"cooldown":{}}}`, nil},
		{`{"timedWorldInfo":{"sticky":{},"cooldown":{"Sea.1":{}}}}`, []string{"timed effects"}},
		{`{"auto_recap_running_scene_recaps":{},"STMemoryBooks":{}}`, []string{"auto_recap", "STMemoryBooks"}},
	} {
		parse := func(text string) *rawjson.Object {
			o, err := rawjson.ParseObject([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			return o
		}
		if diff := cmp.Diff(tc.want, leftOut(parse(tc.from), parse(first))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.from, diff)
		}
	}
}

// TestJudgeJoined: a character's chats and a group's do not go together; a chat of nobody goes with both.
func TestJudgeJoined(t *testing.T) {
	const solo, group, loose = "u/chats/Mira/a.jsonl", "u/group chats/b.jsonl", "c.jsonl"
	for _, tc := range []struct {
		chats []string
		name  string
		want  error
	}{
		{[]string{solo, solo}, "", nil},
		{[]string{group, group}, "x", nil},
		{[]string{solo, loose}, "", nil},
		{[]string{loose, group}, "", nil},
		{[]string{solo, group}, "", ErrMixed},
		{[]string{group, group, solo}, "", ErrMixed},
		{[]string{solo, solo}, "a/b", ErrPath},
		{[]string{solo, solo}, "b.jsonl", ErrPath},
	} {
		var paths []string
		for _, chat := range tc.chats {
			paths = append(paths, filepath.FromSlash(chat))
		}
		if err := judgeJoined(paths, tc.name); !errors.Is(err, tc.want) {
			t.Errorf("%q, %q: %v, want %v", tc.chats, tc.name, err, tc.want)
		}
	}
}
