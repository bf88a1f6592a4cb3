package state

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"stchat/internal/change/changeset"
	"stchat/internal/folder/library"
	"stchat/internal/json/patch"
	"stchat/internal/jsonl/rawjson"
)

// Two writers at a time lose nothing: what each call has set is there afterwards.
func TestSetBesideAnotherWriter(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.jsonl")
	if err := os.WriteFile(path, []byte("{\"chat_metadata\":{}}\n{\"name\":\"A\",\"is_user\":true,\"mes\":\"x\"}"), 0o600); err != nil {
		t.Fatal(err)
	}
	const calls = 12
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := map[string]bool{}
	for writer := range 2 {
		wg.Go(func() {
			for n := range calls {
				key := fmt.Sprintf("w%d-%d", writer, n)
				r := Set(context.Background(), SetOptions{
					Options:   Options{Path: path, Changes: changeset.Options{NoSync: true, Now: time.Now()}},
					Namespace: "ns", Values: patch.Changes{Edits: []patch.Edit{{Path: patch.Path{key}, Value: []byte("1")}}},
				})
				mu.Lock()
				if done[key] = true; r.Err != nil {
					t.Errorf("%s: %v", key, r.Err)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	v, err := Get(context.Background(), new(library.Library), GetOptions{ReadOptions: ReadOptions{Path: path}, Namespaces: []string{"ns"}})
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for range rawjson.Members(v.Only) {
		held++
	}
	if held != len(done) || held != 2*calls {
		t.Errorf("%d calls succeeded, and %d keys are there: %s", len(done), held, v.Only)
	}
	for key := range done {
		if _, ok := rawjson.Lookup(v.Only, key); !ok {
			t.Errorf("%s is lost", key)
		}
	}
}
