package illustrator

import (
	"stchat/internal/extension"
	"stchat/internal/rawjson"
)

// ids are the prompts of Auto-Illustrator that go, or whose id changes with their message's
// index, since the id is a hash of it.
type ids struct {
	gone    map[string]bool
	renamed Renames
	kept    []string // prompts that keep their id since another has the new one
}

// idsOf finds the prompts that go or get a new id. A prompt whose new id is taken keeps its
// own.
func idsOf(metadata *rawjson.Object, c *extension.Shift) ids {
	list := ids{gone: map[string]bool{}, renamed: Renames{}}
	registry := Read(metadata)
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
		case moves && c.Goes(at):
			list.gone[p.ID] = true
			continue
		case moves && c.Map(at) != at && p.Hashed(at) == p.ID: // else the id is not this prompt's hash
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
