package merge

import (
	"context"
	"slices"

	"stchat/internal/place/userdir"
)

// findCopies reads the chats of both sides, finds whose copy each chat of FROM is, and notes what decides about it.
// candidates are the chats of INTO that may be a copy.
func (o *owner) findCopies(ctx context.Context, candidates []*file) ([]*match, error) {
	if err := o.readBoth(ctx, candidates); err != nil {
		return nil, err
	}
	judgingOf := func(c *file) judging { return o.judging(ctx, c) }
	withPrints := func(files []*file, do func(p *file)) {
		o.each(ctx, files, func(p *file) { o.withPrints(ctx, p, do) })
	}
	matches := matchAll(candidates, o.theirs.files, judgingOf, withPrints)
	for _, m := range matches {
		o.readFacts(ctx, m)
	}
	for _, f := range slices.Concat(o.ours.files, o.theirs.files) {
		f.prints = nil // no later step needs them
	}
	return matches, ctx.Err()
}

// comparePair compares one chat of FROM with the one of INTO that it is known to be a version of. Both have been read.
func (o *owner) comparePair(ctx context.Context, c, p *file) *match {
	m := &match{from: c, into: p}
	m.twin = c.err == nil && p.err == nil && isTwin(c, p)
	if !m.twin {
		o.each(ctx, o.ours.files, func(p *file) { p.head(ctx) })
		m.relation = relateFiles(c, p, o.judging(ctx, c))
	}
	o.readFacts(ctx, m)
	return m
}

// readFacts notes what else decides about a chat of FROM: whether its copy has the same bytes, and what the base says.
func (o *owner) readFacts(ctx context.Context, m *match) {
	if m.into != nil && !m.twin && m.equal() {
		m.twin = isTwin(m.from, m.into)
	}
	if m.twin {
		return
	}
	by := o.judging(ctx, m.from)
	m.baseErr = by.base.err
	if m.into == nil {
		m.inBase = by.holds(m.from.prints)
	}
}

// readBoth reads the chats of both sides, as little of them as is enough. First each chat of FROM is held
// against its namesake in INTO. It is settled if both have the same bytes, or one holds the other; their
// prints are forgotten then, so that memory follows the largest such pair. Then, if not all are twins, the
// headers of all chats are read, and the prints of those that are not settled if a chat of FROM is left
// that may be a copy of another.
func (o *owner) readBoth(ctx context.Context, candidates []*file) error {
	ours := byName(candidates)
	theirs := byName(o.theirs.files)
	o.each(ctx, o.theirs.files, func(c *file) {
		o.settle(ctx, c, namesake(c, ours[c.key], theirs[c.key]))
	})

	isTwin := func(c *file) bool { return c.settled != nil && c.settled.twin }
	twins := filter(o.theirs.files, isTwin)
	if len(twins) == len(o.theirs.files) {
		return ctx.Err()
	}

	isUnsettled := func(c *file) bool { return c.settled == nil && c.err == nil }
	anyUnsettled := slices.ContainsFunc(o.theirs.files, isUnsettled)
	o.each(ctx, slices.Concat(o.theirs.files, candidates), func(f *file) {
		f.head(ctx)
		if anyUnsettled && f.settled == nil {
			f.read(ctx, o.seed)
		}
	})
	return ctx.Err()
}

// namesake returns the chat of INTO with the very name of one of FROM, or the only one of each side with its folded
// name. nil: there is none.
func namesake(c *file, ours, theirs []*file) *file {
	list := exactFirst(ours, c.name)
	switch {
	case len(list) == 0:
		return nil
	case list[0].name == c.name:
		return list[0]
	case len(ours) == 1 && len(theirs) == 1:
		return list[0]
	}
	return nil
}

// settle notes that a chat of FROM and its namesake are one, if they are twins or one holds the other.
// Else they are compared with others, too.
func (o *owner) settle(ctx context.Context, c, p *file) {
	if p != nil && isTwin(c, p) {
		c.settled = &match{from: c, into: p, by: ByName, twin: true}
		p.settled = c.settled
		return
	}

	c.read(ctx, o.seed)
	if p == nil || c.err != nil {
		return
	}
	p.read(ctx, o.seed)
	if p.err != nil {
		return
	}

	r := relateFiles(c, p, o.judging(ctx, c))
	if !r.holds() {
		return
	}
	c.settled = &match{from: c, into: p, by: ByName, relation: r}
	p.settled = c.settled
	c.prints, p.prints = nil, nil
}

// withPrints does something about a chat with its prints, which are read if they were forgotten, and then are again.
func (o *owner) withPrints(ctx context.Context, f *file, do func(f *file)) {
	known := f.prints != nil
	f.read(ctx, o.seed)
	if f.err == nil {
		do(f)
	}
	if !known {
		f.prints = nil
	}
}

// judging returns what counts as a message's own, for a chat of FROM.
func (o *owner) judging(ctx context.Context, c *file) judging {
	by := judging{}
	if o.base != nil {
		by.base = o.bases.Get(c.key, func() (base baseSet) {
			for _, f := range o.base.files {
				if f.key != c.key && !userdir.HasExtension(o.opt.Base) {
					continue
				}
				f.read(ctx, o.seed)
				base = newBase(f.prints)
				base.err = f.err
			}
			return base
		})
	}
	return by
}

// holds reports whether a chat has all that another one says, values included.
func (o *owner) holds(ctx context.Context, f, c *file) bool {
	c.read(ctx, o.seed)
	f.read(ctx, o.seed)
	if f.err != nil {
		return false
	}
	r := relateFiles(c, f, judging{})
	return r.isWhollyHere()
}
