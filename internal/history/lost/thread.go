package lost

import (
	"container/heap"
	"fmt"
	"slices"

	"stchat/internal/extension/illustrator"
	"stchat/internal/folder/align"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/sillytavern/message"
)

// Line is what of a message tells whether it, or a swipe of it, is lost.
type Line struct {
	align.Near
	Name   string // who says it
	Counts bool   // it says something, and is not the program's own
}

// ReadLine reads the line of a message. A picture's id in a text, which a deletion before it changes,
// does not count.
func ReadLine(raw []byte) Line {
	raw = illustrator.WithoutIDs(raw)
	l := Line{Near: align.ReadNear(raw)}
	if l.Broken {
		return l
	}
	l.Name, _ = rawjson.Unquote(rawjson.Value(raw, "name"))
	l.Counts = l.Text != noWords() && !isOfProgram(raw)
	if l.Date == "" { // else any two without one would be taken for versions of one message
		l.Date = fmt.Sprintf("of %x", l.key())
	}
	return l
}

// noWords is what a message without a text says.
func noWords() uint64 { return align.ReadNear([]byte(`{"mes":""}`)).Text }

// isOfProgram reports whether the program says a message: not what a user had the narrator say, or
// wrote as a comment.
func isOfProgram(raw []byte) bool {
	extra := rawjson.Value(raw, "extra")
	if rawjson.Truthy(rawjson.Value(extra, "isSmallSys")) {
		return true
	}
	if !rawjson.Truthy(rawjson.Value(extra, "type")) {
		return false
	}
	role := message.Role(rawjson.Value(raw, "name"), rawjson.Value(raw, "is_user"), rawjson.Value(raw, "is_system"), extra)
	return role != message.Narrator && role != message.Comment
}

// key is what two messages have in common that say the same.
func (l *Line) key() uint64 { return keyOf(l.Text, l.User) }

func keyOf(text uint64, user bool) uint64 {
	if user {
		return text ^ 1
	}
	return text
}

// texts returns its swipes, or its text where it has none of them. A text that is not that of its
// chosen swipe, as of a message that was edited by another program, stands behind them.
func (l *Line) texts() []uint64 {
	if slices.Contains(l.Swipes, l.Text) {
		return l.Swipes
	}
	return append(slices.Clone(l.Swipes), l.Text)
}

// Kind says what was found of a message.
type Kind string

// What a chat may have lost.
const (
	Message Kind = "message"
	Swipe   Kind = "swipe"
	Wording Kind = "wording" // the message is there, and says something else now
)

// Found is something that a chat had, and has no more.
type Found struct {
	Kind    Kind
	Version int // in which it was last
	Number  int // of the message in that version
	Swipe   int // the number there, from 0, of a swipe; -1: it is the message's text

	Live  int    // the live message that it belongs to; of a message, the one before its place; -1: none
	Of    *Found // the lost message that it belongs to; nil: none
	Stray bool   // of a message: no neighbour is there any more
}

// Thread is a live chat, with what older versions of it had besides in between. The versions are
// added one after the other, the newest first.
type Thread struct {
	places    []*place
	follows   map[[2]*place]bool // of two places of a version, of which one is lost, the second follows the first
	greetings int                // how many of the first messages are greetings
	noWords   uint64             // what a message without a text says
	live      map[uint64]bool    // the keys of all texts of the chat
	dates     map[string]string  // of a message that had another date, as before it was swiped: the one of its place
	dateOf    map[uint64]string  // the date of the place where a text is, or was, by its key
}

// place is a message, live or lost.
type place struct {
	Line
	live  int // its number in the chat; -1: it is lost
	found *Found
	parts []*Found // what it had besides
	had   []uint64 // their texts
}

// NewThread returns a thread of the messages of a live chat, which begins with so many greetings: one,
// or in a group as many as there are members.
func NewThread(live []Line, greetings int) *Thread {
	t := &Thread{greetings: greetings, noWords: noWords(), follows: map[[2]*place]bool{}, live: map[uint64]bool{}, dates: map[string]string{}, dateOf: map[uint64]string{}}
	for i, l := range live {
		t.places = append(t.places, &place{Line: l, live: i})
		t.note(&l, l.Date)
		for _, text := range l.texts() {
			t.live[keyOf(text, l.User)] = true
		}
	}
	return t
}

// all returns all texts that are, or were, in a place.
func (p *place) all() []uint64 {
	if len(p.had) == 0 {
		return p.texts()
	}
	return slices.Concat(p.texts(), p.had)
}

// Add adds a version with a number; copied says that it is from elsewhere, where it may have gone on
// in its own way.
func (t *Thread) Add(number int, version []Line, copied bool) {
	m := t.match(version, copied)
	for i, at := range m.at {
		if at >= 0 {
			t.compare(t.places[at], number, i, &version[i])
			t.note(&version[i], t.places[at].Date)
		}
	}

	before, behind := map[int][]*place{}, map[int][]*place{}
	var last []*place // no neighbour is there any more
	var previous *place
	for i, l := range version {
		if m.at[i] >= 0 {
			p := t.places[m.at[i]]
			if p.live < 0 || m.isPair(i) { // not one that was moved in the chat
				t.follow(previous, p)
				previous = p
			}
			continue
		}

		if !l.Counts {
			continue
		}
		t.note(&l, l.Date)
		fresh := &place{Line: l, live: -1, found: &Found{Kind: Message, Version: number, Number: i, Swipe: -1}}
		from, to := m.neighbours(i)
		switch {
		case from >= 0:
			fresh.found.Stray = t.isStray(from)
			behind[from] = append(behind[from], fresh)
		case to >= 0:
			fresh.found.Stray = t.isStray(to)
			before[to] = append(before[to], fresh)
		default:
			fresh.found.Stray = true
			last = append(last, fresh)
		}

		t.follow(previous, fresh)
		previous = fresh
	}

	var all []*place
	for i, p := range t.places {
		all = append(all, before[i]...)
		all = append(all, p)
		all = append(all, behind[i]...)
	}

	t.places = append(all, last...)
}

// note notes that a message has a place with some date.
func (t *Thread) note(l *Line, date string) {
	if _, known := t.dates[l.Date]; !known {
		t.dates[l.Date] = date
	}
	for _, text := range l.texts() {
		key := keyOf(text, l.User)
		if _, known := t.dateOf[key]; !known {
			t.dateOf[key] = date
		}
	}
}

// dated returns a version with the dates of places for messages that had others: a message that is
// swiped has the date of its swipe.
func (t *Thread) dated(version []Line) []Line {
	list := slices.Clone(version)
	for i := range list {
		l := &list[i]
		if date, known := t.dates[l.Date]; known {
			l.Date = date
			continue
		}
		for _, text := range l.Swipes {
			if date, known := t.dateOf[keyOf(text, l.User)]; known {
				l.Date = date
				break
			}
		}
	}
	return list
}

// follow notes that a place follows another in a version. Of live ones the chat tells that.
func (t *Thread) follow(previous, p *place) {
	if previous != nil && (previous.live < 0 || p.live < 0) {
		t.follows[[2]*place{previous, p}] = true
	}
}

// isStray reports whether a place is that of a lost message without neighbours.
func (t *Thread) isStray(i int) bool { return t.places[i].found != nil && t.places[i].found.Stray }

// Found returns all that is lost, in the order in which it stands.
func (t *Thread) Found() (all []*Found) {
	before := -1
	for _, p := range t.ordered() {
		if p.live >= 0 {
			before = p.live
		}
		if p.found != nil {
			p.found.Live = before
			all = append(all, p.found)
		}
		for _, part := range p.parts {
			part.Live, part.Of = p.live, p.found
			all = append(all, part)
		}
	}
	return all
}

// ordered returns the places so that each version has them in its order: which of two messages came
// first may only be known from a third version, which had both. Where versions differ, the chat holds.
func (t *Thread) ordered() []*place {
	number := make(map[*place]int, len(t.places))
	for i, p := range t.places {
		number[p] = i
	}
	next := make([][]int, len(t.places))
	waits := make([]int, len(t.places)) // for how many others
	edge := func(from, to int) {
		next[from] = append(next[from], to)
		waits[to]++
	}
	for pair := range t.follows {
		edge(number[pair[0]], number[pair[1]])
	}
	last := -1
	for i, p := range t.places {
		if p.live < 0 {
			continue
		}
		if last >= 0 {
			edge(last, i)
		}
		last = i
	}

	var list []*place
	var ready first
	done := make([]bool, len(t.places))
	for i := range t.places {
		if waits[i] == 0 {
			heap.Push(&ready, i)
		}
	}

	left := 0 // all before it are done
	for len(list) < len(t.places) {
		for left < len(done) && done[left] {
			left++
		}
		at := left // unless one is ready they wait for each other
		if len(ready) > 0 {
			at = heap.Pop(&ready).(int)
		}
		if done[at] {
			continue
		}
		done[at] = true
		list = append(list, t.places[at])
		for _, to := range next[at] {
			if waits[to]--; waits[to] == 0 {
				heap.Push(&ready, to)
			}
		}
	}
	return list
}

// first is a heap of numbers, the smallest on top.
type first []int

func (f first) Len() int           { return len(f) }
func (f first) Less(i, j int) bool { return f[i] < f[j] }
func (f first) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }
func (f *first) Push(x any)        { *f = append(*f, x.(int)) }
func (f *first) Pop() any {
	last := len(*f) - 1
	x := (*f)[last]
	*f = (*f)[:last]
	return x
}

// compare finds what a place had besides when it was the i-th message of a version. Of swipes in the
// same place one took the place of the other: the message was edited. One in whose place none is was
// deleted.
func (t *Thread) compare(p *place, version, i int, was *Line) {
	if was.Broken {
		return
	}
	old, now := was.texts(), p.texts()
	pairs := align.Equal(old, now)
	from := align.Pair{A: -1, B: -1}
	for _, to := range append(pairs, align.Pair{A: len(old), B: len(now)}) {
		edited := to.B - from.B - 1
		for k := from.A + 1; k < to.A; k++ {
			part := &Found{Kind: Swipe, Version: version, Number: i, Swipe: k}
			if edited > 0 {
				part.Kind = Wording
				edited--
			}
			if k >= len(was.Swipes) {
				part.Swipe = -1
			}
			isKnown := old[k] == t.noWords || slices.Contains(now, old[k]) || slices.Contains(p.had, old[k])
			isElsewhere := part.Kind == Wording && t.live[keyOf(old[k], p.User)]
			if !isKnown && !isElsewhere {
				p.had = append(p.had, old[k])
				p.parts = append(p.parts, part)
			}
		}

		from = to
	}
}

// matching says which place each message of a version has.
type matching struct {
	at    []int        // its place; -1: none
	pairs []align.Pair // of place and message, those that are in the order of both
}

// neighbours returns the places before and behind the i-th message of a version; -1: none.
func (m *matching) neighbours(i int) (from, to int) {
	n, _ := slices.BinarySearchFunc(m.pairs, i, func(p align.Pair, i int) int { return p.B - i })
	from, to = -1, -1
	if n > 0 {
		from = m.pairs[n-1].A
	}
	if n < len(m.pairs) {
		to = m.pairs[n].A
	}
	return from, to
}

// isPair reports whether the i-th message of a version is in the order of both.
func (m *matching) isPair(i int) bool {
	_, is := slices.BinarySearchFunc(m.pairs, i, func(p align.Pair, i int) int { return p.B - i })
	return is
}

// match finds the places of a version's messages: of the equal ones, and of those that have the same
// date or a swipe in common; of those that were moved; and of those that were reworded.
func (t *Thread) match(version []Line, copied bool) *matching {
	places := make([]Line, len(t.places))
	for i, p := range t.places {
		places[i] = p.Line
		places[i].Swipes = p.all()
	}

	m := &matching{at: slices.Repeat([]int{-1}, len(version))}
	m.pairs = align.Messages(sideOf(places), sideOf(t.dated(version)), false)
	used := make([]bool, len(t.places))
	for _, p := range m.pairs {
		m.at[p.B], used[p.A] = p.A, true
	}

	t.matchGreetings(m, used, version)
	t.matchMoved(m, used, version)
	t.matchReworded(m, used, version, copied)
	return m
}

func sideOf(list []Line) align.Side {
	side := align.Side{Keys: make([]uint64, len(list)), Near: func(i int) align.Near { return list[i].Near }}
	for i := range list {
		side.Keys[i] = list[i].key()
	}
	return side
}

// matchGreetings takes another greeting for the same message: the page writes one over it, in a group
// one of each member.
func (t *Thread) matchGreetings(m *matching, used []bool, version []Line) {
	for i := range min(t.greetings, len(version), len(t.places)) {
		now, was := t.places[i], &version[i]
		isByCharacter := !now.User && !was.User
		isBySame := i == 0 || now.Name == was.Name
		isGreeting := now.live == i && isByCharacter && isBySame
		if !isGreeting || used[i] || m.at[i] >= 0 {
			return
		}
		m.at[i] = i
		used[i] = true
		m.pairs = slices.Insert(m.pairs, i, align.Pair{A: i, B: i})
	}
}

// matchMoved finds messages that are there in another place. They are no neighbours of others.
func (t *Thread) matchMoved(m *matching, used []bool, version []Line) {
	free := map[uint64][]int{} // the places where a text is, or was
	for i, p := range t.places {
		if used[i] {
			continue
		}
		for _, text := range p.all() {
			key := keyOf(text, p.User)
			free[key] = append(free[key], i)
		}
	}

	for i := range version {
		if m.at[i] >= 0 {
			continue
		}
		n := slices.IndexFunc(free[version[i].key()], func(at int) bool { return !used[at] })
		if n >= 0 {
			m.at[i] = free[version[i].key()][n]
			used[m.at[i]] = true
		}
	}
}

// matchReworded finds what became of messages that were reworded, as [Live.Compare] counts them:
// between two common messages the next live one of the same role, and so, of a single one at the
// end of a version that is not from elsewhere, the one that follows the last common message.
func (t *Thread) matchReworded(m *matching, used []bool, version []Line, copied bool) {
	var more []align.Pair
	from := align.Pair{A: -1, B: -1}
	for _, to := range append(slices.Clone(m.pairs), align.Pair{A: len(t.places), B: len(version)}) {
		var gone, live []int
		for i := from.B + 1; i < to.B; i++ {
			if m.at[i] < 0 && version[i].Counts {
				gone = append(gone, i)
			}
		}

		for i := from.A + 1; i < to.A; i++ {
			if !used[i] && t.places[i].live >= 0 {
				live = append(live, i)
			}
		}

		if isLast := to.B == len(version); isLast {
			live = slices.DeleteFunc(live, func(at int) bool { return at != from.A+1 })
			if len(gone) > 1 || copied {
				gone = nil
			}
		}

		for _, i := range gone {
			n := slices.IndexFunc(live, func(at int) bool { return t.places[at].User == version[i].User })
			if n < 0 {
				continue
			}
			more = append(more, align.Pair{A: live[n], B: i})
			m.at[i], used[live[n]] = live[n], true
			live = live[n+1:]
		}

		from = to
	}

	m.pairs = append(m.pairs, more...)
	slices.SortFunc(m.pairs, func(a, b align.Pair) int { return a.B - b.B })
}
