// Package safefile puts a file in place whole, or not at all.
//
// Content is written to a temporary file beside its target ([New], [Temp.Write]) and
// then published with one of two verbs. [Temp.Create] gives it a name that must not
// exist yet; [Temp.Replace] puts it in the place of a file that the caller has read
// and that must still be as it was read ([Stamp]). If anything fails on the way, the
// temporary file is removed and the target is left as it was. Package changeset
// handles several files that belong together: it calls [Temp.Prepare] on each, and
// gives them their names with a [Disk].
//
// A file is recognised in the same run by its [Stamp], and in another run by its
// [Ident].
//
// # What is promised
//
//   - Nobody ever sees half a file under the target's name.
//   - Create never overwrites. A file, folder, FIFO or symlink of that name, even a
//     dangling one or one that appears at the last moment, is an [ExistsError].
//   - Replace never turns a symlink into a file: the link is resolved on purpose and
//     the file behind it is replaced. It refuses what is not a regular file, a file
//     without write permission, and a file that changed since it was read.
//   - Unless [Options.NoSync] is set, the content is on the disk before it gets its
//     name, and the name is on the disk before the verb returns. Where the file
//     system does not support syncing, it is left out.
//   - Replace keeps the mode, and the owner and group as far as the user may set
//     them. A new file gets 0666 less the umask.
//
// # What is not
//
//   - Replace makes a new file: other hard links to the old one keep the old content,
//     and extended attributes, ACLs, alternate streams and creation times are lost.
//   - The stamp is compared immediately before the rename, but no system offers the
//     two as one step: a program that writes in those microseconds loses its change.
//   - Where neither hard links nor a rename that refuses to replace exist (some
//     network and phone storage), Create reserves the name with an empty file
//     first. A crash in that moment leaves the empty file.
//   - On Windows a rename replaces, but the system does not promise that a power loss
//     cannot separate its steps, and folders cannot be synced; the renames ask for
//     write-through instead. If another program (a virus scanner, an editor) holds
//     the target open, the rename is tried again for about a second before it fails.
//   - Temporary files of a crashed process stay until [RemoveStale] can prove that
//     the process is gone. Those of an earlier boot of the machine, or of another
//     machine that shares the folder, stay: nothing proves it for them.
//
// Paths in errors are raw: code that prints them must make control characters
// visible.
package safefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// restless is how often a file that keeps changing is read.
const restless = 16

// Read returns a regular file's content, and the stamp that belongs to exactly these
// bytes. A file that changes while it is read, if only because another run links it to
// keep it, is read again. The error wraps [ErrNotRegular], or [ErrChanged] if the file
// keeps changing.
func Read(path string) (data []byte, stamp Stamp, err error) {
	for try := range restless {
		data, stamp, err = readOnce(path)
		if !errors.Is(err, ErrChanged) {
			break
		}
		time.Sleep(time.Duration(try) * time.Millisecond)
	}
	return data, stamp, err
}

func readOnce(path string) ([]byte, Stamp, error) {
	// Before opening it: opening a FIFO would wait for a writer.
	if seen, err := StampPath(path); err != nil {
		return nil, Stamp{}, err
	} else if !seen.Regular() {
		return nil, Stamp{}, fmt.Errorf("%s: %w", path, ErrNotRegular)
	}

	f, err := Open(path)
	if err != nil {
		return nil, Stamp{}, err
	}
	defer f.Close()
	was, err := StampOf(f)
	if err != nil {
		return nil, Stamp{}, err
	}
	data, err := readAll(f, was.Size())
	if err != nil {
		return nil, Stamp{}, err
	}
	now, err := StampOf(f)
	if err != nil {
		return nil, Stamp{}, err
	}
	if !now.Same(was) || int64(len(data)) != now.Size() {
		return nil, Stamp{}, fmt.Errorf("%s: %w", path, ErrChanged)
	}
	return data, now, nil
}

// readAll reads all of r, which likely has so many bytes.
func readAll(r io.Reader, size int64) ([]byte, error) {
	var data bytes.Buffer
	data.Grow(int(size) + bytes.MinRead)
	_, err := data.ReadFrom(r)
	return data.Bytes(), err
}

// ReadDir reads a folder as [os.ReadDir] does, except that the error is never
// [fs.ErrNotExist] if path is a file. Windows reports such a path as one that does
// not exist, and callers take a missing folder for an empty one.
func ReadDir(path string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		if info, e := os.Stat(path); e == nil && !info.IsDir() {
			return nil, &fs.PathError{Op: "open", Path: path, Err: errNotDir}
		}
	}
	return entries, err
}

var errNotDir = errors.New("not a directory")
