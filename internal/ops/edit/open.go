package edit

import (
	"bytes"
	"context"
	"slices"

	"stchat/internal/extension/follow"
	"stchat/internal/extension/luker"
	"stchat/internal/folder/library"
	"stchat/internal/json/patch"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/choose"
)

// open is a chat that may be edited.
type open struct {
	opt      Options
	result   *Result
	chat     *chat.Chat
	slug     string          // its new slug; "" if it keeps the old one
	luker    bool            // it is a chat of Luker
	sidecars []luker.Sidecar // what Luker keeps beside it
	found
}

// found is what a pass over all messages of a chat found out.
type found struct {
	messages int           // -1: not counted yet
	last     choose.Place  // the last message; its Len is 0 if there is none
	greeting bool          // the chat has a single, untouched message, see isGreeting
	facts    *follow.Facts // what state refers to in messages, if that was asked for
	speakers *speakers     // who speaks, if that was asked for
}

// openChat opens a chat, and refuses one that must not be edited.
func openChat(ctx context.Context, lib *library.Library, opt Options, r *Result) (*open, error) {
	if r.Doc.Path == chat.Stdin {
		return nil, ops.ErrNotInPlace
	}
	c, err := ops.Open(ctx, lib, r.Doc.Path, ops.WithHeader, chat.Options{Data: opt.Data})
	if err != nil {
		return nil, err
	}
	o := &open{opt: opt, result: r, chat: c.Chat, found: found{messages: -1}}
	if err := o.lookBeside(c); err != nil {
		c.Close()
		return nil, err
	}
	opt.Meter.Expect(1, c.Source.Size)
	return o, nil
}

// lookBeside refuses a chat with another slug than expected, and finds out whether the edited chat gets
// a new one: Luker's always do.
func (o *open) lookBeside(c *ops.Subject) error {
	slug, _ := rawjson.Unquote(c.Metadata().Value("integrity"))
	if o.opt.ExpectIntegrity != "" && slug != o.opt.ExpectIntegrity {
		return o.chat.Errorf("%w: its integrity is %q", ErrExpected, slug)
	}
	var err error
	o.sidecars, err = c.Sidecars()
	if err != nil {
		return err
	}
	o.luker = len(o.sidecars) > 0
	if o.luker || o.opt.BumpIntegrity {
		o.slug = o.opt.Changes.NewUUID()
	}
	return nil
}

// scanning says what a scan hands out and collects.
type scanning struct {
	choose.Choice
	moves    bool // read what state refers to in messages, as some will move
	speakers bool // read who speaks
}

// batchFound is what one batch of lines adds to what is collected.
type batchFound struct {
	facts    []follow.Fact
	speakers speakers
}

// scan reads the chat once: it calls each with the chosen messages, counts all messages, and
// collects what is asked for. It refuses a chat that is damaged.
func (o *open) scan(ctx context.Context, s scanning, each func(choose.Place) error) error {
	s.Whole = true
	all := newSpeakers(o.chat)
	facts := follow.NewFacts()
	own := len(speakerKeys())
	reader := facts.Beside(follow.NewReader(o.chat.Metadata(), o.hasLog()))
	also := choose.Beside[batchFound]{
		Read: func(l *jsonl.Line, keys []int, batch *batchFound) {
			if s.speakers {
				batch.speakers.record(l, keys, o.chat.Kind == userdir.Group)
			}
			if s.moves {
				reader.Read(l, keys[own:], &batch.facts)
			}
		},
		Fold: func(batch *batchFound) {
			all.join(&batch.speakers)
			reader.Fold(&batch.facts)
		},
		Reset: func(batch *batchFound) {
			reader.Reset(&batch.facts)
			batch.speakers = speakers{}
		},
	}

	if s.moves || s.speakers {
		also.Keys = append(speakerKeys(), reader.Keys...)
	}

	scanned, err := choose.ScanBeside(ctx, &s.Choice, choose.SourceOf(o.chat), each, also)
	if err != nil {
		return o.chat.Errorf("%w", err)
	}
	if scanned.Damage.Total > 0 {
		return o.chat.DamageError(scanned.Damage.First[0])
	}

	if scanned.Clipped {
		last := ops.Fact{Kind: ops.FactClipped, Path: o.chat.Label(), Count: scanned.Messages - 1}
		o.result.WarnOf(last, "%s: the range ends at message %d, the last", o.chat.Label(), last.Count)
	}
	o.messages = scanned.Messages
	o.last = scanned.Last
	o.speakers = all
	o.greeting = isGreeting(o.messages, o.chat.Metadata())
	if s.moves {
		o.facts = facts
	}
	return nil
}

// nobody is a choice of no message.
func nobody(int) bool { return false }

// list returns the chosen messages, without a choice all of them.
func (o *open) list(ctx context.Context, s scanning) (list []choose.Place, err error) {
	err = o.scan(ctx, s, func(at choose.Place) error {
		list = append(list, at)
		return nil
	})
	return list, err
}

// chosen returns the chosen messages; it is an error if there are none.
func (o *open) chosen(ctx context.Context, s scanning) ([]choose.Place, error) {
	list, err := o.list(ctx, s)
	if err == nil && len(list) == 0 {
		err = o.chat.Errorf("%w", choose.ErrNone)
	}
	return list, err
}

// count returns the number of messages, and refuses one other than expected.
func (o *open) count(ctx context.Context) (int, error) {
	if o.messages < 0 {
		if err := o.scan(ctx, scanning{}, func(choose.Place) error { return nil }); err != nil {
			return 0, err
		}
	}
	expected := o.opt.ExpectMessages
	if expected >= 0 && expected != o.messages {
		return 0, o.chat.Errorf("%w: it has %d messages", ErrExpected, o.messages)
	}
	return o.messages, nil
}

// hasLog reports whether Luker keeps a floor log of the chat.
func (o *open) hasLog() bool {
	return slices.ContainsFunc(o.sidecars, func(s luker.Sidecar) bool { return s.Kind == luker.FloorLog })
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
	id, ok := patch.Get(edited, path)
	if ok && !bytes.Equal(was, id) {
		return patch.Unset(edited, path)
	}
	return edited
}
