package inspect

import (
	"errors"
	"os"
	"path/filepath"

	"stchat/internal/group"
	"stchat/internal/lorebook"
	"stchat/internal/luker"
	"stchat/internal/memo"
	"stchat/internal/names"
	"stchat/internal/userdir"
)

// Around knows what lies around chats, and looks each thing up once. It is
// safe for use by several goroutines at once.
type Around struct {
	folders memo.Memo[*folder]
	groups  memo.Memo[groupSet]
	books   memo.Memo[*book]
}

// NewAround knows nothing yet.
func NewAround() *Around { return new(Around) }

// folder is what a folder of chats lists.
type folder struct {
	path     string
	chats    map[string]bool // names
	sidecars []string        // file names
}

func (a *Around) folder(path string) *folder {
	return a.folders.Get(path, func() *folder {
		f := &folder{path: path, chats: map[string]bool{}}
		// one that cannot be read lists nothing: the chat in it says so
		entries, _ := os.ReadDir(path)
		for _, e := range entries {
			if !e.Type().IsRegular() {
				continue
			}
			if filepath.Ext(e.Name()) == names.Extension {
				f.chats[userdir.ChatName(e.Name())] = true
			} else if luker.IsSidecar(e.Name()) {
				f.sidecars = append(f.sidecars, e.Name())
			}
		}
		return f
	})
}

// hasChat tells whether SillyTavern would find a chat by this name, out of a
// file, in the folder: its server makes the name safe first. The disk is asked
// where the list does not have it, since it may ignore letter case.
func (f *folder) hasChat(name string) bool {
	if f.chats[name] {
		return true
	}
	safe, err := names.Sanitize(name)
	if err != nil {
		return false
	}
	if f.chats[safe] {
		return true
	}
	path, err := userdir.Within(f.path, safe, names.Extension)
	return err == nil && isFile(path)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// groupSet is the group files of a user folder.
type groupSet struct {
	set *group.Set
	err error
}

// In implements chat.Groups.
func (a *Around) In(dir userdir.Dir) (*group.Set, error) {
	g := a.groups.Get(dir.Root, func() groupSet {
		set, err := group.LoadAll(dir.Groups())
		return groupSet{set, err}
	})
	return g.set, g.err
}

// book is what there is to tell of a lorebook.
type book struct {
	path                       string // empty: it does not exist
	exists                     bool
	entries, internal, pending int
	err                        error // it cannot be read; pending may be known to fail alone
	queueErr                   error
}

// book reads the lorebook that a chat in the user folder calls name.
func (a *Around) book(dir userdir.Dir, name string) *book {
	return a.books.Get(dir.Root+"\x00"+name, func() *book {
		b := new(book)
		path, err := lorebook.Find(dir.Worlds(), name)
		if err == nil {
			b.path, b.exists = path, true
			var opened *lorebook.Book
			if opened, err = lorebook.Open(path); err == nil {
				b.entries, b.internal = len(opened.Entries), opened.InternalCount()
				queue, queueErr := opened.Queue()
				b.pending, b.queueErr = queue.Pending(), queueErr
			}
		}
		if _, unsafe := errors.AsType[*userdir.UnsafeNameError](err); unsafe || errors.Is(err, lorebook.ErrMissing) {
			b.path, b.exists, err = "", false, nil
		}
		b.err = err
		return b
	})
}

// report tells of the lorebook in the user folder, where one is known.
func (a *Around) report(dir userdir.Dir, hasDir bool, name string) *Lorebook {
	l := &Lorebook{Name: name}
	if !hasDir {
		return l
	}
	b := a.book(dir, name)
	l.Exists = &b.exists
	switch {
	case b.err != nil:
		l.Error = new(b.err.Error())
	case b.exists:
		l.Entries, l.Internal = &b.entries, &b.internal
		if b.queueErr != nil {
			l.Error = new(b.queueErr.Error())
		} else {
			l.Pending = &b.pending
		}
	}
	return l
}
