package keep

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"slices"

	"stchat/internal/folder/align"
	"stchat/internal/history"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/place/sendate"
	"stchat/internal/show/prose"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/visible"
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

// Revs returns the versions of a file in the store, the newest first.
func Revs(ctx context.Context, where Where) (list []history.Version, err error) {
	s, err := openSubject(ctx, where)
	defer s.close()
	for _, v := range s.versions {
		list = append(list, v.Version)
	}
	return list, err
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
		lines, _, err = d.messages(ctx, &list[i])
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
			doc.At = sendate.Format(v.At)
			doc.Source = v.Source
			doc.Messages = v.Messages
			doc.Bytes = v.Size
			doc.Note = v.Note
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
			newer = older
			newWhole = oldWhole
			err = each(doc)
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

// Changed is a message that differs from the version before: a document of log for one version.
type Changed struct {
	Schema int     `json:"schema"`
	Op     string  `json:"op"` // add, change, remove
	Index  int     `json:"index"`
	Role   *string `json:"role"` // null, as the name, if the file is not a chat
	Name   *string `json:"name"`
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
	is := func(o version) bool { return o.Rev == v.Rev && o.file == v.file }
	if !slices.ContainsFunc(list, is) { // it is another file's
		if list, err = s.stored(ctx, v.Chat); err != nil {
			return s.note, err
		}
	}

	i := slices.IndexFunc(list, is)
	d := newDiffer(s.store)
	newer, newIndex, err := d.messages(ctx, v)
	if err != nil {
		return s.note, err
	}
	var older []lineRef
	var oldIndex []int
	if i+1 < len(list) {
		if older, oldIndex, err = d.messages(ctx, &list[i+1]); err != nil {
			return s.note, err
		}
	}

	for _, c := range d.changes(ctx, older, newer) {
		doc := Changed{Schema: 1, Op: "change"}
		var line []byte
		if c.from < 0 {
			doc.Op = "add"
		} else {
			line = d.text(ctx, older[c.from])
			doc.Index, doc.From = oldIndex[c.from], textOr(field(line, "mes"), line)
		}

		if c.to < 0 {
			doc.Op = "remove"
		} else {
			to := d.text(ctx, newer[c.to])
			doc.Index, doc.To = newIndex[c.to], textOr(field(to, "mes"), to)
			if to != nil {
				line = to
			}
		}

		if v.file != "" || history.KindOf(v.Path).IsChat() {
			doc.Role = new(string(message.Role(field(line, "name"), field(line, "is_user"), field(line, "is_system"), field(line, "extra"))))
			doc.Name = textOr(field(line, "name"), nil)
		}
		if date := field(line, "send_date"); date != nil {
			doc.Date = textOr(date, date)
		}
		if err := each(doc); err != nil {
			return s.note, err
		}
	}
	return s.note, nil
}

// field returns the raw value of a key, nil if it is missing or the line is damaged.
func field(line []byte, key string) []byte {
	if !jsonl.Valid(line) {
		return nil
	}
	return rawjson.Value(line, key)
}

// textOr returns a JSON string as text, or otherwise if it is none.
func textOr(raw, otherwise []byte) *string {
	text, ok := rawjson.Unquote(raw)
	if !ok {
		text = string(otherwise)
	}
	return &text
}

// differ compares versions of a chat.
type differ struct {
	store *history.Store
	seed  maphash.Seed
}

func newDiffer(s *history.Store) *differ { return &differ{s, maphash.MakeSeed()} }

// messages lists a version's lines without its header and blank ones, and their message indexes as
// SillyTavern counts them. A damaged line has the index of the message after it.
func (d *differ) messages(ctx context.Context, v *version) (list []lineRef, index []int, err error) {
	lines, err := d.lines(v)
	if err != nil {
		return nil, nil, err
	}
	others, err := history.Others(len(lines), v.Messages, func(n int) ([]byte, error) { return d.read(ctx, lines[n]) }, d.each(ctx, lines))
	if err != nil {
		return nil, nil, err
	}
	list, index = lines[:0], make([]int, 0, len(lines))
	for n, l := range lines {
		before, other := slices.BinarySearch(others, n)
		if other {
			data := d.text(ctx, l)
			if isBlank := len(bytes.Trim(data, " \t\r")) == 0; isBlank || jsonl.Valid(data) && rawjson.KindOf(data) == rawjson.ObjectKind {
				continue
			}
		}
		list, index = append(list, l), append(index, n-before)
	}
	return list, index, nil
}

// change is one message that differs between two versions: from is below 0 if it was added,
// to if it was removed.
type change struct{ from, to int }

// changes compares two versions of the chat.
func (d *differ) changes(ctx context.Context, older, newer []lineRef) (list []change) {
	side := func(lines []lineRef) align.Side {
		keys := make([]uint64, len(lines))
		for i, l := range lines {
			keys[i] = l.id
		}
		return align.Side{Keys: keys, Near: func(i int) align.Near { return align.ReadNear(d.text(ctx, lines[i])) }}
	}

	pairs := align.Messages(side(older), side(newer), false)
	for p := range align.Rows(pairs, len(older), len(newer)) {
		if p.A < 0 || p.B < 0 || older[p.A].id != newer[p.B].id {
			list = append(list, change{p.A, p.B})
		}
	}
	return list
}

// lineRef is one line of a version.
type lineRef struct {
	id   uint64        // the same for equal lines of one store
	runs []history.Run // its pieces

	file      string // set if the line is read from a backup that is not in the store
	off, size int64
}

// lineRefs lists the lines that runs consist of. Lines stored in parts are known by the
// hash of their pieces.
func lineRefs(runs []history.Run, seed maphash.Seed) []lineRef {
	var list []lineRef
	var parts []history.Run
	for _, r := range runs {
		for i := range r.Count {
			piece := history.Run{First: r.First + i, Count: 1, Part: r.Part}
			if r.Part == history.Whole {
				list = append(list, lineRef{id: uint64(piece.First), runs: []history.Run{piece}})
				continue
			}
			parts = append(parts, piece)
			if r.Part == history.More {
				continue
			}
			list = append(list, lineRef{id: maphash.String(seed, fmt.Sprint(parts)) | 1<<63, runs: parts})
			parts = nil
		}
	}
	return list
}

// lines lists a version's lines.
func (d *differ) lines(v *version) ([]lineRef, error) {
	if v.file == "" {
		runs, err := v.Runs()
		return lineRefs(runs, d.seed), err
	}
	list, at := lineRefs(v.runs, d.seed), int64(0)
	for i, end := range v.ends {
		list[i].file = v.file
		list[i].off = at
		list[i].size = end - at
		at = end + 1
	}
	return list, nil
}

// lineEnds notes where the lines end in what is read through it.
type lineEnds struct {
	io.Reader
	ends []int64
	read int64
}

func (l *lineEnds) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	for i, b := range p[:n] {
		if b == '\n' {
			l.ends = append(l.ends, l.read+int64(i))
		}
	}
	l.read += int64(n)
	return n, err
}

// each yields lines of one version, in order. A line is valid until the next.
func (d *differ) each(ctx context.Context, list []lineRef) iter.Seq2[history.Line, error] {
	if len(list) == 0 || list[0].file == "" {
		var runs []history.Run
		for _, l := range list {
			runs = append(runs, l.runs...)
		}
		return d.store.Lines(ctx, runs)
	}
	return func(yield func(history.Line, error) bool) {
		f, err := chat.OpenRegular(list[0].file)
		if err != nil {
			yield(history.Line{}, ops.PathError(err))
			return
		}
		defer f.Close()
		var data []byte
		for _, l := range list {
			data = slices.Grow(data[:0], int(l.size))[:l.size]
			if _, err := f.ReadAt(data, l.off); err != nil {
				yield(history.Line{}, ops.PathError(err))
				return
			}
			if !yield(history.Line{Data: data}, nil) {
				return
			}
		}
	}
}

// read returns a line.
func (d *differ) read(ctx context.Context, l lineRef) (data []byte, err error) {
	for line, err := range d.each(ctx, []lineRef{l}) {
		return slices.Clone(line.Data), err
	}
	return nil, nil
}

// text returns a line, nil if it cannot be read any more.
func (d *differ) text(ctx context.Context, l lineRef) []byte {
	data, _ := d.read(ctx, l)
	return data
}
