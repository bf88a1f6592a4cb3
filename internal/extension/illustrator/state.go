package illustrator

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"stchat/internal/extension"
	"stchat/internal/jsonl/rawjson"
)

// illustratorState is what Auto-Illustrator keeps (FORMATS.md C): the value of state get
// illustrator:.
type illustratorState struct {
	Messages []messagePrompts `json:"messages"`
	Orphans  orphans          `json:"orphans"`
}

type messagePrompts struct {
	At      *int      `json:"at"` // null if the prompts have no message
	Prompts []*prompt `json:"prompts"`
}

type prompt struct {
	ID       string          `json:"id"`
	Text     json.RawMessage `json:"text"`
	Index    *int            `json:"index"`
	Source   json.RawMessage `json:"source"`
	Images   []image         `json:"images"`
	Children []*prompt       `json:"children"`
}

type image struct {
	URL    string `json:"url"`
	Exists *bool  `json:"exists"` // null if that is not known
}

// orphans are prompts that no root leads to, and images of prompts that do not exist.
type orphans struct {
	Prompts []string `json:"prompts"`
	Images  []image  `json:"images"`
}

// mostLevels is how deep a tree of prompts is followed. Deeper prompts are orphans.
const mostLevels = 1000

// Namespace is the name of what Auto-Illustrator keeps, among those of state.
const Namespace = "illustrator:"

// State returns the prompts as trees, by message, and their images.
func (*Extension) State(_ context.Context, s *extension.Stating) (any, error) {
	raw, ok := s.Metadata.Get(Key)
	if !ok {
		return nil, nil
	}
	registry := rawjson.Value(raw, keyRegistry)
	f := &trees{serves: s.Serves, nodes: rawjson.NewObject(), seen: map[string]bool{}}
	if nodes, err := rawjson.ParseObject(rawjson.Value(registry, keyNodes)); err == nil {
		f.nodes = nodes
	}
	var view illustratorState
	byMessage := map[int]int{} // indexes in view.Messages
	for id, node := range f.nodes.All() {
		if name, ok := rawjson.Unquote(rawjson.Value(node, "parentId")); ok && f.nodes.Has(name) {
			continue
		}
		at, message := -1, rawjson.IntOrNil(rawjson.Value(node, "messageId"))
		if message != nil {
			at = *message
		}
		i, ok := byMessage[at]
		if !ok {
			i = len(view.Messages)
			byMessage[at] = i
			view.Messages = append(view.Messages, messagePrompts{At: message})
		}

		view.Messages[i].Prompts = append(view.Messages[i].Prompts, f.tree(id, 0))
	}

	orEnd := func(m messagePrompts) int {
		if m.At == nil {
			return 1 << 30
		}
		return *m.At
	}

	slices.SortStableFunc(view.Messages, func(a, b messagePrompts) int { return orEnd(a) - orEnd(b) })
	for id := range f.nodes.All() {
		if !f.seen[id] {
			view.Orphans.Prompts = append(view.Orphans.Prompts, id)
		}
	}

	for key, value := range rawjson.Members(rawjson.Value(registry, keyImages)) {
		url, _ := rawjson.Unquote(key)
		if id, ok := rawjson.Unquote(value); !ok || !f.nodes.Has(id) {
			view.Orphans.Images = append(view.Orphans.Images, f.image(url))
		}
	}
	return view, nil
}

// trees are the prompts of a chat.
type trees struct {
	serves func(address string) (exists, ours bool)
	nodes  *rawjson.Object
	seen   map[string]bool
}

// tree returns a prompt with its images and its descendants.
func (f *trees) tree(id string, level int) *prompt {
	f.seen[id] = true
	node := f.nodes.Value(id)
	p := &prompt{ID: id, Index: rawjson.IntOrNil(rawjson.Value(node, "promptIndex"))}
	p.Text = rawjson.Value(node, "text")
	p.Source = rawjson.Value(node, "metadata", "source")
	for url := range rawjson.Texts(rawjson.Value(node, "generatedImages")) {
		p.Images = append(p.Images, f.image(url))
	}
	for child := range rawjson.Texts(rawjson.Value(node, "childIds")) {
		if f.nodes.Has(child) && !f.seen[child] && level < mostLevels {
			p.Children = append(p.Children, f.tree(child, level+1))
		}
	}
	return p
}

// image returns the entry of a picture, with whether its file exists.
func (f *trees) image(url string) image {
	img := image{URL: url}
	if f.serves == nil || strings.HasPrefix(url, "data:") {
		return img
	}
	if exists, ours := f.serves(url); ours {
		img.Exists = &exists
	}
	return img
}
