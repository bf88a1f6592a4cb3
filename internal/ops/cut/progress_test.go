package cut_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"stchat/internal/change/changeset"
	"stchat/internal/ops/cut"
	"stchat/internal/place/names"
	"stchat/internal/text/progress"
)

// Every source counts once, and with its own size, whether it is read for the new chat's name, and
// open since, or not.
func TestProgress(t *testing.T) {
	for _, kind := range []names.Kind{names.Checkpoint, names.Branch} { // a branch's name has the index of the last message in it
		dir := t.TempDir()
		var sources []string
		var want progress.State
		for i := range 3 {
			data := fmt.Sprintf("{\"chat_metadata\":{}}\n{\"mes\":\"%0*d\"}", i+1, 0)
			path := filepath.Join(dir, fmt.Sprint(i, ".jsonl"))
			if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
				t.Fatal(err)
			}
			sources = append(sources, path)
			want.Files++
			want.Done++
			want.Bytes += int64(len(data))
		}
		meter := new(progress.Meter)
		for _, r := range cut.Run(t.Context(), cut.Options{
			Kind: kind, Sources: sources, Style: names.Classic, At: -1, Integrity: cut.IntegrityNone, Lorebook: cut.LorebookShare,
			Changes: changeset.Options{Now: time.Now(), NoSync: true}, Meter: meter,
		}) {
			if r.Err != nil {
				t.Error(r.Err)
			}
		}
		got := meter.State()
		want.Read = got.Read
		if got != want {
			t.Errorf("%s: %+v; want %+v", kind, got, want)
		}
	}
}
