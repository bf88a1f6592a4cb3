package merge

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"stchat/internal/folder/align"
	"stchat/internal/text/plural"
)

// decideLinks decides about slugs, parents and links, once all chats that may come to the folder of some owners have
// their names.
func decideLinks(ctx context.Context, owners ...*owner) {
	comes := slices.ContainsFunc(owners, (*owner).comes)
	for _, o := range owners {
		if comes { // of owners whose chats are the same no header was read
			o.each(ctx, o.ours.files, func(p *file) { p.head(ctx) })
		}
		for _, p := range o.ours.files {
			o.parents[p.name] = p.mainChat
			o.slugs[p.slug] = true
		}
	}

	for _, o := range owners {
		for _, w := range o.works {
			o.connect(ctx, w)
		}
	}
}

// connect decides about the slug, the parent and the links of a chat, after which it is known whether anything is written.
func (o *owner) connect(ctx context.Context, w *work) {
	keepsSlug := w.row.Sign != New && w.row.Sign != Other
	if !keepsSlug && o.slugs[w.from.slug] {
		w.from.slug = "" // INTO has it
	}
	if w.writes() && w.from.headless && w.from.messages > 0 {
		w.row.tell("FROM has no header, and SillyTavern would take its first message for one: here it gets a header")
	}
	if w.row.Sign != Refused {
		o.adopt(w)
		if err := o.link(ctx, w); err != nil {
			w.row.refuse(err)
		}
	}

	if w.changes() {
		w.job.draft = w.draft
	}
	if w.parent != "" {
		w.needs = append(w.needs, o.ours.folder.File(w.parent))
	}
	w.pairs = nil // memory
}

// adopt decides the parent of a file that comes: one that would be its own ancestor is left out.
func (o *owner) adopt(w *work) {
	if !w.writes() {
		return
	}
	switch {
	case w.row.Sign == Parted:
		w.parent = w.into.name
	case w.takesLines() && o.keepsParent(w):
		w.parent = w.into.mainChat
	default:
		w.parent = o.nameHere(w.from.mainChat)
	}

	seen := map[string]bool{}
	for at := w.parent; at != "" && !seen[at]; at = o.parents[at] {
		seen[at] = true
		if at == w.name {
			w.row.tell(fmt.Sprintf("main_chat %q is left out: the chat would be its own ancestor", w.parent))
			w.parent = ""
		}
	}

	hadAnother := w.takesLines() && w.into.mainChat != "" && w.into.mainChat != w.parent
	if hadAnother && w.parent != "" {
		w.row.tell(fmt.Sprintf("with the lines comes FROM's main_chat: %q", w.parent))
	}
	o.parents[w.name] = w.parent
}

// keepsParent reports whether INTO's chat stays a child of its own parent when it gets FROM's lines: FROM's is called
// otherwise there, or names no parent, or one that is not here while INTO's is.
func (o *owner) keepsParent(w *work) bool {
	if w.into.name != w.from.name || w.from.mainChat == "" {
		return true
	}
	return o.has(w.into.mainChat) && !o.has(o.nameHere(w.from.mainChat))
}

// link decides which links are put: of FROM's onto INTO's lines, or of INTO's onto the lines that
// come.
func (o *owner) link(ctx context.Context, w *work) error {
	if w.row.Sign == Parted {
		at := w.pairs[len(w.pairs)-1].B
		w.row.Noted = &at
		w.links[at] = []link{{checkpoint: false, name: w.name}}
		return nil
	}

	if !o.mayLink(w) {
		return nil
	}

	from, into, err := w.readLinks(ctx)
	if err != nil {
		return err
	}
	o.joinLinks(w, from, into)
	isRenamed := w.from.slug != "" && w.from.slug == w.into.slug && w.from.key != w.into.key
	getsNewSlug := o.opt.BumpIntegrity || len(w.into.sidecars) > 0
	putsLinksOnly := w.row.Links > 0 && w.row.Sign != Ahead
	if isRenamed && putsLinksOnly && getsNewSlug {
		w.row.tell(plural.Of(w.row.Links, "link is", "links are") + " not put: that would renew the integrity, by which the chat is known under its other name")
		w.dropLinks()
	}
	return nil
}

// joinLinks decides which links the messages that both have get of those of the other side.
func (o *owner) joinLinks(w *work, from, into map[int][]link) {
	pairs := w.pairs
	if w.twin { // their messages may not have been read
		pairs = nil
		for _, at := range slices.Sorted(maps.Keys(from)) {
			pairs = append(pairs, align.Pair{A: at, B: at})
		}
	}

	isTheirLine := w.theirLines()
	for _, p := range pairs {
		at := p.B
		if w.takesLines() {
			at = p.A
		}
		isTheirs := isTheirLine(p)
		theirs := o.linksHere(w, from[p.A], isTheirs)

		var put []link
		var branches []string
		if isTheirs {
			put, branches = lacking(theirs, into[p.B], true)
		} else {
			put, branches = lacking(into[p.B], theirs, false)
		}

		for _, name := range branches {
			w.row.tell(fmt.Sprintf("message %d has a checkpoint already: %q is noted as a branch", at, name))
		}
		if len(put) > 0 {
			w.links[at] = put
			w.row.Links += len(put)
		}
	}
}

// linksHere returns links of FROM's with the names of INTO. Onto a line of INTO's come only those to chats that are there;
// none to a chat that is here as the beginning of another one, which nobody misses.
func (o *owner) linksHere(w *work, links []link, isTheirs bool) (here []link) {
	for _, l := range links {
		goesOn := o.goesOn[l.name]
		l.name = o.nameHere(l.name)
		leadsSomewhere := !goesOn && o.has(l.name) && l.name != w.name
		if isTheirs || leadsSomewhere {
			here = append(here, l)
		}
	}
	return here
}

// lacking returns the links of others that a message which has some lacks. Of two checkpoints INTO's stays one, and
// the other becomes a branch: its name is among branches. areOurs says that the others are INTO's, and come to a line of FROM's.
func lacking(has, come []link, areOurs bool) (put []link, branches []string) {
	has = slices.Clone(has)
	for _, l := range come {
		isThere := slices.ContainsFunc(has, func(h link) bool { return h.name == l.name })
		if isThere {
			continue
		}
		other := slices.IndexFunc(has, func(h link) bool { return h.checkpoint })
		if l.checkpoint && other >= 0 {
			if areOurs { // what comes is INTO's: it takes the place
				put = append(put, l)
				l = has[other]
				has[other].checkpoint = false
			}
			l.checkpoint = false
			branches = append(branches, l.name)
		}

		put = append(put, l)
		has = append(has, l)
	}
	return put, branches
}

// mayLink reports whether a chat and its copy may have links that the other one lacks.
func (o *owner) mayLink(w *work) bool {
	switch {
	case w.into == nil || w.isNew():
		return false
	case w.also || w.into.comes:
		return false
	case w.row.Sign == Same: // their links are the same, unless these have other names here
		return o.renames
	}
	return true
}

// theirLines returns a function that reports of messages that both have whether FROM's line is in INTO afterwards.
func (w *work) theirLines() func(p align.Pair) bool {
	isFuller := map[align.Pair]bool{}
	if w.takesLines() {
		for _, p := range w.fuller {
			isFuller[p] = true
		}
		return func(p align.Pair) bool { return !isFuller[p] }
	}

	if w.row.Sign == Ahead {
		for _, p := range w.fullerFrom {
			isFuller[p] = true
		}
	}
	return func(p align.Pair) bool { return isFuller[p] }
}

// readLinks reads the links of a chat of FROM and of its copy, by message.
func (w *work) readLinks(ctx context.Context) (from, into map[int][]link, err error) {
	from, err = w.from.links(ctx)
	if err != nil {
		if w.twin { // what cannot be read is the same all the same
			err = nil
		}
		return nil, nil, err
	}
	into, err = w.into.links(ctx)
	return from, into, err
}
