package align

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"slices"
	"time"

	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/place/sendate"
)

// Near is what tells that two messages that differ are versions of one.
type Near struct {
	User   bool
	Date   string   // send_date, however it is spelled; empty: none
	Text   uint64   // a hash of its text, the same in every process
	Swipes []uint64 // those of its stored swipes
	Line   uint64   // a hash of all of it
	Broken bool     // it cannot be read, and may be any
}

// ReadNear reads it from a line; nil is a line that cannot be read any more.
func ReadNear(line []byte) Near {
	if !jsonl.Valid(line) {
		return Near{Broken: true}
	}

	date := rawjson.Value(line, "send_date")
	n := Near{
		User: rawjson.Truthy(rawjson.Value(line, "is_user")),
		Date: string(date),
		Text: hashOfText(rawjson.Value(line, "mes")),
		Line: hash(line),
	}

	if at, ok := sendate.ParseRaw(date); ok {
		n.Date = at.UTC().Format(time.RFC3339Nano)
	}
	for swipe := range rawjson.Elements(rawjson.Value(line, "swipes")) {
		n.Swipes = append(n.Swipes, hashOfText(swipe))
	}
	return n
}

func hash(b []byte) uint64 {
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint64(sum[:])
}

// hashOfText hashes what a JSON string says, however it is spelled.
func hashOfText(raw []byte) uint64 {
	text, _ := rawjson.Unquote(raw)
	return hash([]byte(text))
}

// Side is one of two lists of messages.
type Side struct {
	Keys []uint64         // what is compared of each, hashed
	Near func(i int) Near // is asked for messages that have no equal one
}

// Messages pairs messages: equal ones as [Equal] finds them; in each gap those of one role that
// have the same date, or of which one's text is a swipe of the other; and if rest is set, in what
// is left, those of one role, after the last pair only if each side has one. If the sides change
// places, the pairs do.
func Messages(a, b Side, rest bool) []Pair {
	if order(a, b) > 0 {
		return Swap(Messages(b, a, rest))
	}
	a.Near = once(a.Near)
	b.Near = once(b.Near)

	pairs := fill(a, b, Equal(a.Keys, b.Keys), func(x, y Near, _ bool) bool { return versions(x, y) })
	if !rest {
		return pairs
	}
	return fill(a, b, pairs, func(x, y Near, end bool) bool {
		maySpeakAlike := x.User == y.User || x.Broken || y.Broken
		return !end && maySpeakAlike
	})
}

// order compares two lists by what does not depend on a seed: the first messages that differ.
func order(a, b Side) int {
	if n := cmp.Compare(len(a.Keys), len(b.Keys)); n != 0 {
		return n
	}
	for i := range a.Keys {
		if a.Keys[i] == b.Keys[i] {
			continue
		}
		x, y := a.Near(i), b.Near(i)
		if n := cmp.Or(cmp.Compare(x.Date, y.Date), cmp.Compare(x.Text, y.Text), cmp.Compare(x.Line, y.Line)); n != 0 {
			return n
		}
	}
	return 0
}

// Rows yields all of two lists of n and m elements, in order: pairs, and what is in one list alone
// with -1 for the other; before each pair first what only A has.
func Rows(pairs []Pair, n, m int) iter.Seq[Pair] {
	return func(yield func(Pair) bool) {
		i, j := 0, 0
		for k := 0; k <= len(pairs); k++ {
			to := Pair{n, m}
			if k < len(pairs) {
				to = pairs[k]
			}
			for ; i < to.A; i++ {
				if !yield(Pair{i, -1}) {
					return
				}
			}

			for ; j < to.B; j++ {
				if !yield(Pair{-1, j}) {
					return
				}
			}

			if k < len(pairs) && !yield(to) {
				return
			}
			i = to.A + 1
			j = to.B + 1
		}
	}
}

// versions reports whether two messages are versions of one.
func versions(x, y Near) bool {
	switch {
	case x.Broken || y.Broken:
		return true
	case x.User != y.User:
		return false
	}
	return x.Date == y.Date || slices.Contains(x.Swipes, y.Text) || slices.Contains(y.Swipes, x.Text)
}

// once remembers what near returned: a message is read no more than once.
func once(near func(i int) Near) func(i int) Near {
	known := map[int]Near{}
	return func(i int) Near {
		n, ok := known[i]
		if !ok {
			n = near(i)
			known[i] = n
		}
		return n
	}
}

// fill adds a longest common sequence of each gap between pairs. end tells that it is the last gap,
// and has more than one message on some side.
func fill(a, b Side, pairs []Pair, same func(x, y Near, end bool) bool) []Pair {
	var all []Pair
	from := Pair{}
	for k := 0; k <= len(pairs); k++ {
		to := Pair{len(a.Keys), len(b.Keys)}
		if k < len(pairs) {
			to = pairs[k]
		}

		n, m := to.A-from.A, to.B-from.B
		end := k == len(pairs) && n*m > 1
		near := func(i, j int) bool { return same(a.Near(from.A+i), b.Near(from.B+j), end) }
		var found []Pair
		if n*m <= cells {
			found = common(n, m, near)
		} else {
			found = far(a, b, from, to, near)
		}

		for _, p := range found {
			all = append(all, Pair{from.A + p.A, from.B + p.B})
		}
		if k < len(pairs) {
			all = append(all, to)
		}
		from = Pair{to.A + 1, to.B + 1}
	}
	return all
}

// far is common for a gap that is too long for it: only dates that occur once are compared.
func far(a, b Side, from, to Pair, same func(i, j int) bool) []Pair {
	dates := func(side Side, from, to int) []string {
		list := make([]string, to-from)
		for i := range list {
			list[i] = side.Near(from + i).Date
		}
		return list
	}
	pairs := unique(dates(a, from.A, to.A), dates(b, from.B, to.B))
	return slices.DeleteFunc(pairs, func(p Pair) bool { return !same(p.A, p.B) })
}
