package isolate

import (
	"fmt"
	"slices"

	"stchat/internal/jsonl"
	"stchat/internal/jsvalue"
	"stchat/internal/plural"
	"stchat/internal/rawjson"
)

// autoRecap deals with ST-Auto-Recap (FORMATS.md B2, section 0 rules 8 and 9):
// versions of the running recap that come from later scenes go, chat_id follows the
// chat's name, and work in flight is forgotten. auto_lorebooks_processed_recaps and
// auto_recap_checkpoint_state have no rule; they stay, and that is said. What is in
// the messages needs nothing: it is kept or dropped with them.
type autoRecap struct {
	recaps []int // kept messages with a scene recap, in order
	at     int   // the last one kept
	scene  Scene // its scene

	snapshot snapshot // of the nearest scene break that has one
	found    bool
}

// Scene is what Auto-Recap notes in one message about the scene that ends there
// (FORMATS.md B2.3).
type Scene struct {
	Break  bool // the message ends a scene
	Hidden bool // but the break is hidden, so that it does not count
	Recap  bool // the scene has a recap
}

// snapshot is where a scene break's note of the lorebook is found.
type snapshot struct {
	at     int // the message
	off    int64
	length int
	raw    []byte // the list itself, where the message is not as in the source
}

// recapFact is the fact of one message.
type recapFact struct {
	scene    Scene
	noted    bool // the scene break counts and has a note of the lorebook
	snapshot snapshot
}

// Keys of Auto-Recap's metadata.
const (
	keyRunning    = "auto_recap_running_scene_recaps"
	keyPending    = "autoLorebooks"
	keyBooks      = "auto_lorebooks"
	keyRecap      = "auto_recap"
	keyProcessed  = "auto_lorebooks_processed_recaps"
	keyCheckpoint = "auto_recap_checkpoint_state"
)

func (*autoRecap) Name() string { return "auto_recap" }
func (*autoRecap) Owns() []string {
	return []string{keyRunning, keyPending, keyBooks, keyRecap, keyProcessed, keyCheckpoint}
}
func (*autoRecap) Needs() []string { return []string{keyExtra} }

// recapData is what is read of Auto-Recap's data in one message. The program writes
// extra.auto_recap_memory, its documents say extra.auto_recap; the first that has a
// key counts.
type recapData struct{ ends, visible, recap, version, metadata []byte }

// recapIn reads a message's data; ok is false where it has none.
func recapIn(m *Message) (d recapData, ok bool) {
	for _, module := range [...]string{"auto_recap", "auto_recap_memory"} {
		for key, value := range rawjson.Members(m.Extra(module)) {
			ok = true
			switch {
			case rawjson.KeyIs(key, "scene_break"):
				d.ends = value
			case rawjson.KeyIs(key, "scene_break_visible"):
				d.visible = value
			case rawjson.KeyIs(key, "scene_recap_memory"):
				d.recap = value
			case rawjson.KeyIs(key, "scene_recap_current_index"):
				d.version = value
			case rawjson.KeyIs(key, "scene_recap_metadata"):
				d.metadata = value
			}
		}
	}
	return d, ok
}

// scene tells of the scene that ends with the message.
func (d *recapData) scene() Scene {
	return Scene{
		Break:  rawjson.Truthy(d.ends),
		Hidden: string(d.visible) == "false",
		Recap:  rawjson.KindOf(d.recap) == rawjson.String && rawjson.Truthy(d.recap),
	}
}

// entries gives the message's note of the lorebook: the list
// scene_recap_metadata[scene_recap_current_index ?? 0].allEntries, unless it is empty
// (extractHistoricalLorebookState of lorebookReconstruction.js).
func (d *recapData) entries() ([]byte, bool) {
	version := "0"
	if kind := rawjson.KindOf(d.version); kind != rawjson.Invalid && kind != rawjson.Null {
		value, ok := jsvalue.Parse(d.version)
		if !ok {
			return nil, false
		}
		version = jsvalue.String(value)
	}
	entries, _ := rawjson.Lookup(d.metadata, version, "allEntries")
	for range rawjson.Elements(entries) {
		return entries, true
	}
	return nil, false
}

func (*autoRecap) Look(m *Message) any {
	data, ok := recapIn(m)
	if !ok {
		return nil
	}
	fact := recapFact{scene: data.scene()}
	if fact.scene.Break && !fact.scene.Hidden {
		var entries []byte
		if entries, fact.noted = data.entries(); fact.noted {
			var inSource bool
			if fact.snapshot.off, fact.snapshot.length, inSource = m.place(); !inSource {
				fact.snapshot.raw = slices.Clone(entries)
			}
		}
	}
	if fact.scene == (Scene{}) {
		return nil
	}
	return fact
}

func (a *autoRecap) Keep(i int, fact any) {
	f, _ := fact.(recapFact)
	a.at, a.scene = i, f.scene
	if f.scene.Recap {
		a.recaps = append(a.recaps, i)
	}
	if f.noted {
		a.snapshot, a.found = f.snapshot, true
		a.snapshot.at = i
	}
}

func (*autoRecap) Later(any) {}

// Scene tells the scene that ends at message N.
func (f *Facts) Scene() Scene {
	f.settle()
	return f.recap.scene
}

// Snapshot gives allEntries, the lorebook as Auto-Recap noted it at the nearest
// scene break at or before N that is not hidden and has such a note (FORMATS.md B4.3),
// with the message's index. src is the source that was scanned. ok is false where
// there is none; the error is that of reading, or that the source has changed.
func (f *Facts) Snapshot(src jsonl.Source) (allEntries []byte, message int, ok bool, err error) {
	f.settle()
	if !f.recap.found {
		return nil, -1, false, nil
	}
	s := f.recap.snapshot
	if s.raw != nil {
		return s.raw, s.at, true, nil
	}
	line, err := src.Section(s.off, int64(s.length))
	if err != nil {
		return nil, s.at, false, err
	}
	data, _ := recapIn(&Message{raw: line})
	if allEntries, ok = data.entries(); !ok || !jsonl.Valid(allEntries) {
		return nil, s.at, false, jsonl.ErrChanged
	}
	return allEntries, s.at, true, nil
}

func (a *autoRecap) Apply(metadata *rawjson.Object, at Moment) []Change {
	r := &report{extension: a.Name()}
	a.running(metadata, at, r)
	if pending, ok := objectAt(metadata, keyPending); ok {
		if work, ok := objectAt(pending, "pendingOps"); ok && work.Len() > 0 {
			pending.Set("pendingOps", []byte("{}"))
			metadata.Set(keyPending, pending.Bytes())
			r.add("%s removed", plural.S(work.Len(), "pending operation"))
		}
	}
	a.combined(metadata, at, r)
	for _, key := range [...]string{keyProcessed, keyCheckpoint} {
		if metadata.Has(key) {
			r.add("%s left as it is at the end of the source: no rule says what it was at message %d", key, at.At)
		}
	}
	return r.changes
}

// running prunes the versions of the running recap (FORMATS.md B2.2, as Auto-Recap's
// cleanup_invalid_running_recaps and delete_running_recap_version do).
func (a *autoRecap) running(metadata *rawjson.Object, at Moment, r *report) {
	store, ok := objectAt(metadata, keyRunning)
	if !ok {
		return
	}
	if versions, _ := store.Get("versions"); rawjson.KindOf(versions) == rawjson.Array {
		raw, hasCurrent := store.Get("current_version")
		current, isNumber := rawjson.Float(raw)
		total, kept, top, currentKept := 0, 0, 0.0, false
		pruned := rawjson.Filter(versions, func(_ int, version []byte) bool {
			total++
			if !a.hasRecap(version) {
				return false
			}
			raw, _ := rawjson.Lookup(version, "version")
			number, ok := rawjson.Float(raw)
			if ok {
				top = max(top, number)
				currentKept = currentKept || isNumber && number == current
			}
			kept++
			return true
		})
		text := ""
		if kept < total {
			store.Set("versions", pruned)
			text = fmt.Sprintf("%d of %s kept", kept, plural.S(total, "version"))
		}
		if !currentKept && (current != top || hasCurrent && !isNumber) {
			store.Set("current_version", []byte(jsvalue.FormatNumber(top)))
			if text != "" {
				text += ", "
			}
			was := "nothing"
			if hasCurrent {
				was = string(rawjson.Compact(raw))
			}
			text += fmt.Sprintf("current %s → %s", was, jsvalue.FormatNumber(top))
		}
		if text != "" {
			r.add("%s", text)
		}
	}
	setChatID(store, at, "", r)
	if store.Edited() {
		metadata.Set(keyRunning, store.Bytes())
	}
}

// hasRecap tells whether a version of the running recap is of a scene that the
// branch has, and that still has its recap.
func (a *autoRecap) hasRecap(version []byte) bool {
	raw, ok := rawjson.Lookup(version, "new_scene_index")
	scene := 0
	if ok && rawjson.KindOf(raw) != rawjson.Null {
		if scene, ok = rawjson.Int(raw); !ok {
			return false
		}
	}
	_, found := slices.BinarySearch(a.recaps, scene)
	return found
}

// combined deals with the combined recap of Auto-Recap's documents, which no code
// writes (FORMATS.md B2): dropped where it covers more messages than there are.
func (*autoRecap) combined(metadata *rawjson.Object, at Moment, r *report) {
	recap, ok := objectAt(metadata, keyRecap)
	if !ok {
		return
	}
	combined, ok := objectAt(recap, "combined_recap")
	if !ok {
		return
	}
	raw, _ := combined.Get("message_count")
	if count, ok := rawjson.Float(raw); ok && count > float64(at.Messages()) {
		recap.Unset("combined_recap")
		r.add("combined recap of %s messages removed", rawjson.Compact(raw))
	} else if setChatID(combined, at, " of the combined recap", r); combined.Edited() {
		recap.Set("combined_recap", combined.Bytes())
	}
	if recap.Edited() {
		metadata.Set(keyRecap, recap.Bytes())
	}
}

// setChatID makes a store the branch's own: Auto-Recap erases a recap whose chat_id
// is foreign where the chat has no parent (FORMATS.md B2.1).
func setChatID(store *rawjson.Object, at Moment, what string, r *report) {
	if at.Chat == "" {
		return
	}
	raw, _ := store.Get("chat_id")
	if old, ok := rawjson.Unquote(raw); ok && old == at.Chat {
		return
	}
	store.Set("chat_id", rawjson.Quote(at.Chat))
	r.add("chat_id%s set to %q", what, at.Chat)
}

// report collects an adapter's changes.
type report struct {
	extension string
	changes   []Change
}

func (r *report) add(format string, args ...any) {
	r.changes = append(r.changes, Change{r.extension, fmt.Sprintf(format, args...)})
}
