package merge

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"stchat/internal/folder/align"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/group"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/plural"
)

// inFolder is what is known of all chats of a folder. Those of group chats have several owners.
type inFolder struct {
	to      map[string]string // the name in INTO by that in FROM
	goesOn  map[string]bool   // names in FROM of chats that are here as the beginning of another one
	deleted map[string]bool   // names in FROM of chats that only the base and FROM have
	slugs   map[string]bool   // of INTO's
	copied  map[string]bool   // names of INTO's that have their copy in FROM
	parents map[string]string // main_chat by name, as it will be in INTO
	renames bool              // some have another name in INTO
}

func newInFolder() *inFolder {
	return &inFolder{
		to: map[string]string{}, goesOn: map[string]bool{}, deleted: map[string]bool{}, slugs: map[string]bool{}, copied: map[string]bool{}, parents: map[string]string{},
	}
}

// owner is the chats of a character or a group that are merged.
type owner struct {
	*inFolder
	opt          *Options
	ours, theirs *side       // INTO and FROM
	group        *group.File // of INTO, that lists new chats; nil: none
	label        string
	given        map[string]bool       // folded paths that other owners give, too
	base         *side                 // what both came from; nil: unknown
	bases        library.Once[baseSet] // by the folded name of a chat of FROM
	seed         message.Seed
	user         *user // nil: only chats are merged

	works  []*work
	taken  map[string]bool // folded names
	coming map[string]bool // those of FROM's folder
}

// work is one chat of FROM and what becomes of it.
type work struct {
	*owner
	*match
	job
	name   string
	groups []*group.File  // of INTO, that list it if it is new
	parent string         // main_chat of what is written; "": none
	links  map[int][]link // to put, by message of what is written
	slug   string         // of what is written
}

// mergeAll compares two folders, of INTO's the chats that may be copies, and returns what is to be done in the order
// of FROM's chats, parents before children.
func (o *owner) mergeAll(ctx context.Context, into []*file) error {
	if err := o.readBoth(ctx, into); err != nil {
		return err
	}
	matches := matchAll(into, o.theirs.files, func(c *file) judging { return o.judging(ctx, c) }, func(files []*file, do func(p *file)) {
		o.each(ctx, files, func(p *file) { o.withPrints(ctx, p, do) })
	})
	err := o.plan(ctx, matches)
	for _, f := range slices.Concat(o.ours.files, o.theirs.files) {
		f.prints = nil // only the judgement needed them
	}
	return err
}

// mergePair merges one chat of FROM into one of INTO. Both have been read.
func (o *owner) mergePair(ctx context.Context, c, p *file) error {
	m := &match{c: c, p: p}
	if m.twin = c.err == nil && p.err == nil && isTwin(c, p); !m.twin {
		o.each(ctx, o.ours.files, func(p *file) { p.head(ctx) })
		m.relation = relateFiles(c, p, o.judging(ctx, c))
	}
	return o.plan(ctx, []*match{m})
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

// plan judges the chats and gives them names.
func (o *owner) plan(ctx context.Context, matches []*match) error {
	o.taken, o.coming = o.ours.keys(), o.theirs.keys()
	if groups, err := o.ours.lib.Groups(o.ours.folder.Dir); err == nil && o.ours.folder.Kind == userdir.Group {
		for _, g := range groups.Files {
			if o.group != nil && filepath.Base(g.Path) == filepath.Base(o.group.Path) {
				continue // a name that it lists may come back to it
			}
			for _, name := range g.Chats {
				o.taken[names.FoldNFC(name)] = true
			}
		}
	}
	for _, m := range matches {
		w := &work{owner: o, match: m, links: map[int][]link{}}
		o.judge(ctx, w)
		if o.group != nil {
			w.listIn(o.group)
		}
		w.look = w.collect
		w.compare = w.compareHeaders
		if o.user == nil { // else names are known later
			w.compare()
		}
		o.works = append(o.works, w)
	}
	for _, w := range o.works {
		o.name(w)
		o.to[w.c.name] = w.name
		if w.p != nil {
			o.copied[w.p.name] = true
		}
		o.goesOn[w.c.name] = w.goesOn
		o.renames = o.renames || w.name != w.c.name
	}
	o.order()
	return ctx.Err()
}

// finish decides about slugs, parents and links, once all chats that may come to the folder of some owners have
// their names.
func finish(ctx context.Context, owners ...*owner) {
	comes := slices.ContainsFunc(owners, (*owner).comes)
	for _, o := range owners {
		if comes { // of owners whose chats are the same no header was read
			o.each(ctx, o.ours.files, func(p *file) { p.head(ctx) })
		}
		for _, p := range o.ours.files {
			o.parents[p.name], o.slugs[p.slug] = p.mainChat, true
		}
	}
	for _, o := range owners {
		o.finish(ctx)
	}
}

// finish is the function of that name for one owner; slugs and parents of all in the folder are known.
func (o *owner) finish(ctx context.Context) {
	for _, w := range o.works {
		if (w.row.Sign == New || w.row.Sign == Other) && o.slugs[w.c.slug] {
			w.c.slug = "" // INTO has it
		}
		if w.writes() && w.c.headless && w.c.messages > 0 {
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
		w.pairs = nil
	}
}

// has reports whether INTO has a chat of a name, or gets one from this owner or another one.
func (o *owner) has(name string) bool {
	return o.taken[names.FoldNFC(name)] || o.given[names.FoldNFC(o.ours.folder.File(name))]
}

// judge decides what becomes of a chat, by its messages alone.
func (o *owner) judge(ctx context.Context, w *work) {
	path, err := o.ours.folder.File(w.c.name), w.c.err
	if w.p != nil {
		path, err = w.p.path, cmp.Or(err, w.p.err)
	}
	w.job = *newJob(SoloChat, w.c.path, path)
	if w.by != "" && (w.by != ByName || !userdir.HasExtension(o.opt.Into)) { // else both were named
		w.row.By = &w.by
	}
	w.twin = w.twin || w.p != nil && w.equal() && isTwin(w.c, w.p)
	w.row.Sign = w.sign()
	if w.twin {
		return
	}
	by := o.judging(ctx, w.c)
	if err = cmp.Or(err, by.base.err); err != nil {
		w.row.refuse(err)
		return
	}
	if w.p == nil {
		w.row.OwnFrom = w.c.messages
		if by.holds(w.c.prints) {
			w.row.Sign = Behind
			w.row.OwnFrom = 0
			o.deleted[w.c.name] = true
			w.row.tell(deleted)
		}
		return
	}
	w.row.Own, w.row.OwnFrom = w.kept+len(w.fuller), w.ownFrom+len(w.fullerFrom)
	if w.at < max(w.c.messages, w.p.messages) {
		w.row.At = &w.at
	}
	if w.ownFrom > 0 && w.fragment {
		w.row.Sign = Behind
		w.row.tell(fmt.Sprintf("FROM lacks more than half of what the base has, so its %s not taken", plural.Of(w.ownFrom, "message is", "messages are")))
		return
	}
	switch {
	case w.row.Sign == Behind && w.ownFrom == 0 && w.goneFrom > 0:
		w.row.tell("deleted in FROM since the base, and still here: " + plural.S(w.goneFrom, "message"))
	case w.takesLines() && w.gone > 0:
		w.row.tell("deleted here since the base, and back with FROM's lines: " + plural.S(w.gone, "message"))
	}
	if w.takesLines() && w.goneFrom > 0 {
		w.row.tell("deleted or edited in FROM since the base, and no longer here: " + plural.S(w.goneFrom, "message"))
	}
	if w.takesLines() && len(w.fuller) > 0 {
		w.row.tell(plural.Of(len(w.fuller), "message has fewer swipes in FROM and stays as it is here", "messages have fewer swipes in FROM and stay as they are here"))
	}
	if w.row.Sign == Ahead && !w.takesLines() {
		w.row.tell(plural.Of(len(w.fullerFrom), "message has", "messages have") + " more swipes in FROM, which come; the others stay as they are here")
	}
}

// deleted is told of what only the base and FROM have.
const deleted = "it was deleted here since the base, and is as it was in FROM: it does not come"

// compareHeaders tells which metadata differs, but for names. INTO's stays, or goes with the lines.
func (w *work) compareHeaders() {
	if w.p == nil || w.row.Sign != Behind && w.row.Sign != Ahead {
		return
	}
	here := w.c.metadata()
	w.renameOwn(here, w.p.name)
	w.user.metadata(here)
	differs := differing(w.p.metadata(), w.c.metadata(), here, !w.takesLines(), "integrity", "main_chat")
	switch {
	case len(differs) == 0:
	case w.takesLines():
		w.row.tell("with the lines comes FROM's metadata: " + keysTold(differs))
	default:
		w.row.tell("FROM's metadata differs and does not come: " + keysTold(differs))
	}
}

// differing returns the keys of theirs, but for some, whose values are others in ours, and also with the names of
// INTO, as in here; also those that ours lacks, if lacking.
func differing(ours, theirs, here *rawjson.Object, lacking bool, but ...string) []string {
	isLeftOut := func(key string) bool {
		if slices.Contains(but, key) {
			return true
		}
		own, has := ours.Get(key)
		if !has {
			return !lacking
		}
		own = rawjson.Compact(own)
		return bytes.Equal(own, rawjson.Compact(theirs.Value(key))) || bytes.Equal(own, rawjson.Compact(here.Value(key)))
	}
	return slices.DeleteFunc(theirs.Keys(), isLeftOut)
}

// writes reports whether a file of FROM comes.
func (w *work) writes() bool { return w.isNew() || w.takesLines() }

// takesLines reports whether INTO's chat gets the lines and the header of FROM's. Else, if FROM's is ahead, its lines stay,
// and only the messages of which FROM's have more swipes take the place of those here.
func (w *work) takesLines() bool { return w.row.Sign == Ahead && w.kept == 0 }

// isNew reports whether a new file comes to be.
func (w *work) isNew() bool { return w.row.Sign == New || w.row.Sign == Parted || w.row.Sign == Other }

// listIn says that a group of INTO lists the chat, if it is new there. Others come to that group, too.
func (w *work) listIn(g *group.File) {
	if w.isNew() && !slices.Contains(w.groups, g) {
		w.groups, w.needs = append(w.groups, g), append(w.needs, g.Path)
	}
}

// name gives the chat its name in INTO.
func (o *owner) name(w *work) {
	w.name = w.c.name
	if w.p != nil {
		w.name = w.p.name
	}
	if !w.isNew() {
		return
	}
	most := names.MaxBytes
	if len(w.c.sidecars) > 0 {
		most = names.MaxLuker
	}
	here := func(name string) bool { return o.has(name) || len(o.ours.folder.Sidecars(name)) > 0 }
	taken := func(name string) bool { return here(name) || o.coming[names.FoldNFC(name)] }
	w.name = w.c.name
	switch {
	case w.row.Sign == Parted:
		w.name = freeName(names.Derive(w.name, "__", o.label, most), taken)
	case here(w.name):
		w.name = freeName(nextName(w.name, second), taken)
	}
	path := filepath.Join(o.ours.folder.Path, w.name+names.Extension)
	o.given[names.FoldNFC(path)] = true
	w.row.To = &path
	w.row.rename(w.c.name, w.name)
	if w.p == nil {
		w.row.Path = path
	}
}

// order puts parents before their children.
func (o *owner) order() {
	byName := map[string]*work{}
	for _, w := range o.works {
		byName[w.c.name] = w
	}
	var list []*work
	done := map[*work]bool{}
	for _, w := range o.works {
		var way []*work
		for at := w; at != nil && !done[at]; at = byName[at.c.mainChat] {
			done[at] = true
			way = append(way, at)
		}
		slices.Reverse(way)
		list = append(list, way...)
	}
	o.works = list
}

// now returns the name in INTO that a name of FROM becomes.
func (o *owner) now(name string) string {
	if target, ok := o.theirs.folder.Target(name); ok {
		if to, ok := o.to[target]; ok && (to != target || name == target) {
			return to
		}
	}
	return name
}

// adopt decides the parent of a file that comes: one that would be its own ancestor is left out.
func (o *owner) adopt(w *work) {
	if !w.writes() {
		return
	}
	switch {
	case w.row.Sign == Parted:
		w.parent = w.p.name
	case w.takesLines() && o.keepsParent(w):
		w.parent = w.p.mainChat
	default:
		w.parent = o.now(w.c.mainChat)
	}
	seen := map[string]bool{}
	for at := w.parent; at != "" && !seen[at]; at = o.parents[at] {
		seen[at] = true
		if at == w.name {
			w.row.tell(fmt.Sprintf("main_chat %q is left out: the chat would be its own ancestor", w.parent))
			w.parent = ""
		}
	}
	hadAnother := w.takesLines() && w.p.mainChat != "" && w.p.mainChat != w.parent
	if hadAnother && w.parent != "" {
		w.row.tell(fmt.Sprintf("with the lines comes FROM's main_chat: %q", w.parent))
	}
	o.parents[w.name] = w.parent
}

// keepsParent reports whether INTO's chat stays a child of its own parent when it gets FROM's lines: FROM's is called
// otherwise there, or names no parent, or one that is not here while INTO's is.
func (o *owner) keepsParent(w *work) bool {
	if w.p.name != w.c.name || w.c.mainChat == "" {
		return true
	}
	return o.has(w.p.mainChat) && !o.has(o.now(w.c.mainChat))
}

// link decides which links are put: of FROM's onto INTO's lines, or of INTO's onto the lines that
// come.
func (o *owner) link(ctx context.Context, w *work) error {
	if w.row.Sign == Parted {
		at := w.pairs[len(w.pairs)-1].B
		w.row.Noted, w.links[at] = &at, []link{{false, w.name}}
		return nil
	}
	if !o.mayLink(w) {
		return nil
	}
	theirs, err := w.c.links(ctx)
	switch {
	case w.twin && err != nil: // what cannot be read is the same all the same
		return nil
	case err != nil:
		return err
	}
	ours, err := w.p.links(ctx)
	if err != nil {
		return err
	}
	pairs := w.pairs
	if w.twin { // their messages may not have been read
		pairs = nil
		for _, at := range slices.Sorted(maps.Keys(theirs)) {
			pairs = append(pairs, align.Pair{A: at, B: at})
		}
	}
	isTheirs := w.theirLines()
	for _, p := range pairs {
		isTheirs := isTheirs(p)
		var there []link
		for _, l := range theirs[p.A] {
			goesOn := o.goesOn[l.name] // no link to that chat, which does not come, is missed here
			l.name = o.now(l.name)
			if isTheirs || !goesOn && o.has(l.name) && l.name != w.name {
				there = append(there, l)
			}
		}
		at := p.B
		if w.takesLines() {
			at = p.A
		}
		if isTheirs {
			w.put(at, there, ours[p.B], true)
		} else {
			w.put(at, ours[p.B], there, false)
		}
	}
	isRenamed := w.c.slug != "" && w.c.slug == w.p.slug && w.c.key != w.p.key
	getsNewSlug := o.opt.BumpIntegrity || len(w.p.sidecars) > 0
	putsLinksOnly := w.row.Links > 0 && w.row.Sign != Ahead
	if isRenamed && putsLinksOnly && getsNewSlug {
		w.row.tell(plural.Of(w.row.Links, "link is", "links are") + " not put: that would renew the slug, by which the chat is known under its other name")
		w.dropLinks()
	}
	return nil
}

// mayLink reports whether a chat and its copy may have links that the other one lacks.
func (o *owner) mayLink(w *work) bool {
	switch {
	case w.p == nil || w.isNew():
		return false
	case w.also || w.p.comes:
		return false
	case w.row.Sign == Same: // their links are the same, unless these have other names here
		return o.renames
	}
	return true
}

// dropLinks puts no links after all.
func (w *work) dropLinks() {
	w.links = nil
	w.row.Noted = nil
	w.row.Links = 0
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

// put notes the links that a message lacks. Of two checkpoints INTO's stays one, and the other
// becomes a branch. isTheirs says that the links which come are INTO's, onto FROM's line.
func (w *work) put(at int, has, come []link, isTheirs bool) {
	for _, l := range come {
		if slices.ContainsFunc(has, func(h link) bool { return h.name == l.name }) {
			continue
		}
		if i := slices.IndexFunc(has, func(h link) bool { return h.checkpoint }); l.checkpoint && i >= 0 {
			if isTheirs { // what comes is INTO's: it takes the place
				w.links[at] = append(w.links[at], l)
				l = has[i]
				has[i].checkpoint = false
			}
			l.checkpoint = false
			w.row.tell(fmt.Sprintf("message %d has a checkpoint already: %q is noted as a branch", at, l.name))
		}
		w.links[at], has = append(w.links[at], l), append(has, l)
	}
	w.row.Links += len(w.links[at])
}
