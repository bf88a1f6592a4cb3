package changeset_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
)

// TestDropped commits three units that share a list, of which one cannot make its
// other edit: the two others are made, and the list has nothing of the third.
func TestDropped(t *testing.T) {
	errNo := errors.New("no")
	for bad := range 3 {
		t.Run(fmt.Sprint(bad), func(t *testing.T) {
			dir := world(t, map[string]string{"groups/1.json": "", "chats/M/0.jsonl": "", "chats/M/1.jsonl": "", "chats/M/2.jsonl": ""})
			path := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
			units := make([]changeset.Unit, 3)
			want := map[string]string{"groups/1.json": ""}
			for i := range units {
				source := fmt.Sprintf("chats/M/%d.jsonl", i)
				own := appendText("linked")
				if i == bad {
					own = func([]byte) ([]byte, error) { return nil, errNo }
					want[source] = ""
				} else {
					want[source], want[fmt.Sprintf("chats/M/new%d.jsonl", i)] = "linked", "new"
					want["groups/1.json"] += fmt.Sprint(i)
				}
				units[i] = changeset.Unit{Root: dir, Shares: []string{path("groups/1.json")}, Draft: func(_ context.Context, s *changeset.Set) error {
					return errors.Join(
						write(s, path(fmt.Sprintf("chats/M/new%d.jsonl", i)), "new"),
						s.Edit(path("groups/1.json"), safefile.Stamp{}, appendText(fmt.Sprint(i)), "the list"),
						s.Edit(path(source), safefile.Stamp{}, own, "the link"))
				}}
			}
			for i, o := range run(t, changeset.Options{}, units...) {
				if failed := errors.Is(o.Err, errNo); failed != (i == bad) || !failed && o.Err != nil {
					t.Errorf("unit %d: %v", i, o.Err)
				}
			}
			if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
