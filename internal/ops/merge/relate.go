package merge

import (
	"slices"

	"stchat/internal/folder/align"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/message"
)

// relation is what a chat of FROM and one of INTO have in common, by their messages alone.
type relation struct {
	pairs []align.Pair // the messages that both have, in their order: A of FROM, B of INTO

	ownFrom        int // messages of FROM that INTO lacks, or with a swipe that it lacks
	kept, keptFrom int // messages and values that only INTO has, which stay; and those that only FROM has

	// Messages that both have, one side with fewer swipes and else the same, as after slim: that side is behind, and
	// has nothing of its own. They are the pairs of which FROM's line has more, and those of which INTO's has.
	fullerFrom, fuller []align.Pair

	gone, goneFrom  int  // messages of the other side and of the base that INTO lacks, and that FROM lacks
	firstDifference int  // the first message that differs
	begun           bool // more than a greeting is shared
	fragment        bool // FROM's lacks more than half of what the base has
}

// judging says what counts as a message's own.
type judging struct {
	base         baseSet // what both sides came from; zero: unknown
	countsSwipes bool    // something beside a chat counts its swipes, so that no line of one side goes among those of the other
}

// baseSet is what the messages of a chat at the last merge hold: nothing of that is anybody's own.
type baseSet struct {
	has  map[message.ID]bool // messages, swipes and values
	list []chat.Print
	err  error // why it cannot be read
}

func newBase(list []chat.Print) baseSet {
	b := baseSet{has: map[message.ID]bool{}, list: list}
	for i := range list {
		for _, id := range slices.Concat(list[i].IDs, list[i].Swipes, list[i].Values) {
			b.has[id] = true
		}
	}
	return b
}

// holds reports whether the base, if there is one, has all of a chat.
func (by judging) holds(list []chat.Print) bool {
	return by.base.has != nil && !slices.ContainsFunc(list, func(p chat.Print) bool {
		return by.alone(&p) > 0 || !allIn(p.Values, nil, by.base.has)
	})
}

// relateFiles compares a chat of FROM with one of INTO, as they are with what lies beside them.
func relateFiles(from, into *file, by judging) relation {
	by.countsSwipes = len(from.sidecars)+len(into.sidecars) > 0 // Luker's, which count swipes
	return relate(from.prints, into.prints, by)
}

// relate compares the messages of a chat of FROM with those of one of INTO.
func relate(from, into []chat.Print, by judging) relation {
	r := relation{pairs: shared(from, into)}
	for r.firstDifference < len(r.pairs) && r.pairs[r.firstDifference] == (align.Pair{A: r.firstDifference, B: r.firstDifference}) {
		r.firstDifference++
	}
	for p := range align.Rows(r.pairs, len(from), len(into)) {
		switch {
		case p.B < 0:
			own := by.alone(&from[p.A])
			r.ownFrom += own
			r.keptFrom += own
			r.gone += 1 - own
		case p.A < 0:
			own := by.alone(&into[p.B])
			r.kept += own
			r.goneFrom += 1 - own
		default:
			r.addPair(p, &from[p.A], &into[p.B], by)
		}
	}

	r.begun = begun(from, into, r.pairs)
	r.fragment = 2*len(shared(by.base.list, from)) < len(by.base.list)
	return r
}

// addPair adds a pair of messages that both chats have.
func (r *relation) addPair(p align.Pair, from, into *chat.Print, by judging) {
	if !by.countsSwipes && from.IsSlimmerThan(into) {
		r.fuller = append(r.fuller, p)
		r.differsAt(p)
		return
	}

	if !by.countsSwipes && into.IsSlimmerThan(from) {
		swipes, _ := by.has(from, into)
		if swipes > 0 { // else they were removed here since the base
			r.fullerFrom = append(r.fullerFrom, p)
			r.differsAt(p)
		}
		return
	}

	_, kept := by.has(into, from)
	swipes, keptFrom := by.has(from, into)
	r.ownFrom += swipes
	r.kept += kept
	r.keptFrom += keptFrom
	if kept+keptFrom > 0 {
		r.differsAt(p)
	}
}

// differsAt notes that the messages of a pair differ.
func (r *relation) differsAt(p align.Pair) { r.firstDifference = min(r.firstDifference, p.B) }

// alone returns 1 for a message that the other chat lacks, 0 if the base has all of it.
func (by judging) alone(p *chat.Print) int {
	if by.base.has[p.IDs[0]] && allIn(p.Swipes, nil, by.base.has) {
		return 0
	}
	return 1
}

// has says what a message has that notIn, which is the same message, and the base lack: swipes is 1 if it
// has such a swipe; any is 1 if it has such a swipe or value.
func (by judging) has(p, notIn *chat.Print) (swipes, any int) {
	if !allIn(p.Swipes, notIn.Swipes, by.base.has) {
		return 1, 1
	}
	if !allIn(p.Values, notIn.Values, by.base.has) {
		return 0, 1
	}
	return 0, 0
}

// allIn reports whether all of a list are in another one or known.
func allIn(list, in []message.ID, known map[message.ID]bool) bool {
	return !slices.ContainsFunc(list, func(id message.ID) bool { return !slices.Contains(in, id) && !known[id] })
}

// begun reports whether more than a greeting is shared: what stands before the first message of
// the user, or the first message where the user says nothing.
func begun(from, into []chat.Print, pairs []align.Pair) bool {
	if len(pairs) == 0 {
		return false
	}
	last := pairs[len(pairs)-1]
	// spoken reports whether message n, and so all before it, is more than a greeting
	spoken := func(list []chat.Print, n int) bool {
		first := slices.IndexFunc(list, func(p chat.Print) bool { return p.User })
		return n >= first && (first >= 0 || n > 0)
	}
	return spoken(from, last.A) || spoken(into, last.B)
}

// holds reports whether one of two chats has nothing of its own against the other, values
// included.
func (r *relation) holds() bool { return r.kept == 0 || r.keptFrom == 0 }

// isHere reports whether INTO has all messages of FROM, with their swipes.
func (r *relation) isHere() bool { return r.ownFrom == 0 && len(r.fullerFrom) == 0 }

// isWhollyHere reports whether INTO has all of FROM, values included.
func (r *relation) isWhollyHere() bool { return r.keptFrom == 0 && len(r.fullerFrom) == 0 }

// equal reports whether both have the same messages.
func (r *relation) equal() bool { return r.kept == 0 && r.keptFrom == 0 }

// shared returns the messages that two chats have in common: as many as possible, in their order.
func shared(from, into []chat.Print) []align.Pair {
	return align.Around(len(from), len(into), func(i, j int) bool { return same(&from[i], &into[j]) }, func(head, tail int) []align.Pair {
		return common(from[head:len(from)-tail], into[head:len(into)-tail])
	})
}

// same reports whether two messages are one, with some swipe of one of them chosen.
func same(a, b *chat.Print) bool { return a.Same(b) || b.Same(a) }

// most is how many places of equal messages are compared for one message: in a chat of thousands
// of equal messages any of them is as good.
const most = 64

// common returns a longest common sequence of two lists.
func common(from, into []chat.Print) []align.Pair {
	if len(from) == 0 || len(into) == 0 {
		return nil
	}
	if list := embedded(from, into); list != nil {
		return list
	}
	if list := embedded(into, from); list != nil {
		return align.Swap(list)
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
	return align.Swap(align.Rising(matches))
}

// embedded pairs all messages of part with those of whole, in order; nil if one is not there.
func embedded(part, whole []chat.Print) []align.Pair {
	list := make([]align.Pair, 0, len(part))
	j := 0
	for i := range part {
		for j < len(whole) && !same(&part[i], &whole[j]) {
			j++
		}
		if j == len(whole) {
			return nil
		}
		list = append(list, align.Pair{A: i, B: j})
		j++
	}
	return list
}
