package merge

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/changeset"
	"stchat/internal/extension"
	"stchat/internal/extension/all"
	"stchat/internal/lorebook"
	"stchat/internal/metadiff"
	"stchat/internal/names"
	"stchat/internal/ops"
	"stchat/internal/rawjson"
)

// readBooks finds for each lorebook of FROM the one of INTO that stands for it.
func (u *user) readBooks(ctx context.Context) error {
	u.noteRenamed(ctx)
	entries, err := entriesOf(u.from.Worlds())
	here, errHere := entriesOf(u.into.Worlds())
	if err := cmp.Or(err, errHere); err != nil {
		return err
	}
	spelled, taken := respelled(namesOf(entries), namesOf(here)), map[string]bool{}
	for _, e := range here {
		taken[names.FoldNFC(strings.TrimSuffix(e.Name(), lorebook.Extension))] = true
	}
	for _, e := range entries {
		path := filepath.Join(u.from.Worlds(), e.Name())
		if !e.Type().IsRegular() || filepath.Ext(e.Name()) != lorebook.Extension || !u.opt.wanted("worlds/"+e.Name()) {
			continue
		}
		j := newJob(BookKind, path, filepath.Join(u.into.Worlds(), e.Name()))
		u.carried = append(u.carried, j)
		from, err := lorebook.Open(path)
		if err == nil {
			err = u.placeBook(j, from, strings.TrimSuffix(cmp.Or(spelled[e.Name()], e.Name()), lorebook.Extension), taken)
		}
		if err != nil {
			j.row.refuse(err)
		}
	}
	return nil
}

// placeBook compares a lorebook with that of its name in INTO, then with those that SillyTavern's
// duplicates are called.
func (u *user) placeBook(j *job, from *lorebook.Book, name string, taken map[string]bool) error {
	row := j.row
	use := func(to *lorebook.Book, sign Sign) {
		row.Sign, row.Path = sign, to.Path
		u.books[from.Name] = &book{from, to, j}
		row.rename(from.Name, to.Name)
	}
	for ; ; name = nextName(name, " (1)") {
		if !taken[names.FoldNFC(name)] {
			if ours := u.original(from, taken); ours != nil {
				use(ours, Same)
				return nil
			}
			to, err := u.named(from, name, nil)
			if err != nil {
				return err
			}
			taken[names.FoldNFC(name)] = true
			if use(to, New); name != from.Name {
				row.Sign = Other
			} else {
				j.needed = func() bool {
					return slices.ContainsFunc(slices.Concat(u.cards, u.owned), func(j *job) bool { return slices.Contains(j.needs, to.Path) })
				}
			}
			row.OwnFrom = len(from.Entries)
			j.creates(to.Path, func(_ context.Context, s *changeset.Set) error {
				return ops.Create(s, to.Path, fmt.Sprintf("the lorebook %q", name), to.Raw, changeset.Like(from.Stamp), changeset.InFolder())
			})
			return nil
		}
		ours, err := lorebook.Open(filepath.Join(u.into.Worlds(), name+lorebook.Extension))
		if err != nil { // somebody's, in whatever letter case
			continue
		}
		extended := u.extended[ours.Path]
		ours = cmp.Or(extended, ours)
		as, err := u.named(from, name, nil)
		if err != nil {
			return err
		}
		lacks, lacksFrom := 0, 0
		for i, e := range from.Entries {
			if !hasEntry(ours, e) && !hasEntry(ours, as.Entries[i]) {
				lacks++
			}
		}
		for _, e := range ours.Entries {
			if !hasEntry(from, e) && !hasEntry(as, e) {
				lacksFrom++
			}
		}
		switch {
		case lacks == 0 && lacksFrom == 0 && (bytes.Equal(from.Raw, ours.Raw) || bytes.Equal(as.Raw, ours.Raw)):
			use(ours, Same)
		case lacks == 0:
			use(ours, Behind)
			row.Own = lacksFrom
		case lacksFrom == 0 && extended == nil:
			to, err := u.named(from, name, ours)
			if err != nil {
				return err
			}
			use(to, Ahead)
			u.extended[ours.Path] = to
			row.OwnFrom = lacks
			j.draft = func(_ context.Context, s *changeset.Set) error {
				d, err := s.Replace(to.Path, ours.Stamp, fmt.Sprintf("the lorebook %q, with more entries", name))
				if err == nil {
					_, err = d.Write(to.Raw)
				}
				return err
			}
		default:
			continue
		}
		return nil
	}
}

// original returns the lorebook of INTO that has the entries of one whose name has a number, under the name without
// it or with a lower one, if FROM has another one of that name: an earlier merge has given the number. nil: there is none.
func (u *user) original(from *lorebook.Book, taken map[string]bool) *lorebook.Book {
	m := numbered.FindStringSubmatch(from.Name)
	if m == nil || m[3] == "" {
		return nil
	}
	twin := func(worlds, name string) *lorebook.Book {
		b, err := lorebook.Open(filepath.Join(worlds, name+lorebook.Extension))
		if err != nil || len(b.Entries) != len(from.Entries) || slices.ContainsFunc(from.Entries, func(e lorebook.Entry) bool { return !hasEntry(b, e) }) {
			return nil
		}
		return b
	}
	for name := m[3]; name != from.Name && (name == m[3] || taken[names.FoldNFC(name)]); name = nextName(name, " (1)") {
		if ours := twin(u.into.Worlds(), name); ours != nil && twin(u.from.Worlds(), name) == nil {
			return ours
		}
	}
	return nil
}

// named returns a lorebook of FROM under a name of INTO, with the names that its chats have there,
// but for the entries that ours has as they are; nil has none.
func (u *user) named(from *lorebook.Book, name string, ours *lorebook.Book) (*lorebook.Book, error) {
	data := from.Raw
	if name != from.Name {
		data = from.Clone(lorebook.CloneOptions{Name: name, Internal: lorebook.Keep}).Data
	}
	for of, to := range map[extension.Named]map[string]string{extension.OwnChat: u.chats[from.Name], extension.Book: {from.Name: name}} {
		data = all.Names().RenameIn(data, extension.Lorebook, of, to)
	}
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
		renamed[w.c.name] = renamed[w.c.name] || w.name != w.c.name
	}
	for _, w := range u.works {
		if !renamed[w.c.name] || w.row.Sign == Refused {
			continue
		}
		w.c.head(ctx)
		for _, book := range all.Names().Books(w.c.metadata()) {
			if u.chats[book] == nil {
				u.chats[book] = map[string]string{}
			}
			to := w.name
			if other, known := u.chats[book][w.c.name]; known && other != to {
				to = w.c.name
			}
			u.chats[book][w.c.name] = to
		}
	}
}
