package inspect

import (
	"context"
	"path/filepath"
	"strings"

	"stchat/internal/extension"
	"stchat/internal/extension/all"
	"stchat/internal/folder/family"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/lorebook"
	"stchat/internal/place/sendate"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
)

// Options says how a chat is read.
type Options struct {
	Workers  int         // goroutines at most; 0: as many as processors
	Progress func(int64) // called with the place reached in the file; may be nil
}

// largestKeys is how many keys under extra a report names.
const largestKeys = 5

// Scanner reads one chat after another and reuses its memory. It is for one
// goroutine; around may be shared.
type Scanner struct {
	around *library.Library
	keys   *jsonl.Keys
	buf    jsonl.Buffer
	small  totals // of a small chat

	names extension.Table
	owner keyOwners
}

// NewScanner makes a scanner.
func NewScanner(around *library.Library) *Scanner {
	return &Scanner{around: around, keys: lineKeys(), names: all.Table(), owner: ownersOf(all.New())}
}

// Scan reads an open chat and reports what it contains. Damage is part of the
// report, not an error; errors name the path.
func (k *Scanner) Scan(ctx context.Context, c *chat.Chat, opt Options) (*Report, error) {
	s := &scan{total: &k.small}
	s.total.reset()
	s.damage.Append(c.Damage)
	if err := s.measureHead(ctx, c); err != nil {
		return nil, c.Errorf("%w", err)
	}

	lines := jsonl.MapOptions{
		From:     c.Body,
		Line:     c.BodyLine,
		Limit:    -1,
		Keys:     k.keys,
		Workers:  opt.Workers,
		Progress: opt.Progress,
	}

	if c.Source.Size <= jsonl.Small {
		damage, err := k.buf.Each(c.Source, lines, s.total.line)
		if err != nil {
			return nil, c.Errorf("%w", err)
		}
		s.damage.Append(damage)
	} else {
		err := jsonl.Map(ctx, c.Source, lines, func(l *jsonl.Line, t *totals) { t.line(l) }, s.fold, (*totals).reset)
		if err != nil {
			return nil, c.Errorf("%w", err)
		}
	}
	return s.report(c, k), nil
}

// scan is the reading of one chat.
type scan struct {
	total  *totals
	damage jsonl.Damages
}

// measureHead looks at damaged lines before the messages, for their length.
func (s *scan) measureHead(ctx context.Context, c *chat.Chat) error {
	if s.damage.Total == 0 {
		return nil
	}
	head := jsonl.Source{R: c.Source.R, Size: c.Body}
	measure := func(l *jsonl.Line, longest *int64) { *longest = max(*longest, int64(len(l.Raw))) }
	fold := func(longest *int64, _ jsonl.Base, _ jsonl.Damages) error {
		s.total.longest = max(s.total.longest, *longest)
		return nil
	}
	return jsonl.Map(ctx, head, jsonl.MapOptions{Limit: -1, Keys: jsonl.NewKeys(), Workers: 1}, measure, fold, nil)
}

func (s *scan) fold(t *totals, _ jsonl.Base, damage jsonl.Damages) error {
	s.total.add(t)
	s.damage.Append(damage)
	return nil
}

func damageOf(d jsonl.Damage) Damage { return Damage{d.Line, d.Column, d.Reason} }

// report puts together what was counted and what is around the chat.
func (s *scan) report(c *chat.Chat, k *Scanner) *Report {
	t := s.total
	r := &Report{
		Schema: Schema,
		Path:   c.Path,
		Name:   c.Name,
		Kind:   string(c.Kind),
		Bytes:  c.Source.Size,
		Header: string(c.HeaderKind),

		Counts:    t.Counts,
		FirstDate: DateText(t.first),
		LastDate:  DateText(t.last),
		BadUTF8:   t.badUTF8,
		Longest:   max(t.longest, c.HeaderPlace.Len),
		Parts:     t.parts,
		ExtraKeys: t.sizes.largest(largestKeys),

		CheckpointTotal: t.checkpoints,
		BranchTotal:     t.branches,
		DamageTotal:     s.damage.Total,
	}

	for _, m := range t.heaviest {
		if m.Bytes > 0 {
			r.Heaviest = append(r.Heaviest, m)
		}
	}

	for _, d := range s.damage.First {
		r.Damage = append(r.Damage, damageOf(d))
	}
	if c.BadUTF8 {
		r.BadUTF8++
	}
	if c.Owner != "" {
		r.Owner = new(strings.Clone(c.Owner)) // not a pointer into the chat, which would stay in memory
	}

	var f *library.Folder
	if c.Path != chat.Stdin {
		f = k.around.Folder(filepath.Dir(c.Path))
	}
	exists := func(name string) *bool {
		if f == nil {
			return nil
		}
		_, ok := f.Target(name)
		return &ok
	}

	for _, l := range t.links {
		found := Link{At: l.at, Name: l.name, Exists: exists(l.name)}
		if l.branch {
			r.Branches = append(r.Branches, found)
		} else {
			r.Checkpoints = append(r.Checkpoints, found)
		}
	}

	md := c.Metadata()
	for key := range md.All() {
		r.MetadataKeyTotal++
		if len(r.MetadataKeys) < MaxKeys {
			r.MetadataKeys = append(r.MetadataKeys, key)
		}
	}

	r.MainChat = textOf(md, "main_chat")
	if r.MainChat != nil {
		r.Parent = r.MainChat
		r.MainChatExists = exists(*r.MainChat)
	} else if f != nil && c.Kind == userdir.Solo {
		// old checkpoints did not always keep main_chat
		if parent, ok := f.Target(family.ParentInName(c.Name)); ok && parent != c.Name {
			r.Parent = &parent
		}
	}

	r.Integrity = textOf(md, "integrity")
	if name, ok := lorebook.NameIn(md); ok {
		r.Lorebook = lorebookOf(k.around, c.Dir, c.HasDir, name)
	}
	r.Books = k.names.Books(md)
	r.Extensions = extensions(all.New(), k.owner, c, md, t, f)
	r.warn(c)
	return r
}

// warn adds the warnings: where SillyTavern reads the chat differently, or will change it.
func (r *Report) warn(c *chat.Chat) {
	if c.HeaderKind == chat.None && c.Kind == userdir.Solo && r.Messages > 0 {
		r.Warnings = append(r.Warnings, "the chat has no header: SillyTavern takes its first message for one, so its message numbers are one lower")
	}
	if r.BadUTF8 > 0 {
		r.Warnings = append(r.Warnings, "there are bytes that are not UTF-8: SillyTavern writes U+FFFD in their place at its next save")
	}
}

// textOf returns a metadata value that is a string and not empty, else nil.
func textOf(md *rawjson.Object, key string) *string {
	s, ok := rawjson.Unquote(md.Value(key))
	if !ok || s == "" {
		return nil
	}
	return &s
}

// DateText returns a send_date in UTC, or its text if it is not a date; nil if there is none.
func DateText(raw []byte) *string {
	if len(raw) == 0 || rawjson.KindOf(raw) == rawjson.Null {
		return nil
	}
	if t, ok := sendate.ParseRaw(raw); ok {
		return new(sendate.Format(t))
	}
	if s, ok := rawjson.Unquote(raw); ok {
		return &s
	}
	return new(string(raw))
}
