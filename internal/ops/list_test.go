package ops_test

import (
	"os"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"stchat/internal/ops"
)

// A path that leads to a file named earlier counts once; two files whose names differ in letter
// case alone are two.
func TestDistinct(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, path := range []string{"Quarry.jsonl", "quarry.jsonl"} {
		if err := os.WriteFile(path, []byte(path), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"Quarry.jsonl", "quarry.jsonl", "gone.jsonl"}
	if got, err := os.ReadFile("Quarry.jsonl"); err == nil && string(got) == "quarry.jsonl" { // one file on this disk
		want = []string{"Quarry.jsonl", "gone.jsonl"}
	}
	got := ops.Distinct([]string{"Quarry.jsonl", "quarry.jsonl", "gone.jsonl", "./Quarry.jsonl", "quarry.jsonl"})
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
