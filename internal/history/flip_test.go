package history

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// flipEvery is which of the bytes that say something are changed by default: each takes a few
// milliseconds. STCHAT_FLIP=1 changes all of them.
const flipEvery = 11

// Whatever byte of a store is changed: reading it ends, nothing panics, and where a list of versions
// or a version's bytes cannot be told any more, or are others, Verify says that something is wrong.
func TestEveryByteChanged(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "history.db")
	s, err := OpenWrite(t.Context(), path, root, noon)
	if err != nil {
		t.Fatal(err)
	}
	take(t, s, "a", chatOf("a", 0, 3), chatOf("a", 0, 6))
	take(t, s, "b", chatOf("b", 0, 4))
	take(t, s, "a", chatOf("a", 0, 9))
	w, err := NewWriter(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	err = w.See("chats/Mira/a.jsonl", Seen{Rev: 4, Size: int64(len(chatOf("a", 0, 9)))})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(false); err != nil {
		t.Fatal(err)
	}
	want, err := allOf(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if found := verified(t, s); len(found) > 0 {
		t.Fatalf("%+v", found)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	every := flipEvery
	if os.Getenv("STCHAT_FLIP") == "1" {
		every = 1
	}
	for at := range sound {
		says := at > 0 && (sound[at-1] != 0 || sound[at] != 0) // the room between rows is empty
		if !says || at%every != 0 {
			continue
		}
		changed := bytes.Clone(sound)
		changed[at] ^= 0x55
		if harm := harmOf(t, path, changed, want); harm != "" {
			t.Errorf("byte %d: %s", at, harm)
		}
	}
}

// harmOf says what is wrong with how a changed store is read and judged, "" for nothing.
func harmOf(t *testing.T, path string, changed []byte, want string) string {
	t.Helper()
	for _, name := range []string{path + "-journal", path + "-wal", path + "-shm"} {
		_ = os.Remove(name)
	}
	if err := os.WriteFile(path, changed, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := OpenRead(t.Context(), path)
	if err != nil {
		return "" // it is said to be damaged at once
	}
	defer s.Close()

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	got, readErr := allOf(ctx, s)
	problems := 0
	verifyErr := Verify(ctx, s, func(Problem) error { problems++; return nil })
	_, pruneErr := dry(s, func() (Freed, error) { return Prune(ctx, s, Rules{Last: 1}) })
	_, forgetErr := dry(s, func() (Freed, error) { return Forget(ctx, s, []int64{1}) })

	switch {
	case ctx.Err() != nil:
		return "it never ends"
	case verifyErr != nil:
		return fmt.Sprintf("Verify does not get to its end: %v", verifyErr)
	case problems > 0:
		return ""
	case readErr != nil:
		return fmt.Sprintf("nothing is said to be wrong, but: %v", readErr)
	case pruneErr != nil || forgetErr != nil:
		return fmt.Sprintf("nothing is said to be wrong, but: %v, %v", pruneErr, forgetErr)
	case got != want:
		return fmt.Sprintf("nothing is said to be wrong, but it reads\n%s\nand not\n%s", got, want)
	}
	return ""
}

// allOf returns all that log and restore read of a store.
func allOf(ctx context.Context, s *Store) (string, error) {
	var b bytes.Buffer
	runs, err := s.Snapshots(ctx)
	if err != nil {
		return "", err
	}
	places, err := s.Places(ctx)
	if err != nil {
		return "", err
	}
	chats, err := s.Chats(ctx)
	if err != nil {
		return "", err
	}
	if _, err := s.Backups(ctx); err != nil {
		return "", err
	}
	seen, err := s.Seen(ctx)
	if err != nil {
		return "", err
	}
	for _, f := range seen {
		fmt.Fprintln(&b, f.Rev)
	}
	fmt.Fprintln(&b, runs, places, chats)
	for _, c := range chats {
		versions, err := s.Versions(ctx, c.ID)
		if err != nil {
			return "", err
		}
		for i := range versions {
			fmt.Fprintln(&b, versions[i])
			if err := s.WriteTo(ctx, &b, &versions[i]); err != nil {
				return "", err
			}
		}
	}
	return b.String(), nil
}
