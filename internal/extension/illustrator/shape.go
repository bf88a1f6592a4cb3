package illustrator

import (
	"fmt"

	"stchat/internal/extension"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/text/visible"
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
	r := Read(metadata)
	if r == nil {
		return nil
	}
	var missing []string
	gone := map[string]bool{}
	state, _ := metadata.Object(Key)
	for i := range r.misshapen {
		s := &r.misshapen[i]
		if rawjson.KindOf(s.Lost) <= rawjson.Null {
			s.What, s.Lost = "", nil
		}
		changes = append(changes, s.Repaired)
		switch {
		case s.whole && state == nil:
			metadata.Unset(Key)
		case s.whole:
			state.Unset(keyRegistry)
			metadata.Set(Key, state.Bytes())
		case s.part != "":
			missing = append(missing, s.part)
		case !s.isNode:
			gone[s.key] = true
		}
	}

	metadata.Edit(func(nodes *rawjson.Object) {
		for i := range r.misshapen {
			if s := &r.misshapen[i]; s.isNode {
				nodes.Edit(func(node *rawjson.Object) { node.Set("id", rawjson.Quote(s.key)) }, s.key)
			}
		}
	}, Key, keyRegistry, keyNodes)

	if len(gone) > 0 {
		(&Edit{Gone: gone}).Apply(metadata)
	}
	if len(missing) == 0 {
		return changes
	}
	r = Read(metadata)
	metadata.Edit(func(registry *rawjson.Object) {
		for _, part := range missing {
			registry.Set(part, r.rebuilt(part))
		}
	}, Key, keyRegistry)
	return changes
}

// rebuilt returns what the prompts say about a part that is missing.
func (r *Registry) rebuilt(part string) []byte {
	images := rawjson.NewObject()
	var roots []string
	for i := range r.prompts {
		p := &r.prompts[i]
		if isParentless(p.parent) {
			roots = append(roots, p.ID)
		}
		for address := range rawjson.Texts(p.pictures) {
			if part == keyImages {
				images.Set(address, rawjson.Quote(p.ID))
			}
		}
	}

	if part == keyRoots {
		return rawjson.AppendTexts([]byte("[]"), roots...)
	}
	return images.Bytes()
}

// shaping is one fault and how it is repaired.
type shaping struct {
	fault string
	extension.Repaired

	whole  bool   // the whole registry, or state, is useless
	part   string // the part of the registry that is missing
	key    string // the node's key
	isNode bool   // the node is an object with another id
}

// shapings are all the faults.
type shapings []shaping

// noObject notes something that is useless since it is not an object.
func (list *shapings) noObject(name string, raw []byte, s shaping) {
	s.fault = fmt.Sprintf("%s is %v, not an object", name, rawjson.KindOf(raw))
	s.Repaired = extension.Repaired{Text: "took " + name + " out", What: name, Lost: raw}
	*list = append(*list, s)
}

// part returns a part of the registry; if it is missing or of another kind, it notes that
// and returns nil.
func (list *shapings) part(registry *rawjson.Object, key string, kind rawjson.Kind) []byte {
	raw, ok := registry.Get(key)
	is := rawjson.KindOf(raw)
	if is == kind {
		return raw
	}
	s := shaping{fault: fmt.Sprintf("%s has no %s", keyRegistry, key), part: key, Repaired: extension.Repaired{Text: "made " + key, What: key, Lost: raw}}
	if ok {
		s.fault = fmt.Sprintf("%s is %v, not %v", key, is, kind)
	}
	*list = append(*list, s)
	return nil
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
	s := shaping{fault: name + " has no id", key: id, isNode: true, Repaired: extension.Repaired{Text: "set the id of " + name, What: "the id of " + name, Lost: raw}}
	if raw != nil {
		s.fault = fmt.Sprintf("%s has the id %s", name, short(raw))
	}
	*list = append(*list, s)
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
		case parent == -1 && !roots[p.ID] && r.roots != nil:
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
		if r.parentOf(i) == -1 && !roots[r.prompts[i].ID] && r.roots != nil {
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
