package inspect

import (
	"os"
	"strings"

	"stchat/internal/chat"
	"stchat/internal/extension/autorecap"
	"stchat/internal/extension/illustrator"
	"stchat/internal/extension/luker"
	"stchat/internal/extension/memorybook"
	"stchat/internal/library"
	"stchat/internal/rawjson"
)

// MaxKeys is how many keys of the metadata are listed, so that a hostile header cannot fill
// the memory; the rest are only counted.
const MaxKeys = 10_000

// isCore reports whether SillyTavern itself writes the key.
func isCore(key string) bool {
	switch key {
	case "integrity", "main_chat", "tainted",
		"note_prompt", "note_interval", "note_depth", "note_position", "note_role",
		"world_info", "persona", "scenario", "mes_example", "system_prompt", "variables", "script_injects",
		"attachments", "custom_background", "chat_backgrounds", "quickReply",
		"narrator_name", "chat_id_hash", "pick_reroll_seed", "lastInContextMessageId", "timedWorldInfo",
		"branches": // of merged and split chats
		return true
	}
	return strings.HasPrefix(key, "cfg_")
}

// extensions returns what extensions keep in the metadata, in the messages and
// beside the chat.
func extensions(c *chat.Chat, md *rawjson.Object, t *tally, f *library.Folder) []Extension {
	var list []Extension
	recap := &AutoRecap{Name: "auto-recap", Known: true, SceneBreaks: t.breaks, HiddenBreaks: t.hiddenBreaks, SceneRecaps: t.recaps}
	found := t.breaks+t.hiddenBreaks+t.recaps > 0
	var unknown []Extension
	var known []Extension
	for key, raw := range md.All() {
		size := int64(len(raw))
		switch {
		case isCore(key):
		case autorecap.IsKey(key):
			found = true
			recap.Bytes += size
		case key == illustrator.Key:
			known = append(known, &AutoIllustrator{
				Name: "auto-illustrator", Known: true, Bytes: size,
				Prompts: members(raw, "promptRegistry", "nodes"), Trees: elements(raw, "promptRegistry", "rootPromptIds"),
				Images: members(raw, "promptRegistry", "imageToPromptId"),
			})
		case key == memorybook.Key:
			known = append(known, memoryBooks(raw))
		default:
			if len(unknown) < MaxKeys {
				unknown = append(unknown, &Unknown{Name: key, Bytes: size})
			}
		}
	}
	if found {
		recap.read(md)
		list = append(list, recap)
	}
	list = append(list, known...)
	if l := lukerOf(c, f); l != nil {
		list = append(list, l)
	}
	return append(list, unknown...)
}

// memoryBooks returns what STMemoryBooks keeps.
func memoryBooks(raw []byte) *MemoryBooks {
	index := func(raw []byte) *int {
		if n, ok := rawjson.Int(raw); ok {
			return &n
		}
		return nil
	}
	marks := memorybook.Read(raw)
	return &MemoryBooks{
		Name: "memory-books", Known: true, Bytes: int64(len(raw)),
		SceneStart: index(marks.Start), SceneEnd: index(marks.End), Highest: index(marks.Highest),
	}
}

// elements counts the elements of the list at a path.
func elements(raw []byte, path ...string) int {
	raw = rawjson.Value(raw, path...)
	n := 0
	for range rawjson.Elements(raw) {
		n++
	}
	return n
}

// members counts the members of the object at a path.
func members(raw []byte, path ...string) int {
	raw = rawjson.Value(raw, path...)
	n := 0
	for range rawjson.Members(raw) {
		n++
	}
	return n
}

// lukerOf describes the chat's sidecars; nil if there are none.
func lukerOf(c *chat.Chat, f *library.Folder) *Luker {
	if f == nil {
		return nil
	}
	files := f.Sidecars(c.Name)
	if len(files) == 0 {
		return nil
	}
	l := &Luker{Name: "luker", Known: true}
	for _, file := range files {
		s := Sidecar{Namespace: file.Namespace, Kind: string(file.Kind)}
		if info, err := os.Lstat(file.Path); err == nil {
			s.Bytes = info.Size()
			l.Bytes += s.Bytes
		}
		if file.Kind == luker.FloorLog {
			s.Commits, s.LastFloor = floors(file.Path)
		}
		l.Sidecars = append(l.Sidecars, s)
	}
	return l
}

// floors returns the number of commits in a floor log, and the last message that
// one of them belongs to; nil if the log cannot be read.
func floors(path string) (commits, last *int) {
	f, err := chat.OpenRegular(path)
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	n := 0
	err = luker.EachCommit(f, func(c *luker.Commit) error {
		if !c.Valid {
			return nil
		}
		n++
		if floor := c.Floor; last == nil || floor > *last {
			last = &floor
		}
		return nil
	})
	if err != nil {
		return nil, nil
	}
	return &n, last
}
