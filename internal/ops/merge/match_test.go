package merge

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/place/names"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/message"
)

var (
	lives     = flag.Int("lives", 0, "how many random lives of two folders are merged; 0: 400, or 80 with -short")
	firstLife = flag.Int("first", 0, "the seed of the first")
)

// seedsAfter returns the seeds of the lives that are merged: those that found something once,
// and a new one for each so many of the lives.
func seedsAfter(found []int, each int) []int {
	count := *lives
	switch {
	case count > 0:
	case testing.Short():
		count = 80
	default:
		count = 400
	}
	seeds := slices.Clone(found)
	for i := range max(count/each, 1) {
		seeds = append(seeds, *firstLife+i)
	}
	return seeds
}

// A life is a folder of chats in a test, each a list of messages that are numbers.
type life map[string]tale

type tale struct {
	slug   int
	list   []line
	parent string // of which it is a branch
}

// line is a message: its text, and the numbers of its swipes.
type line struct {
	id     int
	swipes []int // the other ones
	user   bool
	value  int
}

func (l line) print() chat.Print {
	id := func(kind string, n int) (id message.ID) {
		copy(id[:], kind+strconv.Itoa(n))
		return id
	}
	p := chat.Print{User: l.user}
	p.IDs, p.Swipes = append(p.IDs, id("m", l.id)), append(p.Swipes, id("m", l.id))
	for _, s := range l.swipes {
		p.IDs, p.Swipes = append(p.IDs, id("m", s)), append(p.Swipes, id("m", s))
	}
	if l.value > 0 {
		p.Values = append(p.Values, id("v", l.value))
	}
	p.Chosen = len(p.Values)
	return p
}

func (f life) ones() (list []*file) {
	for _, name := range slices.Sorted(maps.Keys(f)) {
		c := &file{name: name, key: names.FoldNFC(name), slug: strconv.Itoa(f[name].slug)}
		for _, l := range f[name].list {
			c.prints = append(c.prints, l.print())
		}
		list = append(list, c)
	}
	return list
}

func (f life) clone() life {
	c := life{}
	for name, t := range f {
		c[name] = tale{t.slug, slices.Clone(t.list), t.parent}
	}
	return c
}

// texts returns all texts in a folder.
func (f life) texts() map[int]bool {
	all := map[int]bool{}
	for _, t := range f {
		for _, l := range t.list {
			all[l.id] = true
			for _, s := range l.swipes {
				all[s] = true
			}
		}
	}
	return all
}

// merged merges from into f as the verb does, and returns how many chats were written.
func (f life) merged(from life, label string, fresh func() int) (wrote int) {
	return f.mergedSince(nil, from, label, fresh)
}

// mergedSince is merged where it is known what both were.
func (f life) mergedSince(base, from life, label string, fresh func() int) (wrote int) {
	bases := map[string]baseSet{}
	for _, c := range base.ones() {
		bases[c.name] = newBase(c.prints)
	}
	after := f.clone()
	into, theirs := f.ones(), from.ones()
	taken := func(name string) bool {
		_, here := after[name]
		_, there := from[name]
		return here || there
	}
	slugs := map[int]bool{}
	for _, t := range f {
		slugs[t.slug] = true
	}
	all := func(files []*file, do func(p *file)) {
		for _, p := range files {
			do(p)
		}
	}
	for _, m := range matchAll(into, theirs, func(c *file) judging { return judging{base: bases[c.name]} }, all) {
		c := from[m.from.name]
		switch m.sign() {
		case Ahead:
			after[m.into.name] = tale{slug: f[m.into.name].slug, list: m.united(f[m.into.name].list, c.list)}
		case Parted:
			after[freeName(m.from.name+"__"+label, taken)] = tale{slug: fresh(), list: c.list}
		case Other, New:
			name := m.from.name
			if _, here := after[name]; here {
				name = freeName(nextName(name, second), taken)
			}
			slug := c.slug
			if slugs[slug] {
				slug = fresh()
			}
			after[name] = tale{slug: slug, list: c.list}
		default:
			continue
		}
		wrote++
	}
	clear(f)
	maps.Copy(f, after)
	return wrote
}

// united returns the messages of a chat of INTO that gets those of FROM's: that which has more, and of each message the
// line with more swipes.
func (m *match) united(into, from []line) []line {
	if m.kept == 0 {
		list := slices.Clone(from)
		for _, p := range m.fuller {
			list[p.A] = into[p.B]
		}
		return list
	}
	list := slices.Clone(into)
	for _, p := range m.fullerFrom {
		list[p.B] = from[p.A]
	}
	return list
}

// live changes a folder in one of the ways people do.
func (f life) live(r *rand.Rand, fresh func() int) {
	names := slices.Sorted(maps.Keys(f))
	if len(names) == 0 || r.IntN(12) == 0 {
		n := fresh()
		f["c"+strconv.Itoa(n)] = tale{slug: n, list: []line{{id: fresh()}, {id: fresh(), user: true}}}
		return
	}
	name := names[r.IntN(len(names))]
	t := f[name]
	t.list = slices.Clone(t.list)
	n := len(t.list)
	switch r.IntN(9) {
	case 0, 1, 2:
		for i := range 1 + r.IntN(3) {
			t.list = append(t.list, line{id: fresh(), user: (n+i)%2 == 1})
		}
	case 3: // a swipe
		if n > 0 && !t.list[n-1].user {
			last := t.list[n-1]
			last.swipes = append(slices.Clone(last.swipes), last.id)
			last.id = fresh()
			t.list[n-1] = last
		}
	case 4: // an edit
		if n > 0 {
			t.list[r.IntN(n)].id = fresh()
		}
	case 5: // deleted
		if n > 2 {
			i := 1 + r.IntN(n-1)
			t.list = slices.Delete(t.list, i, min(n, i+1+r.IntN(2)))
		}
	case 6: // a branch
		if n > 1 {
			f[freeName(name+" - Branch #1", func(s string) bool { _, ok := f[s]; return ok })] = tale{fresh(), slices.Clone(t.list[:1+r.IntN(n)]), name}
		}
	case 7: // renamed
		delete(f, name)
		name = "r" + strconv.Itoa(fresh())
	case 8: // hidden
		if n > 0 {
			t.list[r.IntN(n)].value = 1 + r.IntN(2)
		}
	}
	f[name] = t
}

// slim makes some chats of a folder slim.
func (f life) slim(r *rand.Rand) {
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if r.IntN(3) > 0 {
			continue
		}
		t := f[name]
		t.list = slices.Clone(t.list)
		for i := range t.list {
			t.list[i].swipes = nil
		}
		f[name] = t
	}
}

// whole reports whether a chat of f has all messages of a list, in order, with their swipes.
func (f life) whole(list []line) bool {
	c := life{"": {list: list}}.ones()[0]
	return slices.ContainsFunc(f.ones(), func(p *file) bool {
		r := relate(c.prints, p.prints, judging{})
		return r.isHere()
	})
}

// TestLives lets two folders live on, and merges them. On every life: the texts of both are
// there, each chat of INTO is whole under its name, each of FROM is whole somewhere, a second
// merge has nothing to do, and both directions give the same texts. Folders that merge each
// other in turn come to rest.
func TestLives(t *testing.T) {
	found := []int{
		9038177,           // of two chats that share as much, one holds FROM's
		9538410, 20027023, // of two that say the same, one is another's by its slug or name
		20000602,           // two have their namesake's messages, and one is the copy of another chat
		50037739, 60011584, // of two that say the same, one finds its messages elsewhere, but only if that is nobody's
	}
	for i, seed := range seedsAfter(found, 1) {
		r, slims := rand.New(rand.NewPCG(uint64(seed), 7)), rand.New(rand.NewPCG(uint64(seed), 17))
		n := 0
		fresh := func() int { n++; return n }
		a := life{}
		for range 3 + r.IntN(8) {
			a.live(r, fresh)
		}
		b := a.clone()
		base := a.clone()
		for round := range 3 {
			for range r.IntN(6) {
				a.live(r, fresh)
			}
			for range r.IntN(6) {
				b.live(r, fresh)
			}
			if i >= len(found) && seed%2 == 1 {
				a.slim(slims)
				b.slim(slims)
			}
			fail := func(format string, args ...any) {
				t.Helper()
				t.Fatalf("seed %d, round %d: %s\nINTO %v\nFROM %v", seed, round, fmt.Sprintf(format, args...), a, b)
			}
			one, other := a.clone(), b.clone()
			one.merged(b, "b", fresh)
			other.merged(a, "a", fresh)
			want := a.texts()
			maps.Copy(want, b.texts())
			if got := one.texts(); !maps.Equal(got, want) {
				fail("texts %v, not %v\n%v", got, want, one)
			}
			if !maps.Equal(one.texts(), other.texts()) {
				fail("the directions differ")
			}
			for name, c := range a {
				if !(life{name: one[name]}).whole(c.list) {
					fail("%s is not whole\n%v", name, one)
				}
			}
			for name, c := range b {
				if !one.whole(c.list) {
					fail("%s is nowhere whole\n%v", name, one)
				}
			}
			if round == 0 { // a text that nobody has who could have changed it is not missed
				since := a.clone()
				since.mergedSince(base, b, "b", fresh)
				got, old := since.texts(), base.texts()
				for text := range want {
					if !got[text] && !old[text] {
						fail("with a base, text %d is lost\n%v", text, since)
					}
				}
			}
			again := one.clone()
			if wrote := again.merged(b, "b", fresh); wrote > 0 {
				fail("a second merge wrote %d\nfirst  %v\nsecond %v", wrote, one, again)
			}
			a = one
			exchanges := 0
			for from, into := a, b; ; from, into = into, from {
				wrote := into.merged(from, "x", fresh)
				exchanges++
				if wrote == 0 && exchanges > 1 {
					break
				}
				if exchanges > 12 {
					fail("no rest\n%v\n%v", from, into)
				}
			}
			if exchanges > 4 {
				t.Errorf("seed %d, round %d: not at rest after two exchanges", seed, round)
			}
		}
	}
}

// TestNamesakes merges folders of which one has two chats whose names differ only in their letter case.
func TestNamesakes(t *testing.T) {
	long := []line{{id: 1}, {id: 2, user: true}, {id: 3}, {id: 4, user: true}}
	longer, other := append(slices.Clone(long), line{id: 5}), []line{{id: 1}, {id: 6, user: true}}
	n := 100
	fresh := func() int { n++; return n }
	a := life{"A": {slug: 2, list: other}, "a": {slug: 1, list: long}}
	b := life{"A": {slug: 1, list: longer}}
	for exchange := range 4 {
		wrote := a.merged(b, "b", fresh) + b.merged(a, "a", fresh)
		if exchange > 0 && wrote > 0 {
			t.Errorf("exchange %d wrote %d\n%v\n%v", exchange, wrote, a, b)
		}
	}
	if got := a["a"].list; len(a) != 2 || len(got) != len(longer) {
		t.Errorf("%v, not the one that holds it goes on", a)
	}
}

// TestEquals: of several chats that say the same, none takes a copy that another one needs more.
func TestEquals(t *testing.T) {
	said := []line{{id: 2}, {id: 3, user: true}}
	changed := []line{{id: 13}, {id: 3, user: true}, {id: 10}, {id: 11}}
	into := life{"A": {slug: 1, list: said}, "B": {slug: 12, list: said}, "A - Branch #1": {slug: 8, list: changed}}
	from := life{"A": {slug: 1, list: said}, "A - Branch #1": {slug: 8, list: said}, "A - Branch #2": {slug: 19, list: said}}
	each := func(files []*file, do func(p *file)) {
		for _, p := range files {
			do(p)
		}
	}

	got := map[string]string{}
	for _, m := range matchAll(into.ones(), from.ones(), func(*file) judging { return judging{} }, each) {
		got[m.from.name] = string(m.sign())
		if m.into != nil {
			got[m.from.name] += " " + m.into.name
		}
	}
	want := map[string]string{"A": "< A", "A - Branch #1": "< B", "A - Branch #2": "+"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
