package history

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// fullDisk takes some bytes, and then fails.
type fullDisk struct{ room int }

var errFull = errors.New("no room")

func (d *fullDisk) Write(data []byte) (int, error) {
	if d.room -= len(data); d.room < 0 {
		return 0, errFull
	}
	return len(data), nil
}

// A version whose lines lie in many packs, to and fro, comes back; a reader that stops, and a
// pack that is damaged, leave the store as it was.
func TestPacksAhead(t *testing.T) {
	s := openNew(t)
	rng := rand.New(rand.NewPCG(5, 5))
	lines := make([][]byte, 1500)
	for i := range lines {
		lines[i] = fmt.Appendf(nil, `{"mes":"%d %x"}`, i, bytes.Repeat([]byte{byte(i), byte(i >> 8)}, 600))
	}
	first := bytes.Join(lines, []byte("\n"))
	rng.Shuffle(len(lines), func(i, k int) { lines[i], lines[k] = lines[k], lines[i] })
	second := bytes.Join(lines[:1000], []byte("\n"))
	versions := take(t, s, "a", first, second)
	unpinned := func() {
		t.Helper()
		for _, p := range s.packs.slots {
			if p != nil && p.pins != 0 {
				t.Errorf("the pack of %d is pinned %d times", p.first, p.pins)
			}
		}
	}
	for i, want := range [][]byte{first, second} {
		if !bytes.Equal(back(t, s, versions[i]), want) {
			t.Errorf("version %d has other bytes", i+1)
		}
		for range 20 {
			if err := s.WriteTo(t.Context(), &fullDisk{rng.IntN(len(want) - writeSize)}, &versions[i]); !errors.Is(err, errFull) {
				t.Errorf("a full disk: %v", err)
			}
		}
		unpinned()
	}
	flip(t, s, "SELECT data FROM pack WHERE first > ? ORDER BY first LIMIT 1", "UPDATE pack SET data = ? WHERE first = (SELECT first FROM pack WHERE first > ? ORDER BY first LIMIT 1)", -9, 500)
	s.packs.forget()
	for i := range versions {
		if err := s.WriteTo(t.Context(), new(bytes.Buffer), &versions[i]); !errors.Is(err, ErrBroken) {
			t.Errorf("version %d reads as if nothing were: %v", i+1, err)
		}
	}
	unpinned()
}
