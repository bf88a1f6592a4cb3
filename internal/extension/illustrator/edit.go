package illustrator

import (
	"bytes"
	"fmt"
	"strconv"

	"stchat/internal/jsonl/rawjson"
)

// Edit describes changes to a registry. References follow: those to a prompt that goes go
// with it, and its children become roots (deletePromptNode); those to a renamed prompt get
// its new id.
type Edit struct {
	Gone    map[string]bool
	Renamed Renames
	Move    func(id string, message int) int // the new index of a prompt's message; nil: none moves
	Cut     map[string]bool                  // prompts that lose their parent

	Images   bool // images that name no prompt go
	Dangling bool // whatever names no prompt goes, and a prompt without a parent becomes a root

	// Open returns the new index of a message that is open in the gallery, or false if it goes;
	// nil: all stay. Messages is how many messages the chat had.
	Open     func(message int) (int, bool)
	Messages int

	Lost func(what string, raw []byte) // called with what goes; may be nil
}

// Edited says what an [Edit] did.
type Edited struct {
	Prompts, Gone, Moved int // how many there were, went, and stayed but moved
	Images, ImagesGone   int // how many there were, and went
	Open, OpenGone       int // messages open in the gallery
}

// Apply edits the registry and the gallery in the metadata.
func (e *Edit) Apply(metadata *rawjson.Object) Edited {
	run := &editing{Edit: *e}
	metadata.Edit(func(registry *rawjson.Object) {
		nodes, ok := registry.Object(keyNodes)
		if !ok {
			return // without nodes it is unknown which references dangle
		}
		run.nodes = nodes
		run.all()
		if run.edited {
			registry.Set(keyNodes, run.out.Bytes())
		}
		if roots := registry.Value(keyRoots); rawjson.KindOf(roots) == rawjson.Array {
			if edited := rawjson.AppendTexts(run.list(roots, "", "a root"), run.roots...); !bytes.Equal(edited, roots) {
				registry.Set(keyRoots, edited)
			}
		}

		registry.Edit(run.editImages, keyImages)
	}, Key, keyRegistry)

	if e.Open != nil {
		metadata.Edit(func(gallery *rawjson.Object) { gallery.EditList(keyOpen, run.open) }, Key, keyGallery)
	}
	return run.did
}

// editing is an edit that is being made.
type editing struct {
	Edit
	nodes  *rawjson.Object // as they were
	out    *rawjson.Object // the edited nodes: the same object, unless some are renamed
	edited bool
	roots  []string // new ids of prompts that have lost their parent or never had one
	did    Edited
}

// all edits the nodes. If some are renamed it writes all of them anew, in their order.
func (e *editing) all() {
	e.out = e.nodes
	if len(e.Renamed) > 0 {
		e.out = rawjson.NewObject()
	}
	e.did.Prompts = e.nodes.Len()
	if len(e.Gone)+len(e.Renamed)+len(e.Cut) == 0 && e.Move == nil && !e.Dangling {
		return
	}
	for _, id := range e.nodes.Keys() {
		raw := e.nodes.Value(id)
		if e.Gone[id] {
			e.did.Gone++
			e.edited = true
			e.lose("the prompt "+short(id), raw)
			if len(e.Renamed) == 0 {
				e.nodes.Unset(id)
			}
			continue
		}

		edited := e.node(id, raw)
		if changed := !bytes.Equal(edited, raw); changed || len(e.Renamed) > 0 {
			e.out.Set(e.Renamed.ID(id), edited)
			e.edited = true
		}
	}
}

// isPrompt reports whether the node with an id exists and is an object.
func isPrompt(nodes *rawjson.Object, id string) bool {
	return rawjson.KindOf(nodes.Value(id)) == rawjson.ObjectKind
}

func (e *editing) lose(what string, raw []byte) {
	if e.Lost != nil {
		e.Lost(what, raw)
	}
}

// node returns the edited value of a node that stays.
func (e *editing) node(id string, raw []byte) []byte {
	return rawjson.Edit(raw, func(node *rawjson.Object) {
		if at, ok := rawjson.Int(node.Value("messageId")); ok && at >= 0 && e.Move != nil {
			if to := e.Move(id, at); to != at {
				node.Set("messageId", fmt.Append(nil, to))
				e.did.Moved++
			}
		}

		if was, ok := rawjson.Unquote(node.Value("id")); ok && e.Renamed.ID(was) != was {
			node.Set("id", rawjson.Quote(e.Renamed.ID(was)))
		}
		e.parent(id, node)
		if children, ok := node.Get("childIds"); ok {
			if list := e.list(children, id, "a child of the prompt "+short(id)); !bytes.Equal(list, children) {
				node.Set("childIds", list)
			}
		}
	})
}

// parent edits a node's reference to its parent.
func (e *editing) parent(id string, node *rawjson.Object) {
	raw := node.Value("parentId")
	if isParentless(raw) {
		if e.Dangling {
			e.roots = append(e.roots, e.Renamed.ID(id))
		}
		return
	}

	parent, ok := rawjson.Unquote(raw)
	switch {
	case ok && e.Gone[parent], e.Cut[id], e.Dangling && (!ok || !isPrompt(e.nodes, parent)):
		if !ok || !e.Gone[parent] {
			e.lose("the parent of the prompt "+short(id), raw)
		}
		node.Set("parentId", []byte("null"))
		e.roots = append(e.roots, e.Renamed.ID(id))
	case ok && e.Renamed.ID(parent) != parent:
		node.Set("parentId", rawjson.Quote(e.Renamed.ID(parent)))
	}
}

// list returns the edited list of ids; of is the prompt whose children they are, empty for
// the roots.
func (e *editing) list(raw []byte, of, what string) []byte {
	return rawjson.EditList(raw, func(_ int, value []byte) ([]byte, bool) {
		id, ok := rawjson.Unquote(value)
		switch {
		case ok && e.Gone[id]:
			return value, false
		case e.Dangling && (!ok || !isPrompt(e.nodes, id)), ok && of != "" && e.Cut[id]:
			e.lose(what, value)
			return value, false
		case ok && e.Renamed.ID(id) != id:
			return rawjson.Quote(e.Renamed.ID(id)), true
		}
		return value, true
	})
}

// editImages edits the prompts that the images name.
func (e *editing) editImages(images *rawjson.Object) {
	e.did.Images = images.Len()
	for _, url := range images.Keys() {
		raw := images.Value(url)
		id, isText := rawjson.Unquote(raw)
		switch to := e.Renamed.ID(id); {
		case !isText || !isPrompt(e.out, to):
			if e.Images || e.Dangling {
				e.did.ImagesGone++
				e.lose("the prompt of the image "+short(url), raw)
				images.Unset(url)
			}
		case to != id:
			images.Set(url, rawjson.Quote(to))
		}
	}
}

// open edits the index of a message that is open in the gallery.
func (e *editing) open(_ int, raw []byte) ([]byte, bool) {
	e.did.Open++
	at, isIndex := rawjson.Int(raw)
	to, keep := at, true
	switch {
	case isBeyond(raw, e.Messages):
		keep = false
	case isIndex && at >= 0:
		to, keep = e.Open(at)
	}

	switch {
	case !keep:
		e.did.OpenGone++
		e.lose(openMessage, raw)
	case to != at:
		raw = strconv.AppendInt(nil, int64(to), 10)
	}
	return raw, keep
}
