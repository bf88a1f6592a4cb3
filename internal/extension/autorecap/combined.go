package autorecap

import "stchat/internal/rawjson"

// Combined is the combined recap of Auto-Recap's documents, which no code writes.
type Combined struct{ raw []byte }

// CombinedIn returns the combined recap of a chat; ok is false if there is none.
func CombinedIn(metadata *rawjson.Object) (c Combined, ok bool) {
	c.raw, ok = rawjson.Lookup(metadata.Value(keyDocumented), "combined_recap")
	return c, ok
}

// ChatID returns the name of the recap's chat, and whether one is noted.
func (c Combined) ChatID() (string, bool) {
	return rawjson.Unquote(rawjson.Value(c.raw, "chat_id"))
}

// Messages returns how many messages the recap covers; ok is false if that is not noted.
func (c Combined) Messages() (n float64, ok bool) {
	return rawjson.Float(rawjson.Value(c.raw, "message_count"))
}

// DropCombined removes a combined recap that covers more messages than there are. It
// returns the number that the recap noted, or "" if it removed none.
func DropCombined(metadata *rawjson.Object, messages int) (was string) {
	combined, ok := CombinedIn(metadata)
	if !ok || rawjson.KindOf(combined.raw) != rawjson.ObjectKind {
		return ""
	}
	count, ok := combined.Messages()
	if !ok || count <= float64(messages) {
		return ""
	}
	was = string(rawjson.Compact(rawjson.Value(combined.raw, "message_count")))
	metadata.Edit(func(recap *rawjson.Object) { recap.Unset("combined_recap") }, keyDocumented)
	return was
}

// SetCombinedChat makes the combined recap belong to the chat called name, and reports
// whether that changed anything.
func SetCombinedChat(metadata *rawjson.Object, name string) (changed bool) {
	metadata.Edit(func(combined *rawjson.Object) { changed = own(combined, name) }, keyDocumented, "combined_recap")
	return changed
}
