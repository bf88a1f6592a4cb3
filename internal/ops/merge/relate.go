package merge

import (
	"slices"

	"stchat/internal/align"
	"stchat/internal/chat"
	"stchat/internal/message"
)

// pair is a message of FROM and the one of INTO that is the same.
type pair struct{ from, into int }

// relation is what a chat of FROM and one of INTO have in common, by their messages alone.
type relation struct {
	pairs []pair // the messages that both have, in their order

	ownFrom        int  // messages of FROM that INTO lacks, or with a swipe that it lacks
	kept, keptFrom int  // the same of INTO and of FROM, and shared ones with a value that the other lacks
	at             int  // the first message that differs
	begun          bool // more than a greeting is shared
	fragment       bool // FROM's lacks more than half of what the base has
}

// judging says what counts as a message's own.
type judging struct {
	noSwipes bool     // a swipe alone is nothing of one's own
	base     *baseSet // what both sides came from; nil: unknown
}

// baseSet is what the messages of a chat at the last merge hold: nothing of that is anybody's own.
type baseSet struct {
	ids, swipes, values map[message.ID]bool
	list                []chat.Print
}

func newBase(list []chat.Print) *baseSet {
	b := &baseSet{map[message.ID]bool{}, map[message.ID]bool{}, map[message.ID]bool{}, list}
	for i := range list {
		for _, ids := range []struct {
			into map[message.ID]bool
			list []message.ID
		}{{b.ids, list[i].IDs}, {b.swipes, list[i].Swipes}, {b.values, list[i].Values}} {
			for _, id := range ids.list {
				ids.into[id] = true
			}
		}
	}
	return b
}

// relate compares a chat of FROM with one of INTO.
func relate(from, into []chat.Print, by judging) relation {
	r := relation{pairs: shared(from, into)}
	for r.at < len(r.pairs) && r.pairs[r.at] == (pair{r.at, r.at}) {
		r.at++
	}
	nextFrom, nextInto := 0, 0
	for _, p := range append(slices.Clip(r.pairs), pair{len(from), len(into)}) {
		r.kept += by.alone(into[nextInto:p.into])
		missing := by.alone(from[nextFrom:p.from])
		r.ownFrom, r.keptFrom = r.ownFrom+missing, r.keptFrom+missing
		nextFrom, nextInto = p.from+1, p.into+1
		if p.from == len(from) {
			break
		}
		f, i := &from[p.from], &into[p.into]
		_, kept := by.lacks(f, i)
		own, keptFrom := by.lacks(i, f)
		if r.ownFrom, r.kept, r.keptFrom = r.ownFrom+own, r.kept+kept, r.keptFrom+keptFrom; kept+keptFrom > 0 {
			r.at = min(r.at, p.into)
		}
	}
	r.begun = begun(from, into, r.pairs)
	r.fragment = by.base != nil && 2*len(shared(by.base.list, from)) < len(by.base.list)
	return r
}

// alone counts the messages of a stretch that the other chat lacks.
func (by judging) alone(list []chat.Print) (n int) {
	for i := range list {
		unknown := func(id message.ID) bool { return !by.base.swipes[id] }
		if by.base == nil || !by.base.ids[list[i].IDs[0]] || slices.ContainsFunc(list[i].Swipes, unknown) {
			n++
		}
	}
	return n
}

// lacks returns 1 as own if a message lacks a swipe of another one that is the same message, and 1 as
// kept also if it lacks a value; else 0. What the base has is not lacking.
func (by judging) lacks(p, other *chat.Print) (own, kept int) {
	known := by.base
	if known == nil {
		known = new(baseSet)
	}
	lacking := func(list, in []message.ID, known map[message.ID]bool) int {
		if slices.ContainsFunc(list, func(id message.ID) bool { return !slices.Contains(in, id) && !known[id] }) {
			return 1
		}
		return 0
	}
	if !by.noSwipes {
		own = lacking(other.Swipes, p.Swipes, known.swipes)
	}
	return own, max(own, lacking(other.Values, p.Values, known.values))
}

// begun reports whether more than a greeting is shared: what stands before the first message of
// the user, or the first message where the user says nothing.
func begun(from, into []chat.Print, pairs []pair) bool {
	if len(pairs) == 0 {
		return false
	}
	last := pairs[len(pairs)-1]
	// spoken reports whether message n, and so all before it, is more than a greeting
	spoken := func(list []chat.Print, n int) bool {
		first := slices.IndexFunc(list, func(p chat.Print) bool { return p.User })
		return n >= first && (first >= 0 || n > 0)
	}
	return spoken(from, last.from) || spoken(into, last.into)
}

// holds reports whether one of two chats has nothing of its own against the other, values
// included.
func (r *relation) holds() bool { return r.kept == 0 || r.keptFrom == 0 }

// equal reports whether both have the same messages.
func (r *relation) equal() bool { return r.kept == 0 && r.keptFrom == 0 }

// reworded reports whether each message that only FROM has stands in INTO too, by its date and
// role, with another text.
func reworded(from, into []chat.Print, r relation) bool {
	has, left := map[message.ID]bool{}, map[int]bool{}
	for _, p := range r.pairs {
		left[p.from] = true
	}
	for i := range into {
		has[into[i].Dated] = true
	}
	for i := range from {
		if !left[i] && !has[from[i].Dated] {
			return false
		}
	}
	return true
}

// shared returns the messages that two chats have in common: as many as possible, in their order.
func shared(from, into []chat.Print) (pairs []pair) {
	head, tail := align.Ends(len(from), len(into), func(i, j int) bool { return same(&from[i], &into[j]) })
	for i := range head {
		pairs = append(pairs, pair{i, i})
	}
	for _, p := range common(from[head:len(from)-tail], into[head:len(into)-tail]) {
		pairs = append(pairs, pair{p.from + head, p.into + head})
	}
	for k := tail; k > 0; k-- {
		pairs = append(pairs, pair{len(from) - k, len(into) - k})
	}
	return pairs
}

// same reports whether two messages are one, with some swipe of one of them chosen.
func same(a, b *chat.Print) bool { return a.Same(b) || b.Same(a) }

// most is how many places of equal messages are compared for one message: in a chat of thousands
// of equal messages any of them is as good.
const most = 64

// common returns a longest common sequence of two lists.
func common(from, into []chat.Print) []pair {
	if len(from) == 0 || len(into) == 0 {
		return nil
	}
	if list := embedded(from, into); list != nil {
		return list
	}
	if list := embedded(into, from); list != nil {
		for i, p := range list {
			list[i] = pair{p.into, p.from}
		}
		return list
	}
	places := map[message.ID][]int{}
	for j := range into {
		for _, id := range into[j].IDs {
			places[id] = append(places[id], j)
		}
	}
	var matches []align.Pair // in the order of from, the last place of each first
	for i := range from {
		var list []int
		for _, id := range from[i].IDs {
			for _, j := range places[id] {
				if len(list) < most && same(&from[i], &into[j]) && !slices.Contains(list, j) {
					list = append(list, j)
				}
			}
		}
		slices.Sort(list)
		for _, j := range slices.Backward(list) {
			matches = append(matches, align.Pair{A: j, B: i})
		}
	}
	var pairs []pair
	for _, p := range align.Rising(matches) {
		pairs = append(pairs, pair{p.B, p.A})
	}
	return pairs
}

// embedded pairs all messages of part with those of whole, in order; nil if one is not there.
func embedded(part, whole []chat.Print) []pair {
	list := make([]pair, 0, len(part))
	j := 0
	for i := range part {
		for j < len(whole) && !same(&part[i], &whole[j]) {
			j++
		}
		if j == len(whole) {
			return nil
		}
		list = append(list, pair{i, j})
		j++
	}
	return list
}
