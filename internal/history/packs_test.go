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
func TestManyPacks(t *testing.T) {
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
	for i, want := range [][]byte{first, second} {
		if !bytes.Equal(back(t, s, versions[i]), want) {
			t.Errorf("version %d has other bytes", i+1)
		}
		for range 20 {
			if err := s.WriteTo(t.Context(), &fullDisk{rng.IntN(len(want) - writeSize)}, &versions[i]); !errors.Is(err, errFull) {
				t.Errorf("a full disk: %v", err)
			}
		}
	}
	flip(t, s, "SELECT data FROM pack WHERE first > ? ORDER BY first LIMIT 1", "UPDATE pack SET data = ? WHERE first = (SELECT first FROM pack WHERE first > ? ORDER BY first LIMIT 1)", -9, 500)
	s.packs = nil
	for i := range versions {
		if err := s.WriteTo(t.Context(), new(bytes.Buffer), &versions[i]); !errors.Is(err, ErrBroken) {
			t.Errorf("version %d reads as if nothing were: %v", i+1, err)
		}
	}
}

// A pack is damaged if anything in its row does not fit the rest, or is larger than any that was written.
func TestDecodeDamaged(t *testing.T) {
	enc := newEncoder()
	dec := newDecoder()
	defer dec.Close()
	rowOf := func(sizes ...int) *row {
		p := &pack{first: 1}
		for _, size := range sizes {
			p.add(make([]byte, size), key{1})
		}
		return &row{1, int64(len(sizes)), int64(len(p.raw)), p.lens(), p.keyBytes(), enc.EncodeAll(p.raw, nil)}
	}
	for _, tt := range []struct {
		name   string
		row    *row
		change func(r *row)
		sound  bool
	}{
		{"as it was", rowOf(3, 0, 5), func(*row) {}, true},
		{"the largest", rowOf(packSize-1, maxPiece), func(*row) {}, true},
		{"no pieces", rowOf(), func(*row) {}, false},
		{"too large", rowOf(maxPiece, maxPiece, maxPiece), func(*row) {}, false},
		{"a piece that is too large", rowOf(maxPiece + 1), func(*row) {}, false},
		{"half a key more", rowOf(3, 5), func(r *row) { r.keys = append(r.keys, 1) }, false},
		{"a key less", rowOf(3, 5), func(r *row) { r.keys = r.keys[keySize:] }, false},
		{"a length less", rowOf(3, 5), func(r *row) { r.lens = r.lens[:1] }, false},
		{"half a length", rowOf(300), func(r *row) { r.lens = r.lens[:1] }, false},
		{"another sum", rowOf(3, 5), func(r *row) { r.raw++ }, false},
		{"other bytes", rowOf(3, 5), func(r *row) { r.data = rowOf(3, 4).data }, false},
	} {
		tt.change(tt.row)
		if err := tt.row.decode(dec, &pack{}); (err == nil) != tt.sound || err != nil && !errors.Is(err, ErrBroken) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
