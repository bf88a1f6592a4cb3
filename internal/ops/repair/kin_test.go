package repair_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/ops/repair"
)

// TestRepairTogether holds that the names of a call are judged together, in lines that the call
// makes readable, too, but not by the names that it corrects, whatever the order of PATHs.
func TestRepairTogether(t *testing.T) {
	const a, b = solo + "A.jsonl", solo + "B.jsonl"
	own := func(text string) string {
		return `{"name":"Mira","is_user":false,"send_date":"2026-02-02T03:04:00.000Z","mes":"` + text + `"}`
	}
	links := func(name string) string { return `"extra":{"branches":["` + name + `"]}` }
	tests := []struct {
		name     string
		files    tree
		repaired []string // what is in a path then
		told     []string
		oneByOne bool // it comes to the same where every chat has a run of its own
		more     bool // another run finds something to do
	}{
		{
			name: "each may be the other's parent",
			files: tree{
				a: chat(head(1, `"main_chat":"x"`), say(0, ""), say(1, ""), own("a")),
				b: chat(head(2, `"main_chat":"y"`), say(0, ""), say(1, ""), own("b")),
			},
			told: []string{
				`dangling-main-chat: the parent "x" is not there; it may be "B", which would then come from this chat in turn`,
				`dangling-main-chat: the parent "y" is not there; it may be "A", which would then come from this chat in turn`,
			},
			oneByOne: true,
		},
		{
			name: "a link follows from a parent",
			files: tree{
				a: chat(head(1, ""), say(0, ""), say(1, links("gone")), say(2, "")),
				b: chat(head(2, `"main_chat":"x"`), say(0, ""), say(1, ""), own("b")),
			},
			repaired: []string{a + ` "branches":["gone"]`, b + ` "main_chat":"A"`},
			told:     []string{`dangling-branch: the branch "gone" is not there; it may be "B", if the names that are corrected now are right: repair once more`},
			more:     true,
		},
		{
			name: "the parent and the child of a chat that was deleted are not each other's",
			files: tree{
				a: chat(head(1, ""), say(0, ""), say(1, `"extra":{"bookmark_link":"x"}`), say(2, "")),
				b: chat(head(2, `"main_chat":"x"`), say(0, ""), say(1, ""), own("b")),
			},
			repaired: []string{a + ` "bookmark_link":"x"`, b + ` "main_chat":"x"`},
			oneByOne: true,
		},
		{
			name: "what would be the parent names the missing one, too, in a header that nobody could read",
			files: tree{
				a: chat("\x00"+head(1, `"main_chat":"x"`), say(0, ""), say(1, ""), say(2, "")),
				b: chat(head(2, `"main_chat":"x"`), say(0, ""), say(1, ""), own("b")),
			},
			repaired: []string{b + ` "main_chat":"x"`},
		},
		{
			name: "a link on a line that nobody could read",
			files: tree{
				a: chat(head(1, ""), say(0, ""), "\x00"+say(1, links("gone")), say(2, "")),
				b: chat(head(2, `"main_chat":"A"`), say(0, ""), say(1, ""), own("b")),
			},
			repaired: []string{a + ` "branches":["B"]`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			paths := slices.Sorted(maps.Keys(tt.files))
			run := func(calls ...[]string) tree {
				t.Helper()
				root := plant(t, tt.files)
				var told []string
				for _, call := range calls {
					args := []string{}
					for _, name := range call {
						args = append(args, filepath.Join(root, filepath.FromSlash(name)))
					}
					for _, r := range runRepair(t, true, repair.Options{}, args...).Results {
						for _, w := range r.Warnings {
							told = append(told, strings.TrimPrefix(w, r.Doc.Path+": "))
						}
					}
				}
				slices.Sort(told)
				if diff := cmp.Diff(tt.told, told); diff != "" {
					t.Errorf("told (-want +got):\n%s", diff)
				}
				after := files(t, root)
				if again := runRepair(t, true, repair.Options{}, root); (actions(again) > 0) != tt.more {
					t.Errorf("a second run: %+v", again.Results)
				}
				return after
			}
			first := run(paths)
			for _, m := range tt.repaired {
				path, text, _ := strings.Cut(m, " ")
				if !strings.Contains(first[path], text) {
					t.Errorf("%s has no %s:\n%s", path, text, first[path])
				}
			}
			reversed := slices.Clone(paths)
			slices.Reverse(reversed)
			calls := [][][]string{{reversed}}
			if tt.oneByOne {
				var forth, back [][]string
				for i := range paths {
					forth, back = append(forth, paths[i:i+1]), append(back, reversed[i:i+1])
				}
				calls = append(calls, forth, back)
			}
			for _, call := range calls {
				if diff := cmp.Diff(first, run(call...)); diff != "" {
					t.Errorf("repaired as %v (-first +now):\n%s", call, diff)
				}
			}
		})
	}
}
