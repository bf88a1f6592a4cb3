package isolate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"stchat/internal/extension/autorecap"
	"stchat/internal/jsonl"
	"stchat/internal/message"
	"stchat/internal/rawjson"
)

// Keys of a message that the scan itself reads.
const (
	keySystem = "is_system"
	keyExtra  = "extra"
)

// Options says which part of a source [Scan] reads, and how.
type Options struct {
	From    int64 // offset at which the messages begin, behind the header
	Line    int   // physical lines before From
	At      int   // N; below 0: counted from the end
	Workers int   // goroutines at most; 0: as many as processors

	// Progress, if not nil, is called with the number of bytes read so far.
	Progress func(int64)
}

// RangeError says that a chat has no message N.
type RangeError struct {
	At       int // as it was asked for
	Messages int // how many the chat has
}

func (e *RangeError) Error() string {
	if e.Messages == 0 {
		return fmt.Sprintf("there is no message %d: the chat is empty", e.At)
	}
	return fmt.Sprintf("there is no message %d: the last one is %d", e.At, e.Messages-1)
}

// Facts is what a scan found out about a chat as it was at message N.
type Facts struct {
	At       int           // N
	Messages int           // messages of the whole source
	Damage   jsonl.Damages // lines that were skipped

	adapters []Adapter
	recap    *autoRecap // one of adapters, which knows the scenes
	visible  int        // visible messages among those kept

	last    record // message N, held back since Choose may replace it
	settled bool   // the adapters have last
}

// record is what is known about one message.
type record struct {
	visible bool
	facts   []any // by adapter; nil: nothing
}

// Scan reads every message of a source once, including those behind N, since what only
// they mention must go. It skips damaged lines and does not count them. If the chat has
// no message N, the error is [*RangeError], and of the Facts only Messages and Damage
// are of use.
func Scan(ctx context.Context, src jsonl.Source, opt Options) (*Facts, error) {
	f := newFacts()
	keys := f.needs()
	s := &scan{facts: f, at: max(opt.At, -math.MaxInt)}
	work := func(line *jsonl.Line, batch *[]record) {
		if line.Damage == nil {
			*batch = append(*batch, f.look(&Message{raw: line.Raw, line: line, keys: keys}))
		}
	}
	fold := func(batch *[]record, base jsonl.Base, damage jsonl.Damages) error {
		f.Damage.Append(damage)
		for i, r := range *batch {
			s.take(base.Index+i, r)
		}
		return nil
	}
	reset := func(batch *[]record) {
		clear(*batch) // lets go of the facts
		*batch = (*batch)[:0]
	}
	err := jsonl.Map(ctx, src, jsonl.MapOptions{
		From: opt.From, Line: opt.Line, Limit: -1, Keys: jsonl.NewKeys(keys...), Workers: opt.Workers, Progress: opt.Progress,
	}, work, fold, reset)
	if err != nil {
		return nil, err
	}
	if !s.end() {
		return f, &RangeError{At: opt.At, Messages: f.Messages}
	}
	return f, nil
}

func newFacts() *Facts {
	f := &Facts{adapters: Adapters()}
	for _, a := range f.adapters {
		if recap, ok := a.(*autoRecap); ok {
			f.recap = recap
		}
	}
	return f
}

// needs returns the keys that are read of a message.
func (f *Facts) needs() []string {
	keys := []string{keySystem, keyExtra}
	for _, a := range f.adapters {
		for _, key := range a.Needs() {
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// look collects the facts about one message; it runs in several goroutines.
func (f *Facts) look(m *Message) record {
	r := record{visible: isVisible(m)}
	for i, a := range f.adapters {
		if fact := a.Look(m); fact != nil {
			if r.facts == nil {
				r.facts = make([]any, len(f.adapters))
			}
			r.facts[i] = fact
		}
	}
	return r
}

// isVisible reports whether core counts a message in a prompt: it is not a system
// message, or it has tool calls (FORMATS.md, vocabulary).
func isVisible(m *Message) bool {
	return message.Visible(m.Get(keySystem), func() []byte { return m.Extra("tool_invocations") })
}

// scan sorts messages, which come in order, into those up to N and those behind it.
type scan struct {
	facts *Facts
	at    int      // as asked for
	wait  []record // the last -at messages, if at is below 0
	head  int      // the first of wait that still waits
}

func (s *scan) take(i int, r record) {
	s.facts.Messages = i + 1
	switch {
	case s.at < 0:
		// Which message is N is known only at the end; all but the last -at are before it.
		s.wait = append(s.wait, r)
		if waiting := len(s.wait) - s.head; waiting > -s.at {
			s.facts.keep(i-waiting+1, s.wait[s.head])
			s.wait[s.head] = record{}
			s.head++
			if s.head > 1024 && s.head*2 > len(s.wait) {
				s.wait = append(s.wait[:0], s.wait[s.head:]...)
				s.head = 0
			}
		}
	case i < s.at:
		s.facts.keep(i, r)
	case i == s.at:
		s.facts.At, s.facts.last = i, r
	default:
		s.facts.beyond(r)
	}
}

// end determines which message is N if that is counted from the end; it reports whether
// there is one.
func (s *scan) end() bool {
	if s.at >= 0 {
		return s.facts.Messages > s.at
	}
	waiting := s.wait[s.head:]
	if len(waiting) < -s.at {
		return false
	}
	s.facts.At, s.facts.last = s.facts.Messages-len(waiting), waiting[0]
	for _, r := range waiting[1:] {
		s.facts.beyond(r)
	}
	s.wait = nil
	return true
}

// keep hands a message of the branch to the adapters.
func (f *Facts) keep(i int, r record) {
	if r.visible {
		f.visible++
	}
	for k, fact := range r.facts {
		if fact != nil {
			f.adapters[k].Keep(i, fact)
		}
	}
}

// beyond hands a message that the branch does not have to the adapters.
func (f *Facts) beyond(r record) {
	for k, fact := range r.facts {
		if fact != nil {
			f.adapters[k].Later(fact)
		}
	}
}

// Choose replaces the branch's last message with line, in which another swipe is
// chosen. It must be called before any other method.
func (f *Facts) Choose(line []byte) {
	f.beyond(f.last)
	f.last = f.look(&Message{raw: line})
}

// settle hands the last message to the adapters.
func (f *Facts) settle() {
	if f.settled {
		return
	}
	f.settled = true
	if f.last.visible {
		f.visible++
	}
	for k, a := range f.adapters {
		var fact any
		if f.last.facts != nil {
			fact = f.last.facts[k]
		}
		a.Keep(f.At, fact)
	}
}

// Moment returns the point of the branch; chat is the branch's name, "" if it has none.
func (f *Facts) Moment(chat string) Moment {
	f.settle()
	return Moment{At: f.At, Visible: f.visible, Chat: chat}
}

// Apply sets the state in the metadata of a branch called chat to what it was at
// message N, and returns what it changed or left. It may be called once for each branch
// that is made from these facts.
func (f *Facts) Apply(metadata *rawjson.Object, chat string) []Change {
	at := f.Moment(chat)
	var changes []Change
	for _, a := range f.adapters {
		changes = append(changes, a.Apply(metadata, at)...)
	}
	return append(changes, f.unknown(metadata)...)
}

// Scene returns the scene that ends at message N.
func (f *Facts) Scene() autorecap.Scene {
	f.settle()
	return f.recap.scene
}

// Snapshot returns allEntries, the lorebook as Auto-Recap noted it at the nearest
// scene break at or before N that is not hidden and has such a note (FORMATS.md B4.3),
// with the message's index. src is the source that was scanned. ok is false if there is
// no such note. The error is that of reading, or jsonl.ErrChanged.
func (f *Facts) Snapshot(src jsonl.Source) (allEntries []byte, message int, ok bool, err error) {
	f.settle()
	if !f.recap.found {
		return nil, -1, false, nil
	}
	s := f.recap.snapshot
	if s.raw != nil {
		return s.raw, s.at, true, nil
	}
	line, err := src.Section(s.off, int64(s.length))
	if err != nil {
		return nil, s.at, false, err
	}
	mark, _ := markIn(&Message{raw: line})
	if allEntries, ok = mark.Entries(); !ok || !jsonl.Valid(allEntries) {
		return nil, s.at, false, jsonl.ErrChanged
	}
	return allEntries, s.at, true, nil
}

// unknown returns what looks like the state of an extension that no adapter knows: a
// key that core does not write, with an object or list that is not empty.
func (f *Facts) unknown(metadata *rawjson.Object) []Change {
	known := coreKeys()
	for _, a := range f.adapters {
		known = append(known, a.Owns()...)
	}
	var changes []Change
	for key, value := range metadata.All() {
		if !slices.Contains(known, key) && holdsSomething(value) {
			changes = append(changes, Change{Extension: key, Change: "left as it is at the end of the source: stchat does not know this extension"})
		}
	}
	return changes
}
