package illustrator

import (
	"fmt"

	"stchat/internal/rawjson"
	"stchat/internal/visible"
)

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
func FixDangling(metadata *rawjson.Object) (changes []Change) {
	r := Read(metadata)
	if r == nil || !r.hasNodes {
		return nil
	}
	roots := idsIn(r.roots)
	for i := range r.prompts {
		if r.parentOf(i) == -1 && !roots[r.prompts[i].ID] && rawjson.KindOf(r.roots) == rawjson.Array {
			changes = append(changes, Change{Text: "made the prompt " + short(r.prompts[i].ID) + " a root"})
		}
	}
	cut := map[string]bool{}
	for _, id := range r.circles(r.roots) {
		cut[id] = true
	}
	e := &Edit{Dangling: true, Cut: cut, Lost: func(what string, raw []byte) {
		changes = append(changes, Change{Text: "removed " + what, What: what, Lost: raw})
	}}
	e.Apply(metadata)
	return changes
}

// short shortens a stranger's text for a message.
func short[T string | []byte](text T) string { return visible.Clip(string(text), 60) }
