package edit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"stchat/internal/chat"
	"stchat/internal/choose"
	"stchat/internal/extension/luker"
	"stchat/internal/follow"
	"stchat/internal/jsonl"
	"stchat/internal/library"
	"stchat/internal/ops"
	"stchat/internal/patch"
	"stchat/internal/rawjson"
	"stchat/internal/userdir"
)

var (
	// ErrNoHeader means that a chat has no header.
	ErrNoHeader = errors.New("the chat has no header")
	// ErrNotInPlace means that standard input cannot be edited.
	ErrNotInPlace = errors.New("a chat is edited in place, so it must be a file")
)

// open is a chat that may be edited.
type open struct {
	opt      Options
	chat     *chat.Chat
	slug     string          // its new slug; "" if it keeps the old one
	luker    bool            // it is a chat of Luker
	sync     string          // its chat_sync
	sidecars []luker.Sidecar // Luker's other sidecars, which hold state of extensions
	messages int             // -1: not counted yet
	last     choose.Place    // the last message, once they are counted; its Len is 0 if there is none
	facts    *follow.Facts   // of all messages, if they were read with something else
	anchor   choose.Place    // the message that others are inserted after, if it was found already
}

// openChat opens a chat, and refuses one that must not be edited (CONTENT.md 1.3).
func openChat(ctx context.Context, lib *library.Library, opt Options, path string) (*open, error) {
	if path == chat.Stdin {
		return nil, ErrNotInPlace
	}
	c, err := chat.Open(ctx, path, chat.Options{Data: opt.Data, Groups: lib})
	if err != nil {
		return nil, ops.PathError(err)
	}
	o := &open{opt: opt, chat: c, messages: -1}
	if err := o.judge(lib); err != nil {
		c.Close()
		return nil, err
	}
	opt.Meter.Expect(1, c.Source.Size)
	return o, nil
}

func (o *open) judge(lib *library.Library) error {
	c := o.chat
	switch {
	case c.Damage.Total > 0: // a damaged header too
		return c.DamageError(c.Damage.First[0])
	case c.HeaderKind == chat.None:
		return o.errorf("%w", ErrNoHeader)
	}
	if c.HasDir {
		if reason := lib.Database(c.Dir); reason != "" {
			return o.errorf("%w", &luker.DatabaseError{Reason: reason})
		}
	}
	if slug, _ := rawjson.Unquote(c.Metadata().Value("integrity")); o.opt.ExpectIntegrity != "" && slug != o.opt.ExpectIntegrity {
		return o.errorf("%w: its integrity slug is %q", ErrExpected, slug)
	}
	real := userdir.RealPath(c.Path)
	folder := lib.Folder(filepath.Dir(real))
	if err := folder.Err; err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ops.PathError(err)
	}
	sidecars := folder.Sidecars(userdir.ChatName(real))
	given := filepath.Dir(c.Path)
	for _, s := range sidecars {
		if userdir.RealPath(given) == filepath.Dir(s.Path) {
			s.Path = filepath.Join(given, filepath.Base(s.Path)) // as the chat's own path was given
		}
		if s.Kind == luker.ChatSync {
			o.sync = s.Path
		} else {
			o.sidecars = append(o.sidecars, s)
		}
	}
	o.luker = len(sidecars) > 0
	if o.luker || o.opt.BumpIntegrity {
		o.slug = o.opt.NewUUID()
	}
	return nil
}

// chooseAndCount is choose that also counts all messages.
func (o *open) chooseAndCount(ctx context.Context, c choose.Choice, each func(choose.Place) error) error {
	c.Whole = true
	return o.choose(ctx, c, each)
}

// choose calls each with the chosen messages, and refuses a chat that is damaged in the part
// read.
func (o *open) choose(ctx context.Context, c choose.Choice, each func(choose.Place) error) error {
	scanned, err := c.Scan(ctx, o.sparing(), each)
	return o.scanned(&scanned, err)
}

// survey is choose that also counts all messages and reads what state may refer to in them,
// so that the chat is read once where messages move.
func (o *open) survey(ctx context.Context, c choose.Choice, each func(choose.Place) error) error {
	c.Whole = true
	reader := follow.NewReader(o.chat.Metadata(), o.hasLog())
	facts := follow.NewFacts()
	scanned, err := choose.ScanBeside(ctx, &c, o.source(), each, choose.Beside[[]follow.Fact]{
		Keys: follow.Keys(),
		Read: func(l *jsonl.Line, keys []int, batch *[]follow.Fact) { *batch = append(*batch, reader.Read(l, keys)) },
		Fold: func(batch *[]follow.Fact) { facts.Add(reader, *batch) },
		Reset: func(batch *[]follow.Fact) {
			clear(*batch)
			*batch = (*batch)[:0]
		},
	})
	if err == nil {
		o.facts = facts
	}
	return o.scanned(&scanned, err)
}

// hasLog reports whether Luker keeps a floor log of the chat.
func (o *open) hasLog() bool {
	return slices.ContainsFunc(o.sidecars, func(s luker.Sidecar) bool { return s.Kind == luker.FloorLog })
}

// scanned records what a scan found, and returns why the chat cannot be edited after it.
func (o *open) scanned(scanned *choose.Scanned, err error) error {
	if err != nil {
		return o.errorf("%w", err)
	}
	return o.whole(scanned)
}

// one returns the only chosen message, and counts all messages.
func (o *open) one(ctx context.Context, c choose.Choice) (choose.Place, error) {
	c.Whole = true
	at, scanned, err := c.One(ctx, o.sparing())
	if damaged := o.whole(&scanned); damaged != nil {
		return at, damaged
	}
	if err != nil {
		return at, o.errorf("%w", err)
	}
	return at, nil
}

// count returns the number of messages and records where the last one is. It refuses a damaged
// chat and a number other than expected.
func (o *open) count(ctx context.Context) (int, error) {
	if o.messages < 0 {
		if err := o.chooseAndCount(ctx, choose.Choice{}, func(choose.Place) error { return nil }); err != nil {
			return 0, err
		}
	}
	if n := o.opt.ExpectMessages; n >= 0 && n != o.messages {
		return 0, o.errorf("%w: it has %d messages", ErrExpected, o.messages)
	}
	return o.messages, nil
}

// whole records what a scan counted, and refuses a chat that is damaged in the part read.
func (o *open) whole(scanned *choose.Scanned) error {
	if scanned.Whole {
		o.messages, o.last = scanned.Messages, scanned.Last
	}
	if scanned.Damage.Total == 0 {
		return nil
	}
	return o.chat.DamageError(scanned.Damage.First[0])
}

func (o *open) source() choose.Source {
	return choose.Source{Source: o.chat.Source, Body: o.chat.Body, Line: o.chat.BodyLine}
}

// sparing is source for what only few messages are wanted of: memory counts more there than
// the last bit of speed.
func (o *open) sparing() choose.Source {
	src := o.source()
	src.Source = src.Sparing()
	return src
}

// swipes returns the chosen swipe of each message.
func (o *open) swipes(ctx context.Context) ([]int, error) {
	if swipes := o.facts.Swipes(); swipes != nil {
		return swipes, nil
	}
	src := o.source()
	swipes, _, err := luker.Swipes(ctx, src.Source, src.Body, src.Line)
	if err != nil {
		return nil, o.errorf("%w", err)
	}
	return swipes, nil
}

// withoutGeneration returns an edited message, in a chat of Luker without the generation id that
// the edit brings: Luker takes it out of all that it stores (FORMATS.md A1.7). line is the
// message before, nil for a new one.
func withoutGeneration(o *open, line, edited []byte) []byte {
	if !o.luker {
		return edited
	}
	path := patch.Path{"extra", "luker_generation_id"}
	was, _ := patch.Get(line, path)
	if id, ok := patch.Get(edited, path); ok && !bytes.Equal(was, id) {
		return patch.Unset(edited, path)
	}
	return edited
}

// errorf returns an error about the chat.
func (o *open) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: "+format, append([]any{o.chat.Label()}, args...)...)
}
