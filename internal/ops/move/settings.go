package move

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"stchat/internal/extension"
	"stchat/internal/extension/all"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/place/names"
)

// draftKept renames the chats in settings.json where extensions keep something by a chat's name.
func (n *renameSet) draftKept() error {
	dir := n.graph.Folder
	to := map[string]string{}
	for _, c := range n.renamed() {
		if dir.HasDir && n.to[c] != c.Name {
			to[c.Name] = n.to[c]
		}
	}

	if len(to) == 0 {
		return nil
	}
	k := &keptByName{to: to, shared: n.chatsCalled}
	err := editSettings(n.s, n.r, dir.Dir, "chats", "what extensions keep by the name of a chat", k.edit)
	for _, warning := range k.warnings {
		n.r.Warn("%s", warning)
	}
	for _, note := range k.notes {
		n.r.Note("%s", note)
	}
	return err
}

// chatsCalled returns the other chats of the user with a name.
func (n *renameSet) chatsCalled(name string) (paths []string) {
	dir := n.graph.Folder.Dir
	folders := []string{dir.GroupChats()}
	entries, _ := os.ReadDir(dir.Chats())
	for _, e := range entries {
		folders = append(folders, filepath.Join(dir.Chats(), e.Name()))
	}
	for _, folder := range folders {
		path := filepath.Join(folder, name+names.Extension)
		if c := n.graph.Find(name); c != nil && c.Path == path {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			paths = append(paths, path)
		}
	}
	return paths
}

// keptByName is what extensions keep in settings.json by the names of chats that are renamed. They do
// not say whose chat it is.
type keptByName struct {
	to              map[string]string
	shared          func(name string) (others []string)
	others          library.Once[[]string] // what shared has returned
	warnings, notes []string
}

// edit returns the settings with the chats renamed, and in how many places they were.
func (k *keptByName) edit(settings []byte) (edited []byte, count int, err error) {
	if _, err := rawjson.ParseObject(settings); err != nil {
		return settings, 0, nil // no place is found
	}
	k.warnings, k.notes = nil, nil
	edited = rawjson.Edit(settings, func(root *rawjson.Object) {
		kept := k.kept(root)
		all.Table().Rename(root, extension.Settings, extension.OwnChat, func(row extension.Row, name string) string {
			to, renamed := k.to[name]
			if !renamed {
				return name
			}
			if stays := k.stays(kept, row.Extension, name); stays != "" {
				k.warn("settings.json: what %s keeps of %q stays there: %s", row.Extension, name, stays)
				return name
			}
			count++
			if row.Leaves != "" {
				k.notes = append(k.notes, fmt.Sprintf("settings.json: what %s keeps follows the chat's new name, but not %s", row.Extension, row.Leaves))
			}
			return to
		})
	})
	return edited, count, nil
}

// kept returns of which chats an extension keeps something under their names.
func (k *keptByName) kept(root *rawjson.Object) map[keeper]bool {
	kept := map[keeper]bool{}
	all.Table().Rename(root, extension.Settings, extension.OwnChat, func(row extension.Row, name string) string {
		if row.IsKey() {
			kept[keeper{row.Extension, name}] = true
		}
		return name
	})
	return kept
}

// keeper is an extension that keeps something of a chat.
type keeper struct{ extension, chat string }

// stays says why what an extension keeps of a chat stays under the old name; "": it does not.
func (k *keptByName) stays(kept map[keeper]bool, name, chat string) (why string) {
	others := k.others.Get(chat, func() []string { return k.shared(chat) })
	if len(others) > 0 {
		return fmt.Sprintf("it does not say whose chat it is of, and %s is called so, too", others[0])
	}
	isTaken := kept[keeper{name, chat}] && kept[keeper{name, k.to[chat]}]
	if isTaken {
		return fmt.Sprintf("there is something of %q already", k.to[chat])
	}
	return ""
}

// warn adds a warning, once.
func (k *keptByName) warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(k.warnings, text) {
		k.warnings = append(k.warnings, text)
	}
}
