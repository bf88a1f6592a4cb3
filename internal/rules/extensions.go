package rules

import (
	"fmt"
	"os"
	"strings"
	"time"

	"stchat/internal/jsonl"
	"stchat/internal/luker"
	"stchat/internal/rawjson"
)

// recap is what a header says of Auto-Recap's running recap (FORMATS.md B2).
type recap struct {
	chatID   string
	versions int
}

// judgeHeader reads the header, judges what it tells together with the number
// of messages, and keeps what the rules across files need.
func (s *scan) judgeHeader() {
	c, line := s.chat, s.header
	header, err := rawjson.ParseObject(line)
	if err != nil {
		return
	}
	report := func(id ID, message string) { c.report(id, c.HeaderLine, 0, message) }
	if keys := header.Duplicates(); len(keys) > 0 {
		report(DuplicateKey, duplicateMessage("", keys))
	}
	raw, _ := header.Get("chat_metadata")
	md, err := rawjson.ParseObject(raw)
	if err != nil {
		if kind := rawjson.KindOf(raw); kind != rawjson.Null && kind != rawjson.Invalid {
			c.add(Finding{
				Rule: NotAnObject, Line: c.HeaderLine, Index: -1, Message: fmt.Sprintf("chat_metadata is %v, not an object", kind),
				effect: "SillyTavern loads the chat without its metadata: lorebook, author's note, parent and what extensions keep",
			})
		}
		md = rawjson.NewObject()
	}
	if keys := md.Duplicates(); len(keys) > 0 {
		report(DuplicateKey, duplicateMessage("chat_metadata", keys))
	}
	c.MainChat = text(md, "main_chat")
	c.Integrity = text(md, "integrity")
	c.Lorebook = text(md, "world_info")
	if auto, ok := md.Get("auto_lorebooks"); ok {
		name, _ := rawjson.Lookup(auto, "lorebookName")
		c.AutoBook, _ = rawjson.Unquote(name)
	}
	s.runningRecap(md, report)
	s.combinedRecap(md, report)
	s.pendingOperations(md, report)
	s.prompts(md, report)
}

// text gives a copy of a value that is text, "" for everything else.
func text(o *rawjson.Object, key string) string {
	raw, _ := o.Get(key)
	s, _ := rawjson.Unquote(raw)
	return strings.Clone(s)
}

// runningRecap judges the versions of the running recap.
func (s *scan) runningRecap(md *rawjson.Object, report func(ID, string)) {
	store, ok := md.Get("auto_recap_running_scene_recaps")
	if !ok {
		return
	}
	raw, _ := rawjson.Lookup(store, "versions")
	current, _ := rawjson.Lookup(store, "current_version")
	chosen, isInt := rawjson.Int(current)
	found := false
	n := 0
	for version := range rawjson.Elements(raw) {
		n++
		number, _ := rawjson.Lookup(version, "version")
		v, ok := rawjson.Int(number)
		found = found || ok && isInt && v == chosen
		scene, _ := rawjson.Lookup(version, "new_scene_index")
		if at, ok := rawjson.Int(scene); ok && at >= s.chat.Messages {
			report(BeyondEnd, fmt.Sprintf("version %s of the running recap is made at a message beyond the last one", clip(string(number))))
		}
	}
	s.chat.recap.versions = n
	id, _ := rawjson.Lookup(store, "chat_id")
	s.chat.recap.chatID, _ = rawjson.Unquote(id)
	s.chat.recap.chatID = strings.Clone(s.chat.recap.chatID)
	if n > 0 && !found {
		report(RecapVersion, fmt.Sprintf("current_version %s is none of the running recap's versions", clip(orNothing(current))))
	}
}

func orNothing(raw []byte) string {
	if len(raw) == 0 {
		return "(missing)"
	}
	return string(raw)
}

// recapOwner judges whether Auto-Recap will erase the running recap
// (get_running_recap_storage, FORMATS.md B2.1).
func (k *Checker) recapOwner(c *Chat) {
	if !k.RecapErased(c) {
		return
	}
	c.report(RecapChatID, c.HeaderLine, 0, fmt.Sprintf("the running recap is of the chat %q, and this chat has no parent", clip(c.recap.chatID)))
}

// RecapErased reports whether Auto-Recap would replace the chat's running recap
// by an empty one: it is of another chat, the chat has no parent, and it does
// not look imported, which it does when its lorebook is not there.
func (k *Checker) RecapErased(c *Chat) bool {
	if c.recap.versions == 0 || c.recap.chatID == c.Name || c.MainChat != "" {
		return false
	}
	return c.Lorebook == "" || !c.HasDir || !k.book(c.Dir, c.Lorebook).missing
}

// ForeignRecap reports whether the chat has a running recap of another chat:
// it must be made its own before the chat loses its parent.
func (c *Chat) ForeignRecap() bool { return c.recap.versions > 0 && c.recap.chatID != c.Name }

// combinedRecap judges auto_recap.combined_recap.
func (s *scan) combinedRecap(md *rawjson.Object, report func(ID, string)) {
	auto, _ := md.Get("auto_recap")
	combined, ok := rawjson.Lookup(auto, "combined_recap")
	if !ok {
		return
	}
	id, _ := rawjson.Lookup(combined, "chat_id")
	if name, ok := rawjson.Unquote(id); ok && name != "" && name != s.chat.Name {
		report(CombinedRecap, fmt.Sprintf("the combined recap is of the chat %q", clip(name)))
	}
	count, _ := rawjson.Lookup(combined, "message_count")
	if n, ok := rawjson.Int(count); ok && n > s.chat.Messages {
		report(CombinedRecap, "the combined recap is of more messages than there are")
	}
}

// pendingAge is how old a pending operation may get.
const pendingAge = 24 * time.Hour

// pendingOperations judges autoLorebooks.pendingOps.
func (s *scan) pendingOperations(md *rawjson.Object, report func(ID, string)) {
	auto, _ := md.Get("autoLorebooks")
	ops, _ := rawjson.Lookup(auto, "pendingOps")
	limit := float64(s.now.Add(-pendingAge).UnixMilli())
	old := 0
	for _, op := range rawjson.Members(ops) {
		stamp, _ := rawjson.Lookup(op, "timestamp")
		if ms, ok := rawjson.Float(stamp); ok && ms < limit {
			old++
		}
	}
	if old > 0 {
		report(PendingOld, fmt.Sprintf("pending for more than 24 hours: %d", old))
	}
}

// prompts judges Auto-Illustrator's registry (FORMATS.md C1).
func (s *scan) prompts(md *rawjson.Object, report func(ID, string)) {
	store, _ := md.Get("auto_illustrator")
	nodes, _ := rawjson.Lookup(store, "promptRegistry", "nodes")
	beyond := 0
	for _, node := range rawjson.Members(nodes) {
		id, _ := rawjson.Lookup(node, "messageId")
		if at, ok := rawjson.Int(id); ok && at >= s.chat.Messages {
			beyond++
		}
	}
	if beyond > 0 {
		report(BeyondEnd, fmt.Sprintf("prompts of Auto-Illustrator for messages beyond the last one: %d", beyond))
	}
}

// lukerFiles judges the sidecars that Luker keeps beside a chat (FORMATS.md A1, A2).
func (k *Checker) lukerFiles(c *Chat) {
	for _, sidecar := range k.Sidecars(c) {
		switch sidecar.Kind {
		case luker.ChatSync:
			k.lukerSync(c, sidecar.Path)
		case luker.FloorLog:
			k.lukerFloors(c, sidecar.Path)
		}
	}
}

// lukerSync judges the slug that Luker keeps beside the header's.
func (k *Checker) lukerSync(c *Chat, path string) {
	raw, damage := readSidecar(path)
	slug, _ := rawjson.Lookup(raw, "integrity")
	value, ok := rawjson.Unquote(slug)
	switch {
	case damage != "":
		c.report(LukerSlug, c.HeaderLine, 0, "the sidecar chat_sync cannot be read: "+damage)
	case ok && value != c.Integrity && c.HasHeader:
		c.report(LukerSlug, c.HeaderLine, 0, "the header's slug is not that of the sidecar chat_sync")
	}
}

// lukerFloors judges a floor log.
func (k *Checker) lukerFloors(c *Chat, path string) {
	raw, damage := readSidecar(path)
	if damage != "" {
		c.add(Finding{Rule: LukerFloor, Path: path, Index: -1, Message: "the floor log cannot be read: " + damage})
		return
	}
	commits, _ := rawjson.Lookup(raw, "commits")
	beyond := 0
	for commit := range rawjson.Elements(commits) {
		floor, _ := rawjson.Lookup(commit, "floor")
		if at, ok := rawjson.Int(floor); ok && at >= c.Messages {
			beyond++
		}
	}
	if beyond > 0 {
		c.add(Finding{Rule: LukerFloor, Path: path, Index: -1, Message: fmt.Sprintf("floors beyond the chat's last message: %d", beyond)})
	}
}

// readSidecar reads a sidecar, which is one JSON object.
func readSidecar(path string) (raw []byte, damage string) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, "not a regular file"
	}
	if err == nil {
		raw, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, reason(err)
	}
	if d := jsonl.Check(raw); d != nil {
		return nil, d.Reason
	}
	if kind := rawjson.KindOf(raw); kind != rawjson.ObjectKind {
		return nil, kind.String() + ", not an object"
	}
	return raw, ""
}
