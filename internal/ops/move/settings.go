package move

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"stchat/internal/extension"
	"stchat/internal/extension/all"
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
	warnings, notes []string
}

// edit returns the settings with the chats renamed, and in how many places they were.
func (k *keptByName) edit(settings []byte) (edited []byte, count int, err error) {
	if _, err := rawjson.ParseObject(settings); err != nil {
		return settings, 0, nil // no place is found
	}
	k.warnings, k.notes = nil, nil
	edited = rawjson.Edit(settings, func(root *rawjson.Object) {
		all.Table().Rename(root, extension.Settings, extension.OwnChat, func(row extension.Row, name string) string {
			to, renamed := k.to[name]
			if !renamed {
				return name
			}
			if others := k.shared(name); len(others) > 0 {
				k.warn("settings.json: what %s keeps of %q stays there: it is of %s, too, as far as it says", row.Extension, name, others[0])
				return name
			}
			count++
			if row.Leaves != "" {
				k.notes = append(k.notes, fmt.Sprintf("settings.json: %s follows the name of the chat, but not %s", row.Extension, row.Leaves))
			}
			return to
		})
	})
	k.warnTaken(edited)
	return edited, count, nil
}

// warnTaken warns of what stays, since there is something of the new name already.
func (k *keptByName) warnTaken(edited []byte) {
	rawjson.Edit(edited, func(root *rawjson.Object) {
		all.Table().Rename(root, extension.Settings, extension.OwnChat, func(row extension.Row, name string) string {
			to, renamed := k.to[name]
			if renamed && len(k.shared(name)) == 0 {
				k.warn("settings.json: what %s keeps of %q stays there: it keeps something of %q already", row.Extension, name, to)
			}
			return name
		})
	})
}

// warn adds a warning, once.
func (k *keptByName) warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(k.warnings, text) {
		k.warnings = append(k.warnings, text)
	}
}
