package merge

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/ops"
)

// compare reports whether two files hold the same, and what they were then.
func compare(from, into string) (stamps [2]safefile.Stamp, same bool, err error) {
	var files [2]*os.File
	for i, path := range []string{from, into} {
		if files[i], err = safefile.Open(path); err != nil {
			return stamps, false, err
		}
		defer func() { _ = files[i].Close() }() // only read from
		if stamps[i], err = safefile.StampOf(files[i]); err != nil {
			return stamps, false, err
		}
	}

	left, room := stamps[0].Size(), new([2][16 << 10]byte) // larger room is cleared anew for each pair
	for same = left == stamps[1].Size(); same && left > 0; left -= int64(len(room[0])) {
		n := min(left, int64(len(room[0])))
		for i, f := range files {
			if _, err = io.ReadFull(f, room[i][:n]); err != nil {
				return stamps, false, err
			}
		}
		same = bytes.Equal(room[0][:n], room[1][:n])
	}
	return stamps, same, nil
}

// ErrLink means that something in FROM is a link, which may lead anywhere.
var ErrLink = error(&ops.Kind{Code: "refused", Text: "is a link, and no link in FROM is followed; merge what it leads to by itself"})

// followed returns why something in FROM is not read: it is a link.
func followed(path string) error {
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 {
		return fmt.Errorf("%s: %w", path, ErrLink)
	}
	return nil
}

// followedBelow returns why something below a folder in FROM is not read: it, or a folder on the way, is a link.
func followedBelow(root, place string) error {
	path := root
	for part := range strings.SplitSeq(place, "/") {
		path = filepath.Join(path, part)
		if err := followed(path); err != nil {
			return err
		}
	}
	return nil
}

// staying returns the sign of a file of INTO that stays.
func staying(from, into string) (Sign, error) {
	_, same, err := compare(from, into)
	if err == nil && !same {
		return Behind, nil
	}
	return Same, err
}

// copyFile drafts a copy of a file of FROM.
func copyFile(s *changeset.Set, from, to, about string) error {
	raw, was, err := safefile.Read(from)
	if err != nil {
		return err
	}
	return ops.Create(s, to, about, raw, changeset.Like(was), changeset.InFolder())
}

// entriesOf lists a folder of a user folder, which may be missing.
func entriesOf(folder string) ([]fs.DirEntry, error) {
	entries, err := safefile.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return entries, ops.PathError(err)
}

// namesOf returns the names of a folder's entries.
func namesOf(entries []fs.DirEntry) (list []string) {
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}
