package follow

import (
	"stchat/internal/illustrator"
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
