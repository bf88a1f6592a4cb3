package illustrator

import (
	"fmt"

	"stchat/internal/rawjson"
	"stchat/internal/visible"
)

// Dangling says which parents, children, roots and images name no prompt, which prompts
// have no parent and are no roots, and where parents go round in a circle.
func (r *Registry) Dangling(found func(fault string)) {
	if !r.hasNodes {
		return // nothing can be told of what names them
	}
	roots := idsIn(r.roots)
	for i := range r.prompts {
		p := &r.prompts[i]
		switch parent := r.parentOf(i); {
		case parent == -2:
			found(fmt.Sprintf("the parent %s of the prompt %s is not there", short(p.parent), short(p.ID)))
		case parent == -1 && !roots[p.ID] && rawjson.KindOf(r.roots) == rawjson.Array:
			found(fmt.Sprintf("the prompt %s has no parent and is no root", short(p.ID)))
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

// names reports whether a raw value is the id of a prompt.
func (r *Registry) names(raw []byte) bool {
	id, ok := rawjson.Unquote(raw)
	return ok && r.Has(id)
}

// circles returns of each circle of parents the prompt that is to be its root: one that is
// listed in raw as a root, else the first.
func (f *forest) circles(raw []byte) (cut []string) {
	seen := make([]int32, len(f.prompts)) // the walk that met it, from 1
	var roots map[string]bool
	for i := range f.prompts {
		at := int32(i)
		for at >= 0 && seen[at] == 0 {
			seen[at] = int32(i) + 1
			at = f.parentOf(int(at))
		}
		if at < 0 || seen[at] != int32(i)+1 {
			continue
		}
		if roots == nil {
			roots = idsIn(raw)
		}
		first, listed := at, int32(-1)
		for k := at; ; {
			first = min(first, k)
			if listed < 0 && roots[f.prompts[k].ID] {
				listed = k
			}
			if k = f.parentOf(int(k)); k == at {
				break
			}
		}
		if listed >= 0 {
			first = listed
		}
		cut = append(cut, f.prompts[first].ID)
	}
	return cut
}

// Untangle mends what [Registry.Dangling] says.
func Untangle(metadata *rawjson.Object) (changes []Change) {
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
