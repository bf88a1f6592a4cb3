package ops_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"stchat/internal/ops"
)

// TestShardsMakeTheWhole: every chat is in just one shard, with all others of its
// folder.
func TestShardsMakeTheWhole(t *testing.T) {
	root := t.TempDir()
	const chats = 80
	for i := range chats / 2 {
		for _, path := range []string{fmt.Sprintf("chats/Mira %d/%d.jsonl", i%13, i), fmt.Sprintf("group chats/%d.jsonl", i)} {
			path = filepath.Join(root, filepath.FromSlash(path))
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("{}"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	whole := ops.Walk(ops.List{Paths: []string{root}})
	if len(whole.Errs) > 0 || len(whole.Chats) != chats {
		t.Fatalf("%d chats, %v", len(whole.Chats), whole.Errs)
	}
	place := map[string]int{}
	for i, c := range whole.Chats {
		place[c.Path] = i
	}
	for n := 1; n <= 9; n++ {
		var union []ops.Target
		shard := map[string]int{}
		for k := 1; k <= n; k++ {
			part := ops.Walk(ops.List{Paths: []string{root}, Shard: ops.Shard{K: k, N: n}})
			if len(part.Errs) > 0 {
				t.Errorf("%d/%d: %v", k, n, part.Errs)
			}
			for _, c := range part.Chats {
				folder := filepath.Dir(c.Path)
				if shard[folder] == 0 {
					shard[folder] = k
				}
				if shard[folder] != k {
					t.Errorf("N = %d: chats of %s are in shards %d and %d", n, folder, shard[folder], k)
				}
			}
			union = append(union, part.Chats...)
		}
		slices.SortFunc(union, func(a, b ops.Target) int { return cmp.Compare(place[a.Path], place[b.Path]) })
		if diff := gocmp.Diff(whole.Chats, union); diff != "" {
			t.Errorf("N = %d (-whole +union):\n%s", n, diff)
		}
	}
}

// TestShardIsForEver: machines with other versions, systems and mount points
// agree on what is whose.
func TestShardIsForEver(t *testing.T) {
	for path, k := range map[string]int{ // FNV-1a-64 of the folder, by 9, and one more
		"chats/Mira/a.jsonl":       want("chats/Mira"),
		"./chats//Mira/../Mira/b":  want("chats/Mira"),
		"a.jsonl":                  want("."),
		"me/group chats/Trip.json": want("me/group chats"),
	} {
		if !(ops.Shard{K: k, N: 9}).Has(filepath.FromSlash(path)) {
			t.Errorf("%s is not in shard %d/9", path, k)
		}
	}
}

// want is the shard of a folder by the definition of FNV-1a.
func want(folder string) int {
	hash := uint64(14695981039346656037)
	for _, c := range []byte(folder) {
		hash = (hash ^ uint64(c)) * 1099511628211
	}
	return int(hash%9) + 1
}

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
