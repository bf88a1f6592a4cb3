package edit

import (
	"bytes"
	"context"
	"maps"

	"stchat/internal/choose"
	"stchat/internal/jsonl"
	"stchat/internal/message"
	"stchat/internal/rawjson"
	"stchat/internal/userdir"
)

// cast is who has spoken in a chat so far.
type cast struct {
	last  map[message.Who][]byte       // the last name of a role, raw
	faces map[string]map[string]string // of a group: raw avatar keys of a name
	genID []byte                       // of the last message
}

// said is what one batch of lines adds to a cast.
type said struct {
	cast
	lines int
	place choose.Place // of the last line
}

// castOf reads who has spoken, and counts the messages.
func castOf(ctx context.Context, o *open) (*cast, error) {
	c := &cast{last: map[message.Who][]byte{}, faces: map[string]map[string]string{}}
	scanned := choose.Scanned{Whole: true}
	keys := jsonl.NewKeys("name", "is_user", "is_system", "force_avatar", "original_avatar")
	err := jsonl.Map(ctx, o.chat.Source, jsonl.MapOptions{From: o.chat.Body, Line: o.chat.BodyLine, Limit: -1, Keys: keys},
		func(l *jsonl.Line, batch *said) {
			if l.Damage == nil {
				batch.take(l, o.chat.Kind == userdir.Group)
			}
		},
		func(batch *said, base jsonl.Base, damage jsonl.Damages) error {
			scanned.Damage.Append(damage)
			if scanned.Messages = base.Index + batch.lines; batch.lines > 0 {
				scanned.Last = batch.place
				scanned.Last.Index += base.Index
			}
			for who, name := range batch.last {
				if len(name) > 0 {
					c.last[who] = bytes.Clone(name)
				}
			}
			maps.Copy(c.faces, batch.faces)
			return nil
		}, (*said).reset)
	if err != nil {
		return nil, o.errorf("%w", err)
	}
	if err := o.whole(&scanned); err != nil {
		return nil, err
	}
	line, err := o.chat.Source.Section(o.last.Off, o.last.Len)
	if err != nil {
		return nil, o.errorf("%w", err)
	}
	id, _ := rawjson.Lookup(line, "extra", "gen_id")
	c.genID = bytes.Clone(id)
	return c, nil
}

// take notes who speaks in a line.
func (s *said) take(l *jsonl.Line, group bool) {
	s.lines++
	s.place = choose.Place{Index: l.Index, Off: l.Off, Len: int64(len(l.Raw))}
	if s.last == nil {
		s.last, s.faces = map[message.Who][]byte{}, map[string]map[string]string{}
	}
	raw, _ := l.Value(0)
	user, _ := l.Value(1)
	system, _ := l.Value(2)
	if rawjson.KindOf(raw) == rawjson.String && string(raw) != `""` {
		who := message.Role(user, system)
		s.last[who] = append(s.last[who][:0], raw...)
	}
	if !group {
		return
	}
	faces := map[string]string{}
	for k, key := range avatarKeys() {
		if raw, ok := l.Value(3 + k); ok {
			faces[key] = string(raw)
		}
	}
	if name, _ := rawjson.Unquote(raw); len(faces) > 0 {
		s.faces[name] = faces
	}
}

// reset forgets what was said and keeps its memory.
func (s *said) reset() {
	s.lines = 0
	for who := range s.last {
		s.last[who] = s.last[who][:0]
	}
	clear(s.faces)
}

// avatarKeys are the keys that say in a group whose picture a message bears.
func avatarKeys() []string { return []string{"force_avatar", "original_avatar"} }

// name returns who spoke last in a role, "" where nobody has.
func (c *cast) name(who message.Who) string {
	name, _ := rawjson.Unquote(c.last[who])
	return name
}
