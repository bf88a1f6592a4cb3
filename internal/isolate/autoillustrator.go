package isolate

import (
	"stchat/internal/plural"
	"stchat/internal/rawjson"
)

// autoIllustrator deals with Auto-Illustrator (FORMATS.md C3): prompts of messages
// that the branch does not have go, and with them what refers to them: roots,
// children, images, and the gallery's open messages. A prompt whose parent goes
// becomes a root, as upstream's deletePromptNode makes it.
type autoIllustrator struct{}

func (*autoIllustrator) Name() string    { return "auto_illustrator" }
func (*autoIllustrator) Owns() []string  { return []string{"auto_illustrator"} }
func (*autoIllustrator) Needs() []string { return nil }

// Look has nothing to note: all there is stands in the metadata.
func (*autoIllustrator) Look(*Message) any { return nil }
func (*autoIllustrator) Keep(int, any)     {}
func (*autoIllustrator) Later(any)         {}

func (a *autoIllustrator) Apply(metadata *rawjson.Object, at Moment) []Change {
	state, ok := objectAt(metadata, "auto_illustrator")
	if !ok {
		return nil
	}
	r := &report{extension: a.Name()}
	if registry, ok := objectAt(state, "promptRegistry"); ok {
		pruneRegistry(registry, at, r)
		if registry.Edited() {
			state.Set("promptRegistry", registry.Bytes())
		}
	}
	if gallery, ok := objectAt(state, "galleryWidget"); ok {
		if open, ok := gallery.Get("expandedMessages"); ok {
			total, kept := 0, 0
			pruned := rawjson.Filter(open, func(_ int, value []byte) bool {
				total++
				n, ok := rawjson.Float(value)
				keep := !ok || n <= float64(at.At)
				if keep {
					kept++
				}
				return keep
			})
			if kept < total {
				gallery.Set("expandedMessages", pruned)
				state.Set("galleryWidget", gallery.Bytes())
				r.add("%d of %s of the gallery kept", kept, plural.S(total, "open message"))
			}
		}
	}
	if state.Edited() {
		metadata.Set("auto_illustrator", state.Bytes())
	}
	return r.changes
}

// pruneRegistry drops the prompts of later messages and mends what refers to them.
func pruneRegistry(registry *rawjson.Object, at Moment, r *report) {
	nodes, ok := objectAt(registry, "nodes")
	if !ok {
		return
	}
	total := nodes.Len()
	gone := map[string]bool{}
	for id, node := range nodes.All() {
		raw, _ := rawjson.Lookup(node, "messageId")
		if n, ok := rawjson.Float(raw); ok && n > float64(at.At) {
			gone[id] = true
		}
	}
	for id := range gone {
		nodes.Unset(id)
	}
	var promoted []string
	if len(gone) > 0 {
		for _, id := range keysOf(nodes) {
			raw, _ := nodes.Get(id)
			node, err := rawjson.ParseObject(raw)
			if err != nil {
				continue
			}
			if parent, _ := node.Get("parentId"); isOneOf(parent, gone) {
				node.Set("parentId", []byte("null"))
				promoted = append(promoted, id)
			}
			if children, ok := node.Get("childIds"); ok && holdsAny(children, gone) {
				node.Set("childIds", without(children, gone))
			}
			if node.Edited() {
				nodes.Set(id, node.Bytes())
			}
		}
		registry.Set("nodes", nodes.Bytes())
		r.add("%d of %s kept", nodes.Len(), plural.S(total, "prompt"))
		if roots, ok := registry.Get("rootPromptIds"); ok && rawjson.KindOf(roots) == rawjson.Array {
			registry.Set("rootPromptIds", withRoots(without(roots, gone), promoted))
		}
	}
	images, ok := objectAt(registry, "imageToPromptId")
	if !ok {
		return
	}
	count := images.Len()
	for _, url := range keysOf(images) {
		raw, _ := images.Get(url)
		if id, ok := rawjson.Unquote(raw); !ok || !nodes.Has(id) {
			images.Unset(url)
		}
	}
	if images.Edited() {
		registry.Set("imageToPromptId", images.Bytes())
		r.add("%d of %s kept", images.Len(), plural.S(count, "image"))
	}
}

// withRoots appends the ids that are not in the list yet.
func withRoots(roots []byte, ids []string) []byte {
	if len(ids) == 0 {
		return roots
	}
	there := map[string]bool{}
	for raw := range rawjson.Elements(roots) {
		if id, ok := rawjson.Unquote(raw); ok {
			there[id] = true
		}
	}
	fresh := rawjson.NewObject() // its members are the ids to add, each once
	for _, id := range ids {
		if !there[id] {
			fresh.Set(id, rawjson.Quote(id))
		}
	}
	for _, quoted := range fresh.All() {
		roots = rawjson.Append(roots, quoted)
	}
	return roots
}

func isOneOf(raw []byte, ids map[string]bool) bool {
	id, ok := rawjson.Unquote(raw)
	return ok && ids[id]
}

func holdsAny(list []byte, ids map[string]bool) bool {
	for raw := range rawjson.Elements(list) {
		if isOneOf(raw, ids) {
			return true
		}
	}
	return false
}

func without(list []byte, ids map[string]bool) []byte {
	return rawjson.Filter(list, func(_ int, raw []byte) bool { return !isOneOf(raw, ids) })
}
