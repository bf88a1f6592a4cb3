package ops

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/jsonl"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/text/plural"
	"stchat/internal/text/progress"
)

// Export says what an export writes, and where; each kind of export has more to it.
type Export struct {
	List    List
	Choice  choose.Choice
	Open    chat.Options
	Output  string    // a file, or with Folder the folder to fill
	Folder  bool      // each chat goes to OWNER/NAME below Output
	Stdout  io.Writer // without Output
	Force   bool      // replace files
	Changes changeset.Options
	Meter   *progress.Meter

	Swipes, WithHidden, SkipDamaged bool

	taken map[string]bool // folded paths that Place returned
}

// Expect tells the meter of the chats, each of which is read twice.
func (x *Export) Expect(chats []Target) {
	bytes := int64(0)
	for _, t := range chats {
		if info, err := os.Stat(t.Path); err == nil {
			bytes += 2 * info.Size()
		}
	}
	x.Meter.Expect(len(chats), bytes)
}

// Index is the file below Output that leads to all others.
const Index = "index.html"

// noGroup is the folder of group chats that no group lists.
const noGroup = "no group"

// FileOf returns the free file below Output of a chat at path, and returns none twice. owner is ""
// if it is not known: then it is the name of the folder.
func (x *Export) FileOf(path, owner, name, extension string) (string, error) {
	folder, err := folderOf(path, owner)
	if err != nil {
		return "", err
	}
	if x.taken == nil {
		x.taken = map[string]bool{}
	}
	stem := filepath.Join(x.Output, folder, fileNamed(name))
	file := stem + extension
	for k := 2; x.taken[names.Fold(file)]; k++ {
		file = fmt.Sprintf("%s (%d)%s", stem, k, extension)
	}
	x.taken[names.Fold(file)] = true
	return file, x.Free(file)
}

// folderOf returns the folder below Output for the chats of an owner. Its name is not that of the
// index, and none by which Output would be taken for a user folder.
func folderOf(path, owner string) (string, error) {
	if owner == "" {
		abs, err := filepath.Abs(path)
		if err != nil {
			return "", err
		}
		owner = filepath.Base(filepath.Dir(abs))
		if kind, _ := userdir.KindOf(abs); kind == userdir.Group {
			owner = noGroup
		}
	}

	folder := fileNamed(owner)
	if fold := names.Fold(folder); fold == Index || userdir.IsPart(fold) {
		folder += " (2)"
	}
	return folder, nil
}

// Free returns an error if a file is there and must not be replaced.
func (x *Export) Free(path string) error {
	if _, err := os.Lstat(path); err == nil && !x.Force {
		return &safefile.ExistsError{Path: path}
	}
	return nil
}

// fileNamed makes a name of a file on any system of a name.
func fileNamed(name string) string {
	name = names.Shorten(strings.ToValidUTF8(name, "\ufffd"), 200)
	if clean := names.File(name); clean != "" {
		return clean
	}
	return "_" + names.File("_" + name)[1:]
}

// BecameOf says what became of a damaged line, of which what is done otherwise: one that has only a byte order
// mark before it is read.
func BecameOf(isBOM bool, otherwise string) string {
	if isBOM {
		return "the line is read without it"
	}
	return otherwise
}

// Damaged returns the warnings of lines of a chat that are left out.
func Damaged(path string, damages jsonl.Damages) (list []string) {
	for _, d := range damages.First {
		did := BecameOf(d.Code == jsonl.BOM, "left out")
		list = append(list, fmt.Sprintf("%s:%d:%d: %s: %s", chat.Label(path), d.Line, d.Column, did, d.Reason))
	}
	if more := damages.More(); more > 0 {
		list = append(list, fmt.Sprintf("%s: %s left out", chat.Label(path), plural.S(more, "more damaged line")))
	}
	return list
}
