package autorecap

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"stchat/internal/extension"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/lorebook"
	"stchat/internal/text/visible"
)

// Watch notes at which messages versions of the running recap are made.
func (e *Extension) Watch(metadata *rawjson.Object) {
	e.scenes = map[int]bool{}
	running, _ := RunningIn(metadata)
	for version := range running.Versions() {
		if scene, ok := rawjson.Int(version.Scene()); ok {
			e.scenes[scene] = false
		}
	}
}

// Sight sees whether a message has a scene recap.
func (*Extension) Sight(s *extension.Sighting) {
	if mark := ReadMark(s.Value(Module), s.Value(DocumentedModule)); mark.Scene().Recap {
		s.See("", nil)
	}
}

// Sighted notes that a message has a scene recap.
func (e *Extension) Sighted(i int, _ string) (rule, fault string) {
	if _, ok := e.scenes[i]; ok {
		e.scenes[i] = true
	}
	return "", ""
}

// Judge reports a running recap that Auto-Recap erases, replaces or cannot read, versions whose
// scene is gone, a combined recap of another chat or of more messages than there are, operations
// that are pending for too long, and an index that names entries that are not there.
func (e *Extension) Judge(j *extension.Judging) {
	e.judgeRunning(j)
	combined := combinedIn(j.Metadata)
	if name, _ := rawjson.Unquote(rawjson.Value(combined, "chat_id")); name != "" && name != j.Chat && j.Chat != "" {
		j.Report("combined-recap", fmt.Sprintf("the combined recap is of the chat %q", name))
	}
	if n, ok := rawjson.Float(rawjson.Value(combined, "message_count")); ok && n > float64(j.Messages) {
		j.Report("combined-recap", "the combined recap is of more messages than there are")
	}
	waiting, undated := 0, 0
	editPending(j.Metadata, func(operations *rawjson.Object) {
		for _, operation := range operations.All() {
			switch old, dated := isStale(operation, j.Now.Add(-pendingAge)); {
			case !dated:
				undated++
			case old:
				waiting++
			}
		}
	})

	if waiting > 0 {
		j.Report("pending-old", fmt.Sprintf("pending for more than 24 hours: %d", waiting))
	}
	if undated > 0 {
		j.Report("pending-old", fmt.Sprintf("pending without a readable timestamp: %d", undated))
	}
	misshapen(j.Metadata, func(fault string) { j.Report("recap-shape", fault) })
	name, ok := lorebook.NameIn(j.Metadata)
	if !ok || j.Book == nil {
		return
	}
	var book extension.BookFacts
	for uid := range indexed(j.Metadata) {
		if book.Has == nil {
			book = j.Book(name)
		}
		if book.Missing || book.Unread {
			return
		}
		if !book.Has(uid) {
			j.Report("registry-index", fmt.Sprintf("the index names uid %s, which no entry of %q has", uid, name))
		}
	}
}

// judgeRunning judges whether the current version exists, whether Auto-Recap will erase the recap
// (get_running_recap_storage, FORMATS.md B2.1), and at which messages its versions are made, as
// cleanup_invalid_running_recaps does (B2.2).
func (e *Extension) judgeRunning(j *extension.Judging) {
	running, ok := RunningIn(j.Metadata)
	if !ok {
		return
	}
	if n, found, newest := running.chosen(); n > 0 && !found {
		f := extension.Finding{Rule: "recap-version", Whole: true, Message: fmt.Sprintf("current_version %s is not one of the running recap's versions", visible.Brief(orMissing(running.Current())))}
		if newest == nil {
			f.ByHand = "give the versions their numbers by hand"
		}
		j.Find(f)
	}

	if j.Chat != "" && Foreign(j.Metadata, j.Chat) && erases(j) {
		id, _ := running.ChatID()
		j.Find(extension.Finding{Rule: "recap-chat-id", Whole: true, Message: fmt.Sprintf("the running recap is of the chat %q, and this chat has no parent", visible.Brief(id))})
	}
	for version := range running.Versions() {
		name := "Auto-Recap's recap " + orMissing(version.Value("version"))
		if rule, where := e.misplaced(version, j.Messages); rule != "" {
			j.Report(rule, name+" is about "+where)
		}
		if before, ok := rawjson.Float(version.Value("prev_scene_index")); ok && before >= float64(j.Messages) {
			j.Report("beyond-end", name+" follows a scene that ends at "+beyond(before, j.Messages))
		}
	}
}

// misplaced returns the rule that is broken if a version is made beyond the end or at no scene recap, and
// where that is.
func (e *Extension) misplaced(v Version, messages int) (rule, where string) {
	switch scene, ok := rawjson.Float(v.Scene()); {
	case !ok:
		return "recap-scene", "no message"
	case scene >= float64(messages):
		return "beyond-end", beyond(scene, messages)
	case !e.scenes[int(scene)] || scene != float64(int(scene)):
		return "recap-scene", fmt.Sprintf("message %s, which has no scene recap", strconv.FormatFloat(scene, 'g', -1, 64))
	}
	return "", ""
}

// beyond names a message behind the last one of a chat.
func beyond(message float64, messages int) string {
	number := strconv.FormatFloat(message, 'g', -1, 64)
	return fmt.Sprintf("message %s, and the chat ends at %d", number, messages-1)
}

// chosen returns how many versions there are, whether the current one is among them, and the raw
// highest number of one, nil if none has one.
func (r Running) chosen() (n int, found bool, newest []byte) {
	current, isNumber := rawjson.Float(r.Current())
	top := math.Inf(-1)
	for version := range r.Versions() {
		n++
		number, ok := version.Number()
		found = found || ok && isNumber && number == current
		if ok && !math.IsInf(number, 0) && number > top {
			top, newest = number, version.Value("version")
		}
	}
	return n, found, newest
}

// Foreign reports whether a chat has the running recap of another chat. Such a recap must become
// the chat's own before the chat loses its parent.
func Foreign(metadata *rawjson.Object, chat string) bool {
	running, _ := RunningIn(metadata)
	id, _ := running.ChatID()
	for range running.Versions() {
		return id != chat
	}
	return false
}

// erases reports whether Auto-Recap replaces another chat's recap with an empty one: the chat has
// no parent, and does not look imported, as it would if its lorebook were missing.
func erases(j *extension.Judging) bool {
	if parent, _ := rawjson.Unquote(j.Metadata.Value("main_chat")); parent != "" {
		return false
	}
	book, ok := lorebook.NameIn(j.Metadata)
	return !ok || j.Book == nil || !j.Book(book).Missing
}

func orMissing(raw []byte) string {
	if len(raw) == 0 {
		return "(missing)"
	}
	return string(raw)
}

// Repair drops stale operations and versions of scenes that are gone, and makes the newest version
// current where there is no current one, as delete_running_recap_version does.
func (e *Extension) Repair(m *extension.Repairing) {
	if m.Wants("pending-old") {
		dropPending(m.Metadata, func(name string, raw []byte) bool {
			old, dated := isStale(raw, m.Now.Add(-pendingAge))
			if dated && !old {
				return false
			}
			m.Removed("pending-old", "the pending operation "+visible.Clip(name, 120), raw)
			return true
		})
	}

	if _, ok := RunningIn(m.Metadata); !ok {
		return
	}
	e.repairVersions(m)
	if m.Wants("beyond-end") {
		editVersions(m.Metadata, func(version *rawjson.Object) {
			const key = "prev_scene_index"
			raw := version.Value(key)
			if at, ok := rawjson.Float(raw); ok && at >= float64(m.Messages) {
				version.Set(key, fmt.Append(nil, max(m.Messages-1, 0)))
				text := fmt.Sprintf("%s %s is the last message", key, visible.Clip(string(raw), 120))
				m.Note(extension.Repaired{Rule: "beyond-end", Text: text, What: key, Lost: raw})
			}
		})
	}

	running, _ := RunningIn(m.Metadata)
	_, found, newest := running.chosen()
	if found || newest == nil || !m.Wants("recap-version") {
		return
	}
	was, lost := "nothing", running.Current()
	if lost != nil {
		was = string(lost)
	}
	text := fmt.Sprintf("current_version %s → %s, the newest", visible.Clip(was, 120), visible.Clip(string(newest), 120))
	m.Note(extension.Repaired{Rule: "recap-version", Text: text, What: "current_version", Lost: lost})
	m.Metadata.Edit(func(store *rawjson.Object) { store.Set(keyCurrent, newest) }, KeyRunning)
}

// repairVersions drops the versions whose scene is beyond the end or has no recap.
func (e *Extension) repairVersions(m *extension.Repairing) {
	bad := func(v Version) string { // "": it stays
		rule, _ := e.misplaced(v, m.Messages)
		if rule == "" || !m.Wants(rule) {
			return ""
		}
		return rule
	}

	why := ""
	running, _ := RunningIn(m.Metadata)
	for version := range running.Versions() {
		why = cmp.Or(why, bad(version))
	}
	if why == "" {
		return
	}
	pruned := PruneRunning(m.Metadata, func(v Version) bool {
		rule := bad(v)
		if rule != "" {
			m.Removed(rule, fmt.Sprintf("version %s of the running recap", visible.Clip(string(v.Value("version")), 120)), v)
		}
		return rule == ""
	})

	if pruned.Now != "" {
		m.Note(extension.Repaired{Rule: why, Text: fmt.Sprintf("current_version %s → %s", visible.Clip(pruned.Was, 120), pruned.Now)})
	}
}
