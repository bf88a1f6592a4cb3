package merge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"stchat/internal/changeset"
	"stchat/internal/lorebook"
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
		row := &Row{Schema: 1, Kind: BookKind, Path: filepath.Join(r.into.Worlds(), e.Name()), From: path, Renamed: []Rename{}, Told: []string{}}
		j := &job{row: row, path: row.Path}
		r.jobs = append(r.jobs, j)
		from, err := lorebook.Open(path)
		if err == nil {
			err = r.placeBook(j, from, taken)
		}
		if err != nil {
			row.refuse(err)
		}
	}
	return nil
}

// placeBook compares a lorebook with that of its name in INTO, then with those that SillyTavern's
// duplicates are called.
func (r *references) placeBook(j *job, from *lorebook.Book, taken map[string]bool) error {
	row := j.row
	use := func(to *lorebook.Book, sign Sign) {
		row.Sign, row.Path, j.path = sign, to.Path, to.Path
		r.books[from.Name] = &book{from, to, j}
		if to.Name != from.Name {
			row.Renamed = append(row.Renamed, Rename{from.Name, to.Name})
		}
	}
	for name := from.Name; ; name = nextName(name, " (1)") {
		path := filepath.Join(r.into.Worlds(), name+lorebook.Extension)
		if !taken[folded(name)] {
			made := from.Raw
			sign := New
			if name != from.Name {
				clone, err := from.Clone(lorebook.CloneOptions{Name: name, Internal: lorebook.Keep})
				if err != nil {
					return err
				}
				made, sign = clone.Data, Other
			}
			to, err := lorebook.Parse(made, path)
			if err != nil {
				return err
			}
			taken[folded(name)] = true
			use(to, sign)
			row.OwnFrom, row.To = len(from.Entries), &j.path
			j.draft = func(_ context.Context, s *changeset.Set) error {
				return ops.Create(s, path, fmt.Sprintf("the lorebook %q", name), made, changeset.Like(from.Stamp), changeset.InFolder())
			}
			return nil
		}
		ours, err := lorebook.Open(path)
		if err != nil { // somebody's, in whatever letter case
			continue
		}
		a, b := entriesOf(from), entriesOf(ours)
		lacks, lacksFrom := missingEntries(b, a), missingEntries(a, b)
		switch {
		case lacks == 0 && lacksFrom == 0 && bytes.Equal(from.Raw, ours.Raw):
			use(ours, Same)
		case lacks == 0:
			use(ours, Behind)
			row.Own = lacksFrom
		case lacksFrom == 0:
			to, err := lorebook.Parse(from.Raw, path)
			if err != nil {
				return err
			}
			if name != from.Name {
				clone, err := from.Clone(lorebook.CloneOptions{Name: name, Internal: lorebook.Keep})
				if err != nil {
					return err
				}
				if to, err = lorebook.Parse(clone.Data, path); err != nil {
					return err
				}
			}
			use(to, Ahead)
			row.OwnFrom = lacks
			j.draft = func(_ context.Context, s *changeset.Set) error {
				d, err := s.Replace(path, ours.Stamp, fmt.Sprintf("the lorebook %q, with more entries", name))
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

// entriesOf returns what a lorebook holds: its entries, and its other members but its name.
func entriesOf(b *lorebook.Book) map[string]bool {
	all := map[string]bool{}
	add := func(kind string, raw []byte) {
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		var v any
		text := raw
		if dec.Decode(&v) == nil {
			if plain, err := json.Marshal(v); err == nil { // sorts the keys
				text = plain
			}
		}
		all[kind+string(text)] = true
	}
	for _, e := range b.Entries {
		add("entry "+e.UID+" ", e.Raw)
	}
	return all
}

// missingEntries returns how many entries of the second the first lacks.
func missingEntries(in, list map[string]bool) (n int) {
	for e := range list {
		if !in[e] {
			n++
		}
	}
	return n
}
