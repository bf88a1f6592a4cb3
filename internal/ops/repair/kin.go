package repair

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"stchat/internal/folder/family"
	"stchat/internal/folder/library"
	"stchat/internal/folder/rules"
	"stchat/internal/jsonl"
	"stchat/internal/meta"
)

// kin holds the names in the chats of a folder that lead nowhere but may mean an existing chat,
// by the name of the chat they are in.
type kin map[string][]*missing

// missing is one such name.
type missing struct {
	chat    *family.Chat
	name    string         // as written
	rules   rules.Set      // that report it
	rule    rules.ID       // the first of them
	what    string         // what it names
	may     []*family.Chat // the chats it may mean
	circle  bool           // the only chat it may mean would descend from the chat itself
	follows bool           // only the names that are corrected now tell what it may mean
	now     string         // what it is called now; empty: that is not clear
}

// String explains why it is not clear what is meant.
func (m *missing) String() string {
	text := fmt.Sprintf("%s: %s %q is not there; it may be ", m.rule, m.what, clip(m.name))
	names := make([]string, len(m.may))
	for i, c := range m.may {
		names[i] = c.Name
	}
	switch {
	case m.circle:
		return text + quoteAll(names) + ", which would then come from this chat in turn"
	case m.follows:
		return text + quoteAll(names) + ", if the names that are corrected now are right: repair once more"
	}
	return text + "any of " + quoteAll(names)
}

// resolve judges together all names of a folder that lead nowhere, by what the files say: a name that is
// only now corrected is no evidence for another one. So the result depends neither on the order of the
// chats nor on which of them are repaired now. What would follow from the corrected names is told.
func resolve(g *family.Graph) kin {
	k := kin{}
	known := map[place]bool{}
	open := namesOf(g)
	markCircles(open)
	for _, m := range open {
		k[m.chat.Name] = append(k[m.chat.Name], m)
		known[place{m.chat, m.name}] = true
	}

	for _, m := range open {
		if len(m.may) == 1 && !m.circle {
			m.resolve()
		}
	}

	for _, m := range namesOf(g.Again()) {
		if !known[place{m.chat, m.name}] {
			m.follows = true
			k[m.chat.Name] = append(k[m.chat.Name], m)
		}
	}
	return k
}

// place is a name in a chat.
type place struct {
	chat *family.Chat
	name string
}

// resolve replaces the name in the chat by what it is called now.
func (m *missing) resolve() {
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

// mostLookedFor limits how many missing names are searched per folder: each search goes through
// all its chats.
const mostLookedFor = 1000

// namesOf returns the names that lead nowhere and may mean an existing chat.
func namesOf(g *family.Graph) []*missing {
	nameless := map[*family.Chat]map[int]bool{} // messages that a chat branches from without a link there
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
				m.rules = m.rules.With(rules.SetOf(id))
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

// below reports whether a chat descends from another, or is the other.
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

// markCircles marks the parents that, if all were corrected together, would make a chat its own
// ancestor.
func markCircles(open []*missing) {
	parents := map[*family.Chat]*family.Chat{} // the new ones
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

// renames finds the current names of chats that others name but that no longer exist. It reads
// the chats of a folder once, as they will be when they are repaired, and only if a name leads
// nowhere. It is safe for concurrent use.
type renames struct {
	lib     *library.Library
	preview func(path string) *family.Preview

	mu      sync.Mutex
	folders map[string]kin
}

// kinOf returns the missing names of a folder's chats.
func (r *renames) kinOf(ctx context.Context, folder string) (kin, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := r.folders[folder]; k != nil {
		return k, nil
	}
	graphs, err := family.Read(ctx, r.lib, []string{folder}, family.Options{Preview: r.preview})
	if err != nil {
		return nil, err
	}
	k := resolve(graphs[0])
	r.folders[folder] = k
	return k, nil
}

// now reports whether a chat has names that lead nowhere but may mean an existing chat; left
// describes those whose meaning is not clear.
func (r *renames) now(ctx context.Context, c *rules.Chat, have rules.Set) (renamed bool, left []string, err error) {
	if !have.HasAny(rules.Dangling()) {
		return false, nil, nil
	}
	k, err := r.kinOf(ctx, c.Folder)
	if err != nil {
		return false, nil, err
	}
	for _, m := range k[c.Name] {
		if !have.HasAny(m.rules) {
			continue
		}
		renamed = true
		if m.now == "" {
			left = append(left, m.String())
		}
	}
	return renamed, left, nil
}

// in returns a function that looks up the current name for a missing name in a chat. The
// function is also called for lines that could not be read before, so it may be the first to
// read the folder. If it cannot read it, it stores the error in failed.
func (r *renames) in(ctx context.Context, c *rules.Chat, failed *error) func(name string) (now string, ok bool) {
	return func(name string) (string, bool) {
		k, err := r.kinOf(ctx, c.Folder)
		if err != nil {
			*failed = err
			return "", true
		}
		for _, m := range k[c.Name] {
			if m.name == name {
				return m.now, true
			}
		}
		return "", false
	}
}

// lineEdit returns what messages a chat's lines will hold: junk around a message is stripped,
// and a repeated header is taken out.
func lineEdit(want rules.Set) family.LineEdit {
	damage := want
	if want.Has(rules.TornTail) {
		damage = damage.With(rules.SetOf(rules.InvalidJSON)) // which of these lines is the torn tail is not known yet
	}
	return func(header []byte, l *jsonl.Line) (message []byte, ok bool) {
		message = l.Raw
		if l.Damage != nil {
			if message, ok = rules.WithoutJunk(l.Raw); !ok || !damage.Has(rules.DamageRule(l.Damage)) {
				return nil, false
			}
		}
		again := want.Has(rules.MisplacedHeader) && meta.IsHeader(message) &&
			bytes.Equal(bytes.TrimRight(message, "\r"), bytes.TrimRight(header, "\r"))
		return message, !again
	}
}
