package merge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"stchat/internal/change/changeset"
	"stchat/internal/extension/luker"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/card"
)

// readCards finds for each character of FROM the one of INTO that it is, by the folders of their
// chats, and drafts those that are new.
func (u *user) readCards() error {
	entries, err := entriesOf(u.from.Characters())
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		isCard := ext == userdir.CardExtension || ext == ".json" && len(luker.Stems(e.Name())) == 0
		if !isCard || e.IsDir() {
			continue
		}
		path := filepath.Join(u.from.Characters(), e.Name())
		j := newJob(CardKind, path, filepath.Join(u.into.Characters(), e.Name()))
		u.cards = append(u.cards, j)
		err := followed(path)
		if err == nil {
			err = u.placeCard(j, path, userdir.CharacterFolder(e.Name()), ext)
		}
		if err != nil {
			j.row.refuse(err)
		}
	}

	// the chats of a card that is not meant go to the same character all the same; if there is none here, the card comes
	u.cards = slices.DeleteFunc(u.cards, func(j *job) bool {
		file := filepath.Base(j.row.From)
		ofPart := j.draft != nil && u.opt.overlaps("chats/"+userdir.CharacterFolder(file))
		return !u.opt.wanted("characters/"+file) && !ofPart
	})
	return err
}

// placeCard decides what becomes of a card: INTO's stays, or it is new there.
func (u *user) placeCard(j *job, from, stem, ext string) error {
	row := j.row
	theirs, err := card.Open(from)
	if err != nil {
		return err
	}
	to, ours, err := u.character(theirs, stem)
	if err != nil {
		return err
	}

	u.stems[stem] = to
	row.rename(stem, to)
	if ours != nil {
		row.Path = ours.Path
		row.Sign, err = staying(from, ours.Path)
		if err != nil {
			return err
		}
		if row.Sign == Behind {
			j.compare = func() {
				if err := u.compareCard(row, stem); err != nil && row.Err == nil {
					row.refuse(err)
				}
			}
		}
		return u.states(from, ours.Path, nil)
	}

	path := filepath.Join(u.into.Characters(), to+ext)
	j.creates(path, func(_ context.Context, s *changeset.Set) error {
		data, err := u.cardHere(from, stem)
		if err != nil {
			return err
		}
		return ops.Create(s, path, "the card of "+theirs.Name, data, changeset.InFolder())
	})

	row.Sign = New
	if to != stem {
		row.Sign = Other
	}
	j.needed = func() bool { return u.owners[stem].comes() }
	j.look = func(context.Context) error {
		_, err := u.cardHere(from, stem)
		return err
	}
	return u.states(from, path, j.needed)
}

// character returns the character of INTO that a card of FROM is: that of its name, or, if that is another one,
// of a name that SillyTavern would give to a duplicate. If there is none, it returns the name that is free.
func (u *user) character(theirs *card.Card, stem string) (to string, ours *card.Card, err error) {
	given := u.opt.Owners[stem]
	for n, to := 1, cmp.Or(u.stems[stem], stem); ; n, to = n+1, stem+strconv.Itoa(n) {
		ours, err := card.Of(u.into, to)
		missing := errors.Is(err, card.ErrMissing)
		switch {
		case missing && given != "":
			return to, nil, nil
		case missing && to != stem && u.hasCard(to):
		case missing:
			if of, original := u.originalCard(theirs, stem); original != nil {
				return of, original, nil
			}
			return to, nil, nil
		case err != nil || given != "" || isCharacter(ours, theirs):
			return to, ours, err
		}
	}
}

// originalCard returns the character of INTO whose name has no number, or a shorter one, if FROM has another
// character of that name: an earlier merge has given the number. nil: there is none.
func (u *user) originalCard(theirs *card.Card, stem string) (to string, ours *card.Card) {
	for to = stem; to != "" && strings.ContainsAny(to[len(to)-1:], "0123456789"); {
		to = to[:len(to)-1]
		ours, err := card.Of(u.into, to)
		if err != nil || ours.Name != theirs.Name || ours.Greeting() != theirs.Greeting() {
			continue
		}
		if other, err := card.Of(u.from, to); errors.Is(err, card.ErrMissing) || err == nil && !isCharacter(ours, other) {
			return to, ours
		}
	}
	return "", nil
}

// isCharacter reports whether two cards of one name are one character's.
func isCharacter(a, b *card.Card) bool { return a.Name == b.Name || a.Greeting() == b.Greeting() }

// compareCard tells whether INTO's card is another one, but for names and for the chat that is open.
func (u *user) compareCard(row *Row, stem string) error {
	ours, err := card.Open(row.Path)
	if err != nil {
		return err
	}
	here, err := u.cardHere(row.From, stem)
	if err != nil {
		return err
	}
	theirs, err := card.Parse(here, row.From)
	if err != nil {
		return err
	}
	same, err := ours.With(card.Chat(theirs.Chat))
	if err == nil && !bytes.Equal(same, here) {
		row.tell("the cards differ; INTO's stays")
	}
	return err
}

// hasCard reports whether FROM has a card of a name, which INTO gets if it has none.
func (u *user) hasCard(stem string) bool {
	_, err := card.Find(u.from, stem)
	return err == nil
}

// cardHere returns a card of FROM with the names of INTO. It is read anew each time: pictures are large, and many.
func (u *user) cardHere(from, stem string) ([]byte, error) {
	theirs, err := card.Open(from)
	if err != nil {
		return nil, err
	}
	renamed := map[string]string{}
	for name, b := range u.books {
		renamed[name] = b.to.Name
		if b.job.draft != nil && theirs.HasBook(name) {
			u.need(b.to.Path)
		}
	}

	readdress := func(json []byte) ([]byte, error) { return u.readdress(json), nil }
	edits := []func(json []byte) ([]byte, error){card.Book(renamed), readdress}
	if o := u.owners[stem]; o != nil && theirs.Chat != "" {
		edits = append(edits, card.Chat(o.nameHere(theirs.Chat)))
	}
	return theirs.With(edits...)
}

// states brings what Luker keeps beside a card, and INTO does not. needed is the card's, if that is new.
func (u *user) states(from, into string, needed func() bool) error {
	theirs, err := luker.CharacterStates(from)
	if err != nil {
		return ops.PathError(err)
	}
	for _, s := range theirs {
		path := filepath.Join(filepath.Dir(into), luker.CharacterStateName(strings.TrimSuffix(filepath.Base(into), filepath.Ext(into)), s.Namespace))
		j := newJob(CardKind, s.Path, path)
		u.cards = append(u.cards, j)
		if err := followed(s.Path); err != nil {
			j.row.refuse(err)
			continue
		}

		j.row.Sign, err = staying(s.Path, path)
		key := names.FoldNFC(path)
		missing := errors.Is(err, fs.ErrNotExist)
		switch {
		case missing && !u.given[key]:
			u.given[key] = true
			j.row.Sign = New
			j.needed = needed
			j.creates(path, func(_ context.Context, set *changeset.Set) error {
				return copyFile(set, s.Path, path, "Luker's state of the character")
			})
		case err != nil && !missing:
			return err
		case missing || j.row.Sign == Behind: // missing: that of another character comes there
			j.row.Sign = Behind
			j.row.tell(fmt.Sprintf("Luker's state %s differs; INTO's stays", s.Namespace))
		}
	}
	return nil
}
