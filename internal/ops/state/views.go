package state

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"stchat/internal/chat"
	"stchat/internal/extension/autorecap"
	"stchat/internal/extension/illustrator"
	"stchat/internal/jsondoc"
	"stchat/internal/lorebook"
	"stchat/internal/rawjson"
)

// recapView shows what Auto-Recap keeps (FORMATS.md B): the value of state get recap:.
type recapView struct {
	Running  json.RawMessage `json:"running"` // as stored; null if there is none
	Scenes   []sceneView     `json:"scenes"`
	Pending  json.RawMessage `json:"pending"` // pendingOps
	Queue    []workView      `json:"queue"`   // operations queued in the lorebook
	Lorebook *string         `json:"lorebook"`
}

type sceneView struct {
	At       int             `json:"at"`
	Name     string          `json:"name"`
	Hidden   bool            `json:"hidden"`
	Versions json.RawMessage `json:"versions"`
	Current  int             `json:"current"`
	Recap    *string         `json:"recap"`
	Range    *[2]int         `json:"range"` // the first and the last message; null if not noted
}

type workView struct {
	Type     string `json:"type"`
	Status   string `json:"status"`
	Messages []int  `json:"messages"`
}

// recapOf returns the view of Auto-Recap, nil if it keeps nothing.
func recapOf(ctx context.Context, c *chat.Chat) ([]byte, error) {
	metadata := c.Metadata()
	view := recapView{Pending: autorecap.PendingIn(metadata)}
	if raw, ok := metadata.Get(autorecap.KeyRunning); ok {
		view.Running = raw
	}
	scenes, err := autorecap.SceneMarks(ctx, c.Source, c.Body, c.BodyLine)
	if err != nil {
		return nil, err
	}
	for _, s := range scenes {
		v := sceneView{At: s.At, Name: s.Name, Hidden: s.Scene.Hidden, Versions: s.Versions, Current: s.Current}
		if s.Versions == nil {
			v.Versions = []byte("[]")
		}
		if s.Scene.Recap {
			v.Recap = &s.Recap
		}
		if s.Start != nil && s.End != nil {
			v.Range = &[2]int{*s.Start, *s.End}
		}
		view.Scenes = append(view.Scenes, v)
	}
	if name, ok := lorebook.NameIn(metadata); ok {
		view.Lorebook = &name
		if err := queue(c, &view, name); err != nil {
			return nil, err
		}
	}
	if view.Running == nil && view.Pending == nil && len(view.Scenes)+len(view.Queue) == 0 {
		return nil, nil
	}
	return marshal(view)
}

// queue reads the operations that are queued in the chat's lorebook. A missing book has none.
func queue(c *chat.Chat, view *recapView, name string) error {
	if !c.HasDir {
		return nil
	}
	path, err := lorebook.Find(c.Dir.Worlds(), name)
	if err != nil {
		return nil
	}
	book, err := lorebook.Open(path)
	if err != nil {
		return err
	}
	queue, err := book.Queue()
	for _, o := range queue.Operations {
		view.Queue = append(view.Queue, workView{o.Type, o.Status, o.Messages})
	}
	return err
}

// marshal returns a document as one line.
func marshal(doc any) ([]byte, error) {
	var b bytes.Buffer
	err := jsondoc.Write(&b, doc, "")
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
}

// Version is one version of the running recap.
type Version struct {
	Version json.RawMessage `json:"version"` // its number
	Date    *string         `json:"date"`
	Scenes  *int            `json:"scenes"`
	Prev    *int            `json:"prev"` // the messages that end the scene before and this one
	New     *int            `json:"new"`
	Current bool            `json:"current"`
	Scene   bool            `json:"scene"` // the scene that it was made for still has a recap
}

// versions lists the versions of the running recap.
func versions(ctx context.Context, c *chat.Chat) ([]Version, error) {
	running, ok := autorecap.RunningIn(c.Metadata())
	if !ok {
		return nil, nil
	}
	scenes, err := autorecap.SceneMarks(ctx, c.Source, c.Body, c.BodyLine)
	if err != nil {
		return nil, err
	}
	var list []Version
	recaps := map[int]bool{}
	for _, s := range scenes {
		recaps[s.At] = s.Scene.Recap
	}
	current, _ := rawjson.Float(running.Current())
	for v := range running.Versions() {
		at, ok := v.Scene()
		one := Version{Version: rawjson.Compact(v.NumberText()), Scenes: v.Whole("scene_count"), Prev: v.Whole("prev_scene_index"), New: v.Whole("new_scene_index"), Scene: ok && recaps[at]}
		if n, ok := v.Number(); ok {
			one.Current = n == current
		}
		if ms, ok := v.Time(); ok {
			text := time.UnixMilli(ms).UTC().Format(time.RFC3339)
			one.Date = &text
		}
		list = append(list, one)
	}
	return list, nil
}

// illustratorView shows what Auto-Illustrator keeps (FORMATS.md C): the value of state get
// illustrator:.
type illustratorView struct {
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

// illustratorOf returns the view of Auto-Illustrator, nil if it keeps nothing.
func illustratorOf(c *chat.Chat) ([]byte, error) {
	raw, ok := c.Metadata().Get(illustrator.Key)
	if !ok {
		return nil, nil
	}
	registry := rawjson.Value(raw, "promptRegistry")
	list := rawjson.Value(registry, "nodes")
	f := &forest{chat: c, nodes: map[string][]byte{}, seen: map[string]bool{}}
	var ids []string
	for key, node := range rawjson.Members(list) {
		id, ok := rawjson.Unquote(key)
		if !ok {
			continue
		}
		if f.nodes[id] == nil {
			ids = append(ids, id)
		}
		f.nodes[id] = node
	}
	var view illustratorView
	byMessage := map[int]int{} // indexes in view.Messages
	for _, id := range ids {
		if name, ok := rawjson.Unquote(rawjson.Value(f.nodes[id], "parentId")); ok && f.nodes[name] != nil {
			continue
		}
		at, message := -1, rawjson.IntOrNil(rawjson.Value(f.nodes[id], "messageId"))
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
	slices.SortStableFunc(view.Messages, func(a, b messagePrompts) int { return orEnd(a.At) - orEnd(b.At) })
	for _, id := range ids {
		if !f.seen[id] {
			view.Orphans.Prompts = append(view.Orphans.Prompts, id)
		}
	}
	for key, value := range rawjson.Members(rawjson.Value(registry, "imageToPromptId")) {
		url, _ := rawjson.Unquote(key)
		if id, ok := rawjson.Unquote(value); !ok || f.nodes[id] == nil {
			view.Orphans.Images = append(view.Orphans.Images, f.image(url))
		}
	}
	return marshal(view)
}

func orEnd(at *int) int {
	if at == nil {
		return 1 << 30
	}
	return *at
}

// forest holds the prompts of a chat.
type forest struct {
	chat  *chat.Chat
	nodes map[string][]byte
	seen  map[string]bool
}

// tree returns a prompt with its images and its descendants.
func (f *forest) tree(id string, level int) *prompt {
	f.seen[id] = true
	node := f.nodes[id]
	p := &prompt{ID: id, Index: rawjson.IntOrNil(rawjson.Value(node, "promptIndex"))}
	p.Text = rawjson.Value(node, "text")
	p.Source = rawjson.Value(node, "metadata", "source")
	for raw := range rawjson.Elements(rawjson.Value(node, "generatedImages")) {
		if url, ok := rawjson.Unquote(raw); ok {
			p.Images = append(p.Images, f.image(url))
		}
	}
	for raw := range rawjson.Elements(rawjson.Value(node, "childIds")) {
		child, ok := rawjson.Unquote(raw)
		if ok && f.nodes[child] != nil && !f.seen[child] && level < mostLevels {
			p.Children = append(p.Children, f.tree(child, level+1))
		}
	}
	return p
}

// image returns the entry of a picture, with whether its file exists.
func (f *forest) image(url string) image {
	img := image{URL: url}
	if !f.chat.HasDir || strings.HasPrefix(url, "data:") {
		return img
	}
	if exists, ours := f.chat.Dir.Serves(url); ours {
		img.Exists = &exists
	}
	return img
}
