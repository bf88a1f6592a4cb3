package look

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"path"
	"slices"

	"stchat/internal/folder/align"
	"stchat/internal/folder/library"
	"stchat/internal/json/metadiff"
	"stchat/internal/json/patch"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/sillytavern/message"
)

// DiffOptions says which chats are compared, and what of their messages.
type DiffOptions struct {
	A, B   DiffSide
	Swipes bool // and the swipes, and which is chosen
	All    bool // every key
	Ignore []string
}

// DiffSide is one of the two chats: a file, or an older version of one.
type DiffSide struct {
	Path string
	Rev  *int64
	Open chat.Options
}

// Diffed says which chats were compared, and how much they differ: the last document of diff.
type Diffed struct {
	Schema        int        `json:"schema"`
	Summary       bool       `json:"summary"`
	A             DiffedChat `json:"a"`
	B             DiffedChat `json:"b"`
	Common        int        `json:"common"`
	Changed       int        `json:"changed"`
	Removed       int        `json:"removed"` // only in A
	Added         int        `json:"added"`   // only in B
	Parted        *Parted    `json:"parted"`  // null if they have none in common, or end alike
	Equal         bool       `json:"equal"`
	MetadataEqual bool       `json:"metadata_equal"`
}

// DiffedChat is one of the two chats.
type DiffedChat struct {
	Path     string        `json:"path" is:"path"`
	Rev      *int64        `json:"rev"` // null for a file, and for a backup
	Messages int           `json:"messages"`
	Owner    string        `json:"-"`
	Name     string        `json:"-"`
	Damage   jsonl.Damages `json:"-"`
}

// Parted is the last message that both have: what follows it is of one alone. It is the fork that tree shows of a branch.
type Parted struct {
	A int `json:"a"`
	B int `json:"b"`
}

// Difference is a message that differs: a document of diff.
type Difference struct {
	Schema  int               `json:"schema"`
	Op      string            `json:"op"` // add: only in B; remove: only in A; change
	A       *int              `json:"a"`  // indexes
	B       *int              `json:"b"`
	Role    string            `json:"role"`
	Name    string            `json:"name"`
	Date    *string           `json:"date"`
	Keys    []string          `json:"keys"` // what differs: text, name, role, hidden, swipes, swipe, or keys of the message
	From    *string           `json:"from"` // texts
	To      *string           `json:"to"`
	Swipe   *OtherSwipe       `json:"swipe"`
	Changes []metadiff.Change `json:"changes"` // of every key, if all are compared
}

// OtherSwipe tells that one text is stored among the other's swipes.
type OtherSwipe struct {
	Of     string `json:"of"`     // a or b: whose swipes
	Number int    `json:"number"` // from 1
	Count  int    `json:"count"`
}

// Comparison is two chats whose messages are paired.
type Comparison struct {
	Diffed
	opt   *DiffOptions
	ids   message.Seed
	a, b  compared
	pairs []align.Pair
	err   error // of reading a message again
}

// Diff pairs the messages of two chats. Damaged lines are left out, as SillyTavern leaves them
// out. The comparison must be closed.
func Diff(ctx context.Context, opt DiffOptions) (*Comparison, error) {
	d := &Comparison{Diffed: Diffed{Schema: 1, Summary: true}, opt: &opt, ids: message.NewSeed()}
	lib := new(library.Library)
	err := d.read(ctx, lib, &d.a, opt.A)
	if err == nil {
		err = d.read(ctx, lib, &d.b, opt.B)
	}
	if err == nil {
		err = d.compare()
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// Close closes both chats.
func (d *Comparison) Close() {
	for _, s := range []*compared{&d.a, &d.b} {
		if s.chat != nil {
			s.chat.Close()
		}
	}
}

// compared is one side.
type compared struct {
	DiffedChat
	chat   *ops.Subject
	keys   []uint64 // of each message, what is compared, hashed
	places []jsonl.Picked
}

// digest is what was read of a batch of lines.
type digest struct {
	keys   []uint64
	places []jsonl.Picked
	ids    *message.Identifier
}

func (d *Comparison) read(ctx context.Context, lib *library.Library, s *compared, side DiffSide) (err error) {
	side.Open.Any = true
	if s.chat, err = ops.Open(ctx, lib, side.Path, ops.Anything, side.Open); err != nil {
		return err
	}
	s.DiffedChat = DiffedChat{Path: side.Path, Rev: side.Rev, Owner: s.chat.Owner, Name: s.chat.Name, Damage: s.chat.Damage}
	keys := jsonl.NewKeys("name", "is_user", "mes", "is_system", "swipes", "swipe_id")
	err = jsonl.Map(ctx, s.chat.Source, jsonl.MapOptions{From: s.chat.Body, Line: s.chat.BodyLine, Limit: -1, Keys: keys},
		func(l *jsonl.Line, b *digest) {
			if l.Damage != nil {
				return
			}
			if b.ids == nil {
				b.ids = message.NewIdentifier(d.ids)
			}
			b.keys = append(b.keys, d.key(l, b.ids))
			b.places = append(b.places, jsonl.Picked{Off: l.Off, Len: int64(len(l.Raw))})
		},
		func(b *digest, _ jsonl.Base, damage jsonl.Damages) error {
			s.keys, s.places = append(s.keys, b.keys...), append(s.places, b.places...)
			s.Damage.Append(damage)
			return nil
		},
		func(b *digest) { b.keys, b.places = b.keys[:0], b.places[:0] })
	if err != nil {
		return s.chat.Errorf("%w", err)
	}
	s.Messages = len(s.keys)
	return s.chat.Unchanged()
}

// key hashes what is compared of a message.
func (d *Comparison) key(l *jsonl.Line, ids *message.Identifier) uint64 {
	value := func(k int) []byte { raw, _ := l.Value(k); return raw }
	hash := func(name, user, text, more []byte) uint64 {
		id := ids.Identity(name, user, text, more, l.Plain)
		return binary.BigEndian.Uint64(id[:])
	}
	if d.opt.All {
		return d.keyOfAll(l.Raw, hash)
	}
	system := []byte("false")
	if rawjson.Truthy(value(3)) {
		system = []byte("true")
	}
	sum := hash(value(0), value(1), value(2), system)
	if d.opt.Swipes {
		for swipe := range rawjson.Elements(value(4)) {
			sum = sum*31 + hash(nil, nil, swipe, nil)
		}
		sum = sum*31 + hash(nil, nil, nil, value(5))
	}
	return sum
}

// keyOfAll hashes all keys that are not ignored, in any order.
func (d *Comparison) keyOfAll(line []byte, hash func(name, user, text, more []byte) uint64) (sum uint64) {
	o, err := rawjson.ParseObject(line)
	if err != nil {
		return 0 // cannot happen: the line survives
	}
	for key, value := range o.All() {
		ignored := slices.ContainsFunc(d.opt.Ignore, func(pattern string) bool {
			glob, err := path.Match(pattern, key)
			return key == pattern || err == nil && glob && !o.Has(pattern)
		})
		if !ignored {
			sum += hash(rawjson.Quote(key), nil, value, nil)
		}
	}
	return sum
}

// compare pairs the messages and counts.
func (d *Comparison) compare() error {
	side := func(s *compared) align.Side {
		return align.Side{Keys: s.keys, Near: func(i int) align.Near { return align.ReadNear(d.line(s, i)) }}
	}
	d.pairs = align.Messages(side(&d.a), side(&d.b), true)
	for _, p := range d.pairs {
		same, err := d.same(p)
		switch {
		case err != nil:
			return err
		case !same:
			d.Changed++
		default:
			d.Common++
			d.Parted = &Parted{p.A, p.B}
		}
	}
	if d.err != nil {
		return d.err
	}
	d.Removed, d.Added = len(d.a.keys)-len(d.pairs), len(d.b.keys)-len(d.pairs)
	d.Equal = d.Changed+d.Removed+d.Added == 0
	endAlike := d.Parted != nil && d.Parted.A+1 == len(d.a.keys) && d.Parted.B+1 == len(d.b.keys)
	if endAlike {
		d.Parted = nil
	}
	meta, err := metadiff.Compare(d.a.chat.Metadata().Bytes(), d.b.chat.Metadata().Bytes(), metadiff.Selection{})
	if err != nil {
		return err
	}
	d.MetadataEqual = meta.Equal()
	d.A, d.B = d.a.DiffedChat, d.b.DiffedChat
	return nil
}

// same reports whether two messages are equal in what is compared. Where all keys are, two
// spellings of one value have different hashes.
func (d *Comparison) same(p align.Pair) (bool, error) {
	if d.a.keys[p.A] == d.b.keys[p.B] || !d.opt.All {
		return d.a.keys[p.A] == d.b.keys[p.B], nil
	}
	diff, err := metadiff.Compare(d.line(&d.a, p.A), d.line(&d.b, p.B), metadiff.Selection{Ignore: d.opt.Ignore})
	return err == nil && diff.Equal(), err
}

// line reads a message again.
func (d *Comparison) line(s *compared, i int) []byte {
	line, err := s.chat.Source.Section(s.places[i].Off, s.places[i].Len)
	if err != nil {
		d.err = s.chat.Errorf("%w", err)
		return []byte("{}")
	}
	return line
}

// Each calls each for every message that differs, in the order of the chats: what is only in A
// before what is only in B.
func (d *Comparison) Each(each func(Difference) error) error {
	for p := range align.Rows(d.pairs, len(d.a.keys), len(d.b.keys)) {
		var row Difference
		switch {
		case p.B < 0:
			row = d.lone("remove", &d.a, p.A)
		case p.A < 0:
			row = d.lone("add", &d.b, p.B)
		default:
			same, err := d.same(p)
			if err != nil {
				return err
			}
			if same {
				continue
			}
			row = d.changed(p)
		}
		if err := each(row); err != nil {
			return err
		}
	}
	return d.err
}

// lone describes a message that only one side has.
func (d *Comparison) lone(op string, s *compared, i int) Difference {
	m := d.message(s, i)
	row := Difference{Schema: 1, Op: op, Role: m.Role, Name: ops.Or(m.Name, ""), Date: m.Date}
	if op == "remove" {
		row.A, row.From = &i, m.Text
	} else {
		row.B, row.To = &i, m.Text
	}
	return row
}

func (d *Comparison) message(s *compared, i int) *Message {
	return messageAt(s.chat.Chat, choose.Place{Index: i}, d.line(s, i), MessageOptions{SwipeTexts: true})
}

// changed describes two versions of a message.
func (d *Comparison) changed(p align.Pair) Difference {
	a, b := d.message(&d.a, p.A), d.message(&d.b, p.B)
	row := Difference{Schema: 1, Op: "change", A: &p.A, B: &p.B, Role: b.Role, Name: ops.Or(b.Name, ""), Date: b.Date, From: a.Text, To: b.Text}
	equal := func(a, b []byte) bool { return bytes.Equal(a, b) || metadiff.Equal(a, b) } // nil: there is none
	for _, k := range []struct {
		key  string
		same bool
	}{
		{"text", equal(a.Raw.Text, b.Raw.Text)},
		{"name", equal(a.Raw.Name, b.Raw.Name)},
		{"role", rawjson.Truthy(a.Raw.User) == rawjson.Truthy(b.Raw.User)},
		{"hidden", rawjson.Truthy(a.Raw.System) == rawjson.Truthy(b.Raw.System)},
		{"swipes", !d.opt.Swipes || equal(a.Raw.Swipes, b.Raw.Swipes)},
		{"swipe", !d.opt.Swipes || equal(a.Raw.Swipe, b.Raw.Swipe)},
	} {
		if !k.same {
			row.Keys = append(row.Keys, k.key)
		}
	}

	if d.opt.All {
		row.Keys = nil
		if diff, err := metadiff.Compare(a.Stored, b.Stored, metadiff.Selection{Ignore: d.opt.Ignore}); err == nil {
			row.Changes = diff.Changes
			for _, c := range diff.Changes {
				key, err := patch.ParseKey(c.Path)
				if err == nil && !slices.Contains(row.Keys, key[0]) {
					row.Keys = append(row.Keys, key[0])
				}
			}
		}
	}

	row.Swipe = cmp.Or(otherSwipe("a", a, b), otherSwipe("b", b, a))
	return row
}

// otherSwipe finds the text of another message among the swipes of m.
func otherSwipe(of string, m, other *Message) *OtherSwipe {
	if other.Text == nil || ops.Or(m.Text, "") == *other.Text {
		return nil
	}
	for i, text := range m.SwipeTexts {
		if text != nil && *text == *other.Text {
			return &OtherSwipe{of, i + 1, len(m.SwipeTexts)}
		}
	}
	return nil
}
