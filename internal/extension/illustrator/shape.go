package illustrator

import (
	"fmt"

	"stchat/internal/extension"
	"stchat/internal/rawjson"
	"stchat/internal/visible"
)

// Misshapen returns what the extension cannot read: a registry without one of its parts,
// which it reads without checking, or a node whose key is not its id.
func (r *Registry) Misshapen() (faults []string) {
	for i := range r.misshapen {
		faults = append(faults, r.misshapen[i].fault)
	}
	return faults
}

// FixShape repairs what [Registry.Misshapen] returns, and returns what it changed. It makes missing
// parts, from what the nodes say, removes what is useless, and sets each node's id to its key,
// since that is what others name it by.
func FixShape(metadata *rawjson.Object) (changes []extension.Repaired) {
	var own []string // nodes whose id becomes their key
	gone := map[string]bool{}
	var missing []string
	whole := false
	r := Read(metadata)
	if r == nil {
		return nil
	}
	for i := range r.misshapen {
		s := &r.misshapen[i]
		c := extension.Repaired{Text: s.change}
		if s.lost != nil && rawjson.KindOf(s.lost) != rawjson.Null {
			c.What, c.Lost = s.what, s.lost
		}
		changes = append(changes, c)
		switch {
		case s.whole:
			whole = true
		case s.part != "":
			missing = append(missing, s.part)
		case s.isNode:
			own = append(own, s.key)
		default:
			gone[s.key] = true
		}
	}
	state, isObject := metadata.Object(Key)
	switch {
	case len(changes) == 0:
		return nil
	case whole && isObject:
		state.Unset(keyRegistry)
		metadata.Set(Key, state.Bytes())
		return changes
	case whole:
		metadata.Unset(Key)
		return changes
	}
	metadata.Edit(func(registry *rawjson.Object) {
		registry.Edit(func(nodes *rawjson.Object) {
			for _, id := range own {
				nodes.Edit(func(node *rawjson.Object) { node.Set("id", rawjson.Quote(id)) }, id)
			}
		}, keyNodes)
		for _, part := range missing {
			registry.Set(part, emptyPart(part))
		}
	}, Key, keyRegistry)
	if len(gone) > 0 {
		(&Edit{Gone: gone}).Apply(metadata)
	}
	for _, part := range missing {
		rebuild(metadata, part)
	}
	return changes
}

// shaping is one fault and how to repair it.
type shaping struct {
	fault, change string
	what          string // what lost is
	lost          []byte

	whole  bool   // the whole registry, or state, is useless
	part   string // the part of the registry that is missing
	key    string // the node's key
	isNode bool   // the node is an object with another id
}

// shapings are all the faults.
type shapings []shaping

func emptyPart(part string) []byte {
	if part == keyRoots {
		return []byte("[]")
	}
	return []byte("{}")
}

// noObject notes what must be an object but is not.
func (list *shapings) noObject(key string, raw []byte) {
	*list = append(*list, shaping{
		fault: fmt.Sprintf("%s is %v, not an object", key, rawjson.KindOf(raw)), change: "took " + key + " out", what: key, lost: raw, whole: true,
	})
}

// part returns a part of the registry; if it is missing or of another kind, it notes that
// and returns nil.
func (list *shapings) part(registry *rawjson.Object, key string, kind rawjson.Kind) []byte {
	raw, ok := registry.Get(key)
	is := rawjson.KindOf(raw)
	if is == kind {
		return raw
	}
	s := shaping{fault: fmt.Sprintf("%s has no %s", keyRegistry, key), change: "made " + key, what: key, lost: raw, part: key}
	if ok {
		s.fault = fmt.Sprintf("%s is %v, not %v", key, is, kind)
	}
	*list = append(*list, s)
	return nil
}

// noNode notes a node that is not an object.
func (list *shapings) noNode(id string, raw []byte) {
	name := "the prompt " + short(id)
	*list = append(*list, shaping{
		fault: fmt.Sprintf("%s is %v, not an object", name, rawjson.KindOf(raw)), change: "took " + name + " out", what: name, lost: raw, key: id,
	})
}

// ownID notes a node whose raw id is not its key; raw is nil if it has none.
func (list *shapings) ownID(id string, raw []byte) {
	if len(raw) == len(id)+2 && string(raw[1:len(raw)-1]) == id {
		return // nearly always; an id with escapes is longer
	}
	if own, ok := rawjson.Unquote(raw); ok && own == id {
		return
	}
	name := "the prompt " + short(id)
	s := shaping{fault: name + " has no id", change: "set the id of " + name, what: "the id of " + name, lost: raw, key: id, isNode: true}
	if raw != nil {
		s.fault = fmt.Sprintf("%s has the id %s", name, short(raw))
	}
	*list = append(*list, s)
}

// rebuild fills a part that was missing with what the nodes say.
func rebuild(metadata *rawjson.Object, part string) {
	r := Read(metadata)
	metadata.Edit(func(registry *rawjson.Object) {
		switch part {
		case keyRoots:
			var ids []string
			for i := range r.prompts {
				if isParentless(r.prompts[i].parent) {
					ids = append(ids, r.prompts[i].ID)
				}
			}
			registry.Set(keyRoots, appendIDs([]byte("[]"), ids))
		case keyImages:
			images := rawjson.NewObject()
			for i := range r.prompts {
				for raw := range rawjson.Elements(r.prompts[i].pictures) {
					if address, ok := rawjson.Unquote(raw); ok {
						images.Set(address, rawjson.Quote(r.prompts[i].ID))
					}
				}
			}
			registry.Set(keyImages, images.Bytes())
		}
	}, Key, keyRegistry)
}

// Dangling calls found for each parent, child, root and image that names no prompt, for each
// prompt without a parent that is not a root, and for each circle of parents.
func (r *Registry) Dangling(found func(fault string)) {
	if !r.hasNodes {
		return // without nodes it is unknown which references dangle
	}
	roots := idsIn(r.roots)
	for i := range r.prompts {
		p := &r.prompts[i]
		switch parent := r.parentOf(i); {
		case parent == -2:
			found(fmt.Sprintf("the parent %s of the prompt %s is not there", short(p.parent), short(p.ID)))
		case parent == -1 && !roots[p.ID] && rawjson.KindOf(r.roots) == rawjson.Array:
			found(fmt.Sprintf("the prompt %s has no parent and is not a root", short(p.ID)))
		}
		for raw := range rawjson.Elements(p.children) {
			if !r.names(raw) {
				found(fmt.Sprintf("the child %s of the prompt %s is not there", short(raw), short(p.ID)))
			}
		}
	}
	for raw := range rawjson.Elements(r.roots) {
		if !r.names(raw) {
			found(fmt.Sprintf("the root %s is not there", short(raw)))
		}
	}
	if images, err := rawjson.ParseObject(r.images); err == nil {
		for address, raw := range images.All() {
			if !r.names(raw) {
				found(fmt.Sprintf("the prompt %s of the image %q is not there", short(raw), short(address)))
			}
		}
	}
	for _, id := range r.circles(r.roots) {
		found(fmt.Sprintf("the prompt %s is an ancestor of its own", short(id)))
	}
}

// names reports whether the raw value is the id of a prompt.
func (r *Registry) names(raw []byte) bool {
	id, ok := rawjson.Unquote(raw)
	return ok && r.Has(id)
}

// FixDangling repairs what [Registry.Dangling] finds, and returns what it changed.
func FixDangling(metadata *rawjson.Object) (changes []extension.Repaired) {
	r := Read(metadata)
	if r == nil || !r.hasNodes {
		return nil
	}
	roots := idsIn(r.roots)
	for i := range r.prompts {
		if r.parentOf(i) == -1 && !roots[r.prompts[i].ID] && rawjson.KindOf(r.roots) == rawjson.Array {
			changes = append(changes, extension.Repaired{Text: "made the prompt " + short(r.prompts[i].ID) + " a root"})
		}
	}
	cut := map[string]bool{}
	for _, id := range r.circles(r.roots) {
		cut[id] = true
	}
	e := &Edit{Dangling: true, Cut: cut, Lost: func(what string, raw []byte) {
		changes = append(changes, extension.Repaired{Text: "removed " + what, What: what, Lost: raw})
	}}
	e.Apply(metadata)
	return changes
}

// short shortens a stranger's text for a message.
func short[T string | []byte](text T) string { return visible.Clip(string(text), 60) }
