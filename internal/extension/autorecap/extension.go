// Package autorecap knows the data that ST-Auto-Recap keeps in a chat: its keys in
// chat_metadata, its marks on messages, the registries it writes into lorebooks, and
// the four requirements that can be made of a chat before it is branched.
//
// The package works on bytes that its callers have read; it opens no files. The facts come from
// the extension's source, QueenGytha/ST-Auto-Summarize at 5083d00. What all lorebooks have in
// common, and the queue entry that cloning empties, is in package lorebook.
package autorecap

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stchat/internal/extension"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/text/plural"
)

// Extension is ST-Auto-Recap. In a branch, versions of the running recap that come from later
// scenes go, chat_id follows the chat's name, and work in flight is forgotten.
// auto_lorebooks_processed_recaps and auto_recap_checkpoint_state have no rule; they stay, and
// are reported. What is in the messages is kept or dropped with them.
type Extension struct {
	extension.None
	Counts SceneCounts // what View tells of the messages

	recaps []int // kept messages with a scene recap, in order
	scene  Scene // of the last message kept

	snapshot snapshot // of the last scene break that has one
	found    bool

	scenes map[int]bool // of a chat that is judged: by message that a version names, whether it has a scene recap
}

// snapshot is where a scene break's note of the lorebook is found.
type snapshot struct {
	at     int // the message
	off    int64
	length int
	raw    []byte // the list itself, if the message is not as in the source
}

// recapFact is the fact about one message.
type recapFact struct {
	scene    Scene
	noted    bool // the scene break counts and has a note of the lorebook
	snapshot snapshot
}

// Keys of chat_metadata.
const (
	KeyRunning    = "auto_recap_running_scene_recaps"
	keyPending    = "autoLorebooks"
	keyBooks      = "auto_lorebooks"
	keyDocumented = "auto_recap"     // in its documents only; no code writes it
	keyCombined   = "combined_recap" // in keyDocumented
	keyProcessed  = "auto_lorebooks_processed_recaps"
	keyCheckpoint = "auto_recap_checkpoint_state"
)

// About returns the extension's keys, those that hold names, and those of a mark.
func (*Extension) About() extension.About {
	return extension.About{
		Name: "auto_recap", Namespace: Namespace, Reads: []string{Module, DocumentedModule},
		Keys: []string{KeyRunning, keyPending, keyBooks, keyDocumented, keyProcessed, keyCheckpoint},
		Rows: extension.Table{
			extension.Key(extension.Metadata, extension.Book, keyBooks+"/lorebookName"),
			extension.PastKey(extension.Metadata, extension.Book, keyCheckpoint+"/cloned_lorebook_name"),
			extension.PastKey(extension.Metadata, extension.Book, keyCheckpoint+"/original_lorebook_name"),
			extension.Key(extension.Metadata, extension.OwnChat, KeyRunning+"/chat_id"),
			extension.Key(extension.Metadata, extension.OwnChat, keyDocumented+"/"+keyCombined+"/chat_id"),
			extension.Key(extension.Metadata, extension.OwnChat, keyCheckpoint+"/chat_id"),
		},
	}
}

// Look returns what a message's mark says.
func (*Extension) Look(m *extension.Message) any {
	mark := ReadMark(m.Value(Module), m.Value(DocumentedModule))
	fact := recapFact{scene: mark.Scene()}
	if fact.scene.Break && !fact.scene.Hidden {
		var entries []byte
		if entries, fact.noted = mark.Entries(); fact.noted {
			fact.snapshot.off, fact.snapshot.length = m.Off, len(m.Raw)
			if m.Off < 0 {
				fact.snapshot.raw = slices.Clone(entries)
			}
		}
	}

	if fact.scene == (Scene{}) {
		return nil
	}
	return fact
}

// Keep takes the fact about a message that is kept.
func (e *Extension) Keep(i int, fact any) {
	f, _ := fact.(recapFact)
	e.scene = f.scene
	if f.scene.Recap && i >= 0 {
		e.recaps = append(e.recaps, i)
	}
	if f.noted {
		e.snapshot, e.found = f.snapshot, true
		e.snapshot.at = i
	}
}

// Scene returns the scene that ends at the last message kept.
func (e *Extension) Scene() Scene { return e.scene }

// Snapshot returns allEntries, the lorebook as Auto-Recap noted it at the nearest scene break
// kept that is not hidden and has such a note, with the message's index. src is the source that
// was read. ok is false if there is no such note. The error is that of reading, or
// jsonl.ErrChanged.
func (e *Extension) Snapshot(src jsonl.Source) (allEntries []byte, message int, ok bool, err error) {
	if !e.found {
		return nil, -1, false, nil
	}
	s := e.snapshot
	if s.raw != nil {
		return s.raw, s.at, true, nil
	}
	line, err := src.Section(s.off, int64(s.length))
	if err != nil {
		return nil, s.at, false, err
	}
	extra := rawjson.Value(line, "extra")
	mark := ReadMark(rawjson.Value(extra, Module), rawjson.Value(extra, DocumentedModule))
	if allEntries, ok = mark.Entries(); !ok || !jsonl.Valid(allEntries) {
		return nil, s.at, false, jsonl.ErrChanged
	}
	return allEntries, s.at, true, nil
}

// Isolate forgets what the branch has no messages for.
func (e *Extension) Isolate(b *extension.Branch) {
	pruned := PruneRunning(b.Metadata, e.hasRecap)
	var said []string
	if pruned.Kept < pruned.Total {
		said = append(said, fmt.Sprintf("%d of %s kept", pruned.Kept, plural.S(pruned.Total, "version")))
	}
	if pruned.Now != "" {
		said = append(said, fmt.Sprintf("current %s → %s", pruned.Was, pruned.Now))
	}
	if len(said) > 0 {
		e.rewound(&b.Report, pruned, strings.Join(said, ", "))
	}
	if b.Chat != "" && SetRunningChat(b.Metadata, b.Chat) {
		b.AddInternal(e, "chat_id set to %q", b.Chat)
	}
	b.Metadata.Edit(func(auto *rawjson.Object) {
		if operations, ok := auto.Object("pendingOps"); ok && operations.Len() > 0 {
			auto.Set("pendingOps", []byte("{}"))
			b.Add(e, "%s removed", plural.S(operations.Len(), "pending operation"))
		}
	}, keyPending)

	if !e.dropCombined(b.Metadata, &b.Report, b.Messages()) && b.Chat != "" && own(b.Metadata, b.Chat, keyDocumented, keyCombined) {
		b.AddInternal(e, "chat_id of the combined recap set to %q", b.Chat)
	}
	for _, key := range [...]string{keyProcessed, keyCheckpoint} {
		if b.Metadata.Has(key) {
			b.Add(e, "%s left as it is at the end of the source: no rule says what it was at message %d", key, b.At)
		}
	}
}

// rewound adds that versions of the running recap are gone; text says it in full.
func (e *Extension) rewound(r *extension.Report, pruned Pruned, text string) {
	now, err := strconv.Atoi(pruned.Now)
	switch {
	case pruned.Kept == 0:
		r.Count(e, extension.Rewound, "recap", -1, pruned.Total, "%s", text)
	case err == nil:
		r.Count(e, extension.Rewound, "recap", now, pruned.Total, "%s", text)
	default: // the current one stays
		r.Count(e, extension.Kept, "recap", pruned.Kept, pruned.Total, "%s", text)
	}
}

// dropCombined removes a combined recap that covers more messages than there are, and reports
// whether there was one.
func (e *Extension) dropCombined(metadata *rawjson.Object, r *extension.Report, messages int) (dropped bool) {
	metadata.Edit(func(documented *rawjson.Object) {
		recap, _ := documented.Object(keyCombined)
		if recap == nil {
			return
		}
		count := recap.Value("message_count")
		if n, ok := rawjson.Float(count); ok && n > float64(messages) {
			documented.Unset(keyCombined)
			r.Add(e, "combined recap of %s messages removed", rawjson.Compact(count))
			dropped = true
		}
	}, keyDocumented)
	return dropped
}

// hasRecap reports whether the message that ends a version's scene is kept, and has a recap.
func (e *Extension) hasRecap(v Version) bool {
	scene, ok := rawjson.Int(v.Scene())
	_, found := slices.BinarySearch(e.recaps, scene)
	return ok && found
}

// Holds reports whether a message may have startIdx or endIdx.
func (*Extension) Holds(*rawjson.Object) func(m *extension.Message) bool {
	index := []byte("Idx")
	return func(m *extension.Message) bool {
		return bytes.Contains(m.Extra, index) || bytes.Contains(m.SwipeInfo, index)
	}
}

// Lost tells that the end or the recap of a scene goes.
func (*Extension) Lost(i int, fact any) string {
	switch f, _ := fact.(recapFact); {
	case f.scene.Break:
		return fmt.Sprintf("message %d, which ends a scene of Auto-Recap, is deleted", i)
	case f.scene.Recap:
		return fmt.Sprintf("the scene recap on message %d is deleted with it", i)
	}
	return ""
}

// Follow drops the versions of scenes that go, and moves the numbers of messages in the others.
func (e *Extension) Follow(f *extension.Following) {
	if len(f.Gone) > 0 {
		pruned := PruneRunning(f.Metadata, func(v Version) bool {
			if f.Tail() {
				return e.hasRecap(v)
			}
			scene, ok := rawjson.Int(v.Scene())
			return !ok || !f.Goes(scene)
		})
		if pruned.Kept < pruned.Total {
			e.rewound(&f.Report, pruned, fmt.Sprintf("%d of %s kept", pruned.Kept, plural.S(pruned.Total, "version")))
		}
		if pruned.Now != "" {
			f.AddInternal(e, "current %s → %s", pruned.Was, pruned.Now)
		}
	}

	if f.Moves() {
		moved := 0
		editVersions(f.Metadata, func(version *rawjson.Object) {
			extension.MoveIndex(version, "new_scene_index", f.Map)
			extension.MoveIndex(version, "prev_scene_index", before(f))
			if version.Edited() {
				moved++
			}
		})
		if moved > 0 {
			f.AddInternal(e, "%s of the running recap: scene indexes moved", plural.S(moved, "version"))
		}
	}

	if !e.dropCombined(f.Metadata, &f.Report, f.Left()) && len(f.Gone) > 0 && combinedIn(f.Metadata) != nil {
		f.Add(e, "the combined recap is left as it is")
	}
}

// before returns the new index of the nearest message before one, 0 if there is none.
func before(f *extension.Following) func(at int) int {
	return func(at int) int {
		to, ok := f.Down(at)
		if !ok {
			return 0
		}
		return to
	}
}

// combinedIn returns the combined recap of Auto-Recap's documents, nil if there is none.
func combinedIn(metadata *rawjson.Object) []byte {
	return rawjson.Value(metadata.Value(keyDocumented), keyCombined)
}

// SceneCounts counts the scenes that end with messages of a chat.
type SceneCounts struct {
	Breaks int `json:"scene_breaks"`
	Hidden int `json:"hidden_scene_breaks"`
	Recaps int `json:"scene_recaps"`
}

// View is what Auto-Recap keeps in a chat.
type View struct {
	Name     string  `json:"name"`  // "auto-recap"
	Known    bool    `json:"known"` // true
	Bytes    int64   `json:"bytes"` // of its metadata
	ChatID   *string `json:"chat_id"`
	Versions int     `json:"versions"` // of the running recap
	Current  *int    `json:"current"`  // the version in use
	SceneCounts
	Pending int `json:"pending"` // operations in the metadata, not in the lorebook's queue
}

// View describes the running recap, and the scenes in Counts.
func (e *Extension) View(metadata *rawjson.Object, bytes int64) extension.View {
	if bytes == 0 && e.Counts == (SceneCounts{}) {
		return nil
	}
	view := &View{Name: "auto-recap", Known: true, Bytes: bytes, SceneCounts: e.Counts}
	running, _ := RunningIn(metadata)
	view.Versions, view.Current = rawjson.Len(rawjson.Value(running, "versions")), rawjson.IntOrNil(running.Current())
	if id, ok := running.ChatID(); ok {
		view.ChatID = &id
	}
	editPending(metadata, func(operations *rawjson.Object) { view.Pending = operations.Len() })
	return view
}

// Entries counts the versions of the running recap.
func (v *View) Entries() int { return v.Versions }

// Cells returns what there is, for people.
func (v *View) Cells() (label string, cells []string) {
	current := "none current"
	if v.Current != nil && v.Versions > 0 {
		current = fmt.Sprintf("version %d current", *v.Current)
	}
	cells = []string{plural.S(v.Versions, "recap version"), current, plural.S(v.Breaks, "scene break"), plural.S(v.Recaps, "scene recap")}
	if v.Hidden > 0 {
		cells = append(cells, plural.S(v.Hidden, "hidden scene break"))
	}
	if v.Pending > 0 {
		cells = append(cells, plural.S(v.Pending, "operation")+" pending")
	}
	return "Auto-Recap", cells
}
