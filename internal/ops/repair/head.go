package repair

import (
	"bytes"
	"context"
	"errors"
	"io"

	"stchat/internal/folder/rules"
	"stchat/internal/json/patch"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/meta"
)

// head is how a header gets to the front of a chat that has none there.
type head struct {
	view  *view // the chat's file with its header in front
	steps []headStep
}

// headStep is one reported step of it.
type headStep struct {
	step
	change        string
	before, after []byte
}

// newHeader is why a header is needed, and the metadata for it that an old group file holds.
type newHeader struct {
	missing []rules.ID // empty: none is needed
	old     []byte
	whole   *wholeHeader // that of an older version, where the chat's own is damaged; nil: none
}

// frontOfFile is what comes before a chat's first surviving line.
type frontOfFile struct {
	first    *salvageable // the first line that is not blank, if it is a header apart from junk around it
	rule     rules.ID     // of the first line that is whole apart from junk around it
	hasWhole bool
	at       rules.Span // the first surviving line
	number   int
}

// salvageable is a damaged line that is a message or a header with junk around it.
type salvageable struct {
	off    int64
	number int
	rule   rules.ID
	raw    []byte
	text   []byte // the part of raw without the junk
}

// putInFront finds how the header gets to the front: junk around it is stripped if it is there
// already, or it moves there from inside the chat, or a new one is made. It returns nil if
// there is nothing to do.
func putInFront(ctx context.Context, src jsonl.Source, c *rules.Chat, want rules.Set, need newHeader) (*head, error) {
	var front frontOfFile
	if c.TornLine > 0 || c.Repairable().HasAny(rules.SetOf(rules.NUL, rules.InvalidJSON)) {
		var err error
		if front, err = readFront(ctx, src, c, want); err != nil {
			return nil, err
		}
	}

	switch {
	case front.first != nil:
		return trimFirst(front.first), nil
	case front.hasWhole && c.HasHeader:
		return moveHeader(src, front.at, front.number, []rules.ID{front.rule})
	case len(need.missing) == 0:
		return nil, nil
	case c.Inside == 1 && need.old == nil:
		return moveHeader(src, c.InsideAt, c.InsideLine, need.missing)
	}
	return makeHeader(src, need)
}

// errEnough stops a read that has found what it needs.
var errEnough = errors.New("enough")

// readFront reads a chat up to its first surviving line.
func readFront(ctx context.Context, src jsonl.Source, c *rules.Chat, want rules.Set) (front frontOfFile, err error) {
	first := true
	err = jsonl.Each(ctx, src, jsonl.MapOptions{Keys: jsonl.NewKeys()}, func(line *jsonl.Line, base jsonl.Base) error {
		number := base.Line + line.Number + 1
		if line.Damage == nil {
			front.at, front.number = rules.Span{Off: line.Off, Len: int64(len(line.Raw))}, number
			return errEnough
		}
		isFirst := first
		first = false
		if front.hasWhole {
			return nil
		}
		text, ok := rules.WithoutJunk(line.Raw)
		rule := rules.DamageRule(line.Damage)
		if rule == rules.InvalidJSON && number == c.TornLine {
			rule = rules.TornTail
		}
		if !ok || !want.Has(rule) {
			return nil
		}
		front.hasWhole, front.rule = true, rule
		if isFirst && meta.IsHeader(text) {
			front.first = &salvageable{line.Off, number, rule, bytes.Clone(line.Raw), bytes.Clone(text)}
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return front, err
}

// trimFirst strips the junk around the header in the first line.
func trimFirst(w *salvageable) *head {
	before := int64(bytes.Index(w.raw, w.text))
	after := int64(len(w.raw)-len(w.text)) - before
	end := w.off + int64(len(w.raw))
	return &head{
		view:  &view{splices: []rawjson.Splice{{At: w.off, Len: before}, {At: end - after, Len: after}}},
		steps: []headStep{{step{w.rule, w.number, -1}, junkChange(w.raw, w.text), w.raw, w.text}},
	}
}

// moveHeader moves a header to the front, including its line end.
func moveHeader(src jsonl.Source, at rules.Span, number int, why []rules.ID) (*head, error) {
	line, err := src.Section(at.Off, at.Len)
	if err != nil {
		return nil, err
	}
	gone := rawjson.Splice{At: at.Off, Len: at.Len}
	behind, err := src.Section(at.Off+at.Len, min(2, src.Size-at.Off-at.Len))
	if err != nil {
		return nil, err
	}
	if end := lineEnd(behind); end > 0 {
		gone.Len += int64(end)
	} else { // it is the last line, so the one before it becomes the last
		front := min(2, at.Off)
		before, err := src.Section(at.Off-front, front)
		if err != nil {
			return nil, err
		}
		gone.Len += int64(len(behind))
		n := int64(len(before) - len(bytes.TrimSuffix(bytes.TrimSuffix(before, []byte("\n")), []byte("\r"))))
		gone.At, gone.Len = gone.At-n, gone.Len+n
	}

	h, err := insert(src, line)
	if err != nil {
		return nil, err
	}
	h.view.splices = append(h.view.splices, gone)
	h.view.from = number
	h.add(why, number, "moved the header to the front", nil)
	return h, nil
}

// lineEnd returns the length of the line end at the start of b.
func lineEnd(b []byte) int {
	switch {
	case bytes.HasPrefix(b, []byte("\n")):
		return 1
	case bytes.Equal(b, []byte("\r\n")):
		return 2
	}
	return 0
}

// makeHeader puts a new header in front, with the metadata that a group file holds.
func makeHeader(src jsonl.Source, need newHeader) (*head, error) {
	line := meta.New()
	change := "put a header in front"
	if need.old != nil {
		err := line.Change(func(metadata []byte) ([]byte, error) { return patch.Merge(metadata, need.old) })
		if err != nil {
			return nil, err
		}
		change = "moved the chat's metadata from the group file into a header"
	}

	data := line.Bytes()
	if need.whole != nil {
		data = need.whole.line
		change = "put the header back that is damaged, from " + need.whole.where
	}
	h, err := insert(src, data)
	if err != nil {
		return nil, err
	}
	h.add(need.missing, 1, change, data)
	return h, nil
}

// insert puts a line in front, after a byte order mark if there is one.
func insert(src jsonl.Source, line []byte) (*head, error) {
	has, err := hasBOM(src)
	if err != nil {
		return nil, err
	}
	at := int64(0)
	if has {
		at = int64(len(bom))
	}
	line = append(bytes.Clone(line), '\n')
	return &head{view: &view{inserted: true, splices: []rawjson.Splice{{At: at, Data: line}}}}, nil
}

func (h *head) add(why []rules.ID, line int, change string, after []byte) {
	for _, id := range why {
		h.steps = append(h.steps, headStep{step{id, line, -1}, change, nil, after})
	}
}

const bom = "\xef\xbb\xbf"

// hasBOM reports whether a file begins with a byte order mark.
func hasBOM(src jsonl.Source) (bool, error) {
	head, err := src.Section(0, min(int64(len(bom)), src.Size))
	return string(head) == bom, err
}

// view is a chat's file with its header put in front, but not written: the header can be judged
// there with all that it names.
type view struct {
	splices  []rawjson.Splice // in the order of their places, not overlapping
	inserted bool             // the header is a line put in front
	from     int              // the line it came from; 0: it is new
}

// line returns the line of the file for a line of the view. A new header counts as the first
// line.
func (v *view) line(n int) int {
	switch {
	case v == nil || !v.inserted || n == 0:
		return n
	case n == 1:
		return max(v.from, 1)
	case v.from == 0 || n <= v.from:
		return n - 1
	}
	return n
}

// over returns the view of a file.
func (v *view) over(file jsonl.Source) jsonl.Source {
	if v == nil || len(v.splices) == 0 {
		return file
	}
	var parts joined
	off := int64(0)
	for _, e := range v.splices {
		parts = append(parts, io.NewSectionReader(file.R, off, e.At-off), bytes.NewReader(e.Data))
		off = e.At + e.Len
	}

	parts = append(parts, io.NewSectionReader(file.R, off, file.Size-off))
	size := int64(0)
	for _, part := range parts {
		size += part.Size()
	}
	return jsonl.Source{R: parts, Size: size}
}

// joined reads its parts one after the other.
type joined []interface {
	io.ReaderAt
	Size() int64
}

// ReadAt implements [io.ReaderAt].
func (j joined) ReadAt(p []byte, at int64) (n int, err error) {
	for _, part := range j {
		if at >= part.Size() {
			at -= part.Size()
			continue
		}
		did, err := part.ReadAt(p[n:n+int(min(int64(len(p)-n), part.Size()-at))], at)
		if n, at = n+did, 0; n == len(p) || err != nil && !errors.Is(err, io.EOF) {
			return n, err
		}
	}
	return n, io.EOF
}
