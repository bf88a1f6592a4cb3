package merge

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"stchat/internal/change/safefile"
	"stchat/internal/folder/library"
	"stchat/internal/ops"
	"stchat/internal/ops/address"
	"stchat/internal/place/userdir"
)

// user is two user folders that are merged: what of FROM comes, and what of INTO stands for it.
// Names and addresses of INTO are put in what comes from FROM, and in nothing else.
type user struct {
	opt         *Options
	lib         *library.Library
	into, from  userdir.Dir
	based       map[string]string            // paths in FROM as the base spells them
	stems       map[string]string            // the characters of FROM, by their folders, and those of INTO that they are
	books       map[string]*book             // by FROM's name
	chats       map[string]map[string]string // by a lorebook of FROM: what the chats that name it are called in INTO
	files       map[string]*attachment       // by the place in FROM's user folder
	owners      map[string]*owner            // by the folder in FROM
	given       map[string]bool              // folded paths in INTO that come
	changed     map[string]bool              // paths of chats of INTO that get links, or even lines
	works       []*work
	inGroups    *inFolder
	groupOwners []*owner // whose parents and links are decided once all chats of groups have their names

	carried, cards, owned []*job // lorebooks and attachments; cards; chats and groups

	needs   []string // of the chat that is looked through
	planned bool     // everything that comes is known
	renames bool     // some attachment or card comes under another name
}

// user merges a user folder into another: cards, then each owner's chats, then lorebooks, which may
// name these, and what comes with the chats.
func (r *Result) user(ctx context.Context, opt *Options) error {
	u, err := openUsers(opt)
	if err != nil {
		return err
	}
	if err := u.readCards(); err != nil {
		return err
	}
	u.noteStems()
	if err := u.solo(ctx); err != nil {
		return err
	}
	if err := u.groups(ctx); err != nil {
		return err
	}
	if err := u.readBooks(ctx, u.booksMeant(ctx)); err != nil {
		return err
	}
	return r.withNamed(ctx, u)
}

// openUsers opens both user folders and the base, and finds which characters are one under other spellings or by Owners.
func openUsers(opt *Options) (*user, error) {
	var into, from, base userdir.Dir
	lib := new(library.Library)
	for _, folder := range []struct {
		path string
		dir  *userdir.Dir
	}{{opt.Into, &into}, {opt.From, &from}, {opt.Base, &base}} {
		if folder.path == "" {
			continue
		}
		dir, err := userdir.Open(folder.path)
		if err != nil {
			return nil, err
		}
		if err := ops.InFiles(lib, dir, folder.path); err != nil {
			return nil, err
		}
		*folder.dir = dir
	}

	u := newUser(opt, lib, into, from)
	if opt.Base != "" {
		u.based = respelled(placesIn(from), placesIn(base))
	}
	for _, part := range []string{from.Chats(), from.GroupChats(), from.Groups(), from.Worlds(), from.Characters()} {
		if err := followed(part); err != nil {
			return nil, err
		}
	}

	ownersIn := func(dir userdir.Dir) []string { return (&address.Finder{Lib: lib, Data: dir.Root}).Owners() }
	for _, stem := range slices.Sorted(maps.Keys(opt.Owners)) {
		hasChats := lib.Folder(filepath.Join(from.Chats(), stem)).Err == nil
		if !u.hasCard(stem) && !hasChats {
			return nil, &address.NoneError{Arg: stem, Known: ownersIn(from), Owner: true}
		}
	}

	u.stems = respelled(ownersIn(from), ownersIn(into))
	maps.Copy(u.stems, opt.Owners)
	return u, nil
}

// newUser returns two user folders of which nothing has been compared.
func newUser(opt *Options, lib *library.Library, into, from userdir.Dir) *user {
	return &user{
		opt: opt, lib: lib, into: into, from: from,
		stems:    map[string]string{},
		books:    map[string]*book{},
		chats:    map[string]map[string]string{},
		files:    map[string]*attachment{},
		owners:   map[string]*owner{},
		given:    map[string]bool{},
		changed:  map[string]bool{},
		inGroups: newInFolder(),
	}
}

// placesIn returns the paths in a user folder of what the base may spell in another way.
func placesIn(dir userdir.Dir) (list []string) {
	for _, folder := range []string{dir.Chats(), dir.Characters(), dir.Groups(), dir.Worlds()} {
		entries, _ := safefile.ReadDir(folder) // one that is missing has none
		for _, name := range namesOf(entries) {
			list = append(list, filepath.Join(filepath.Base(folder), name))
		}
	}
	return list
}

// noteStems notes whether some character has another name in INTO, and which the base knows by that.
func (u *user) noteStems() {
	for stem, to := range u.stems {
		if stem != to {
			u.renames = true
		}
		if u.based == nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(u.opt.Base, "chats", to)); err == nil {
			u.based[filepath.Join("chats", stem)] = filepath.Join("chats", to)
		}
	}
}

// withNamed makes the changes, together with what the cards and chats that come name.
func (r *Result) withNamed(ctx context.Context, u *user) error {
	jobs := slices.Concat(u.cards, u.owned, u.carried) // lorebooks last, which the others name
	for _, j := range jobs {
		u.leaveDeleted(j)
		u.collect(ctx, j)
	}
	if err := ctx.Err(); err != nil {
		return err
	}

	carried := u.carried
	for _, j := range jobs {
		if j.compare != nil {
			j.compare()
		}
	}

	u.carried = carried // what only the comparison names does not come
	u.planned = true
	r.run(ctx, u.opt, userdir.RealPath(u.into.Root), u.carried, slices.Concat(u.cards, u.owned))
	return nil
}

// leaveDeleted leaves out what the base has as it is, unless something that comes needs it.
func (u *user) leaveDeleted(j *job) {
	if j.needed == nil {
		return
	}
	base := u.inBase(j.row.From)
	if _, same, err := compare(j.row.From, base); err == nil && same && !j.needed() {
		j.draft = nil
		j.row.Sign = Behind
		j.row.To = nil
		j.row.OwnFrom = 0
		j.row.tell(deleted)
	}
}

// collect notes what must not be missing when something that is written is there.
func (u *user) collect(ctx context.Context, j *job) {
	if j.draft == nil || j.look == nil {
		return
	}
	u.needs = nil
	if err := j.look(ctx); err != nil {
		j.row.refuse(err)
	}
	slices.Sort(u.needs)
	j.needs = append(j.needs, slices.Compact(u.needs)...)
}
