package keep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"stchat/internal/history"
	"stchat/internal/jsonl"
	"stchat/internal/message"
	"stchat/internal/prose"
	"stchat/internal/rawjson"
	"stchat/internal/sendate"
	"stchat/internal/visible"
)

// lastText is how many characters of a version's last message log shows.
const lastText = 200

// Logged is one version in the list of versions: the document of log.
type Logged struct {
	Schema   int            `json:"schema"`
	Chat     string         `json:"chat"`
	Rev      *int64         `json:"rev"` // null for a backup that is not in the history
	At       string         `json:"at"`
	Source   history.Source `json:"source"`
	Path     string         `json:"path" is:"path"` // the chat's file, or the backup's
	Messages int            `json:"messages"`
	Bytes    int64          `json:"bytes"`
	Added    int            `json:"added"` // messages, compared with the version before
	Changed  int            `json:"changed"`
	Removed  int            `json:"removed"`
	Note     string         `json:"note"`
	Last     string         `json:"last"`  // the beginning of the last message
	Said     string         `json:"-"`     // the same as it is read
	Other    bool           `json:"other"` // it is of another file, which once had the path
}

// Log calls each for a file's versions, the newest first, and then for those of other files that
// once had the path: for all of them, or of each for limit at most if that is above 0. The note
// says which file it is, if not the one that has the name now. The error may be about a version
// that is damaged: all are listed then, and it counts no changes.
func Log(ctx context.Context, where Where, limit int, each func(Logged) error) (note string, err error) {
	s, err := openSubject(ctx, where)
	if err != nil {
		return "", err
	}
	defer s.close()
	var damaged error
	lists := append([][]version{s.versions}, s.others...)
	for i, list := range lists {
		l := &logging{differ: newDiffer(s), list: list, limit: limit}
		l.doc = Logged{Schema: 1, Path: s.path, Chat: history.Label(s.rel), Other: i > 0}
		if l.doc.Other {
			rel := s.now.lastPath(list[0].Chat)
			l.doc.Path, l.doc.Chat = s.now.full(rel), history.Label(rel)
		}
		if err := l.each(ctx, each); err != nil {
			return s.note, err
		}
		damaged = cmp.Or(damaged, l.damaged)
	}
	return s.note, damaged
}

// logging lists the versions of one file.
type logging struct {
	*differ
	list    []version // the newest first
	limit   int
	doc     Logged // what all of them share
	damaged error
}

func (l *logging) each(ctx context.Context, each func(Logged) error) error {
	newer, newWhole, err := l.lineRefs(ctx, 0)
	if err != nil {
		return err
	}
	for i := range l.list {
		if l.limit > 0 && i == l.limit {
			break
		}
		v := &l.list[i]
		older, oldWhole, err := l.lineRefs(ctx, i+1)
		if err != nil {
			return err
		}
		doc := l.doc
		doc.At, doc.Source, doc.Messages, doc.Bytes, doc.Note = sendate.Format(v.At), v.Source, v.Messages, v.Size, v.Note
		if v.file != "" {
			doc.Path = v.file
		} else {
			doc.Rev = &v.Rev
		}
		if newWhole && oldWhole {
			doc.Added, doc.Changed, doc.Removed = count(l.changes(ctx, older, newer))
		}
		if n := len(newer); n > 0 {
			text, _ := rawjson.Unquote(field(l.text(ctx, newer[n-1]), "mes"))
			doc.Last, doc.Said = visible.Clip(text, lastText), visible.Clip(prose.Line(text), lastText)
		}
		if err := each(doc); err != nil {
			return err
		}
		newer, newWhole = older, oldWhole
	}
	return nil
}

// lineRefs lists the messages of a version; whole is false if it is damaged.
func (l *logging) lineRefs(ctx context.Context, i int) (lines []lineRef, whole bool, err error) {
	if i == len(l.list) || !history.KindOf(l.list[i].Path).IsChat() && l.list[i].file == "" {
		return nil, true, nil
	}
	v := &l.list[i]
	lines, err = l.messages(ctx, v)
	if errors.Is(err, history.ErrBroken) {
		l.damaged = cmp.Or(l.damaged, fmt.Errorf("%s, version %d: %w", l.s.path, v.Rev, err))
		return nil, false, nil
	}
	return lines, true, err
}

// count counts what was added, changed and removed.
func count(changes []change) (added, changed, removed int) {
	for _, c := range changes {
		switch {
		case c.from < 0:
			added++
		case c.to < 0:
			removed++
		default:
			changed++
		}
	}
	return added, changed, removed
}

// Changed is a message that differs from the version before: a document of log for one
// version.
type Changed struct {
	Schema int     `json:"schema"`
	Op     string  `json:"op"` // add, change, remove
	Index  int     `json:"index"`
	Role   string  `json:"role"`
	Name   string  `json:"name"`
	Date   *string `json:"date"`
	From   *string `json:"from"`
	To     *string `json:"to"`
}

// Changes calls each for every message that one version added, changed or removed. A
// removed message has its index in the version before.
func Changes(ctx context.Context, where Where, which Pick, each func(Changed) error) (note string, err error) {
	s, v, err := openPicked(ctx, where, which, true)
	if err != nil {
		return "", err
	}
	defer s.close()
	list := s.versions
	if v.file == "" && v.Chat != s.id {
		if list, err = s.stored(ctx, v.Chat); err != nil {
			return s.note, err
		}
	}
	i := slices.IndexFunc(list, func(o version) bool { return o.Rev == v.Rev && o.file == v.file })
	d := newDiffer(s)
	newer, newIndex, err := d.numbered(ctx, v)
	if err != nil {
		return s.note, err
	}
	var older []lineRef
	var oldIndex []int
	if i+1 < len(list) {
		if older, oldIndex, err = d.numbered(ctx, &list[i+1]); err != nil {
			return s.note, err
		}
	}
	for _, c := range d.changes(ctx, older, newer) {
		doc := Changed{Schema: 1, Op: "change"}
		var from, to []byte
		switch {
		case c.from < 0:
			doc.Op = "add"
		case c.to < 0:
			doc.Op = "remove"
		}
		if c.from >= 0 {
			from = d.text(ctx, older[c.from])
			doc.Index, doc.From = oldIndex[c.from], textOf(from)
		}
		if c.to >= 0 {
			to = d.text(ctx, newer[c.to])
			doc.Index, doc.To = newIndex[c.to], textOf(to)
		}
		if to == nil {
			to = from
		}
		doc.describe(to)
		if err := each(doc); err != nil {
			return s.note, err
		}
	}
	return s.note, nil
}

// describe fills in the message's role, name and date.
func (d *Changed) describe(line []byte) {
	d.Role = string(message.Role(field(line, "is_user"), field(line, "is_system")))
	d.Name, _ = rawjson.Unquote(field(line, "name"))
	if date := field(line, "send_date"); date != nil {
		text, ok := rawjson.Unquote(date)
		if !ok {
			text = string(date)
		}
		d.Date = &text
	}
}

// field returns the raw value of a key, nil if it is missing or the line is damaged.
func field(line []byte, key string) []byte {
	if !jsonl.Valid(line) {
		return nil
	}
	return rawjson.Value(line, key)
}

// textOf returns a message's text, or the line itself if it has none.
func textOf(line []byte) *string {
	text, ok := rawjson.Unquote(field(line, "mes"))
	if !ok {
		text = string(line)
	}
	return &text
}
