package move

import (
	"path/filepath"
	"strings"

	"stchat/internal/changeset"
	"stchat/internal/family"
	"stchat/internal/names"
	"stchat/internal/ops"
	"stchat/internal/rawjson"
	"stchat/internal/userdir"
)

// draftPins renames the chats that are pinned on SillyTavern's welcome screen: in
// settings.json, accountStorage.pinnedChats, an object as JSON text, keyed by owner and file
// (welcome-screen.js of 1.19).
func draftPins(n *naming, s *changeset.Set) error {
	dir := n.folder.graph.Folder
	if !dir.HasDir {
		return nil
	}
	return ops.PathError(editSettings(s, n.r, dir.Dir, "pinned chats", "the chats that are pinned", func(old []byte) ([]byte, int, error) {
		edited, count := pinned(n, old)
		return edited, count, nil
	}))
}

// pinned returns the settings with the pins renamed, and how many were.
func pinned(n *naming, settings []byte) (edited []byte, count int) {
	text, ok := rawjson.Unquote(rawjson.Value(settings, "accountStorage", "pinnedChats"))
	if !ok {
		return settings, 0
	}
	pins := []byte(text)
	for _, c := range n.renamed() {
		old, fresh := c.Name+names.Extension, n.to[c]+names.Extension
		for _, owner := range pinOwners(n.folder, c) {
			key := owner + "_" + old
			pin, ok := rawjson.Lookup(pins, key)
			if !ok {
				continue
			}
			count++
			if set, err := rawjson.SetPath(pin, rawjson.Quote(fresh), "file_name"); err == nil {
				if whole, err := rawjson.SetPath(pins, set, key); err == nil {
					pins = whole
				}
			}
			pins = rawjson.RenameKey(pins, key, owner+"_"+fresh)
		}
	}
	if count == 0 {
		return settings, 0
	}
	edited, err := rawjson.SetPath(settings, rawjson.Quote(string(pins)), "accountStorage", "pinnedChats")
	if err != nil {
		return settings, 0
	}
	return edited, count
}

// pinOwners returns the owners of a chat as SillyTavern's pins name them: by avatar or group.
func pinOwners(f *folder, c *family.Chat) []string {
	if f.graph.Folder.Kind == userdir.Solo {
		return []string{"char_" + f.graph.Folder.Owner + ".png"}
	}
	var list []string
	for _, path := range c.Groups {
		list = append(list, "group_"+strings.TrimSuffix(filepath.Base(path), ".json"))
	}
	return list
}
