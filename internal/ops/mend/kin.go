package mend

import (
	"fmt"

	"stchat/internal/family"
	"stchat/internal/rules"
)

// kin is the names in the chats of a folder that lead nowhere and may mean a chat that
// is there, by the chat in which they stand.
type kin map[string][]*missing

// missing is such a name.
type missing struct {
	chat   *family.Chat
	name   string         // as it is written
	rules  rules.Set      // that find it
	rule   rules.ID       // the first of them
	what   string         // it names
	may    []*family.Chat // be meant
	circle bool           // the one that may be meant would come from the chat itself
	now    string         // what it is called now; empty: nobody can tell
}

// String tells why nobody can tell what is meant.
func (m *missing) String() string {
	text := fmt.Sprintf("%s: %s %q is not there; it may be ", m.rule, m.what, clip(m.name))
	names := make([]string, len(m.may))
	for i, c := range m.may {
		names[i] = c.Name
	}
	if m.circle {
		return text + quoteAll(names) + ", which would then come from this chat in turn"
	}
	return text + "any of " + quoteAll(names)
}

// settle judges all names of a folder that lead nowhere together. What can be told is
// taken for mended, and the rest is judged again by that, until nothing more comes to
// light. So the order of the chats does not matter, nor which of them are mended now.
func settle(g *family.Graph) kin {
	k := kin{}
	for {
		open := namesOf(g)
		markCircles(open)
		more := false
		for _, m := range open {
			if len(m.may) == 1 && !m.circle {
				m.settle()
				k[m.chat.Name] = append(k[m.chat.Name], m)
				more = true
			}
		}
		if !more {
			for _, m := range open {
				k[m.chat.Name] = append(k[m.chat.Name], m)
			}
			return k
		}
		g = g.Again()
	}
}

// settle writes in the chat what the name is called now.
func (m *missing) settle() {
	m.now = m.may[0].Name
	c := m.chat
	if c.MainChat == m.name {
		c.MainChat = m.now
	}
	for i := range c.Links {
		if c.Links[i].Name == m.name {
			c.Links[i].Name = m.now
		}
	}
}

// mostLookedFor is how many names of a folder are looked for: each takes a look at
// all its chats.
const mostLookedFor = 1000

// namesOf finds the names that lead nowhere and may mean some chat.
func namesOf(g *family.Graph) []*missing {
	nameless := map[*family.Chat]map[int]bool{} // messages from which a chat comes that has no link there
	for _, c := range g.Chats {
		if c.Named != nil && c.AtLink < 0 && c.At >= 0 {
			if nameless[c.Named] == nil {
				nameless[c.Named] = map[int]bool{}
			}
			nameless[c.Named][c.AtParent] = true
		}
	}
	may := map[string][]*family.Chat{}
	var list []*missing
	for _, c := range g.Chats {
		mine := map[string]*missing{}
		add := func(id rules.ID, what, name string, fits func(*family.Chat) bool) {
			if g.Find(name) != nil {
				return
			}
			if m := mine[name]; m != nil {
				m.rules |= rules.SetOf(id)
				return
			}
			found, ok := may[name]
			if !ok && len(may) < mostLookedFor {
				found = g.Renamed(name)
				may[name] = found
			}
			m := &missing{chat: c, name: name, rules: rules.SetOf(id), rule: id, what: what}
			for _, one := range found {
				if one != c && fits(one) {
					m.may = append(m.may, one)
				}
			}
			if len(m.may) > 0 {
				mine[name] = m
				list = append(list, m)
			}
		}
		if c.MainChat != "" {
			add(rules.DanglingMainChat, "the parent", c.MainChat, func(one *family.Chat) bool { return !below(one, c) })
		}
		for _, l := range c.Links {
			if !nameless[c][l.Index] {
				continue
			}
			id, what := rules.DanglingBranch, "the branch"
			if l.Kind == family.Checkpoint {
				id, what = rules.DanglingCheckpoint, "the checkpoint"
			}
			add(id, what, l.Name, func(one *family.Chat) bool { return one.Named == c })
		}
	}
	return list
}

// below reports whether a chat comes from another.
func below(c, other *family.Chat) bool {
	seen := map[*family.Chat]bool{}
	for ; c != nil && !seen[c]; c = c.Named {
		if c == other {
			return true
		}
		seen[c] = true
	}
	return false
}

// markCircles marks the parents that, all put right together, would make a chat its own
// ancestor.
func markCircles(open []*missing) {
	parents := map[*family.Chat]*family.Chat{} // those to be
	for _, m := range open {
		if len(m.may) == 1 && m.name == m.chat.MainChat {
			parents[m.chat] = m.may[0]
		}
	}
	above := func(c *family.Chat) *family.Chat {
		if p := parents[c]; p != nil {
			return p
		}
		return c.Named
	}
	for _, m := range open {
		seen := map[*family.Chat]bool{}
		for c := parents[m.chat]; c != nil && !seen[c]; c = above(c) {
			seen[c] = true
		}
		m.circle = seen[m.chat] && m.name == m.chat.MainChat
	}
}
