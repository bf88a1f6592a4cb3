package lorebook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"stchat/internal/jsonl/rawjson"
)

// entryDefaults is newWorldInfoEntryTemplate of SillyTavern 1.19
// (public/scripts/world-info.js), in that file's order.
const entryDefaults = `{
	"key": [], "keysecondary": [], "comment": "", "content": "", "constant": false, "vectorized": false,
	"selective": true, "selectiveLogic": 0, "addMemo": false, "order": 100, "position": 0, "disable": false,
	"ignoreBudget": false, "excludeRecursion": false, "preventRecursion": false,
	"matchPersonaDescription": false, "matchCharacterDescription": false, "matchCharacterPersonality": false,
	"matchCharacterDepthPrompt": false, "matchScenario": false, "matchCreatorNotes": false,
	"delayUntilRecursion": 0, "probability": 100, "useProbability": true, "depth": 4, "outletName": "",
	"group": "", "groupOverride": false, "groupWeight": 100, "scanDepth": null, "caseSensitive": null,
	"matchWholeWords": null, "useGroupScoring": null, "automationId": "", "role": 0, "sticky": null,
	"cooldown": null, "delay": null, "triggers": []
}`

// Snapshot makes a book from allEntries, the list of entries that Auto-Recap noted at
// a scene break. Unlike Auto-Recap's own reconstruction it keeps
// every uid, so that registries and timed effects still refer to the right entries.
// Members that the note lacks get their value in a new entry; world and strategy, which
// the note adds, go. Unless it is to be dropped, an empty queue entry is added, with the
// uid of the present book's queue if that is free. The other members of the present
// book's file stay. Dropped counts entries of allEntries. The error is that of an
// allEntries that cannot be used. As to extension-internal entries, [Default] is
// [Reset], and [Keep] is the same, since no snapshot has a queue.
func (b *Book) Snapshot(allEntries []byte, opt CloneOptions) (Cloned, error) {
	noted, err := notedEntries(allEntries)
	if err != nil {
		return Cloned{}, fmt.Errorf("the snapshot at the scene break is not usable: %w", err)
	}
	c := Cloned{}
	entries := []byte{'{'}
	add := func(uid int64, entry []byte) {
		if c.Entries > 0 {
			entries = append(entries, ',')
		}
		entries = fmt.Appendf(entries, `"%d":%s`, uid, entry)
		c.Entries++
	}

	for _, e := range noted {
		if matchesAny(opt.Drop, e.Comment) || opt.Internal == Drop && e.Kind() != User {
			c.Dropped++
			continue
		}
		add(e.uid, filledEntry(e.uid, e.Raw))
	}

	if opt.Internal != Drop && !matchesAny(opt.Drop, queueComment) {
		uid := b.queueUID(noted)
		add(uid, filledEntry(uid, []byte(`{"comment":"`+queueComment+`","content":`+string(rawjson.Quote(emptyQueue))+
			`,"disable":true,"excludeRecursion":true,"order":9999}`)))
	}

	entries = append(entries, '}')
	if b.pretty() {
		var out bytes.Buffer
		if err := json.Indent(&out, entries, "    ", "    "); err != nil {
			return Cloned{}, fmt.Errorf("the snapshot at the scene break is not usable: %w", err)
		}
		entries = out.Bytes()
	}

	c.Data = b.with(entries, opt.Name)
	return c, nil
}

// noted is an entry of a snapshot.
type noted struct {
	Entry
	uid int64
}

// notedEntries reads allEntries, sorted by uid. Of two entries with the same uid the later
// one counts, as in an object with that key. A queue, which a snapshot should not have, is
// left out.
func notedEntries(allEntries []byte) ([]noted, error) {
	if rawjson.KindOf(allEntries) != rawjson.Array {
		return nil, fmt.Errorf("allEntries is %s, not a list", rawjson.KindOf(allEntries))
	}
	var list []noted
	at := map[int64]int{}
	for raw := range rawjson.Elements(allEntries) {
		n := noted{Entry: newEntry("", raw)}
		uid, ok := n.number()
		if !ok {
			return nil, fmt.Errorf("entry %d (%q) has no uid that is a whole number", len(list), n.Comment)
		}
		if n.Kind() == QueueLog {
			continue
		}
		n.uid = uid
		if i, again := at[uid]; again {
			list[i] = n
			continue
		}
		at[uid] = len(list)
		list = append(list, n)
	}

	if len(list) == 0 {
		return nil, errors.New("it has no entries")
	}
	slices.SortFunc(list, func(a, b noted) int { return cmp.Compare(a.uid, b.uid) })
	return list, nil
}

// maxUID is JavaScript's Number.MAX_SAFE_INTEGER.
const maxUID = 1<<53 - 1

// number returns the entry's uid if that is a number that a new entry could have.
func (e *Entry) number() (uid int64, ok bool) {
	uid, err := strconv.ParseInt(e.UID, 10, 64)
	return uid, err == nil && uid >= 0 && uid <= maxUID
}

// queueUID returns a uid for the queue entry of a snapshot: that of the present queue,
// unless an entry of the snapshot has it, else one above all that the snapshot and the
// present book use. With the uid of an entry that was made later, the queue would take
// that entry's place in the registries.
func (b *Book) queueUID(list []noted) int64 {
	used := map[int64]bool{}
	top := int64(-1)
	for i := range list {
		used[list[i].uid] = true
		top = max(top, list[i].uid)
	}

	for i := range b.Entries {
		uid, ok := b.Entries[i].number()
		if !ok {
			continue
		}
		if b.Entries[i].Kind() == QueueLog && !used[uid] {
			return uid
		}
		used[uid] = true
		top = max(top, uid)
	}

	if top < maxUID {
		return top + 1
	}
	free := int64(0)
	for used[free] {
		free++
	}
	return free
}

// filledEntry returns an entry as SillyTavern would write it: uid first, then every
// member that it knows with the value from raw or else the default, then what else raw
// has, and displayIndex, which is the uid if raw has none.
func filledEntry(uid int64, raw []byte) []byte {
	given, err := rawjson.ParseObject(raw)
	if err != nil {
		given = rawjson.NewObject()
	}
	number := strconv.AppendInt(nil, uid, 10)
	out := rawjson.NewObject()
	out.Set("uid", number)
	for rawKey, value := range rawjson.Members([]byte(entryDefaults)) {
		key, _ := rawjson.Unquote(rawKey)
		if has, ok := given.Get(key); ok {
			value = has
		}
		out.Set(key, rawjson.Compact(value))
	}

	for key, value := range given.All() {
		if key != "world" && key != "strategy" && !out.Has(key) {
			out.Set(key, rawjson.Compact(value))
		}
	}

	if !out.Has("displayIndex") {
		out.Set("displayIndex", number)
	}
	return out.Bytes()
}
