package main

import (
	"strconv"
	"time"
)

// A scene is a stretch of messages that Auto-Recap closed with a scene break.
type scene struct {
	name       string
	start, end int // message indexes, both within
	number     int // from 1
	at         time.Time
}

// scenesOf finds the scene breaks of a story.
func scenesOf(messages []message) []scene {
	var all []scene
	start := 0
	for i, m := range messages {
		if m.turn.scene == "" {
			continue
		}
		at, err := time.Parse(time.RFC3339, m.timing[0].value.(string))
		if err != nil {
			panic(err) // written by stamp
		}
		all = append(all, scene{m.turn.scene, start, i, len(all) + 1, at.Add(9 * time.Second)})
		start = i + 1
	}
	return all
}

// sceneRecaps are the recaps of the scenes, in Auto-Recap's own shape.
var sceneRecaps = []object{
	{
		{"developments", strs("Ines Calder of the Coast Board arrives at Gull Rock to survey the light before it is automated.", "Maren shows her the lens; the cracked panel is called Agnes and throws a green ray to the north-east.", "Ines winds the gear for the first time: ninety turns.")},
		{"open", strs("Whether the light will be kept.", "The east room leaks when it is going to blow.")},
		{"state", strs("Evening. Ines sleeps in the west room; Maren is alone with the watch.")},
		{"resolved", list{}},
	},
	{
		{"developments", strs("Ines reads eleven ledgers and finds seventeen lines in a strange hand, each foretelling a storm.", "A new line names the Halcyon, her motor and the hour, and says to be two at the winding.")},
		{"open", strs("Who writes the lines.", "Tonight's storm from the north-west.")},
		{"state", strs("Thursday afternoon, flat sea, falling glass.")},
		{"resolved", list{}},
	},
	{
		{"developments", strs("The chain jumps the drum and Ines turns the lens by hand.", "The spare key the old line spoke of is found under Agnes; Maren mends the gear.", "The Halcyon loses her motor at two and is signalled clear along the green ray.")},
		{"open", strs("What Ines will write to the Board.")},
		{"state", strs("Two in the night, storm still blowing, all hands safe.")},
		{"resolved", strs("The storm came as foretold.", "What the spare key was for.")},
	},
}

// runningRecaps are the versions of the recap of everything so far. The third
// was made again for the same scene as the second.
var runningRecaps = []struct {
	scene   int // number of the scene it was made for
	content string
}{
	{1, "Ines Calder has come to Gull Rock to write the report that will close the light. Maren Holm, who keeps it alone, lets her wind the lens."},
	{2, "Ines, at Gull Rock to close the light, reads the ledgers."},
	{2, "Ines, at Gull Rock to close the light, finds lines in the ledgers that foretell storms. The newest is for tonight and wants two at the winding."},
	{3, "The line in the ledger came true. With the gear broken, Ines turned the lens by hand, Maren mended it with the key from under Agnes, and together they signalled the Halcyon clear. The report is still to be written."},
}

// breakScene adds to the last message of a scene what Auto-Recap keeps there.
// The extension mirrors it to the chosen swipe, but never to the first.
func breakScene(m *message, s scene, book string) {
	text := compact(sceneRecaps[s.number-1])
	var all, active list
	for _, e := range bookAt(s.number) {
		all = append(all, e.recapEntry(book))
		if !e.internal() && e.since == s.number {
			active = append(active, e.recapEntry(book))
		}
	}
	created := list{}
	for _, e := range gullRockEntries {
		if e.since == s.number {
			created = append(created, strconv.FormatInt(e.uid, 10))
		}
	}
	memory := object{
		{"auto_scene_break_checked", true},
		{"scene_break", true},
		{"scene_break_visible", true},
		{"scene_break_name", s.name},
		{"scene_break_collapsed", false},
		{"scene_recap_memory", text},
		{"scene_recap_versions", strs(text)},
		{"scene_recap_current_index", 0},
		{"scene_recap_hash", shortHash(text)},
		{"scene_recap_metadata", object{{"0", object{
			{"timestamp", s.at.UnixMilli()},
			{"startIdx", s.start},
			{"endIdx", s.end},
			{"sceneMessageCount", s.end - s.start + 1},
			{"totalActivatedEntries", len(active)},
			{"totalBeforeFiltering", len(active) + 1},
			{"chatLorebookName", book},
			{"suppressOtherLorebooks", false},
			{"allEntries", all},
			{"entries", active},
			{"created_entry_uids", created},
			{"combined_at", s.at.Add(8 * time.Second).UnixMilli()},
		}}}},
	}
	m.extra = append(m.extra, member{"auto_recap_memory", memory})
	if m.swipeID > 0 {
		chosen := &m.swipes[m.swipeID]
		chosen.extra = append(chosen.extra, member{"auto_recap_memory", memory})
	}
}

// runningState returns the running recap as it was at message n.
func runningState(chat string, scenes []scene, n int) object {
	versions, current, before := list{}, 0, 0
	for i, r := range runningRecaps {
		s := scenes[r.scene-1]
		if s.end > n {
			break
		}
		versions = append(versions, object{
			{"version", i},
			{"timestamp", s.at.Add(time.Duration(8+40*i) * time.Second).UnixMilli()},
			{"content", r.content},
			{"scene_count", r.scene},
			{"excluded_count", 0},
			{"prev_scene_index", before},
			{"new_scene_index", s.end},
			{"event_keys", list{}},
		})
		current = i
		if i+1 < len(runningRecaps) && runningRecaps[i+1].scene != r.scene {
			before = s.end
		}
	}
	return object{{"chat_id", chat}, {"current_version", current}, {"versions", versions}}
}
