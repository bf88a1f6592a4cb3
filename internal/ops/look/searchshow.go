package look

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/folder/inspect"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/place/userdir"
	"stchat/internal/show/prose"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/lazyregexp"
)

// isHit returns a text of a message that is read again, and reports whether it is the one that a
// hit was found in.
func (s *searcher) isHit(candidate oneText, h hit) (string, bool) {
	if !candidate.chosen && !s.Swipes {
		return "", false
	}
	text, ok := rawjson.Unquote(candidate.raw)
	return text, ok && s.hash([]byte(text)) == h.text
}

// show reads a hit's message again and makes its document.
func (s *searcher) show(ctx context.Context, t text) (*SearchHit, error) {
	places := s.hits[t.from:t.to]
	h := places[0]
	doc := &SearchHit{
		Schema: 1,
		Places: len(places),
		Gone:   t.gone,
		Marks:  [][2]int{},
		Before: []Neighbour{},
		After:  []Neighbour{},
	}

	if s.Read && !s.sources[h.source].old {
		h, doc.Chats = s.eldest(ctx, places)
	}

	src := s.sources[h.source]
	doc.Path = src.Path
	doc.Chat = userdir.ChatName(src.Path)
	line, index, err := s.line(ctx, src, h)
	if err != nil {
		return nil, &ops.SourceError{Path: doc.Path, Err: ops.PathError(err)}
	}
	doc.Owner = src.owner
	doc.Index = index
	if src.old {
		doc.Rev = new(int(src.version.Rev))
	}

	said, found := "", false
	_, err = s.again.buf.Each(jsonl.Bytes(line), jsonl.MapOptions{Limit: -1, Keys: s.again.keys}, func(l *jsonl.Line) {
		by := spokenIn(l)
		if l.Damage != nil || src.old && by.date != h.date {
			return
		}
		for candidate := range textsIn(l) {
			isBefore := !found || candidate.swipe < *doc.Swipe
			if text, ok := s.isHit(candidate, h); ok && isBefore {
				said = text
				found = true
				doc.Swipe = new(candidate.swipe)
			}
		}

		date, _ := l.Value(searchDate)
		doc.Role = string(by.role)
		doc.Name = rawjson.TextOrNil(by.name)
		doc.Date = inspect.DateText(date)
	})
	if err != nil || !found {
		return nil, fmt.Errorf("%s: %w", doc.Path, cmp.Or(err, jsonl.ErrChanged))
	}
	if *doc.Swipe == 0 {
		doc.Swipe = nil
	}

	if s.Read {
		said, doc.Within = s.readable(said)
	}
	snippet, marks := s.Query.Snippet(said)
	doc.Snippet = snippet
	doc.Marks = append(doc.Marks, marks...)
	if s.Around > 0 {
		if err := s.neighbours(ctx, src, h, doc); err != nil {
			return nil, &ops.SourceError{Path: doc.Path, Err: ops.PathError(err)}
		}
	}
	return doc, nil
}

// line reads a hit's line again, and returns the index of its message.
func (s *searcher) line(ctx context.Context, src *source, h hit) (line []byte, index int, err error) {
	if src.old {
		return src.message(ctx, int(h.index))
	}
	c, err := chat.Open(ctx, src.Path, chat.Options{Groups: s.lib, Regular: src.From != "", Any: true})
	if err != nil {
		return nil, 0, err
	}
	defer c.Close()
	if c.Owner != "" {
		src.owner = new(c.Owner)
	}
	rest := io.NewSectionReader(c.Source.R, h.at, c.Source.Size-h.at)
	line, err = bufio.NewReader(rest).ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return line, int(h.index), err
}

// neighbours adds the messages around a hit to its document.
func (s *searcher) neighbours(ctx context.Context, src *source, h hit, doc *SearchHit) error {
	add := func(index int, n Neighbour) {
		n.Index = index
		switch {
		case index < doc.Index:
			doc.Before = append(doc.Before, n)
		case index > doc.Index:
			doc.After = append(doc.After, n)
		}
	}

	if src.old {
		return src.around(ctx, int(h.index), s.Around, func(line []byte, index int) { add(index, neighbour(line)) })
	}
	choice := choose.Choice{Ranges: []choose.Range{choose.From(max(doc.Index-s.Around, 0))}, First: min(doc.Index, s.Around) + 1 + s.Around}
	opt := MessageOptions{Path: src.Path, Choice: choice, SkipDamaged: true}
	_, err := Messages(ctx, opt, func(m *Message) error {
		add(*m.Index, Neighbour{Role: m.Role, Name: m.Name, Date: m.Date, Text: m.Text})
		return nil
	})
	return err
}

// neighbour reads a message of a version.
func neighbour(line []byte) Neighbour {
	var name, user, system, extra, date, text []byte
	rawjson.Into(line, []string{"name", "is_user", "is_system", "extra", "send_date", "mes"}, &name, &user, &system, &extra, &date, &text)
	return Neighbour{
		Role: string(message.Role(name, user, system, extra)), Name: rawjson.TextOrNil(name), Date: inspect.DateText(date), Text: rawjson.TextOrNil(text),
	}
}

// eldest returns, of places of one text, that in the chat of which all others may have it: an
// ancestor, else the first by name. It also returns the paths of the chats.
func (s *searcher) eldest(ctx context.Context, places []hit) (best hit, paths []string) {
	places = slices.Clone(places)
	slices.SortFunc(places, func(a, b hit) int {
		return cmp.Or(strings.Compare(s.sources[a.source].Path, s.sources[b.source].Path), s.before(&a, &b))
	})
	places = slices.CompactFunc(places, func(a, b hit) bool { return a.source == b.source })
	for _, h := range places {
		paths = append(paths, s.sources[h.source].Path)
	}
	for _, h := range places {
		if _, isChild := slices.BinarySearch(paths, s.parentOf(ctx, h.source)); len(paths) == 1 || !isChild {
			return h, paths
		}
	}
	return places[0], paths
}

// parentOf returns where the chat lies that a chat names as its parent.
func (s *searcher) parentOf(ctx context.Context, number int32) string {
	path := s.sources[number].Path
	parent, known := s.parents[number]
	if !known {
		if c, err := chat.Open(ctx, path, chat.Options{Groups: s.lib, Regular: true, Any: true}); err == nil {
			parent, _ = rawjson.Unquote(c.Metadata().Value("main_chat"))
			c.Close()
		}
		s.parents[number] = parent // what cannot be read has none that is known
	}
	return filepath.Join(filepath.Dir(path), parent+filepath.Ext(path))
}

// readable returns the line that a reader sees of a text if the found words are in one; else the comment or
// tag that holds one, and which it is; else all of the text.
func (s *searcher) readable(said string) (text, within string) {
	holds := func(part string) bool {
		_, marks := s.Query.Snippet(part)
		return marks != nil
	}
	if text = prose.Plain(said); holds(text) {
		for line := range strings.SplitSeq(text, "\n") {
			if holds(line) {
				return line, ""
			}
		}
		return text, ""
	}

	for _, part := range hiddenPart().FindAllString(said, -1) {
		if _, prompt, ok := strings.Cut(part, `prompt="`); ok && holds(prompt) {
			return strings.Trim(prompt, `<!->"/ `), InPrompt
		}
		if holds(part) {
			return strings.Trim(part, "<!->/ "), InComment
		}
	}
	return said, ""
}

// hiddenPart is what a page does not show: a comment or a tag.
var hiddenPart = lazyregexp.New(`(?s)<!--.*?-->|<[^>]*>`)
