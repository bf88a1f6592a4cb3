package state

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"stchat/internal/autorecap"
	"stchat/internal/chat"
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
