package past

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/card"
	"stchat/internal/changeset"
	"stchat/internal/chat"
	"stchat/internal/group"
	"stchat/internal/names"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// savedAgain reports whether a chat that a command made has no message of its own: nobody went
// on with it, though it was saved again since.
func savedAgain(ctx context.Context, path string) bool {
	if !userdir.HasExtension(path) {
		return false
	}
	c, err := chat.Open(ctx, path, chat.Options{})
	if err != nil {
		return false
	}
	defer c.Close()
	if c.Damage.Total > 0 || c.Header == nil {
		return false
	}
	if c.Body == c.Source.Size { // it is its header
		return true
	}
	parent, _ := rawjson.Unquote(c.Metadata().Value("main_chat"))
	from, err := userdir.Within(filepath.Dir(path), parent, names.Extension)
	if parent == "" || err != nil {
		return false
	}
	source, err := chat.Open(ctx, from, chat.Options{})
	if err != nil {
		return false
	}
	defer source.Close()
	own, err := chat.OwnMessages(ctx, source, c)
	return err == nil && own == 0 && source.Damage.Total == 0
}

// begunSince returns the file of a chat that a step only put into its group's list, if
// SillyTavern has made it since.
func begunSince(path, about string) []string {
	name, ok := group.BegunIn(about)
	if !ok {
		return nil
	}
	chats := userdir.Dir{Root: filepath.Dir(filepath.Dir(path))}.GroupChats()
	file, err := userdir.Within(chats, name, names.Extension)
	if err != nil {
		return nil
	}
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return []string{file}
}

// needs reports whether one of the chats that are left has the file at path beside it as a
// sidecar, or names it as its lorebook.
func needs(ctx context.Context, path string, left []string) bool {
	for _, file := range left {
		if !userdir.HasExtension(file) {
			continue
		}
		if filepath.Dir(path) == filepath.Dir(file) && strings.HasPrefix(filepath.Base(path), userdir.ChatName(file)+".luker-") {
			return true
		}
		if filepath.Base(filepath.Dir(path)) != "worlds" {
			continue
		}
		c, err := chat.Open(ctx, file, chat.Options{})
		if err != nil {
			continue
		}
		book, _ := rawjson.Unquote(c.Metadata().Value("world_info"))
		c.Close()
		if book != "" && filepath.Base(path) == book+".json" {
			return true
		}
	}
	return false
}

// keepListed returns an edit that keeps in a group's list what it lists of the chats that are
// left.
func keepListed(path string, left []string) func(old []byte) ([]byte, error) {
	if !isGroup(path) {
		return nil
	}
	now, err := group.Load(path)
	if err != nil {
		return nil
	}
	var list []string
	for _, file := range left {
		if name := userdir.ChatName(file); userdir.HasExtension(file) && now.Lists(name) {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return func(old []byte) ([]byte, error) {
		listed, _, err := (&group.Edit{Path: path, List: list}).Apply(old)
		return listed, err
	}
}

// opensAgain returns the cards and groups that open with another chat once a record is taken
// back.
func opensAgain(root string, u *changeset.Undoing) (list []Opens) {
	for _, s := range u.Record.Steps() {
		file := filepath.Join(root, filepath.FromSlash(s.Path))
		if s.Kept == "" || s.Do != changeset.Replace || !isGroup(file) && path.Dir(s.Path) != "characters" {
			continue
		}
		was, ok := opensWith(filepath.Join(root, userdir.Own, s.Kept), file)
		now, ok2 := opensWith(file, file)
		if ok && ok2 && was != now && !slices.ContainsFunc(list, func(o Opens) bool { return o.Path == file }) {
			list = append(list, Opens{file, was})
		}
	}
	return list
}

func isGroup(path string) bool {
	return filepath.Base(filepath.Dir(path)) == "groups" && strings.EqualFold(filepath.Ext(path), ".json")
}

// mostCard is the size, in bytes, of the largest card or group file that is looked into.
const mostCard = 64 << 20

// opensWith returns the chat that a card or group opens with, by the content of a file.
func opensWith(file, path string) (name string, ok bool) {
	raw, err := safefile.ReadPlain(file, mostCard)
	if err != nil {
		return "", false
	}
	if isGroup(path) {
		g, err := group.Parse(path, raw)
		if err != nil {
			return "", false
		}
		return g.ChatID, true
	}
	c, err := card.Parse(raw, path)
	if err != nil {
		return "", false
	}
	return c.Chat, true
}
