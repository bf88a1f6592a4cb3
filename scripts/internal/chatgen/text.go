package chatgen

import (
	"encoding/hex"
	"strings"
)

// random is splitmix64: small, fast, and ours, so that a seed means the same
// bytes for ever.
type random uint64

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number from 0 to n-1. n is at least 1.
func (r *random) below(n int) int { return int(r.next() >> 1 % uint64(n)) }

// share returns a number from 0 to just under 1.
func (r *random) share() float64 { return float64(r.next()>>11) / (1 << 53) }

// uuid appends a UUID, version 4 by its bits.
func (r *random) uuid(b []byte) []byte {
	var u [16]byte
	for i := range u {
		u[i] = byte(r.next() >> 32)
	}
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	for i, part := range [][]byte{u[0:4], u[4:6], u[6:8], u[8:10], u[10:16]} {
		if i > 0 {
			b = append(b, '-')
		}
		b = hex.AppendEncode(b, part)
	}
	return b
}

// words are what sentences are made of: how one begins, what follows, and how
// it ends. The pieces are escaped as they stand in a JSON string.
type words struct {
	begin, middle, end []string
	between            string
}

var plainWords = words{
	begin: []string{
		`*She sets the lantern down`, `\"You said the tide would wait`, `The door gives`, `*He turns the map over`, `\"There is a step missing`,
		`Somewhere below`, `*Without looking up`, `\"Not here`, `Rain finds the window`, `*The owl on the rafters blinks`, `A letter lies`, `\"Then we walk`,
	},
	middle: []string{
		`beside the salt`, `between the two of you`, `as if it had been asked`, `where the harbour bends`, `under a copper kettle`, `with the patience of stone`,
		`for the third time today`, `and the candle leans after it`, `in a hand nobody owns`, `past the orchard wall`, `before the bell has finished`,
		`at 6 & 7 o'clock <roughly>`, `with one glove on`, `over the whole of the winter road`,
	},
	end: []string{
		`.`, `.`, `.`, `,\" she says.`, `.*`, `.*`, `?\" he asks.`, `!\"`, `; nothing more.`, `, and that is all.`, `...`, `, C:\\maps\\north.`,
	},
	between: " ",
}

var foreignWords = words{
	begin: []string{`霧の中で`, `「灯りは`, `Она ставит фонарь`, `*Élodie s'arrête`, `Die Möwe schläft`, `窗外的雨`, `“Nobody,`},
	middle: []string{
		`静かに`, `鐘が三度鳴り`, `на старую карту`, `à côté du phare`, `über dem Hafen`, `一直到天亮`, `👩‍👩‍👧`, `🕯️`, `naïvely`, `ночью`,
	},
	end:     []string{`。`, `」`, `.`, `…`, `.*`, `!?`, ` 😀`},
	between: " ",
}

// sentences makes n different sentences.
func sentences(r *random, w words, n int) [][]byte {
	all := make([][]byte, n)
	for i := range all {
		parts := []string{w.begin[r.below(len(w.begin))]}
		for range 1 + r.below(4) {
			parts = append(parts, w.middle[r.below(len(w.middle))])
		}
		all[i] = []byte(strings.Join(parts, w.between) + w.end[r.below(len(w.end))])
	}
	return all
}

// base64Block makes n letters of base64.
func base64Block(r *random, n int) []byte {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[r.next()>>58]
	}
	return b
}
