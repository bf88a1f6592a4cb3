package merge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/changeset"
	"stchat/internal/lorebook"
	"stchat/internal/metadiff"
	"stchat/internal/ops"
	"stchat/internal/safefile"
)

// readBooks finds for each lorebook of FROM the one of INTO that stands for it.
func (r *references) readBooks() error {
	entries, err := safefile.ReadDir(r.from.Worlds())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ops.PathError(err)
	}
	taken := map[string]bool{}
	here, err := safefile.ReadDir(r.into.Worlds())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ops.PathError(err)
	}
	for _, e := range here {
		taken[folded(strings.TrimSuffix(e.Name(), lorebook.Extension))] = true
	}
	for _, e := range entries {
		path := filepath.Join(r.from.Worlds(), e.Name())
		if !e.Type().IsRegular() || filepath.Ext(e.Name()) != lorebook.Extension || !r.wanted("worlds/"+e.Name()) {
			continue
		}
		j := newJob(BookKind, path, filepath.Join(r.into.Worlds(), e.Name()))
		r.jobs = append(r.jobs, j)
		from, err := lorebook.Open(path)
		if err == nil {
			err = r.placeBook(j, from, taken)
		}
		if err != nil {
			j.row.refuse(err)
		}
	}
	return nil
}

// placeBook compares a lorebook with that of its name in INTO, then with those that SillyTavern's
// duplicates are called.
func (r *references) placeBook(j *job, from *lorebook.Book, taken map[string]bool) error {
	row := j.row
	as := func(name string) (*lorebook.Book, error) {
		made := from.Raw
		if name != from.Name {
			clone, err := from.Clone(lorebook.CloneOptions{Name: name, Internal: lorebook.Keep})
			if err != nil {
				return nil, err
			}
			made = clone.Data
		}
		return lorebook.Parse(made, filepath.Join(r.into.Worlds(), name+lorebook.Extension))
	}
	use := func(to *lorebook.Book, sign Sign) {
		row.Sign, row.Path, j.path = sign, to.Path, to.Path
		r.books[from.Name] = &book{from, to, j}
		if to.Name != from.Name {
			row.Renamed = append(row.Renamed, Rename{from.Name, to.Name})
		}
	}
	for name := from.Name; ; name = nextName(name, " (1)") {
		if !taken[folded(name)] {
			to, err := as(name)
			if err != nil {
				return err
			}
			taken[folded(name)] = true
			if use(to, New); name != from.Name {
				row.Sign = Other
			}
			row.OwnFrom, row.To = len(from.Entries), &j.path
			j.draft = func(_ context.Context, s *changeset.Set) error {
				return ops.Create(s, to.Path, fmt.Sprintf("the lorebook %q", name), to.Raw, changeset.Like(from.Stamp), changeset.InFolder())
			}
			return nil
		}
		ours, err := lorebook.Open(filepath.Join(r.into.Worlds(), name+lorebook.Extension))
		if err != nil { // somebody's, in whatever letter case
			continue
		}
		lacks, lacksFrom := missingEntries(ours, from), missingEntries(from, ours)
		switch {
		case lacks == 0 && lacksFrom == 0 && bytes.Equal(from.Raw, ours.Raw):
			use(ours, Same)
		case lacks == 0:
			use(ours, Behind)
			row.Own = lacksFrom
		case lacksFrom == 0:
			to, err := as(name)
			if err != nil {
				return err
			}
			use(to, Ahead)
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

// missingEntries returns how many entries of the second book the first lacks.
func missingEntries(in, book *lorebook.Book) (n int) {
	for _, e := range book.Entries {
		if !slices.ContainsFunc(in.Entries, func(o lorebook.Entry) bool { return o.UID == e.UID && metadiff.Equal(o.Raw, e.Raw) }) {
			n++
		}
	}
	return n
}
