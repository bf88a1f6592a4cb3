package history

import (
	"context"
	"slices"
	"time"
)

// Candidate is a file to find an identity for.
type Candidate struct {
	Kind  Kind
	Owner string
	Name  string
	// Parent is the name of the chat that this one says it was made from.
	Parent string
	// Missing are the chats whose files are gone: this one may be one of them, and is then
	// taken from the list. A chat whose name this one takes is added to it.
	Missing *[]Chat
	Now     time.Time
}

// identities finds and records identities.
type identities struct {
	ctx context.Context
	db  *database
	dry bool
}

// identify returns the chat that a file is a version of, or makes a new one. It goes by the
// file's place first, unless another chat has taken that; then, for a chat under a new name,
// it looks for one whose file is gone and that has the same slug, or else shares at least
// half of its lines. A slug alone is no identity: branches inherit it, Luker changes it.
func (ids *identities) identify(f Candidate, c *Content) (Chat, error) {
	slug := c.Slug()
	at, err := listChats(ids.ctx, ids.db, "WHERE owner = ? AND name = ? AND kind = ? ORDER BY gone_at IS NOT NULL, id DESC", f.Owner, f.Name, f.Kind)
	if err != nil {
		return Chat{}, err
	}
	var others []Chat // that had the name before
	for _, known := range at {
		other := false
		if f.Kind.IsChat() && f.Kind != Backup && known.Slug != slug {
			if other, err = ids.differs(known.ID, c); err != nil {
				return Chat{}, err
			}
		}
		if !other {
			f.found(&known)
			return known, ids.update(&known, f, slug)
		}
		others = append(others, known)
	}
	for _, other := range others {
		if err := ids.gone(other.ID, f.Now.UnixMilli()); err != nil {
			return Chat{}, err
		}
	}
	if f.Kind.IsChat() && f.Kind != Backup {
		moved, err := ids.moved(f, slug, c)
		if err != nil {
			return Chat{}, err
		}
		if moved != nil {
			f.found(moved)
			f.displaced(others)
			return *moved, ids.update(moved, f, slug)
		}
		f.displaced(others)
	}
	return ids.newChat(f, slug)
}

// found takes a chat whose file was found from f.Missing.
func (f *Candidate) found(chat *Chat) {
	if f.Missing != nil {
		id := chat.ID
		*f.Missing = slices.DeleteFunc(*f.Missing, func(c Chat) bool { return c.ID == id })
	}
}

// displaced adds chats whose name f took to f.Missing.
func (f *Candidate) displaced(chats []Chat) {
	if f.Missing == nil {
		return
	}
	for _, c := range chats {
		if !slices.ContainsFunc(*f.Missing, func(m Chat) bool { return m.ID == c.ID }) {
			*f.Missing = append(*f.Missing, c)
		}
	}
}

// moved returns the chat that was renamed or moved to f's place; nil if there is none.
func (ids *identities) moved(f Candidate, slug string, c *Content) (*Chat, error) {
	if f.Missing == nil || len(*f.Missing) == 0 {
		return nil, nil
	}
	var same []Chat
	for _, chat := range *f.Missing {
		if slug != "" && chat.Slug == slug {
			same = append(same, chat)
		}
	}
	if len(same) == 1 {
		return &same[0], nil
	}
	best, shared, err := ids.most(*f.Missing, c)
	if best == nil || 2*shared < pieceCount(c.Runs) {
		return nil, err
	}
	found := *best
	return &found, err
}

// most returns the chat whose last version shares most pieces with c, and how many.
func (ids *identities) most(list []Chat, c *Content) (best *Chat, shared int64, err error) {
	for i := range list {
		runs, err := lastRuns(ids.ctx, ids.db, list[i].ID)
		if err != nil {
			return nil, 0, err
		}
		if n := Common(c.Runs, runs); n > shared {
			best, shared = &list[i], n
		}
	}
	return best, shared, nil
}

// differs reports whether a chat's last version and c share no line but the header, which is
// the first, and an empty one.
func (ids *identities) differs(chat int64, c *Content) (bool, error) {
	runs, err := lastRuns(ids.ctx, ids.db, chat)
	if err != nil || len(runs) == 0 {
		return false, err
	}
	if pieceCount(runs) < 2 || pieceCount(c.Runs) < 2 {
		return false, nil // one of them has no message to judge by
	}
	shared := Common(behindHead(c.Runs), behindHead(runs))
	return shared == 0 || shared == 1 && Common(runs, []Run{{First: c.empty, Count: 1}}) == 1, nil
}

// update records where a chat is now, and its slug.
func (ids *identities) update(chat *Chat, f Candidate, slug string) error {
	if !chat.Gone() && chat.Owner == f.Owner && chat.Name == f.Name && chat.Kind == f.Kind && chat.Slug == slug {
		return nil
	}
	chat.Kind, chat.Owner, chat.Name, chat.Slug, chat.GoneAt = f.Kind, f.Owner, f.Name, slug, time.Time{}
	if ids.dry {
		return nil
	}
	return ids.db.wrap(ids.db.exec(ids.ctx, "UPDATE chat SET kind = ?, owner = ?, name = ?, slug = ?, gone_at = NULL WHERE id = ?",
		chat.Kind, chat.Owner, chat.Name, chat.Slug, chat.ID))
}

func (ids *identities) newChat(f Candidate, slug string) (Chat, error) {
	chat := Chat{Kind: f.Kind, Owner: f.Owner, Name: f.Name, Slug: slug}
	if f.Parent != "" && f.Kind.IsChat() {
		parents, err := listChats(ids.ctx, ids.db, "WHERE owner = ? AND name = ? ORDER BY id DESC LIMIT 1", f.Owner, f.Parent)
		if err != nil {
			return chat, err
		}
		if len(parents) > 0 {
			chat.Parent = parents[0].ID
		}
	}
	if ids.dry {
		return chat, nil
	}
	var parent any
	if chat.Parent != 0 {
		parent = chat.Parent
	}
	err := ids.db.row(ids.ctx, "INSERT INTO chat(kind, owner, name, slug, parent) VALUES(?, ?, ?, ?, ?) RETURNING id",
		chat.Kind, chat.Owner, chat.Name, chat.Slug, parent).Scan(&chat.ID)
	return chat, ids.db.wrap(err)
}

// parent records the chat that another was made from; 0 if unknown.
func (ids *identities) parent(chat, parent int64) error {
	if ids.dry {
		return nil
	}
	return ids.db.wrap(ids.db.exec(ids.ctx, "UPDATE chat SET parent = nullif(?, 0) WHERE id = ?", parent, chat))
}

// gone records that a chat's file was not found, at a time in ms since 1970.
func (ids *identities) gone(chat, at int64) error {
	if ids.dry {
		return nil
	}
	return ids.db.wrap(ids.db.exec(ids.ctx, "UPDATE chat SET gone_at = ? WHERE id = ? AND gone_at IS NULL", at, chat))
}

func pieceCount(runs []Run) (n int64) {
	for _, r := range runs {
		n += r.Count
	}
	return n
}

// behindHead returns runs without their first line.
func behindHead(runs []Run) []Run {
	rest := slices.Clone(runs)
	for len(rest) > 0 && rest[0].Part == More {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return nil
	}
	rest[0].First++
	if rest[0].Count--; rest[0].Count == 0 {
		rest = rest[1:]
	}
	return rest
}
