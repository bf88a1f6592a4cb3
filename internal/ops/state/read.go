package state

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"stchat/internal/extension"
	"stchat/internal/extension/all"
	"stchat/internal/extension/autorecap"
	"stchat/internal/extension/luker"
	"stchat/internal/folder/library"
	"stchat/internal/json/jsondoc"
	"stchat/internal/json/metadiff"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/sillytavern/chat"
)

var (
	// ErrNoLog means that a namespace lacks the floor log that a call needs.
	ErrNoLog = error(&ops.Kind{Text: "Luker keeps no log of it", Hint: "floor"})
	// errOnlyValue is of a namespace that has a value, so that no log can begin.
	errOnlyValue = error(&ops.Kind{Text: "Luker keeps no log of it, only its last value"})
	// errViewLog is of a view, which never has a log of Luker's.
	errViewLog = error(&ops.Kind{Text: "it is a view of what the chat itself keeps, and has no log"})
)

// GetOptions says which values to read.
type GetOptions struct {
	ReadOptions
	Namespaces []string
	At         *int // as of this message; below 0 counted from the end; nil: now
	Stored     bool // return the file as it is
}

// Values holds the values of namespaces: the document of state get.
type Values struct {
	Schema int             `json:"schema"`
	Path   string          `json:"path" is:"path"`
	Values json.RawMessage `json:"values"` // by namespace; null if there is none

	Only     []byte   `json:"-"` // the value, if one namespace was asked for; nil: there is none
	Notes    []string `json:"-"`
	Warnings []string `json:"-"`
}

// Get reads the values of namespaces. A floor log takes precedence over a plain sidecar.
func Get(ctx context.Context, lib *library.Library, opt GetOptions) (*Values, error) {
	t, err := openTarget(ctx, lib, opt.Data, opt.Path, ops.Anything)
	if err != nil {
		return nil, err
	}
	defer t.Close()

	v := &Values{Schema: 1, Path: opt.Path}
	all := rawjson.NewObject()
	for _, given := range opt.Namespaces {
		namespace, err := namespaceOf(given, &v.Notes)
		if err != nil {
			return nil, err
		}
		raw, err := v.read(ctx, t, &opt, namespace)
		if err != nil {
			return nil, err
		}

		v.Only = raw
		if !opt.Stored {
			v.Only = rawjson.Compact(raw)
		}
		if raw == nil {
			raw = []byte("null")
		}
		all.Set(namespace, rawjson.Compact(raw))
	}

	v.Values = all.Bytes()
	return v, nil
}

// read returns the value of one namespace, nil if there is none.
func (v *Values) read(ctx context.Context, t *target, opt *GetOptions, namespace string) ([]byte, error) {
	if e := viewed(namespace); e != nil {
		if opt.At != nil || opt.Stored || t.chat == nil {
			return nil, fmt.Errorf("%s: %w: %s is what a chat's own metadata says now", t.path, ErrNamespace, namespace)
		}
		s := &extension.Stating{Metadata: t.chat.Metadata(), Source: t.chat.Source, From: t.chat.Body, Line: t.chat.BodyLine}
		if t.chat.HasDir {
			s.Worlds, s.Serves = t.chat.Dir.Worlds(), t.chat.Dir.Serves
		}
		doc, err := e.State(ctx, s)
		if doc == nil || err != nil {
			return nil, err
		}
		var b bytes.Buffer
		err = jsondoc.Write(&b, doc, "")
		return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
	}

	log, hasLog := t.log(namespace)
	if opt.At != nil && !hasLog {
		return nil, t.noLog(namespace)
	}
	data, hasData := t.sidecar(namespace)
	switch {
	case hasLog && !opt.Stored:
		last, err := t.message(ctx, opt.At)
		if err != nil {
			return nil, err
		}
		state, err := t.replay(ctx, log.Path, last)
		if err == nil && hasData && opt.At == nil {
			v.compare(data, state)
		}
		return state, err
	case hasLog:
		data = log
	case !hasData:
		return nil, nil
	}

	raw, _, err := read(data.Path)
	return raw, err
}

// compare warns if the copy that an older Luker left beside a log differs from the log's
// value.
func (v *Values) compare(data luker.Sidecar, state []byte) {
	raw, _, err := read(data.Path)
	if err == nil && metadiff.Equal(raw, state) {
		return
	}
	v.Warnings = append(v.Warnings, fmt.Sprintf("%s: this copy from an older Luker is not what Luker's log says; the log counts, and Luker will put the copy away", data.Path))
}

// List lists the state of a chat or a character: the document of state get PATH.
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
	t, err := openTarget(ctx, lib, opt.Data, opt.Path, ops.Anything)
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
		n.FirstFloor = new(min(c.Floor, ops.Or(n.FirstFloor, c.Floor)))
		n.LastFloor = new(max(c.Floor, ops.Or(n.LastFloor, c.Floor)))
		return nil
	}) == nil

	if replays {
		n.Commits = &commits
		state, err := t.replay(ctx, s.Path, -1)
		if errors.Is(err, chat.ErrDamaged) || ctx.Err() != nil {
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
	n := rawjson.Len(raw)
	for range rawjson.Members(raw) {
		n++
	}
	return &n
}

// views adds what extensions keep in the chat itself.
func (l *List) views(metadata *rawjson.Object) {
	for _, e := range all.New() {
		size := 0
		for _, key := range e.About().Keys {
			size += len(metadata.Value(key))
		}
		if name := e.About().Namespace; name != "" && size > 0 {
			n := e.View(metadata, int64(size)).Entries()
			l.Namespaces = append(l.Namespaces, Namespace{Name: name, Kind: name, Bytes: int64(size), Entries: &n})
		}
	}
}

// viewed returns the extension whose state in the chat itself is shown under a namespace; nil for
// none. The colon in such a name tells it from Luker's namespaces, which have none.
func viewed(namespace string) extension.Extension {
	for _, e := range all.New() {
		if namespace != "" && e.About().Namespace == namespace {
			return e
		}
	}
	return nil
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
	recaps, err := autorecap.Recaps(ctx, c.Source, c.Body, c.BodyLine)
	if err != nil {
		return nil, err
	}
	var list []Version
	current, _ := rawjson.Float(running.Current())
	for v := range running.Versions() {
		at, ok := rawjson.Int(v.Scene())
		whole := func(key string) *int { return rawjson.IntOrNil(v.Value(key)) }
		one := Version{Version: rawjson.Compact(v.Value("version")), Scenes: whole("scene_count"), Prev: whole("prev_scene_index"), New: whole("new_scene_index"), Scene: ok && recaps[at]}
		if n, ok := v.Number(); ok {
			one.Current = n == current
		}
		const latest = 1 << 53
		if ms, ok := rawjson.Float(v.Value("timestamp")); ok && ms >= 0 && ms < latest {
			one.Date = new(time.UnixMilli(int64(ms)).UTC().Format(time.RFC3339))
		}
		list = append(list, one)
	}
	return list, nil
}

// Log is the history of a namespace: the document of state get --log.
type Log struct {
	Schema    int       `json:"schema"`
	Path      string    `json:"path" is:"path"`
	Namespace string    `json:"namespace"`
	Commits   []Commit  `json:"commits"`  // of a floor log
	Versions  []Version `json:"versions"` // of the running recap, for recap:

	Notes []string `json:"-"`
}

// Commit is one commit of a floor log.
type Commit struct {
	Floor      *int `json:"floor"`  // null if it is not a number
	Swipe      *int `json:"swipe"`  // from 1
	Active     bool `json:"active"` // it counts: its swipe is chosen
	Valid      bool `json:"valid"`  // Luker skips a commit that is not valid
	Operations int  `json:"operations"`
	Bytes      int  `json:"bytes"`
}

// LogOf reads the history of a namespace. The error wraps [ErrNoLog] if it has none, but could.
func LogOf(ctx context.Context, lib *library.Library, opt ReadOptions, given string) (*Log, error) {
	t, err := openTarget(ctx, lib, opt.Data, opt.Path, ops.Anything)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	l := &Log{Schema: 1, Path: opt.Path}
	if l.Namespace, err = namespaceOf(given, &l.Notes); err != nil {
		return nil, err
	}
	if l.Namespace == Recap && t.chat != nil {
		l.Versions, err = versions(ctx, t.chat)
		return l, err
	}
	log, ok := t.log(l.Namespace)
	if !ok {
		return nil, t.noLog(l.Namespace)
	}
	swipes, err := t.chosen(ctx)
	if err != nil {
		return nil, err
	}
	f, err := chat.OpenRegular(log.Path)
	if err != nil {
		return nil, ops.PathError(err)
	}
	defer f.Close()
	active := luker.Active(swipes, -1)
	err = luker.EachCommit(f, func(c *luker.Commit) error {
		one := Commit{Active: c.Valid && active(c), Valid: c.Valid, Operations: c.Operations, Bytes: len(c.Raw)}
		if c.Floor >= 0 {
			one.Floor = new(c.Floor)
		}
		if c.Swipe >= 0 {
			one.Swipe = new(c.Swipe + 1)
		}
		l.Commits = append(l.Commits, one)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", log.Path, err)
	}
	return l, nil
}
