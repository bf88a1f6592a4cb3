package cut

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"stchat/internal/change/changeset"
	"stchat/internal/lorebook"
)

// TestDraftClonesFails: a clone that cannot be made fails the change, and is not passed over.
func TestDraftClonesFails(t *testing.T) {
	dir := t.TempDir()
	notFolder := filepath.Join(dir, "worlds")
	if err := os.WriteFile(notFolder, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	clones := []*clone{{from: &lorebook.Book{}, name: "Sea", path: filepath.Join(notFolder, "Sea.json"), data: []byte("{}")}}
	unit := changeset.Unit{Root: dir, Draft: func(_ context.Context, set *changeset.Set) error { return draftClones(set, clones) }}
	out := changeset.Run(t.Context(), []changeset.Unit{unit}, changeset.Options{NoSync: true, Now: time.Now()})
	if out[0].Err == nil {
		t.Errorf("%+v", out[0])
	}
}
