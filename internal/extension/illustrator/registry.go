package illustrator

import (
	"strconv"

	"stchat/internal/extension"
	"stchat/internal/json/jsvalue"
	"stchat/internal/jsonl/rawjson"
)

// Registry is what the extension keeps in one chat. It aliases the metadata's bytes.
type Registry struct {
	misshapen shapings
	open      []byte // expandedMessages of the gallery

	prompts  []Prompt
	at       map[string]int32 // by id
	hasNodes bool
	roots    []byte
	images   []byte
}

// Prompt is one node, as raw values, each nil if the node lacks it.
type Prompt struct {
	ID       string // the node's key
	message  []byte // messageId
	index    []byte // promptIndex
	text     []byte
	parent   []byte // parentId
	children []byte // childIds
	pictures []byte // generatedImages
}

// Read returns the registry in a chat's metadata, nil if there is none. What cannot be read
// is noted, and counts as missing.
func Read(metadata *rawjson.Object) *Registry {
	raw := metadata.Value(Key)
	if !rawjson.Truthy(raw) {
		return nil // the extension begins a new one
	}
	r := &Registry{at: map[string]int32{}}
	state, err := rawjson.ParseObject(raw)
	if err != nil {
		r.misshapen.noObject(Key, raw, shaping{whole: true})
		return r
	}
	r.open = rawjson.Value(state.Value(keyGallery), keyOpen)
	raw = state.Value(keyRegistry)
	if !rawjson.Truthy(raw) {
		return r
	}
	registry, err := rawjson.ParseObject(raw)
	if err != nil {
		r.misshapen.noObject(keyRegistry, raw, shaping{whole: true})
		return r
	}
	nodes := r.misshapen.part(registry, keyNodes, rawjson.ObjectKind)
	r.images = r.misshapen.part(registry, keyImages, rawjson.ObjectKind)
	r.roots = r.misshapen.part(registry, keyRoots, rawjson.Array)
	r.readNodes(nodes)
	return r
}

// readNodes reads the prompts.
func (r *Registry) readNodes(raw []byte) {
	nodes, err := rawjson.ParseObject(raw)
	if err != nil {
		return
	}
	keys := []string{"id", "messageId", "promptIndex", "text", "parentId", "childIds", "generatedImages"}
	r.hasNodes = true
	r.prompts = make([]Prompt, 0, nodes.Len())
	for id, node := range nodes.All() {
		if rawjson.KindOf(node) != rawjson.ObjectKind {
			r.misshapen.noObject("the prompt "+short(id), node, shaping{key: id})
			continue
		}
		p := Prompt{ID: id}
		var own []byte
		rawjson.Into(node, keys, &own, &p.message, &p.index, &p.text, &p.parent, &p.children, &p.pictures)
		r.misshapen.ownID(id, own)
		r.at[id] = int32(len(r.prompts))
		r.prompts = append(r.prompts, p)
	}
}

// Has reports whether there is a prompt with an id. A nil registry has none.
func (r *Registry) Has(id string) bool {
	if r == nil {
		return false
	}
	_, ok := r.at[id]
	return ok
}

// isBeyond reports whether a raw index, however large, is messages or more.
func isBeyond(raw []byte, messages int) bool {
	at, ok := rawjson.Float(raw)
	return ok && at >= float64(messages)
}

// isParentless reports whether a parentId names no parent.
func isParentless(parent []byte) bool { return !rawjson.Truthy(parent) }

// parentOf returns the index of a prompt's parent, -1 if it has none, -2 if it names one
// that does not exist.
func (r *Registry) parentOf(i int) int32 {
	raw := r.prompts[i].parent
	if isParentless(raw) {
		return -1
	}
	if id, ok := rawjson.Unquote(raw); ok && r.Has(id) {
		return r.at[id]
	}
	return -2
}

// circles returns, for each circle of parents, the prompt that should be its root: one that
// raw lists as a root, else the first.
func (r *Registry) circles(raw []byte) (cut []string) {
	done := map[int32]bool{}
	var roots map[string]bool
	for _, at := range r.trees() {
		if done[at] {
			continue
		}
		if done[at] = true; r.parentOf(int(at)) < 0 {
			continue
		}
		if roots == nil {
			roots = idsIn(raw)
		}
		first, listed := at, int32(-1)
		for k := at; ; {
			first = min(first, k)
			if listed < 0 && roots[r.prompts[k].ID] {
				listed = k
			}
			if k = r.parentOf(int(k)); k == at {
				break
			}
		}

		if listed >= 0 {
			first = listed
		}
		cut = append(cut, r.prompts[first].ID)
	}
	return cut
}

// trees returns the root of each prompt's tree; for a circle of parents, one prompt in it.
func (r *Registry) trees() []int32 {
	tree := make([]int32, len(r.prompts))
	for i := range tree {
		tree[i] = -1
	}
	var path []int32
	for i := range r.prompts {
		path = path[:0]
		at := int32(i)
		for tree[at] == -1 {
			tree[at] = at // until the end of the walk is known
			path = append(path, at)
			parent := r.parentOf(int(at))
			if parent < 0 {
				break
			}
			at = parent
		}

		root := tree[at]
		for _, k := range path {
			tree[k] = root
		}
	}
	return tree
}

// idsIn returns the set of the strings in a raw list.
func idsIn(list []byte) map[string]bool {
	there := map[string]bool{}
	for id := range rawjson.Texts(list) {
		there[id] = true
	}
	return there
}

// PromptID returns the id that Auto-Illustrator gives a prompt: a hash of its text, its
// message's index and its own index in the message.
func PromptID(text string, message, prompt int) string {
	return "prompt_" + jsvalue.Hash36(text+"|"+strconv.Itoa(message)+"|"+strconv.Itoa(prompt))
}

// Begin finds the prompts that go, and those whose id changes with their message's index, since it
// is a hash of it. A prompt whose new id is taken keeps its own, and so does one that would get that.
func (e *Extension) Begin(f *extension.Following) {
	e.gone = map[string]bool{}
	e.renamed = Renames{}
	e.kept = nil
	registry := Read(f.Metadata)
	if registry == nil || !f.Moves() {
		return
	}
	holders := map[string]string{} // by id: the prompt that has it afterwards
	wanted := map[string]string{}
	var order []string
	for i := range registry.prompts {
		p := &registry.prompts[i]
		at, ok := rawjson.Int(p.message)
		moves := ok && at >= 0 && at < f.Messages
		switch {
		case moves && f.Goes(at):
			e.gone[p.ID] = true
			continue
		case moves && f.Map(at) != at && p.hashed(at) == p.ID: // else the id is not this prompt's hash
			wanted[p.ID] = p.hashed(f.Map(at))
			order = append(order, p.ID)
			continue
		}
		holders[p.ID] = p.ID
	}

	for _, id := range order {
		to := wanted[id]
		if holders[to] == "" {
			holders[to] = id
			continue
		}
		for keeper := id; keeper != ""; {
			next := holders[keeper] // the one that would get this id
			holders[keeper] = keeper
			keeper = next
		}
	}

	for _, id := range order {
		to := wanted[id]
		switch {
		case holders[to] != id:
			e.kept = append(e.kept, id)
		case to != id:
			e.renamed[id] = to
		}
	}
}

// hashed returns the id that the prompt would have in a message.
func (p *Prompt) hashed(message int) string {
	place, _ := rawjson.Int(p.index)
	text, _ := rawjson.Unquote(p.text)
	return PromptID(text, message, place)
}
