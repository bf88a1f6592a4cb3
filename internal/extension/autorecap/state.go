package autorecap

import (
	"context"
	"encoding/json"

	"stchat/internal/extension"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/lorebook"
)

// recapState is what Auto-Recap keeps (FORMATS.md B): the value of state get recap:.
type recapState struct {
	Running  json.RawMessage `json:"running"` // as stored; null if there is none
	Scenes   []sceneState    `json:"scenes"`
	Pending  json.RawMessage `json:"pending"` // pendingOps
	Queue    []workState     `json:"queue"`   // operations queued in the lorebook
	Lorebook *string         `json:"lorebook"`
}

type sceneState struct {
	At       int             `json:"at"`
	Name     string          `json:"name"`
	Hidden   bool            `json:"hidden"`
	Versions json.RawMessage `json:"versions"`
	Current  int             `json:"current"`
	Recap    *string         `json:"recap"`
	Range    *[2]int         `json:"range"` // the first and the last message; null if not noted
}

type workState struct {
	Type     string `json:"type"`
	Status   string `json:"status"`
	Messages []int  `json:"messages"`
}

// Namespace is the name of what Auto-Recap keeps, among those of state.
const Namespace = "recap:"

// State returns the running recap, the scenes, and what is pending in the metadata and in the
// lorebook's queue.
func (*Extension) State(ctx context.Context, s *extension.Stating) (any, error) {
	view := recapState{Running: s.Metadata.Value(KeyRunning), Pending: rawjson.Value(s.Metadata.Value(keyPending), "pendingOps")}
	var err error
	if view.Scenes, err = scenes(ctx, s.Source, s.From, s.Line); err != nil {
		return nil, err
	}
	if name, ok := lorebook.NameIn(s.Metadata); ok {
		view.Lorebook = &name
		if err := view.queue(s.Worlds, name); err != nil {
			return nil, err
		}
	}

	if view.Running == nil && view.Pending == nil && len(view.Scenes)+len(view.Queue) == 0 {
		return nil, nil
	}
	return view, nil
}

// queue reads the operations that are queued in the chat's lorebook. A missing book has none.
func (r *recapState) queue(worlds, name string) error {
	if worlds == "" {
		return nil
	}
	path, err := lorebook.Find(worlds, name)
	if err != nil {
		return nil
	}
	book, err := lorebook.Open(path)
	if err != nil {
		return err
	}
	queue, err := book.Queue()
	for _, o := range queue {
		r.Queue = append(r.Queue, workState{o.Type, o.Status, o.Messages})
	}
	return err
}
