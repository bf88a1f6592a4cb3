package metadiff

import (
	"fmt"

	"stchat/internal/rawjson"
)

// Meanings tells in words what A and B have or do not have in common, where
// the keys' meaning is known (FORMATS.md B2 and E3). Keys that do not count
// are passed over. A and B stand for the two chats; a and b are their names.
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

// both gives what A and B have at a path whose first key counts; nil where
// there is nothing.
func (m *meanings) both(path ...string) (a, b *value) {
	if m.d.use != nil && !m.d.use(path[0]) {
		return nil, nil
	}
	return m.d.a.walk(path), m.d.b.walk(path)
}

// walk follows keys into objects.
func (v *value) walk(path []string) *value {
	for _, key := range path {
		i := v.find(key)
		if i < 0 {
			return nil
		}
		v = v.members[i].val
	}
	return v
}

// word gives a string that says something.
func (v *value) word() (string, bool) {
	if v == nil || v.kind != rawjson.String {
		return "", false
	}
	s := v.text()
	return s, s != ""
}

// words gives what A and B say at a path, and whether each says something.
func (m *meanings) words(path ...string) (a, b string, inA, inB bool) {
	va, vb := m.both(path...)
	a, inA = va.word()
	b, inB = vb.word()
	return a, b, inA, inB
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
	a, b := m.both("auto_recap_running_scene_recaps")
	va, inA := a.recapVersion()
	vb, inB := b.recapVersion()
	switch {
	case inA && !inB:
		m.say("only A has a running recap")
	case inB && !inA:
		m.say("only B has a running recap")
	case !inA || va == vb:
	case vb < va:
		m.say("B's running recap is %s behind A's", versions(va-vb))
	default:
		m.say("B's running recap is %s ahead of A's", versions(vb-va))
	}
}

func versions(n int) string {
	if n == 1 {
		return "1 version"
	}
	return fmt.Sprintf("%d versions", n)
}

// recapVersion gives the current version of a running recap that has one.
func (v *value) recapVersion() (int, bool) {
	if v == nil {
		return 0, false
	}
	list := v.walk([]string{"versions"})
	current := v.walk([]string{"current_version"})
	if list == nil || len(list.elems) == 0 || current == nil {
		return 0, false
	}
	n, ok := rawjson.Int(current.raw)
	const most = 1 << 30 // no version: two of them would not subtract
	return n, ok && n >= -most && n <= most
}

func (m *meanings) illustrator() {
	a, b := m.both("auto_illustrator", "promptRegistry", "nodes")
	na, nb := 0, 0
	if a != nil {
		na = len(a.members)
	}
	if b != nil {
		nb = len(b.members)
	}
	if na != nb {
		m.say("Auto-Illustrator's prompts: %d in A, %d in B", na, nb)
	}
}
