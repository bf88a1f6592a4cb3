package merge

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/change/changeset"
	"stchat/internal/extension"
	"stchat/internal/extension/all"
	"stchat/internal/json/metadiff"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/lorebook"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/sillytavern/card"
)

// volume is the file of a lorebook on one side.
type volume struct {
	name string // the file's, without the extension
	key  string // the name as it is compared
	path string
	book *lorebook.Book
	err  error // why it cannot be read
}

// readBooks finds for each lorebook of FROM that is named, nil: for all, the one of INTO that stands for it, or the name
// under which it comes.
func (u *user) readBooks(ctx context.Context, isNamed func(name string) bool) error {
	u.noteRenamed(ctx)
	theirs, err := u.volumes(u.from.Worlds())
	if err != nil {
		return err
	}
	ours, err := u.volumes(u.into.Worlds())
	if err != nil {
		return err
	}
	isWanted := func(v *volume) bool {
		return isNamed == nil || isNamed(v.name)
	}
	for _, stem := range slices.Sorted(maps.Keys(theirs)) {
		if slices.ContainsFunc(theirs[stem], isWanted) {
			s := &shelf{
				user: u, ours: ours[stem], theirs: theirs[stem],
				claims:  map[*volume]*volume{},
				claimed: map[*volume]bool{},
				known:   map[[2]*volume]kinship{},
			}
			s.place(isWanted)
		}
	}
	return nil
}

// volumes lists the lorebooks of a side by their names without numbers, as names are compared. None is read.
func (u *user) volumes(worlds string) (map[string][]*volume, error) {
	entries, err := entriesOf(worlds)
	all := map[string][]*volume{}
	for _, e := range entries {
		name, isBook := strings.CutSuffix(e.Name(), lorebook.Extension)
		if !isBook || e.IsDir() {
			continue
		}
		v := &volume{name: name, key: names.FoldNFC(name), path: filepath.Join(worlds, e.Name())}
		if worlds == u.from.Worlds() {
			v.err = followed(v.path)
		}
		stem := unnumbered(v.key)
		all[stem] = append(all[stem], v)
	}
	return all, err
}

// shelf is the lorebooks of both sides whose names differ in their numbers only. Those of FROM are matched to those of
// INTO: each of INTO stands for one of FROM at most, so that none gets the entries of several.
type shelf struct {
	*user
	ours, theirs []*volume
	claims       map[*volume]*volume // of INTO by that of FROM
	claimed      map[*volume]bool    // of INTO
	known        map[[2]*volume]kinship
}

// kinship is what a lorebook of FROM and one of INTO have in common.
type kinship struct {
	lacks     int // entries of FROM's that INTO's lacks
	lacksFrom int // entries of INTO's that FROM's lacks
	shared    int // entries of FROM's that INTO's has
	same      bool
	err       error
}

// holds reports whether one of the two has all entries of the other.
func (k kinship) holds() bool { return k.err == nil && (k.lacks == 0 || k.lacksFrom == 0) }

// equal reports whether both have the same entries.
func (k kinship) equal() bool { return k.err == nil && k.lacks == 0 && k.lacksFrom == 0 }

// place matches the lorebooks, and drafts what becomes of those that are wanted.
func (s *shelf) place(isWanted func(v *volume) bool) {
	for _, v := range slices.Concat(s.ours, s.theirs) {
		if v.err == nil {
			v.book, v.err = lorebook.Open(v.path)
		}
	}

	s.match()
	named := s.names()
	for _, c := range s.theirs {
		if isWanted(c) {
			s.draft(c, named[c])
		}
	}
}

// names gives names to those of FROM that come: their own, or, where INTO has another lorebook of that name, the next one
// that is free on both sides.
func (s *shelf) names() map[*volume]string {
	taken := map[string]bool{}
	named := map[*volume]string{}
	for _, p := range s.ours {
		taken[p.key] = true
	}
	comes := func(c *volume) bool { return c.err == nil && s.claims[c] == nil }
	for _, c := range s.theirs {
		if comes(c) && !taken[c.key] {
			taken[c.key] = true
			named[c] = c.name
		}
	}

	for _, c := range s.theirs {
		if comes(c) && named[c] == "" {
			isTaken := func(name string) bool { return taken[names.FoldNFC(name)] || isNamed(s.theirs, names.FoldNFC(name)) }
			name := freeName(nextName(c.name, " (1)"), isTaken)
			taken[names.FoldNFC(name)] = true
			named[c] = name
		}
	}
	return named
}

// match finds the lorebooks of INTO that stand for those of FROM: first those of the same name, one of which holds the
// other; then those that have the same entries under another number; then, of what an earlier merge must have given a
// number to, those of which one holds the other.
func (s *shelf) match() {
	sameName := func(c, p *volume) bool { return c.key == p.key && s.kinship(c, p).holds() }
	for _, fits := range []func(c, p *volume) bool{
		func(c, p *volume) bool { return c.name == p.name && sameName(c, p) },
		sameName,
		func(c, p *volume) bool { return s.kinship(c, p).equal() },
		func(c, p *volume) bool {
			k := s.kinship(c, p)
			return k.holds() && k.shared > 0 && (isNamed(s.ours, c.key) || isNamed(s.theirs, p.key))
		},
	} {
		for _, c := range s.theirs {
			if c.err != nil || s.claims[c] != nil {
				continue
			}
			i := slices.IndexFunc(s.ours, func(p *volume) bool { return p.err == nil && !s.claimed[p] && fits(c, p) })
			if i >= 0 {
				s.claims[c] = s.ours[i]
				s.claimed[s.ours[i]] = true
			}
		}
	}
}

// isNamed reports whether a lorebook of one side has a name.
func isNamed(side []*volume, key string) bool {
	return slices.ContainsFunc(side, func(v *volume) bool { return v.key == key })
}

// kinship compares a lorebook of FROM, also with the names that its chats have in INTO, with one of INTO.
func (s *shelf) kinship(c, p *volume) kinship {
	pair := [2]*volume{c, p}
	k, isKnown := s.known[pair]
	if isKnown {
		return k
	}
	renamed, err := s.named(c.book, p.name, nil)
	if err != nil {
		k.err = err
	} else {
		k = kinshipOf(c.book, renamed, p.book)
	}

	s.known[pair] = k
	return k
}

// kinshipOf compares a lorebook of FROM, under both names, with one of INTO.
func kinshipOf(from, renamed, into *lorebook.Book) (k kinship) {
	for i, e := range from.Entries {
		if hasEntry(into, e) || hasEntry(into, renamed.Entries[i]) {
			k.shared++
		} else {
			k.lacks++
		}
	}

	for _, e := range into.Entries {
		if !hasEntry(from, e) && !hasEntry(renamed, e) {
			k.lacksFrom++
		}
	}

	hasSameBytes := bytes.Equal(from.Raw, into.Raw) || bytes.Equal(renamed.Raw, into.Raw)
	k.same = k.equal() && hasSameBytes
	return k
}

// draft decides what becomes of a lorebook of FROM: INTO's stands for it, or gets its entries; or it comes under a name.
func (s *shelf) draft(c *volume, name string) {
	j := newJob(BookKind, c.path, filepath.Join(s.into.Worlds(), c.name+lorebook.Extension))
	s.carried = append(s.carried, j)
	row := j.row
	if c.err != nil {
		row.refuse(c.err)
		return
	}
	s.tellUnread(c, row)
	p := s.claims[c]
	if p == nil {
		if err := s.create(j, c, name); err != nil {
			row.refuse(err)
		}
		return
	}

	k := s.kinship(c, p)
	row.Path = p.path
	row.rename(c.name, p.name)
	s.books[c.name] = &book{c.book, p.book, j}
	switch {
	case k.same:
		row.Sign = Same
	case k.lacks == 0:
		row.Sign = Behind
		row.Own = k.lacksFrom
	default:
		if err := s.extend(j, c, p, k); err != nil {
			row.refuse(err)
		}
	}
}

// create drafts a lorebook that is new in INTO.
func (s *shelf) create(j *job, c *volume, name string) error {
	to, err := s.named(c.book, name, nil)
	if err != nil {
		return err
	}
	j.row.Sign = New
	j.row.OwnFrom = len(c.book.Entries)
	j.row.rename(c.name, name)
	s.books[c.name] = &book{c.book, to, j}
	if name != c.name {
		j.row.Sign = Other
	} else {
		j.needed = func() bool {
			return slices.ContainsFunc(slices.Concat(s.cards, s.owned), func(j *job) bool { return slices.Contains(j.needs, to.Path) })
		}
	}

	j.creates(to.Path, func(_ context.Context, set *changeset.Set) error {
		return ops.Create(set, to.Path, fmt.Sprintf("the lorebook %q", name), to.Raw, changeset.Like(c.book.Stamp), changeset.InFolder())
	})
	return nil
}

// extend drafts that a lorebook of INTO gets the entries that only FROM's has.
func (s *shelf) extend(j *job, c, p *volume, k kinship) error {
	to, err := s.named(c.book, p.name, p.book)
	if err != nil {
		return err
	}
	j.row.Sign = Ahead
	j.row.OwnFrom = k.lacks
	s.books[c.name] = &book{c.book, to, j}
	j.draft = func(_ context.Context, set *changeset.Set) error {
		d, err := set.Replace(p.path, p.book.Stamp, fmt.Sprintf("the lorebook %q, with more entries", p.name))
		if err == nil {
			_, err = d.Write(to.Raw)
		}
		return err
	}
	return nil
}

// tellUnread tells of lorebooks of INTO with a name of FROM's that cannot be read, so that it is unknown whether they are
// the same.
func (s *shelf) tellUnread(c *volume, row *Row) {
	for _, p := range s.ours {
		if p.key == c.key && p.err != nil {
			row.tell(fmt.Sprintf("INTO's cannot be compared: %v", p.err))
		}
	}
}

// named returns a lorebook of FROM under a name of INTO, with the names that its chats have there,
// but for the entries that ours has as they are; nil has none.
func (u *user) named(from *lorebook.Book, name string, ours *lorebook.Book) (*lorebook.Book, error) {
	data := from.Raw
	if name != from.Name {
		data = from.Clone(lorebook.CloneOptions{Name: name, Internal: lorebook.Keep}).Data
	}
	chats := u.chats[from.Name]
	books := map[string]string{from.Name: name}
	data = all.Table().RenameIn(data, extension.Lorebook, extension.OwnChat, chats)
	data = all.Table().RenameIn(data, extension.Lorebook, extension.Book, books)
	if ours != nil {
		data = rawjson.Edit(data, func(book *rawjson.Object) {
			book.Edit(func(entries *rawjson.Object) {
				for _, e := range from.Entries {
					if hasEntry(ours, e) {
						entries.Set(e.Key, e.Raw)
					}
				}
			}, "entries")
		})
	}
	return lorebook.Parse(data, filepath.Join(u.into.Worlds(), name+lorebook.Extension))
}

// hasEntry reports whether a lorebook has an entry.
func hasEntry(in *lorebook.Book, e lorebook.Entry) bool {
	return slices.ContainsFunc(in.Entries, func(o lorebook.Entry) bool { return o.UID == e.UID && metadiff.Equal(o.Raw, e.Raw) })
}

// noteRenamed notes the chats of FROM that have another name in INTO, for the lorebooks that they name.
// Of two chats of one name neither is meant.
func (u *user) noteRenamed(ctx context.Context) {
	renamed := map[string]bool{}
	for _, w := range u.works {
		renamed[w.from.name] = renamed[w.from.name] || w.name != w.from.name
	}
	for _, w := range u.works {
		if !renamed[w.from.name] || w.row.Sign == Refused {
			continue
		}
		w.from.head(ctx)
		for _, book := range all.Table().Books(w.from.metadata()) {
			if u.chats[book] == nil {
				u.chats[book] = map[string]string{}
			}
			to := w.name
			if other, known := u.chats[book][w.from.name]; known && other != to {
				to = w.from.name
			}
			u.chats[book][w.from.name] = to
		}
	}
}

// booksMeant returns a function that reports whether a lorebook of FROM is meant, or named by a chat or a card that comes.
// nil: all are meant.
func (u *user) booksMeant(ctx context.Context) func(name string) bool {
	if u.opt.part == "" {
		return nil
	}
	named := bookNames(ctx, u.works)
	var cards []*card.Card
	for _, j := range u.cards {
		if j.draft == nil {
			continue
		}
		if c, err := card.Open(j.row.From); err == nil { // else the card is refused
			cards = append(cards, c)
		}
	}
	return func(name string) bool {
		isOfCard := slices.ContainsFunc(cards, func(c *card.Card) bool { return c.HasBook(name) })
		return named[name] || isOfCard || u.opt.wanted("worlds/"+name+lorebook.Extension)
	}
}

// bookNames returns the names of the lorebooks that chats which come name in their headers.
func bookNames(ctx context.Context, works []*work) map[string]bool {
	named := map[string]bool{}
	for _, w := range works {
		if w.writes() {
			w.from.head(ctx)
			for _, name := range all.Table().Books(w.from.metadata()) {
				named[name] = true
			}
		}
	}
	return named
}
