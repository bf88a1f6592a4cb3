package history

import (
	"context"
	"database/sql"
	"path"
	"strings"
	"time"
)

// Kind is what kind of file an identity stands for.
type Kind string

// The kinds of file.
const (
	Solo    Kind = "solo"    // a chat of a character
	Group   Kind = "group"   // a chat of a group
	File    Kind = "file"    // a chat that lies in no user's folder
	Backup  Kind = "backup"  // a backup of SillyTavern whose chat is not known
	Sidecar Kind = "sidecar" // of Luker, beside a chat
	Members Kind = "groups"  // a group's file
	World   Kind = "world"   // a lorebook
	Card    Kind = "card"    // a character
)

// IsChat says whether files of this kind are chats.
func (k Kind) IsChat() bool { return k == Solo || k == Group || k == File || k == Backup }

// Chat is what has versions: a chat, or one of the files around chats. A chat keeps its
// identity when its file is renamed or moved.
type Chat struct {
	ID     int64
	Kind   Kind
	Owner  string // the folder, relative to the user's, with slashes
	Name   string // a chat's without .jsonl, another file's with all
	Slug   string // chat_metadata.integrity of the last version
	Parent int64  // the ID of the chat that this one was made from; 0: none is known
	GoneAt time.Time
}

// Path is where the file lies or lay, relative to the user's folder, with slashes.
func (c *Chat) Path() string {
	name := c.Name
	if c.Kind.IsChat() && c.Kind != Backup && !oddExtension(name) {
		name += ".jsonl"
	}
	return path.Join(c.Owner, name)
}

// Label names a chat for people: its folder's name and its own.
func (c *Chat) Label() string {
	if c.Owner == "" || c.Kind == Backup {
		return c.Name
	}
	return path.Base(c.Owner) + "/" + c.Name
}

// Place says which kind of file lies at a path relative to a user's folder, with slashes,
// and the Owner and Name of its identity.
func Place(rel string) (kind Kind, owner, name string) {
	owner, name = path.Split(rel)
	owner = strings.TrimSuffix(owner, "/")
	parts := strings.Split(owner, "/")
	switch {
	case !strings.EqualFold(path.Ext(name), ".jsonl"):
		switch parts[0] {
		case "groups":
			return Members, owner, name
		case "worlds":
			return World, owner, name
		case "characters":
			return Card, owner, name
		}
		return Sidecar, owner, name
	case len(parts) == 2 && parts[0] == "chats":
		kind = Solo
	case owner == "group chats":
		kind = Group
	default:
		kind = File
	}
	return kind, owner, strings.TrimSuffix(name, ".jsonl")
}

// oddExtension says whether a chat's name keeps its extension, as it is not spelled as
// usual.
func oddExtension(name string) bool {
	ext := path.Ext(name)
	return ext != ".jsonl" && strings.EqualFold(ext, ".jsonl")
}

// Gone says whether the last snapshot did not find the file.
func (c *Chat) Gone() bool { return !c.GoneAt.IsZero() }

// Source says where a version came from.
type Source string

// Where versions come from.
const (
	FromSnapshot Source = "snapshot"
	FromBackup   Source = "backup"  // one of SillyTavern's own
	FromRestore  Source = "restore" // kept before a restore replaced it
)

// Version is one version of a chat.
type Version struct {
	ID       int64
	Chat     int64
	Rev      int64
	At       time.Time // when it was taken; of a backup, when that was made
	Mtime    time.Time // of its file; zero where that is not known
	Size     int64
	Messages int
	Source   Source
	Note     string
	Sum      string // equal for equal contents, in one store

	runs []byte
}

// Runs gives the pieces that the version consists of.
func (v *Version) Runs() ([]Run, error) { return decodeRuns(v.runs) }

const chatColumns = "id, kind, owner, name, slug, coalesce(parent, 0), coalesce(gone_at, 0)"

// Chats gives all identities, in the order of their folder and name, older ones first.
func (s *Store) Chats(ctx context.Context) ([]Chat, error) {
	return s.chats(ctx, "ORDER BY owner, name, id")
}

func (s *Store) chats(ctx context.Context, which string, args ...any) (list []Chat, err error) {
	rows, err := s.conn.QueryContext(ctx, "SELECT "+chatColumns+" FROM chat "+which, args...)
	if err != nil {
		return nil, s.told(err)
	}
	defer rows.Close()
	for rows.Next() {
		var c Chat
		var gone int64
		if err := rows.Scan(&c.ID, &c.Kind, &c.Owner, &c.Name, &c.Slug, &c.Parent, &gone); err != nil {
			return nil, s.told(err)
		}
		if gone != 0 {
			c.GoneAt = time.UnixMilli(gone)
		}
		list = append(list, c)
	}
	return list, s.told(rows.Err())
}

const versionColumns = "id, chat, rev, at, mtime, size, messages, source, note, sum, runs"

// Versions gives a chat's versions, the oldest first.
func (s *Store) Versions(ctx context.Context, chat int64) ([]Version, error) {
	return s.versions(ctx, "WHERE chat = ? ORDER BY at, rev", chat)
}

// VersionsSince gives the versions of all chats that were added after the one with the ID
// after, in that order.
func (s *Store) VersionsSince(ctx context.Context, after int64) ([]Version, error) {
	return s.versions(ctx, "WHERE id > ? ORDER BY id", after)
}

func (s *Store) versions(ctx context.Context, which string, args ...any) (list []Version, err error) {
	rows, err := s.conn.QueryContext(ctx, "SELECT "+versionColumns+" FROM version "+which, args...)
	if err != nil {
		return nil, s.told(err)
	}
	defer rows.Close()
	for rows.Next() {
		v, err := scanVersion(rows)
		if err != nil {
			return nil, s.told(err)
		}
		list = append(list, v)
	}
	return list, s.told(rows.Err())
}

func scanVersion(rows *sql.Rows) (v Version, err error) {
	var at, mtime int64
	var sum []byte
	err = rows.Scan(&v.ID, &v.Chat, &v.Rev, &at, &mtime, &v.Size, &v.Messages, &v.Source, &v.Note, &sum, &v.runs)
	v.At, v.Sum = time.UnixMilli(at), string(sum)
	if mtime != 0 {
		v.Mtime = time.Unix(0, mtime)
	}
	return v, err
}

// At gives the chats that have, or had, the path: those that have it first, then the one
// that was last seen there.
func (s *Store) At(ctx context.Context, rel string) ([]Chat, error) {
	kind, owner, name := Place(rel)
	list, err := s.chats(ctx, "WHERE owner = ? AND name = ? AND kind = ? ORDER BY gone_at IS NOT NULL, id DESC", owner, name, kind)
	if err != nil || len(list) > 0 {
		return list, err
	}
	return s.chats(ctx, "WHERE id = (SELECT chat FROM version WHERE id = (SELECT version FROM seen WHERE path = ?))", rel)
}

// Root gives the folder that the store belongs to, "" where there is no store.
func (s *Store) Root(ctx context.Context) (root string, err error) {
	err = s.row(ctx, "SELECT v FROM meta WHERE k = ?", metaRoot).Scan(&root)
	return root, s.told(err)
}

// Seen is a file as a snapshot found it.
type Seen struct {
	Version int64
	Size    int64
	Mtime   int64 // ns since 1970
	Ctime   int64 // likewise; 0 where the system has none
	Inode   int64
	Racy    bool // it may have changed within the same tick of the clock
}

// Seen gives what snapshots found, by path.
func (s *Store) Seen(ctx context.Context) (map[string]Seen, error) {
	rows, err := s.conn.QueryContext(ctx, "SELECT path, version, size, mtime_ns, ctime_ns, inode, racy FROM seen")
	if err != nil {
		return nil, s.told(err)
	}
	defer rows.Close()
	all := map[string]Seen{}
	for rows.Next() {
		var p string
		var f Seen
		if err := rows.Scan(&p, &f.Version, &f.Size, &f.Mtime, &f.Ctime, &f.Inode, &f.Racy); err != nil {
			return nil, s.told(err)
		}
		all[p] = f
	}
	return all, s.told(rows.Err())
}

// See notes how a file was found.
func (w *Writer) See(path string, f Seen) error {
	if w.s.dry {
		return nil
	}
	return w.s.told(w.s.exec(w.ctx, `INSERT INTO seen(path, version, size, mtime_ns, ctime_ns, inode, racy) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)
		ON CONFLICT DO UPDATE SET version = ?2, size = ?3, mtime_ns = ?4, ctime_ns = ?5, inode = ?6, racy = ?7`,
		path, f.Version, f.Size, f.Mtime, f.Ctime, f.Inode, f.Racy))
}
