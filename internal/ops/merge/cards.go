package merge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"stchat/internal/card"
	"stchat/internal/changeset"
	"stchat/internal/extension/luker"
	"stchat/internal/ops"
	"stchat/internal/userdir"
)

// readCards finds for each character of FROM the one of INTO that it is, by the folders of their
// chats, and drafts those that are new.
func (u *user) readCards() error {
	entries, err := entriesOf(u.from.Characters())
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if !e.Type().IsRegular() || ext != userdir.CardExtension && ext != ".json" || len(luker.Stems(e.Name())) > 0 || !u.opt.wanted("characters/"+e.Name()) {
			continue
		}
		stem := strings.TrimSuffix(e.Name(), ext)
		if ext == userdir.CardExtension {
			stem = userdir.CharacterFolder(e.Name())
		}
		path := filepath.Join(u.from.Characters(), e.Name())
		j := newJob(CardKind, path, filepath.Join(u.into.Characters(), e.Name()))
		u.cards = append(u.cards, j)
		if err := u.placeCard(j, path, stem, ext); err != nil {
			j.row.refuse(err)
		}
	}
	return err
}

// placeCard compares a card with that of its name in INTO, then, if that is another character's,
// with those that SillyTavern would call a duplicate.
func (u *user) placeCard(j *job, from, stem, ext string) error {
	row := j.row
	theirs, err := card.Open(from)
	if err != nil {
		return err
	}
	given := u.opt.Owners[stem]
	to, forced := cmp.Or(given, stem), given != ""
	for n := 1; ; n, to = n+1, stem+strconv.Itoa(n) {
		path, err := card.Find(u.into, to)
		switch {
		case errors.Is(err, card.ErrMissing) && to != stem && !forced && u.comes(to):
			continue
		case errors.Is(err, card.ErrMissing):
			path = filepath.Join(u.into.Characters(), to+ext)
			j.creates(path, func(_ context.Context, s *changeset.Set) error { return u.draftCard(s, theirs, stem, path) })
			row.Sign, u.stems[stem], u.fresh[stem] = New, to, j
			if row.rename(stem, to); to != stem {
				row.Sign = Other
			}
			return nil
		case err != nil:
			return err
		}
		ours, err := card.Open(path)
		if err != nil {
			return err
		}
		if !forced && ours.Name != theirs.Name && ours.Greeting() != theirs.Greeting() {
			continue
		}
		row.Path, u.stems[stem] = path, to
		row.rename(stem, to)
		if err := row.stays(from, path, "the cards differ; INTO's stays"); err != nil {
			return err
		}
		return u.states(from, path)
	}
}

// stays says that INTO's file stays, and what is told if FROM's is another.
func (r *Row) stays(from, into, differs string) error {
	_, same, err := compare(from, into)
	if r.Sign = Same; err == nil && !same {
		r.Sign = Behind
		r.tell(differs)
	}
	return err
}

// comes reports whether FROM has a card of a name, which INTO gets if it has none.
func (u *user) comes(stem string) bool {
	_, err := card.Find(u.from, stem)
	return err == nil
}

// draftCard drafts a card that INTO lacks, with the names of INTO.
func (u *user) draftCard(s *changeset.Set, theirs *card.Card, stem, path string) error {
	data := theirs.Raw
	edit := func(do func(c *card.Card) ([]byte, error)) error {
		c, err := card.Parse(data, path)
		if err == nil {
			data, err = do(c)
		}
		return err
	}
	for _, b := range u.books {
		if b.to.Name == b.from.Name {
			continue
		}
		if err := edit(func(c *card.Card) ([]byte, error) { return c.WithBook(b.from.Name, b.to.Name) }); err != nil {
			return err
		}
	}
	if o := u.owners[stem]; o != nil && theirs.Chat != "" && o.now(theirs.Chat) != theirs.Chat {
		if err := edit(func(c *card.Card) ([]byte, error) { return c.WithChat(o.now(theirs.Chat)) }); err != nil {
			return err
		}
	}
	return ops.Create(s, path, "the card of "+theirs.Name, data, changeset.InFolder())
}

// states brings what Luker keeps beside a card of which INTO has none.
func (u *user) states(from, into string) error {
	theirs, err := luker.CharacterStates(from)
	if err != nil {
		return ops.PathError(err)
	}
	ours, err := luker.CharacterStates(into)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ops.PathError(err)
	}
	for _, s := range theirs {
		path := filepath.Join(filepath.Dir(into), luker.CharacterStateName(strings.TrimSuffix(filepath.Base(into), filepath.Ext(into)), s.Namespace))
		j := newJob(CardKind, s.Path, path)
		u.cards = append(u.cards, j)
		if slices.ContainsFunc(ours, func(o luker.Sidecar) bool { return o.Namespace == s.Namespace }) {
			if err := j.row.stays(s.Path, path, fmt.Sprintf("Luker's state %s differs; INTO's stays", s.Namespace)); err != nil {
				return err
			}
			continue
		}
		j.row.Sign = New
		j.creates(path, func(_ context.Context, set *changeset.Set) error {
			return copyFile(set, s.Path, path, "Luker's state of the character")
		})
	}
	return nil
}
