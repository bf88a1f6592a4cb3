package state

import (
	"context"
	"errors"
	"os"

	"stchat/internal/autorecap"
	"stchat/internal/chat"
	"stchat/internal/illustrator"
	"stchat/internal/library"
	"stchat/internal/luker"
	"stchat/internal/rawjson"
)

// List lists the state of a chat or a character: the document of state list.
type List struct {
	Schema     int         `json:"schema"`
	Path       string      `json:"path" is:"path"`
	Namespaces []Namespace `json:"namespaces"`
}

// Namespace is one thing that an extension keeps.
type Namespace struct {
	Name       string `json:"name"`
	Kind       string `json:"kind"` // plain, floor, chat_sync, orphans, legacy, recap: or illustrator:
	Bytes      int64  `json:"bytes"`
	Entries    *int   `json:"entries"` // keys of the value; versions of a recap; prompts
	Commits    *int   `json:"commits"` // of a floor log; null for all else
	FirstFloor *int   `json:"first_floor"`
	LastFloor  *int   `json:"last_floor"`
	Replays    *bool  `json:"replays"`
}

// ReadOptions says whose state to read.
type ReadOptions struct {
	Path string
	Data string // the user folder
}

// ListOf lists the state of a chat or a character: files in the order of their names, then
// the views of a chat's metadata.
func ListOf(ctx context.Context, lib *library.Library, opt ReadOptions) (*List, error) {
	t, err := openTarget(ctx, lib, opt.Data, opt.Path)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	l := &List{Schema: 1, Path: opt.Path}
	for _, s := range t.sidecars {
		n := Namespace{Name: s.Namespace, Kind: kindOf(t, s)}
		if info, err := os.Stat(s.Path); err == nil {
			n.Bytes = info.Size()
		}
		if s.Kind == luker.FloorLog {
			n.Name = luker.DataOf(s.Namespace)
			if err := n.describe(ctx, t, s); err != nil {
				return nil, err
			}
		} else if raw, _, err := read(s.Path); err == nil {
			n.Entries = entries(raw)
		}
		l.Namespaces = append(l.Namespaces, n)
	}
	if t.chat != nil {
		l.views(t.chat.Metadata())
	}
	return l, nil
}

// kindOf returns the kind of a sidecar, as [Namespace] has it.
func kindOf(t *target, s luker.Sidecar) string {
	switch s.Kind {
	case luker.FloorLog:
		return "floor"
	case luker.Plain:
		if _, ok := t.log(s.Namespace); ok {
			return "legacy"
		}
	}
	return string(s.Kind)
}

// describe fills in what is known of a floor log. A log that cannot be replayed is not an
// error.
func (n *Namespace) describe(ctx context.Context, t *target, s luker.Sidecar) error {
	f, err := chat.OpenRegular(s.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	commits := 0
	replays := luker.EachCommit(f, func(c *luker.Commit) error {
		if !c.Valid {
			return nil
		}
		commits++
		if floor := c.Floor; n.FirstFloor == nil || floor < *n.FirstFloor {
			n.FirstFloor = &floor
		}
		if floor := c.Floor; n.LastFloor == nil || floor > *n.LastFloor {
			n.LastFloor = &floor
		}
		return nil
	}) == nil
	if replays {
		n.Commits = &commits
		state, err := t.replay(ctx, s.Path, -1)
		if errors.Is(err, ErrDamaged) || ctx.Err() != nil {
			return err
		}
		if replays = err == nil; replays {
			n.Entries = entries(state)
		}
	}
	n.Replays = &replays
	return nil
}

// entries returns the number of members of an object, or of elements of a list.
func entries(raw []byte) *int {
	n := 0
	for range rawjson.Members(raw) {
		n++
	}
	for range rawjson.Elements(raw) {
		n++
	}
	return &n
}

// views adds what extensions keep in the chat itself.
func (l *List) views(metadata *rawjson.Object) {
	size := 0
	for _, key := range autorecap.Keys() {
		size += len(metadata.Value(key))
	}
	if size > 0 {
		versions := 0
		if running, ok := autorecap.RunningIn(metadata); ok {
			for range running.Versions() {
				versions++
			}
		}
		l.Namespaces = append(l.Namespaces, Namespace{Name: Recap, Kind: Recap, Bytes: int64(size), Entries: &versions})
	}
	if raw, ok := metadata.Get(illustrator.Key); ok {
		nodes := rawjson.Value(raw, "promptRegistry", "nodes")
		l.Namespaces = append(l.Namespaces, Namespace{Name: Illustrator, Kind: Illustrator, Bytes: int64(len(raw)), Entries: entries(nodes)})
	}
}
