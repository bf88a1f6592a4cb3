package inspect

import (
	"io"
	"math"
	"os"
	"strings"

	"stchat/internal/chat"
	"stchat/internal/luker"
	"stchat/internal/rawjson"
)

// The metadata keys of the extensions that are known (FORMATS.md B2 and C1).
const (
	keyRunning     = "auto_recap_running_scene_recaps"
	keyPendingOps  = "autoLorebooks"
	keyIllustrator = "auto_illustrator"
)

// isCore tells whether SillyTavern itself writes the key.
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

// isRecap tells whether Auto-Recap writes the key, or its documentation says so.
func isRecap(key string) bool {
	switch key {
	case keyRunning, keyPendingOps, "auto_lorebooks", "auto_recap", "auto_recap_checkpoint_state", "auto_lorebooks_processed_recaps":
		return true
	}
	return false
}

// extensions tells what extensions keep in the metadata, in the messages and
// beside the chat.
func extensions(c *chat.Chat, md *rawjson.Object, t *tally, f *folder) []Extension {
	list := []Extension{}
	recap := &AutoRecap{Name: "auto-recap", Known: true, SceneBreaks: t.breaks, HiddenBreaks: t.hiddenBreaks, SceneRecaps: t.recaps}
	found := t.breaks+t.hiddenBreaks+t.recaps > 0
	var unknown []Extension
	var illustrator *AutoIllustrator
	for key, raw := range md.All() {
		size := int64(len(raw))
		switch {
		case isCore(key):
		case isRecap(key):
			found = true
			recap.Bytes += size
			recap.read(key, raw)
		case key == keyIllustrator:
			illustrator = &AutoIllustrator{
				Name: "auto-illustrator", Known: true, Bytes: size,
				Prompts: members(raw, "promptRegistry", "nodes"), Images: members(raw, "promptRegistry", "imageToPromptId"),
			}
		default:
			unknown = append(unknown, &Unknown{Name: key, Bytes: size})
		}
	}
	if found {
		list = append(list, recap)
	}
	if illustrator != nil {
		list = append(list, illustrator)
	}
	if l := lukerOf(c, f); l != nil {
		list = append(list, l)
	}
	return append(list, unknown...)
}

// read takes what one of Auto-Recap's keys tells.
func (r *AutoRecap) read(key string, raw []byte) {
	switch key {
	case keyRunning:
		versions, _ := rawjson.Lookup(raw, "versions")
		for range rawjson.Elements(versions) {
			r.Versions++
		}
		id, _ := rawjson.Lookup(raw, "chat_id")
		if s, ok := rawjson.Unquote(id); ok {
			r.ChatID = &s
		}
		current, _ := rawjson.Lookup(raw, "current_version")
		if n, ok := rawjson.Int(current); ok {
			r.Current = &n
		}
	case keyPendingOps:
		r.Pending = members(raw, "pendingOps")
	}
}

// members counts the members of the object at a path.
func members(raw []byte, path ...string) int {
	raw, _ = rawjson.Lookup(raw, path...)
	n := 0
	for range rawjson.Members(raw) {
		n++
	}
	return n
}

// lukerOf tells of the chat's sidecars; nil where there are none.
func lukerOf(c *chat.Chat, f *folder) *Luker {
	if f == nil || len(f.sidecars) == 0 {
		return nil
	}
	files := luker.Among(f.sidecars, f.path, c.Name)
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

// floors counts the commits of a floor log, and gives the last message that
// one of them belongs to.
func floors(path string) (commits, last *int) {
	f, err := chat.OpenRegular(path)
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	raw, err := io.ReadAll(f)
	if err != nil {
		return nil, nil
	}
	// what a branch at the last message there can be would keep: all that is valid
	log, kept, _, err := luker.CutFloorLog(raw, math.MaxInt)
	if err != nil {
		return nil, nil
	}
	list, _ := rawjson.Lookup(log, "commits")
	for commit := range rawjson.Elements(list) {
		raw, _ := rawjson.Lookup(commit, "floor")
		if floor, ok := rawjson.Int(raw); ok && (last == nil || floor > *last) {
			last = &floor
		}
	}
	return &kept, last
}
