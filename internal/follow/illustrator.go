package follow

import (
	"stchat/internal/illustrator"
	"stchat/internal/plural"
	"stchat/internal/rawjson"
)

// ids are the prompts of Auto-Illustrator whose id changes with their message's index,
// which the id is a hash of.
type ids struct {
	gone    map[string]bool
	renamed illustrator.Renames
	kept    []string // ids that would be another prompt's, and so stay
}

// idsOf finds the prompts that go or get a new id. One whose new id another prompt has
// keeps its own.
func idsOf(metadata *rawjson.Object, c *Change) ids {
	list := ids{gone: map[string]bool{}, renamed: illustrator.Renames{}}
	registry := illustrator.Read(metadata)
	if registry == nil || !c.Moves() {
		return list
	}
	taken := map[string]bool{}
	wanted := map[string]string{}
	var order []string
	for p := range registry.Prompts() {
		at, ok := p.Message()
		moves := ok && at < c.Messages
		switch {
		case moves && c.goes(at):
			list.gone[p.ID] = true
			continue
		case moves && c.Map(at) != at && p.Hashed(at) == p.ID: // else it is no hash of this prompt
			wanted[p.ID] = p.Hashed(c.Map(at))
			order = append(order, p.ID)
			continue
		}
		taken[p.ID] = true
	}
	for _, id := range order {
		to := wanted[id]
		if taken[to] {
			list.kept = append(list.kept, id)
			to = id
		}
		if taken[to] = true; to != id {
			list.renamed[id] = to
		}
	}
	return list
}

// illustrator brings Auto-Illustrator's registry in step: prompts of messages that go are
// dropped as isolate drops them (FORMATS.md C3), those of messages that move get their new
// index and id.
func (s *stepping) illustrator() {
	const name = illustrator.Key
	c := s.change
	if !c.Moves() {
		return
	}
	did := (&illustrator.Edit{
		Gone: s.state.nodes.gone, Renamed: s.state.nodes.renamed, Images: len(c.Gone) > 0,
		Move: func(_ string, message int) int {
			if message < c.Messages {
				return c.Map(message)
			}
			return message
		},
	}).Apply(s.metadata)
	illustrator.MoveOpen(s.metadata, c.Messages, func(message int) (int, bool) { return c.Map(message), !c.goes(message) }, nil)
	if did.Gone > 0 {
		s.add(name, "%d of %s kept", did.Prompts-did.Gone, plural.S(did.Prompts, "prompt"))
	}
	if did.ImagesGone > 0 {
		s.add(name, "%s removed", plural.S(did.ImagesGone, "image"))
	}
	if did.Moved > 0 {
		s.add(name, "%s moved with their messages", plural.S(did.Moved, "prompt"))
	}
	for _, id := range s.state.nodes.kept {
		s.add(name, "the prompt %s keeps its id: another prompt has the one it would get", id)
	}
}
