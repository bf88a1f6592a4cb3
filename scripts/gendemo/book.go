package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An entry is one lorebook entry; what it leaves out has SillyTavern's
// default (newWorldInfoEntryTemplate, public/scripts/world-info.js).
type entry struct {
	uid              int64
	kind, name       string // comment `<kind>-<name>`; kind "" for an internal entry, whose comment is name
	aliases          []string
	synopsis         string
	content          string
	keys             []string
	since            int // the scene that brought it
	sticky, cooldown int
	constant         bool
}

func (e entry) comment() string {
	if e.kind == "" {
		return e.name
	}
	return e.kind + "-" + e.name
}

func (e entry) internal() bool { return e.kind == "" }

// gullRockEntries is the book that Auto-Recap wrote with the chat, without the
// entries it keeps for itself.
var gullRockEntries = []entry{
	{
		uid: 0, kind: "character", name: "Maren Holm", since: 1, keys: []string{"Maren", "keeper", "Mrs Holm"}, aliases: []string{"Maren", "the keeper"},
		synopsis: "keeper of Gull Rock light", constant: true,
		content: "Keeper of the light on Gull Rock since her mother. Fifty-odd, dry, quick, never idle. Kept the station alone for nine years after her brother Anders took the shore job.",
	},
	{
		uid: 1, kind: "character", name: "Ines Calder", since: 1, keys: []string{"Ines", "Coast Board", "Calder"}, aliases: []string{"the Coast Board"},
		synopsis: "surveyor sent to write the closing report",
		content:  "Surveyor of the Coast Board with a satchel of forms and her grandmother's handwriting. Counts things until she begins to read them.",
	},
	{
		uid: 3, kind: "location", name: "Gull Rock", since: 1, keys: []string{"Gull Rock", "the rock", "landing"}, aliases: []string{"the rock"},
		synopsis: "rock with a light, off Saltmere",
		content:  "A rock off Saltmere with a landing, forty-one wet steps (the ninth is there out of habit) and a tower of a hundred and twelve more.",
	},
	{
		uid: 4, kind: "location", name: "The lamp room", since: 1, keys: []string{"lamp", "lens", "prism"}, aliases: []string{"lantern room"},
		synopsis: "the lens and the winding gear", sticky: 20,
		content: "Twelve panels of prisms turned by weights in a shaft. Wound by hand every four hours, ninety turns, with a brass key the size of a trout.",
	},
	{
		uid: 7, kind: "character", name: "Biscuit", since: 1, keys: []string{"Biscuit", "cat"}, aliases: []string{"assistant keeper, second class"},
		synopsis: "the cat",
		content:  "The station's cat, the colour of burnt toast. Lives in the coal scuttle. Lies about having been fed.",
	},
	{
		uid: 8, kind: "object", name: "Agnes", since: 1, keys: []string{"Agnes", "cracked", "green"}, aliases: []string{"the cracked panel"},
		synopsis: "the panel that throws a green ray",
		content:  "One panel of the lens, cracked by a goose in '81. Throws a thin green ray to the north-east, where clear water is. A spare key to the winding gear lies under it.",
	},
	{
		uid: 9, kind: "object", name: "The ledgers", since: 2, keys: []string{"ledger", "log", "books"}, aliases: []string{"the logs"},
		synopsis: "every night since 1868",
		content:  "Eleven cloth-backed books: wind, glass, oil, ships, every night since 1868. The fifth is mostly mould and opinion.",
	},
	{
		uid: 10, kind: "concept", name: "The second handwriting", since: 2, keys: []string{"handwriting", "gull in the margin", "brown ink"}, aliases: []string{"the other keeper"},
		synopsis: "lines that foretell the weather", sticky: 4, cooldown: 10,
		content: "Lines in brown ink with a gull in the margin, dated a day or two before the storms they describe. Never wrong. Not explained.",
	},
	{
		uid: 11, kind: "object", name: "The Halcyon", since: 3, keys: []string{"Halcyon", "boat"}, aliases: []string{"the coaster"},
		synopsis: "coaster whose motor failed at two",
		content:  "A coaster under Tobiasen. Lost her motor at two in the night of the storm; brought off under sail by Agnes's ray and two signal lamps.",
	},
	{
		uid: 12, kind: "character", name: "Tobiasen", since: 4, keys: []string{"Tobiasen", "skipper"}, aliases: []string{"the skipper"},
		synopsis: "skipper of the Halcyon",
		content:  "Skipper of the Halcyon. Cannot read a chart but can read A-G. Brought a ham.",
	},
}

// bookAt returns the book as it was when scene n ended: what had been noted by
// then, and the entries Auto-Recap keeps about it. Entries are in uid order.
func bookAt(n int) []entry {
	var known []entry
	for _, e := range gullRockEntries {
		if e.since <= n {
			known = append(known, e)
		}
	}
	var kept []entry // what the extension keeps for itself
	registry := func(uid int64, kind string) {
		text, members := "[Registry: "+kind+"]", 0
		for _, e := range known {
			if e.kind == kind {
				members++
				text += fmt.Sprintf("\n- UID=%d | name: %s | aliases: %s | synopsis: %s", e.uid, e.name, strings.Join(e.aliases, "; "), e.synopsis)
			}
		}
		if members > 0 {
			kept = append(kept, entry{uid: uid, name: "_registry_" + kind, content: text})
		}
	}
	registry(2, "character")
	registry(5, "location")
	registry(13, "object")
	registry(14, "concept")
	var cast []string
	for _, e := range known {
		if e.kind == "character" {
			cast = append(cast, "- "+e.name+": "+e.synopsis)
		}
	}
	kept = append(kept, entry{uid: 6, name: "__index_characters", content: "Characters\n" + strings.Join(cast, "\n")})
	out := append(known, kept...)
	slices.SortFunc(out, func(a, b entry) int { return cmp.Compare(a.uid, b.uid) })
	return out
}

// fileEntry returns an entry as a file below worlds/ holds it.
func (e entry) fileEntry() object {
	order := 100
	if e.internal() {
		order = 9999
	}
	return object{
		{"uid", e.uid},
		{"key", strs(e.keys...)},
		{"keysecondary", list{}},
		{"comment", e.comment()},
		{"content", e.content},
		{"constant", e.constant},
		{"vectorized", false},
		{"selective", true},
		{"selectiveLogic", 0},
		{"addMemo", !e.internal()},
		{"order", order},
		{"position", 0},
		{"disable", e.internal()},
		{"ignoreBudget", e.internal()},
		{"excludeRecursion", e.internal()},
		{"preventRecursion", e.internal()},
		{"matchPersonaDescription", false},
		{"matchCharacterDescription", false},
		{"matchCharacterPersonality", false},
		{"matchCharacterDepthPrompt", false},
		{"matchScenario", false},
		{"matchCreatorNotes", false},
		{"delayUntilRecursion", 0},
		{"probability", 100},
		{"useProbability", true},
		{"depth", 4},
		{"outletName", ""},
		{"group", ""},
		{"groupOverride", false},
		{"groupWeight", 100},
		{"scanDepth", nil},
		{"caseSensitive", nil},
		{"matchWholeWords", nil},
		{"useGroupScoring", nil},
		{"automationId", ""},
		{"role", 0},
		{"sticky", orNull(e.sticky)},
		{"cooldown", orNull(e.cooldown)},
		{"delay", nil},
		{"triggers", list{}},
		{"displayIndex", e.uid},
	}
}

// recapEntry returns an entry as Auto-Recap keeps it with a scene (FORMATS B1.1).
func (e entry) recapEntry(book string) object {
	file := map[string]any{}
	for _, m := range e.fileEntry() {
		file[m.key] = m.value
	}
	tags, strategy := list{}, "normal"
	if strings.HasPrefix(e.name, "_registry_") {
		tags = strs("auto_lorebooks_registry")
	}
	if e.constant {
		strategy = "constant"
	}
	o := object{{"comment", e.comment()}, {"uid", e.uid}, {"world", book}}
	for _, key := range []string{
		"key", "keysecondary", "content", "position", "depth", "order", "role", "constant", "vectorized", "selective",
		"selectiveLogic", "sticky", "disable", "addMemo", "excludeRecursion", "preventRecursion", "ignoreBudget",
		"probability", "useProbability", "group", "groupOverride", "groupWeight",
	} {
		o = append(o, member{key, file[key]})
	}
	return append(o, member{"tags", tags}, member{"strategy", strategy})
}

// timedHash returns the hash by which SillyTavern finds a timed effect's entry
// again: over {uid, world, ...the rest, decorators} (FORMATS E3.2).
func (e entry) timedHash(book string) int64 {
	file := e.fileEntry()
	o := object{file[0], {"world", book}}
	o = append(o, file[1:]...)
	return stringHash(compact(append(o, member{"decorators", list{}})))
}

func orNull(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

// queueEntry returns Auto-Recap's queue, with nothing left to do in it.
func queueEntry(made time.Time) entry {
	return entry{uid: made.UnixMilli(), name: "__operation_queue", content: pretty(object{
		{"queue", list{}}, {"current_operation_id", nil}, {"paused", false}, {"version", 1}, {"queueVersion", 0},
	}, "  ")}
}

// bookFile returns a lorebook as the server writes it.
func bookFile(entries []entry) []byte {
	o := object{}
	for _, e := range entries {
		o = append(o, member{strconv.FormatInt(e.uid, 10), e.fileEntry()})
	}
	return []byte(pretty(object{{"entries", o}}, "    "))
}

// userEntries leaves out what the extension keeps for itself, as a clone does.
func userEntries(entries []entry) []entry {
	var out []entry
	for _, e := range entries {
		if !e.internal() {
			out = append(out, e)
		}
	}
	return out
}

// saltmereEntries is an ordinary lorebook, written by hand and shared by two
// chats that only read it.
var saltmereEntries = []entry{
	{uid: 0, kind: "location", name: "Saltmere", keys: []string{"Saltmere", "town"}, content: "A herring town with one quay, two chapels and a bookshop."},
	{uid: 1, kind: "location", name: "潮書房", keys: []string{"潮書房", "bookshop", "本屋"}, content: "汐見 栞's bookshop at the ferry stop. 灯台の本は、すべて油。"},
	{uid: 2, kind: "concept", name: "The gull", keys: []string{"gull", "鷗"}, content: "A small gull in brown ink. Nobody ever drew it."},
}
