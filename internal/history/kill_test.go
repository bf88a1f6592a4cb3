package history

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// killVariable names the store that a test's child writes to until it is killed.
const killVariable = "STCHAT_TEST_KILLED_STORE"

// killedContent is what version n of the child's chat holds.
func killedContent(n int) []byte {
	rnd := rand.New(rand.NewPCG(uint64(n/5), 1))
	data := []byte(`{"chat_metadata":{"integrity":"k"}}`)
	for range 400 {
		data = fmt.Appendf(data, "\n{\"mes\":\"%x%x\"}", rnd.Uint64(), rnd.Uint64())
	}
	return fmt.Appendf(data, "\n{\"mes\":\"version %d\"}", n)
}

// TestKilledChild is the child: it does nothing by itself.
func TestKilledChild(t *testing.T) {
	path := os.Getenv(killVariable)
	if path == "" {
		return
	}
	s, err := OpenWrite(t.Context(), path, filepath.Dir(path), noon)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Versions(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for n := len(list); ; n += 3 {
		take(t, s, "A", killedContent(n), killedContent(n+1), killedContent(n+2))
	}
}

// A run that is killed at any moment leaves whole versions and no other, and the next one
// goes on from there.
func TestKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	rnd := rand.New(rand.NewPCG(8, 9))
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	for range rounds {
		child := exec.Command(os.Args[0], "-test.run", "^TestKilledChild$")
		child.Env = append(os.Environ(), killVariable+"="+path)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(20+rnd.IntN(280)) * time.Millisecond)
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait() // it was killed
	}
	s, err := OpenWrite(t.Context(), path, filepath.Dir(path), noon)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if list := verified(t, s); len(list) > 0 {
		t.Errorf("%+v", list)
	}
	list, err := s.Versions(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(list)%3 != 0 {
		t.Errorf("%d versions: a transaction is there in part", len(list))
	}
	for i, v := range list {
		if !bytes.Equal(back(t, s, v), killedContent(i)) {
			t.Fatalf("version %d has other bytes", i)
		}
	}
	if again := take(t, s, "A", killedContent(0)); len(again) != 1 {
		t.Error("nothing can be added")
	}
	t.Logf("%d kills, %d versions", rounds, len(list))
}
