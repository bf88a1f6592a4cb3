package lost

import (
	"context"
	"fmt"

	"stchat/internal/history"
	"stchat/internal/jsonl"
	"stchat/internal/meta"
)

// StoreReader reads versions from a history. It reads each piece once and keeps its text.
type StoreReader struct {
	Store *history.Store
	*Reader

	texts map[int64]Text    // by the piece that is the line: in a damaged store that can be any number
	parts map[string][]Text // of lines that are stored in parts, by these
	first int64             // the first piece of the version that is read, its header
	heads map[int64]Version // of headers, by their first pieces
}

// NewStoreReader returns a reader of the versions in a history.
func NewStoreReader(s *history.Store, r *Reader) *StoreReader {
	return &StoreReader{Store: s, Reader: r, texts: map[int64]Text{}, parts: map[string][]Text{}, heads: map[int64]Version{}}
}

// noText stands for a piece that was read and is not a message that counts.
const noText = ^Text(0)

// Version returns the texts of a version.
func (r *StoreReader) Version(ctx context.Context, v *history.Version) (*Version, error) {
	runs, err := v.Runs()
	if err != nil {
		return nil, err
	}
	if len(runs) > 0 {
		r.first = runs[0].First
	}

	res := &Version{Messages: v.Messages}
	for some := range lineRuns(runs) {
		texts, err := r.lines(ctx, some)
		if err != nil {
			return nil, err
		}
		res.keep(texts)
	}

	res.Slug = r.heads[r.first].Slug
	res.Parent = r.heads[r.first].Parent
	res.Begins, err = r.isOnlyGreetings(ctx, res, runs)
	return res, err
}

// keep appends those of the texts that are messages that count.
func (v *Version) keep(texts []Text) {
	for _, t := range texts {
		if t == noText || !t.says() {
			continue
		}
		v.Texts = append(v.Texts, t)
		if t&marked != 0 {
			v.Missing++
		}
	}
}

// isOnlyGreetings reports whether a version that consists of runs has nothing but greetings.
func (r *StoreReader) isOnlyGreetings(ctx context.Context, v *Version, runs []history.Run) (bool, error) {
	if !v.mayBegin() {
		return false, nil
	}
	o := openings{}
	for line, err := range r.Store.Lines(ctx, runs) {
		if err != nil {
			return false, err
		}
		if line.Piece == r.first && meta.IsHeader(line.Data) {
			continue
		}
		if _, err := r.buf.Each(jsonl.Bytes(line.Data), jsonl.MapOptions{Limit: -1, Keys: r.who}, o.line); err != nil {
			return false, err
		}
	}
	return !o.again, nil
}

// lines returns the texts of whole lines, which are one run, or of lines that are stored in parts.
func (r *StoreReader) lines(ctx context.Context, runs []history.Run) (texts []Text, err error) {
	if runs[0].Part != history.Whole {
		return r.linesInParts(ctx, runs)
	}

	run := runs[0]
	for stretch := range unread(run, r.has) {
		read, err := r.readLines(ctx, []history.Run{stretch})
		if err != nil {
			return nil, err
		}
		for i, t := range read {
			r.texts[stretch.First+int64(i)] = t
		}
	}
	for id := run.First; id < run.First+run.Count; id++ {
		texts = append(texts, r.texts[id])
	}
	return texts, nil
}

func (r *StoreReader) has(id int64) bool {
	_, has := r.texts[id]
	return has
}

// linesInParts returns the texts of lines that are stored in parts.
func (r *StoreReader) linesInParts(ctx context.Context, runs []history.Run) ([]Text, error) {
	key := fmt.Sprint(runs)
	if texts, ok := r.parts[key]; ok {
		return texts, nil
	}

	texts, err := r.readLines(ctx, runs)
	if err == nil {
		r.parts[key] = texts
	}
	return texts, err
}

// readLines returns the texts of the lines that runs consist of.
func (r *StoreReader) readLines(ctx context.Context, runs []history.Run) (texts []Text, err error) {
	for line, err := range r.Store.Lines(ctx, runs) {
		if err != nil {
			return nil, err
		}
		if line.Piece == r.first && meta.IsHeader(line.Data) {
			slug, parent := meta.Identity(line.Data)
			r.heads[r.first] = Version{Slug: slug, Parent: parent}
		}
		t, err := r.text(line.Data)
		if err != nil {
			return nil, err
		}
		texts = append(texts, t)
	}
	return texts, nil
}

// text returns the text of a line, noText if it has none.
func (r *StoreReader) text(line []byte) (Text, error) {
	r.all.reset()
	_, err := r.buf.Each(jsonl.Bytes(line), jsonl.MapOptions{Limit: -1, Keys: r.keys}, func(l *jsonl.Line) { r.all.line(l, r.Reader) })
	if err != nil || len(r.all.texts) == 0 || r.all.texts[0] == 0 {
		return noText, err
	}
	return r.all.texts[0], nil
}

// Set is a set of texts.
type Set map[Text]struct{}

// NewSet returns a set of all texts in the lists.
func NewSet(lists ...[]Text) Set {
	n := 0
	for _, list := range lists {
		n += len(list)
	}
	s := make(Set, n)
	for _, list := range lists {
		for _, t := range list {
			if t.says() {
				s[t.key()] = struct{}{}
			}
		}
	}
	return s
}

// Has reports whether the text is in the set.
func (s Set) Has(t Text) bool {
	_, has := s[t.key()]
	return has
}

// Shared counts the messages of a live chat of which the set has a text.
func (s Set) Shared(chat []Text) (n int) {
	counted := false
	for _, t := range chat {
		counted = counted && t&marked != 0
		if !counted && s.Has(t) {
			n++
			counted = true
		}
	}
	return n
}

// Common counts the texts of a version that the set has.
func (s Set) Common(version []Text) (n int) {
	for _, t := range version {
		if s.Has(t.key()) {
			n++
		}
	}
	return n
}

// both counts the texts of two sets.
func (s Set) both(other Set) (n int) {
	for t := range s {
		if other.Has(t) {
			n++
		}
	}
	return n
}

// Speech is what a chat says: the texts of its messages and their swipes, without the greetings
// that many chats may begin with: the first message, or all where each has another speaker.
type Speech struct {
	greetings, own Set
	chosen         Set  // own without the swipes that are not shown, which a version may not tell
	last, before   Text // the last one, and the last but one
}

// NewSpeech collects the texts of versions, any of which may be nil; the last one says what is
// said last.
func NewSpeech(versions ...*Version) *Speech {
	s := &Speech{greetings: Set{}, own: Set{}, chosen: Set{}}
	for _, v := range versions {
		if v != nil {
			s.add(v)
		}
	}
	return s
}

// add adds the texts of a version.
func (s *Speech) add(v *Version) {
	messages := 0
	for _, text := range v.Texts {
		shown := text&marked == 0
		if shown {
			messages++
		}
		t := text.key()
		if !t.says() {
			continue
		}

		if t != s.last {
			s.before = s.last
			s.last = t
		}
		isGreeting := messages == 1 || v.Begins
		switch {
		case isGreeting:
			s.greetings[t] = struct{}{}
		case s.greetings.Has(t):
		default:
			s.own[t] = struct{}{}
			if shown {
				s.chosen[t] = struct{}{}
			}
		}
	}
}

// Len counts the texts besides the greeting.
func (s *Speech) Len() int { return len(s.own) }

// Shared counts the texts that both say besides the greeting.
func (s *Speech) Shared(other *Speech) int { return s.own.both(other.own) }

// Repeats counts the texts that s shows, and other says, besides the greeting.
func (s *Speech) Repeats(other *Speech) int { return s.chosen.both(other.own) }

// Has reports whether a text is said.
func (s *Speech) Has(t Text) bool { return s.own.Has(t) || s.greetings.Has(t) }

// Ends reports whether s says what other says last, if that says anything.
func (s *Speech) Ends(other *Speech) bool { return s.Has(other.last) }

// GoesOn reports whether s says what other says last but for one message, which may have been
// edited.
func (s *Speech) GoesOn(other *Speech) bool { return s.Has(other.before) }

// Greets reports whether both begin alike, or one says how the other begins.
func (s *Speech) Greets(other *Speech) bool {
	for _, pair := range [][2]*Speech{{s, other}, {other, s}} {
		for t := range pair[0].greetings {
			if pair[1].Has(t) {
				return true
			}
		}
	}
	return false
}
