package keep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"

	"stchat/internal/history"
	"stchat/internal/jsonl"
	"stchat/internal/message"
	"stchat/internal/rawjson"
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
	Last     string         `json:"last"` // the beginning of the last message
}

// Log calls each for a chat's versions, the newest first: for all of them, or for limit at
// most if that is above 0. The error may be about one that is damaged: all are listed then,
// and it counts no changes.
func Log(ctx context.Context, where Where, limit int, each func(Logged) error) error {
	s, err := openSubject(ctx, where)
	if err != nil {
		return err
	}
	defer s.close()
	d := &differ{s, maphash.MakeSeed()}
	label := s.label()
	var damaged error
	messages := func(i int) (lines []lineRef, whole bool, err error) {
		if i == len(s.versions) {
			return nil, true, nil
		}
		v := &s.versions[i]
		lines, err = d.messages(ctx, v)
		if errors.Is(err, history.ErrBroken) {
			damaged = cmp.Or(damaged, fmt.Errorf("%s, version %d: %w", s.path, v.Rev, err))
			return nil, false, nil
		}
		return lines, true, err
	}
	newer, newWhole, err := messages(0)
	if err != nil {
		return err
	}
	for i := range s.versions {
		if limit > 0 && i == limit {
			break
		}
		v := &s.versions[i]
		older, oldWhole, err := messages(i + 1)
		if err != nil {
			return err
		}
		doc := Logged{
			Schema: 1, Chat: label, At: stamp(v.At), Source: v.Source, Path: s.path,
			Messages: v.Messages, Bytes: v.Size, Note: v.Note,
		}
		if v.file != "" {
			doc.Path = v.file
		} else {
			doc.Rev = &v.Rev
		}
		if newWhole && oldWhole {
			doc.count(d.changes(ctx, older, newer))
		}
		if n := len(newer); n > 0 {
			text, _ := rawjson.Unquote(field(d.text(ctx, newer[n-1]), "mes"))
			doc.Last = visible.Clip(text, lastText)
		}
		if err := each(doc); err != nil {
			return err
		}
		newer, newWhole = older, oldWhole
	}
	return damaged
}

func (l *Logged) count(changes []change) {
	for _, c := range changes {
		switch {
		case c.from < 0:
			l.Added++
		case c.to < 0:
			l.Removed++
		default:
			l.Changed++
		}
	}
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
func Changes(ctx context.Context, where Where, which Pick, each func(Changed) error) error {
	s, err := openSubject(ctx, where)
	if err != nil {
		return err
	}
	defer s.close()
	i, err := s.pick(which)
	if err != nil {
		return err
	}
	d := &differ{s, maphash.MakeSeed()}
	newer, newIndex, err := d.numbered(ctx, &s.versions[i])
	if err != nil {
		return err
	}
	var older []lineRef
	var oldIndex []int
	if i+1 < len(s.versions) {
		if older, oldIndex, err = d.numbered(ctx, &s.versions[i+1]); err != nil {
			return err
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
			return err
		}
	}
	return nil
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
