package merge

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"stchat/internal/sillytavern/message"
)

// By is the evidence that two chats are one.
type By string

// The evidence, the strongest first.
const (
	ByName     By = "name"
	ByMessages By = "messages"
	BySlug     By = "slug"
	ByShared   By = "shared"
)

// match is a chat of FROM and the chat of INTO that is its copy.
type match struct {
	from, into *file // into is nil for a new one
	by         By
	twin       bool // the same bytes
	also       bool // INTO's is another's copy, and has all of this one as well
	goesOn     bool // INTO's has all of this one, and has gone on as another chat
	relation

	inBase  bool  // of a new one: the base has all of it
	baseErr error // why the base cannot be read
}

// byName returns chats by folded name, which several in a folder may share.
func byName(files []*file) map[string][]*file {
	named := map[string][]*file{}
	for _, f := range files {
		named[f.key] = append(named[f.key], f)
	}
	return named
}

// bySlug returns chats by slug, those that have one.
func bySlug(files []*file) map[string][]*file {
	list := map[string][]*file{}
	for _, f := range files {
		if f.slug != "" {
			list[f.slug] = append(list[f.slug], f)
		}
	}
	return list
}

// exactFirst returns chats of one folded name, that with the very name before the others.
func exactFirst(files []*file, name string) []*file {
	i := max(0, slices.IndexFunc(files, func(f *file) bool { return f.name == name }))
	return slices.Concat(files[i:], files[:i])
}

// filter returns the chats that fit.
func filter(files []*file, fits func(f *file) bool) (list []*file) {
	for _, f := range files {
		if fits(f) {
			list = append(list, f)
		}
	}
	return list
}

// matcher finds whose copy each chat of an owner is. In what follows c is a chat of FROM, and p one of INTO.
type matcher struct {
	into, from []*file
	judging    func(c *file) judging // what counts as a message's own

	namedInto, namedFrom map[string][]*file // chats by folded name
	slugsInto, slugsFrom map[string][]*file // chats by slug

	known map[[2]*file]*relation
	taken map[*file]bool   // chats of INTO that have a copy
	found map[*file]*match // by chat of FROM

	homes   map[*file]*match // what would be found if chats that say the same were not looked for
	unequal bool             // they are not looked for
}

// step is a way in which the copy of a chat of FROM is found: the first that fits, among chats of INTO.
type step struct {
	by    By
	among func(c *file) []*file
	fits  func(c, p *file) bool
}

// matchAll returns a match for each chat of FROM, in their order. Each chat of INTO is at most one's, but for those that
// have all of others as well. withPrints calls a function with chats of INTO while their prints are known, several at once.
func matchAll(into, from []*file, judging func(c *file) judging, withPrints func(files []*file, do func(p *file))) []*match {
	m := newMatcher(into, from, judging)
	cannotBeRead := func(_, p *file) bool { return p.err != nil }
	m.run(
		step{ByName, m.namesakes, func(c, p *file) bool { return m.free(p) && m.relation(c, p).holds() }},
		// the slug tells equal chats apart, and so does the name that an earlier merge gave to a branch
		step{ByMessages, func(c *file) []*file { return m.slugsInto[c.slug] }, m.equal},
		step{ByMessages, m.branches, m.equal},
	)

	// first those whose texts no later step finds elsewhere: of two that are equal, the other one needs no copy of its own
	m.homes = m.homesWithoutEquals()
	m.run(step{ByMessages, m.homeless, m.equal}, step{ByMessages, m.equals, m.equal})
	m.run(m.byEvidence()...)
	m.run(step{ByName, m.namesakes, cannotBeRead}) // it is unknown whether this is its copy
	m.findWhole(withPrints)

	var list []*match
	for _, c := range from {
		list = append(list, m.matchOf(c))
	}
	return list
}

// newMatcher returns a matcher that knows the copies which were found when both sides were read.
func newMatcher(into, from []*file, judging func(c *file) judging) *matcher {
	m := &matcher{
		into: into, from: from, judging: judging,
		namedInto: byName(into), namedFrom: byName(from),
		slugsInto: bySlug(into), slugsFrom: bySlug(from),
		known: map[[2]*file]*relation{},
		taken: map[*file]bool{},
		found: map[*file]*match{},
	}

	for _, c := range from {
		if c.settled != nil {
			m.taken[c.settled.into] = true
			m.found[c] = c.settled
		}
	}
	return m
}

// matchOf returns the match of a chat that was found. One that cannot be read and has a namesake may be a copy of that.
func (m *matcher) matchOf(c *file) *match {
	if found := m.found[c]; found != nil {
		return found
	}
	namesakes := m.namesakes(c)
	if c.err != nil && len(namesakes) > 0 {
		return &match{from: c, into: namesakes[0]}
	}
	return &match{from: c}
}

// byEvidence returns the steps that find a chat by its slug, its name and what it shares with others.
func (m *matcher) byEvidence() []step {
	free := func(_, p *file) bool { return m.free(p) }
	return []step{
		{ByShared, func(c *file) []*file { return m.better(c, m.renamed(c)) }, free},
		{BySlug, m.renamed, free},
		{ByShared, func(c *file) []*file { return m.better(c, m.namesakes(c)) }, free},
		{ByName, m.namesakes, m.isCopy},
	}
}

// homesWithoutEquals returns what these steps would find if chats that say the same were not looked for.
// It is tried on a copy: nothing of it is noted.
func (m *matcher) homesWithoutEquals() map[*file]*match {
	trial := *m
	trial.taken = maps.Clone(m.taken)
	trial.found = maps.Clone(m.found)
	trial.unequal = true
	trial.run(trial.byEvidence()...)
	return trial.found
}

// run takes the steps, each over all chats before the next.
func (m *matcher) run(steps ...step) {
	for _, step := range steps {
		for _, c := range m.from {
			if m.found[c] != nil || c.err != nil {
				continue
			}
			list := step.among(c)
			if i := slices.IndexFunc(list, func(p *file) bool { return step.fits(c, p) }); i >= 0 {
				p := list[i]
				m.found[c] = &match{from: c, into: p, by: step.by, also: m.taken[p], relation: *m.relation(c, p)}
				m.taken[p] = true
			}
		}
	}
}

// relation compares two chats, once.
func (m *matcher) relation(c, p *file) *relation {
	key := [2]*file{c, p}
	if m.known[key] == nil {
		r := relateFiles(c, p, m.judging(c))
		m.known[key] = &r
	}
	return m.known[key]
}

// free reports whether a chat of INTO may be a copy.
func (m *matcher) free(p *file) bool { return p.err == nil && !m.taken[p] }

// namesakes returns the chats of INTO with a chat's name.
func (m *matcher) namesakes(c *file) []*file { return exactFirst(m.namedInto[c.key], c.name) }

// isCopy reports whether a chat is a copy of its namesake. One that has nothing of its own against that needs no other
// copy, even if the namesake is another's.
func (m *matcher) isCopy(c, p *file) bool {
	return p.err == nil && (!m.taken[p] || m.relation(c, p).isHere())
}

// equal reports whether two chats have the same messages. Two without any are equal if their names differ in nothing but
// the number that an earlier merge gave.
func (m *matcher) equal(c, p *file) bool {
	n := len(c.prints)
	switch {
	case len(p.prints) != n || !m.free(p):
		return false
	case n == 0:
		return unnumbered(c.name) == unnumbered(p.name)
	}
	return same(&c.prints[0], &p.prints[0]) && same(&c.prints[n-1], &p.prints[n-1]) && m.relation(c, p).equal()
}

// branches returns the chats of which one has the name of a branch of the other.
func (m *matcher) branches(c *file) []*file {
	return filter(m.into, func(p *file) bool {
		return strings.HasPrefix(c.key, p.key+"__") || strings.HasPrefix(p.key, c.key+"__")
	})
}

// equals returns the chats with the same messages, from the first on that no other chat goes to by its name or slug.
func (m *matcher) equals(c *file) []*file {
	list := filter(m.into, func(p *file) bool { return m.equal(c, p) })
	return list[max(0, slices.IndexFunc(list, func(p *file) bool { return !m.isAnothers(c, p) })):]
}

// homeless is equals for a chat whose texts no later step finds elsewhere.
func (m *matcher) homeless(c *file) []*file {
	if home := m.homes[c]; home != nil && home.isHere() {
		return nil
	}
	return m.equals(c)
}

// isAnothers reports whether a chat of INTO is where another chat of FROM finds its messages.
func (m *matcher) isAnothers(c, p *file) bool {
	for other, home := range m.homes {
		if other != c && m.found[other] == nil && home.into == p && home.isHere() {
			return true
		}
	}
	return false
}

// withSlug returns the chat of FROM that has the slug of one of INTO, if no other has it on either side; else nil.
func (m *matcher) withSlug(p *file) *file {
	from := m.slugsFrom[p.slug]
	if len(m.slugsInto[p.slug]) != 1 || len(from) != 1 {
		return nil
	}
	return from[0]
}

// renamed returns the chat that alone has the slug of one of FROM, if neither has a namesake on the other side, and more
// than a greeting is shared.
func (m *matcher) renamed(c *file) []*file {
	if m.namedInto[c.key] != nil {
		return nil
	}
	return filter(m.slugsInto[c.slug], func(p *file) bool {
		hasNamesake := m.namedFrom[p.key] != nil
		return m.withSlug(p) == c && m.free(p) && !hasNamesake && m.relation(c, p).begun
	})
}

// findWhole finds, for the chats of FROM that would come under another name, a chat of INTO that has all of them, though that
// be another's copy: a chat that has gone on there as another one does not come again.
func (m *matcher) findWhole(withPrints func(files []*file, do func(p *file))) {
	byLast := map[message.ID][]*file{} // by each identity of their last message
	for _, c := range m.from {
		if m.isRenamed(c) {
			for _, id := range c.prints[len(c.prints)-1].IDs {
				byLast[id] = append(byLast[id], c)
			}
		}
	}

	if len(byLast) == 0 {
		return
	}

	var mu sync.Mutex
	found := map[*file][]*match{}
	withPrints(m.into, func(p *file) {
		for _, c := range endingIn(p, byLast) {
			r := relateFiles(c, p, m.judging(c))
			if !r.isHere() {
				continue
			}
			mu.Lock()
			found[c] = append(found[c], &match{from: c, into: p, by: ByShared, also: m.taken[p], goesOn: true, relation: r})
			mu.Unlock()
		}
	})

	shortest := func(a, b *match) int { return cmp.Or(a.kept-b.kept, cmp.Compare(a.into.name, b.into.name)) }
	for c, list := range found {
		m.found[c] = slices.MinFunc(list, shortest)
	}
}

// endingIn returns the chats whose last message is one of p's, each once.
func endingIn(p *file, byLast map[message.ID][]*file) (list []*file) {
	seen := map[*file]bool{}
	for i := range p.prints {
		for _, id := range p.prints[i].IDs {
			for _, c := range byLast[id] {
				if !seen[c] {
					seen[c] = true
					list = append(list, c)
				}
			}
		}
	}
	return list
}

// isRenamed reports whether a chat of FROM would come under another name.
func (m *matcher) isRenamed(c *file) bool {
	if c.err != nil || len(c.prints) == 0 {
		return false
	}
	found := m.found[c]
	if found == nil {
		return len(m.namesakes(c)) > 0
	}
	sign := found.sign()
	return sign == Parted || sign == Other
}

// better returns the chats without a copy that share more with a chat than the one does whose name or slug it has, in which
// an earlier merge has put it: first those that hold it, then those that it holds, then those that share most; of these one that lacks
// least of it, then one that has least besides, whatever else may be a copy the next time. One without a namesake goes on in
// none but a branch of its own name.
func (m *matcher) better(c *file, homes []*file) (list []*file) {
	if len(homes) == 0 || homes[0].err != nil {
		return nil
	}
	home := m.relation(c, homes[0])
	for _, p := range m.into {
		if !m.mayGoOnIn(c, p) {
			continue
		}
		r := m.relation(c, p)
		more := cmp.Or(len(r.pairs)-len(home.pairs), home.ownFrom-r.ownFrom) > 0 // messages, else swipes
		if r.begun && (!m.unequal || !r.equal()) && more {
			list = append(list, p)
		}
	}

	rank := func(r *relation) int {
		switch {
		case r.isWhollyHere():
			return 0
		case r.kept == 0:
			return 1
		}
		return 2
	}

	slices.SortStableFunc(list, func(a, b *file) int {
		r, s := m.relation(c, a), m.relation(c, b)
		return cmp.Or(rank(r)-rank(s), len(s.pairs)-len(r.pairs), r.ownFrom-s.ownFrom, r.kept-s.kept, cmp.Compare(a.name, b.name))
	})
	return list
}

// mayGoOnIn reports whether a chat of FROM may have gone on in one of INTO that has another name.
func (m *matcher) mayGoOnIn(c, p *file) bool {
	hasNamesake := m.namedInto[c.key] != nil
	isItsBranch := strings.HasPrefix(p.key, c.key+"__")
	if !hasNamesake && !isItsBranch {
		return false
	}
	if !m.free(p) || m.namedFrom[p.key] != nil {
		return false
	}
	owner := m.withSlug(p) // which may have another copy
	return owner == nil || owner == c
}
