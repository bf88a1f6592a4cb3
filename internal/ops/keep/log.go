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
	defer s.close()
	if err != nil {
		return "", err
	}
	d := newDiffer(s.store)
	var damaged error
	lines := func(list []version, i int) (lines []lineRef, whole bool, err error) {
		if i == len(list) || !history.KindOf(list[i].Path).IsChat() && list[i].file == "" {
			return nil, true, nil
		}
		lines, err = d.messages(ctx, &list[i])
		if errors.Is(err, history.ErrBroken) {
			damaged = cmp.Or(damaged, fmt.Errorf("%s, version %d: %w", s.path, list[i].Rev, err))
			return nil, false, nil
		}
		return lines, true, err
	}
	for n, list := range append([][]version{s.versions}, s.others...) {
		of := Logged{Schema: 1, Path: s.path, Chat: history.Label(s.rel), Other: n > 0}
		if of.Other {
			rel := s.lastPath(list[0].Chat)
			of.Path, of.Chat = s.full(rel), history.Label(rel)
		}
		newer, newWhole, err := lines(list, 0)
		for i := 0; err == nil && i < len(list) && (limit <= 0 || i < limit); i++ {
			var older []lineRef
			var oldWhole bool
			if older, oldWhole, err = lines(list, i+1); err != nil {
				break
			}
			v, doc := &list[i], of
			doc.At, doc.Source, doc.Messages, doc.Bytes, doc.Note = sendate.Format(v.At), v.Source, v.Messages, v.Size, v.Note
			if v.file != "" {
				doc.Path = v.file
			} else {
				doc.Rev = &v.Rev
			}
			if newWhole && oldWhole {
				doc.Added, doc.Changed, doc.Removed = count(d.changes(ctx, older, newer))
			}
			if n := len(newer); n > 0 {
				text, _ := rawjson.Unquote(field(d.text(ctx, newer[n-1]), "mes"))
				doc.Last, doc.Said = visible.Clip(text, lastText), visible.Clip(prose.Line(text), lastText)
			}
			newer, newWhole, err = older, oldWhole, each(doc)
		}
		if err != nil {
			return s.note, err
		}
	}
	return s.note, damaged
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
func Changes(ctx context.Context, where Where, each func(Changed) error) (note string, err error) {
	s, v, err := openPicked(ctx, where, true)
	defer s.close()
	if err != nil {
		return "", err
	}
	list := s.versions
	if v.file == "" && v.Chat != s.id {
		if list, err = s.stored(ctx, v.Chat); err != nil {
			return s.note, err
		}
	}
	i := slices.IndexFunc(list, func(o version) bool { return o.Rev == v.Rev && o.file == v.file })
	d := newDiffer(s.store)
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
		switch {
		case c.from < 0:
			doc.Op = "add"
		case c.to < 0:
			doc.Op = "remove"
		}
		var line []byte
		if c.from >= 0 {
			line = d.text(ctx, older[c.from])
			doc.Index, doc.From = oldIndex[c.from], textOf(line)
		}
		if c.to >= 0 {
			to := d.text(ctx, newer[c.to])
			doc.Index, doc.To = newIndex[c.to], textOf(to)
			if to != nil {
				line = to
			}
		}
		doc.describe(line)
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
