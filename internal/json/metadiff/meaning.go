package metadiff

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"stchat/internal/extension/autorecap"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/text/plural"
)

// Meanings describes what A and B have or do not have in common, where the keys'
// meaning is known. Keys that do not count are skipped. A
// and B stand for the two chats; a and b are their names.
func (d *Diff) Meanings(a, b string) []string {
	m := meanings{d: d}
	m.parents(a, b)
	m.integrity()
	m.lorebook()
	m.recap()
	m.illustrator()
	return m.lines
}

type meanings struct {
	d     *Diff
	lines []string
}

func (m *meanings) say(format string, args ...any) {
	m.lines = append(m.lines, fmt.Sprintf(format, args...))
}

// both returns what A and B have at a path whose first key counts; nil where
// there is nothing.
func (m *meanings) both(path ...string) (a, b []byte) {
	if !m.d.counts(path[0]) {
		return nil, nil
	}
	return rawjson.Value(m.d.a.Value(path[0]), path[1:]...), rawjson.Value(m.d.b.Value(path[0]), path[1:]...)
}

// words returns what A and B say at a key, and whether each says something.
func (m *meanings) words(key string) (a, b string, inA, inB bool) {
	va, vb := m.both(key)
	a, _ = rawjson.Unquote(va)
	b, _ = rawjson.Unquote(vb)
	return a, b, a != "", b != ""
}

func (m *meanings) parents(nameA, nameB string) {
	a, b, inA, inB := m.words("main_chat")
	switch {
	case inB && b == nameA && nameA != nameB:
		m.say("B was made from A")
	case inA && a == nameB && nameA != nameB:
		m.say("A was made from B")
	case inA && inB && a == b:
		m.say("A and B were both made from %q", a)
	}
}

func (m *meanings) integrity() {
	a, b, inA, inB := m.words("integrity")
	switch {
	case inA && inB && a == b:
		m.say("same integrity slug: SillyTavern cannot tell A and B apart")
	case inA && inB:
		m.say("different integrity slugs, as two chats should have")
	}
}

func (m *meanings) lorebook() {
	a, b, inA, inB := m.words("world_info")
	switch {
	case inA && inB && a == b:
		m.say("B shares its lorebook %q with A", a)
	case inA && inB:
		m.say("different lorebooks: %q in A, %q in B", a, b)
	case inA:
		m.say("only A has a lorebook: %q", a)
	case inB:
		m.say("only B has a lorebook: %q", b)
	}
}

// recap compares the current versions of Auto-Recap's running recap.
func (m *meanings) recap() {
	a, b := m.both(autorecap.KeyRunning)
	va, inA := recapVersion(a)
	vb, inB := recapVersion(b)
	switch {
	case inA && !inB:
		m.say("only A has a running recap")
	case inB && !inA:
		m.say("only B has a running recap")
	case !inA || va == vb:
	case vb < va:
		m.say("B's running recap is %s behind A's", plural.S(va-vb, "version"))
	default:
		m.say("B's running recap is %s ahead of A's", plural.S(vb-va, "version"))
	}
}

// recapVersion returns the current version of a running recap that has one.
func recapVersion(raw []byte) (int, bool) {
	running := autorecap.Running(raw)
	for range running.Versions() {
		n, ok := rawjson.Int(running.Current())
		const most = 1 << 30 // no version: two of them would not subtract
		return n, ok && n >= -most && n <= most
	}
	return 0, false
}

func (m *meanings) illustrator() {
	a, b := m.both("auto_illustrator", "promptRegistry", "nodes")
	countKeys := func(nodes []byte) int {
		o, err := rawjson.ParseObject(nodes)
		if err != nil {
			return 0
		}
		return o.Len()
	}
	if na, nb := countKeys(a), countKeys(b); na != nb {
		m.say("Auto-Illustrator's prompts: %d in A, %d in B", na, nb)
	}
}

// Excerpts cuts two long texts to about limit characters each, around what
// differs, and names the length of what was cut: a person who reads that two
// recaps differ wants the sentence, not the recaps. Texts that fit stay whole.
// Where one of them is empty, nothing is on the other side, and the start of
// the text is shown.
func Excerpts(a, b string, limit int) (cutA, cutB string) {
	if b == "" || a == "" {
		return excerpt(a, 0, limit), excerpt(b, 0, limit)
	}
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	// some of what they have in common shows where the difference is
	context := limit / 4
	return excerpt(a, back(a, same, context), limit), excerpt(b, back(b, same, context), limit)
}

// back returns the place n characters before at.
func back(s string, at, n int) int {
	for ; at > 0 && n > 0; n-- {
		at--
		for at > 0 && at < len(s) && !utf8.RuneStart(s[at]) {
			at--
		}
	}
	return at
}

// excerpt returns limit characters from start on, and the rest of the words at both ends.
func excerpt(s string, start, limit int) string {
	if len(s) <= limit {
		return s
	}
	length := utf8.RuneCountInString(s)
	if length <= limit {
		return s
	}
	// near the end, as much is shown as fits
	start = min(start, back(s, len(s), limit))
	end := start
	for n := 0; n < limit && end < len(s); n++ {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	const longest = 40 // bytes of a word that is shown whole
	if i := strings.LastIndexByte(s[max(0, start-longest):start], ' '); i >= 0 {
		start = max(0, start-longest) + i + 1
	}
	if i := strings.IndexByte(s[end:min(len(s), end+longest)], ' '); i >= 0 {
		end += i
	}
	var out strings.Builder
	if start > 0 {
		out.WriteString("…")
	}
	out.WriteString(s[start:end])
	if end < len(s) {
		out.WriteString("…")
	}
	fmt.Fprintf(&out, " (%d characters)", length)
	return out.String()
}
