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
	Folder  bool      // each chat goes to OWNER/NAME below Output, of several users to USER/OWNER/NAME
	Stdout  io.Writer // without Output
	Force   bool      // replace files
	Changes changeset.Options
	Meter   *progress.Meter

	Swipes, WithHidden, SkipDamaged bool

	taken map[string]bool   // folded paths that FileOf returned
	users map[string]string // by its real path: the name of each user's folder, if there are several
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

// TellApart notes whose chats are exported. Owners and chats of two users may have the same names, so
// those of several users get a folder for each.
func (x *Export) TellApart(chats []Target) {
	x.users = map[string]string{}
	taken := map[string]bool{}
	for _, t := range chats {
		user, ok := userOf(t.Path)
		if !ok || x.users[user] != "" {
			continue
		}
		x.users[user] = unused(taken, folderNamed(filepath.Base(user)), "")
	}

	if len(x.users) < 2 {
		x.users = nil
	}
}

// UserOf returns the name of the user's folder below Output for the chat at path. It is "" if all chats
// are of one user, or the chat is in no user folder.
func (x *Export) UserOf(path string) string {
	if len(x.users) == 0 {
		return ""
	}
	user, _ := userOf(path)
	return x.users[user]
}

// userOf returns the real path of the user folder that a chat lies in, also where SillyTavern looks for
// none.
func userOf(path string) (string, bool) {
	dir, ok := userdir.Find(path)
	if !ok {
		dir, ok = userdir.AroundStray(path)
	}
	if !ok {
		return "", false
	}
	return userdir.RealPath(dir.Root), true
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
	stem := filepath.Join(x.Output, x.UserOf(path), folder, fileNamed(name))
	file := unused(x.taken, stem, extension)
	return file, x.Free(file)
}

// unused returns a name, or the first of "stem (2)" and so on whose folded form is not taken, and takes it.
func unused(taken map[string]bool, stem, extension string) string {
	name := stem + extension
	for k := 2; taken[names.Fold(name)]; k++ {
		name = fmt.Sprintf("%s (%d)%s", stem, k, extension)
	}
	taken[names.Fold(name)] = true
	return name
}

// folderOf returns the folder for the chats of an owner.
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

	return folderNamed(owner), nil
}

// folderNamed makes a name of a folder below Output of a name: not that of the index, and none by which
// Output would be taken for a user folder.
func folderNamed(name string) string {
	folder := fileNamed(name)
	if fold := names.Fold(folder); fold == Index || userdir.IsPart(fold) {
		folder += " (2)"
	}
	return folder
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
