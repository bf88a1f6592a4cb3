package history

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"stchat/internal/safefile"
)

// OpenRead opens a store for reading. It creates no file; without one, the error is an
// [ErrNoStore].
func OpenRead(ctx context.Context, path string) (*Store, error) {
	return open(ctx, path, "ro")
}

// OpenWrite opens the store of the user's folder root for writing, and creates it if there
// is none; the folder that it lies in must exist. A store of another root is refused, with
// an [ErrOtherRoot], as long as that root exists.
func OpenWrite(ctx context.Context, path, root string, now time.Time) (*Store, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) // SQLite would make it readable by all
	switch {
	case err == nil:
		if err := f.Close(); err != nil {
			return nil, err
		}
	case !errors.Is(err, fs.ErrExist):
		return nil, err
	}
	made := err == nil
	s, err := open(ctx, path, "rw")
	if made && errors.Is(err, ErrNoLocks) {
		err = errors.Join(err, os.Remove(path))
	}
	if err != nil {
		return nil, err
	}
	if err := belong(ctx, s, root, now); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// OpenLook opens a store for reading and for comparing files with it: they can be taken in,
// but nothing is written. The store need not exist.
func OpenLook(ctx context.Context, path string, now time.Time) (*Store, error) {
	s, err := open(ctx, path, "ro")
	if errors.Is(err, ErrNoStore) {
		s, err = inMemory(ctx, path, now)
	}
	if err != nil {
		return nil, err
	}
	s.dry = true
	return s, nil
}

// OpenDry is [OpenLook] for a dry run of what needs [OpenWrite]: it refuses a store of
// another root, too.
func OpenDry(ctx context.Context, path, root string, now time.Time) (*Store, error) {
	s, err := OpenLook(ctx, path, now)
	if err != nil {
		return nil, err
	}
	if err := belong(ctx, s, root, now); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

func open(ctx context.Context, path, mode string) (*Store, error) {
	size, err := examine(path)
	if err != nil {
		return nil, err
	}
	if size == 0 && mode == "ro" {
		return nil, fmt.Errorf("%s: %w", path, ErrNoStore)
	}
	d, err := connect(ctx, path, dataSource(path, mode), mode == "rw")
	if halfDone(err) && mode == "ro" {
		// A killed run left a transaction half done. Opening for writing rolls it back.
		if d, err = connect(ctx, path, dataSource(path, "rw"), true); err == nil {
			_ = d.close()
			d, err = connect(ctx, path, dataSource(path, mode), false)
		}
	}
	if err != nil {
		return nil, (&database{path: path}).wrap(err)
	}
	s := newStore(d)
	if err := load(ctx, s); err != nil {
		_ = s.Close()
		return nil, d.wrap(err)
	}
	return s, nil
}

// inMemory makes a store without a file.
func inMemory(ctx context.Context, path string, now time.Time) (*Store, error) {
	d, err := connect(ctx, path, "file::memory:", false)
	if err != nil {
		return nil, err
	}
	s := newStore(d)
	if err := create(ctx, s, "", now); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// load reads the salt and generation of a store; an empty file is left to [belong].
func load(ctx context.Context, s *Store) error {
	if empty, err := s.db.isEmpty(ctx); err != nil || empty {
		return err
	}
	if err := s.db.get(ctx, metaSalt, &s.salt); err != nil {
		return err
	}
	return s.db.get(ctx, metaGeneration, &s.gen)
}

// create turns an empty database into a store.
func create(ctx context.Context, s *Store, root string, now time.Time) error {
	s.salt = make([]byte, 32)
	rand.Read(s.salt) // never fails
	if err := s.db.exec(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d; %s", applicationID, schemaVersion, schema)); err != nil {
		return err
	}
	device, inode := identity(root)
	for k, v := range map[string]any{
		metaID: uuid.NewString(), metaCreated: now.UnixMilli(), metaSalt: s.salt, metaGeneration: int64(1), metaFloor: int64(1),
		metaRoot: root, metaDevice: device, metaInode: inode,
	} {
		if err := s.db.set(ctx, k, v); err != nil {
			return err
		}
	}
	s.gen = 1
	return nil
}

// identity returns the numbers by which a folder is recognised; 0 where the system has none.
func identity(root string) (device, inode int64) {
	dev, ino, err := safefile.FileID(root)
	if err != nil {
		return 0, 0
	}
	return int64(dev), int64(ino)
}

// belong records which folder the store belongs to, in a new one, and in one that moved
// along with its folder. If it belongs to another folder that still exists, the error is an
// [ErrOtherRoot].
func belong(ctx context.Context, s *Store, root string, now time.Time) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	if s.salt == nil {
		return s.db.transact(ctx, func() error {
			err := load(ctx, s) // another run may have been faster
			if err != nil || s.salt != nil {
				return err
			}
			return create(ctx, s, root, now)
		})
	}
	var was string
	var device, inode int64
	for k, v := range map[string]any{metaRoot: &was, metaDevice: &device, metaInode: &inode} {
		if err := s.db.get(ctx, k, v); err != nil {
			return s.db.wrap(err)
		}
	}
	dev, ino := identity(root)
	if was == root && device == dev && inode == ino {
		return nil
	}
	if was == "" {
		return nil // it is in memory only
	}
	if d, i := identity(was); was != root && i != 0 && d == device && i == inode && (d != dev || i != ino) {
		return fmt.Errorf("%s: %w, %s", s.db.path, ErrOtherRoot, was)
	}
	if s.dry {
		return nil
	}
	return s.db.transact(ctx, func() error {
		for k, v := range map[string]any{metaRoot: root, metaDevice: dev, metaInode: ino} {
			if err := s.db.set(ctx, k, v); err != nil {
				return err
			}
		}
		return nil
	})
}

// packsAhead is how many packs wait to be read.
const packsAhead = 2

// unpacked is what is read of a pack, or an error instead.
type unpacked struct {
	stretch
	err error
}

// ahead yields the pieces of runs as [unpacker.pieces] does, but unpacks the next packs while
// pieces are compared with their keys, which takes about as long. Nothing else may use the
// store meanwhile.
func (c *unpacker) ahead(ctx context.Context, runs []Run) iter.Seq2[part, error] {
	return func(yield func(part, error) bool) {
		ready, stop := make(chan unpacked, packsAhead), make(chan struct{})
		read := make(chan *pack, packsAhead+2) // those of ready, one that is read, and one that waits for ready
		go func() {
			defer close(ready)
			for st, err := range c.stretches(ctx, runs) {
				select {
				case ready <- unpacked{st, err}:
				case <-stop:
					st.unpin()
					return
				}
				for more := true; more; {
					select {
					case p := <-read:
						p.pins--
					default:
						more = false
					}
				}
			}
		}()
		defer func() {
			close(stop)
			var rest []unpacked
			for u := range ready {
				rest = append(rest, u)
			}
			// the other goroutine has ended
			for _, u := range rest {
				u.unpin()
			}
			close(read)
			for p := range read {
				p.pins--
			}
		}()
		keys := newKeyer(c.s.salt)
		for u := range ready {
			if u.err != nil {
				yield(part{}, u.err)
				return
			}
			goesOn := u.each(keys, yield)
			read <- u.p
			if !goesOn {
				return
			}
		}
	}
}

// unpin lets the memory of the stretch's pack be used again, if there is one.
func (st *stretch) unpin() {
	if st.p != nil {
		st.p.pins--
	}
}
