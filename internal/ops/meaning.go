package ops

import (
	"fmt"

	"stchat/internal/extension/autorecap"
	"stchat/internal/json/metadiff"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/text/plural"
)

// meaningsOf describes what the metadata of A and B have or do not have in common, where the keys'
// meaning is known. Keys that do not count are skipped. A and B stand for the two chats; a and b
// are their names.
func meaningsOf(d *metadiff.Diff, a, b string) []string {
	m := meanings{d: d}
	m.parents(a, b)
	m.integrity()
	m.lorebook()
	m.recap()
	m.illustrator()
	return m.lines
}

type meanings struct {
	d     *metadiff.Diff
	lines []string
}

func (m *meanings) say(format string, args ...any) {
	m.lines = append(m.lines, fmt.Sprintf(format, args...))
}

// words returns what A and B say at a key, and whether each says something.
func (m *meanings) words(key string) (a, b string, inA, inB bool) {
	va, vb := m.d.Both(key)
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
		m.say("same integrity: SillyTavern cannot tell A and B apart")
	case inA && inB:
		m.say("different integrity, as two chats should have")
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
	a, b := m.d.Both(autorecap.KeyRunning)
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
	a, b := m.d.Both("auto_illustrator", "promptRegistry", "nodes")
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
