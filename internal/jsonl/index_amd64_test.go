//go:build !purego

package jsonl

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// indexed is all that indexing data in pieces comes to.
type indexed struct {
	Quotes  []uint32
	Slashes []uint64
	State   indexState
}

func indexBy(data []byte, piece int, kernel func([]byte, uint32, *uint32, *uint64, *indexState) int) indexed {
	x := indexed{Quotes: make([]uint32, len(data)+spare), Slashes: make([]uint64, len(data)/64)}
	n := 0
	for at := 0; at < len(data); at += piece {
		p := data[at:min(at+piece, len(data))]
		n += kernel(p, uint32(at), &x.Quotes[n], &x.Slashes[at/64], &x.State)
	}
	x.Quotes = x.Quotes[:n]
	return x
}

// Both ways to index say the same of any bytes, in pieces of any length.
func TestIndexKernels(t *testing.T) {
	if !canIndex() || !canIndex512() {
		t.Skip("no AVX-512 here: there is one way only")
	}
	r := rand.New(rand.NewPCG(3, 4))
	wrong := map[bool]int{}
	for range 20000 {
		var data []byte
		spoilt := r.IntN(2) == 0
		for size := 64 * (1 + r.IntN(8)); len(data) < size; {
			switch r.IntN(8) {
			case 0:
				data = append(data, sound()[r.IntN(len(sound()))]...)
			case 1:
				data = append(data, bytes.Repeat([]byte(`"`), r.IntN(130))...)
			case 2:
				if spoilt {
					data = append(data, parts()[r.IntN(len(parts()))]...)
				}
			default:
				data = append(data, `{"mes":"he said \"\u00e9 海\" 😀\n"}`[:9]...)
			}
		}
		data = data[:len(data)&^63]
		piece := 64 * (1 + r.IntN(4))
		by256, by512 := indexBy(data, piece, index256), indexBy(data, piece, index512)
		if diff := cmp.Diff(by256, by512, cmp.AllowUnexported(indexed{}, indexState{})); diff != "" {
			t.Fatalf("%q by %d: (-AVX2 +AVX-512)\n%s", data, piece, diff)
		}
		wrong[by256.State.wrong != 0]++
	}
	if wrong[true] < 1000 || wrong[false] < 1000 {
		t.Errorf("wrong and right: %v", wrong)
	}
}
