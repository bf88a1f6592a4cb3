// Package isolate sets the extension state in a branch's metadata back to what it was
// at message N.
//
// SillyTavern copies chat_metadata whole into a branch, so the state in it is that
// of the end of the source: recaps of scenes the branch has not reached, images of
// messages it does not have. What is known of each extension is in a folder below
// package extension; what none knows stays as it is, and is reported.
//
// The work is in two steps. [Scan] reads the source's messages once, in parallel, and
// every extension notes the little it needs. [Facts.Apply] then edits the metadata. It
// touches only values that a rule covers; every other byte of the metadata stays.
//
// [Rename] edits what names a lorebook in the metadata when the book gets a new name, or
// the branch a clone of the book.
package isolate

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"stchat/internal/extension"
	"stchat/internal/extension/all"
	"stchat/internal/extension/autorecap"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/lorebook"
	"stchat/internal/place/names"
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

	extensions []extension.Extension
	reads      []string
	readsLine  []string
	messages   extension.Messages
	visible    int // visible messages among those kept

	last     record // message N, held back since Choose may replace it
	finished bool   // the extensions have last
}

// record is what is known about one message.
type record struct {
	visible bool
	facts   []any // by extension; nil: nothing
}

// Scan reads every message of a source once, including those behind N, since what only
// they mention must go. It skips damaged lines and does not count them. If the chat has
// no message N, the error is [*RangeError], and of the Facts only Messages and Damage
// are of use.
func Scan(ctx context.Context, src jsonl.Source, opt Options) (*Facts, error) {
	return scanFor(ctx, all.New(), src, opt)
}

// scanFor is [Scan] for some extensions.
func scanFor(ctx context.Context, list []extension.Extension, src jsonl.Source, opt Options) (*Facts, error) {
	f := &Facts{extensions: list, reads: extension.Reads(list), readsLine: extension.ReadsLine(list)}
	s := &scan{facts: f, at: max(opt.At, -math.MaxInt)}
	work := func(line *jsonl.Line, batch *[]record) {
		if line.Damage == nil {
			value := func(key int) []byte {
				raw, _ := line.Value(key)
				return raw
			}
			*batch = append(*batch, f.look(line.Raw, line.Off, value))
		}
	}

	fold := func(batch *[]record, base jsonl.Base, damage jsonl.Damages) error {
		f.Damage.Append(damage)
		for i, r := range *batch {
			s.add(base.Index+i, r)
		}
		return nil
	}

	reset := func(batch *[]record) {
		clear(*batch) // lets go of the facts
		*batch = (*batch)[:0]
	}
	err := jsonl.Map(ctx, src, jsonl.MapOptions{
		From: opt.From, Line: opt.Line, Limit: -1, Keys: jsonl.NewKeys(f.keys()...), Workers: opt.Workers, Progress: opt.Progress,
	}, work, fold, reset)
	if err != nil {
		return nil, err
	}
	if !s.end() {
		return f, &RangeError{At: opt.At, Messages: f.Messages}
	}
	return f, nil
}

// keys returns the keys of a message that are read: is_system, extra, and those of extensions.
func (f *Facts) keys() []string { return append([]string{keySystem, keyExtra}, f.readsLine...) }

// look collects the facts about one message, which is at off in the source, or elsewhere if
// that is below 0; value returns the value of the i-th of [Facts.keys]. It runs in several goroutines.
func (f *Facts) look(raw []byte, off int64, value func(i int) []byte) record {
	m := f.messages.Get()
	defer f.messages.Put(m)
	system, extra := value(0), value(1)
	m.Reset(raw, extra, f.reads)
	m.ReadLine(f.readsLine, func(i int) []byte { return value(2 + i) })
	m.Off = off
	return record{m.Visible(system), extension.Look(f.extensions, m)}
}

// scan sorts messages, which come in order, into those up to N and those behind it.
type scan struct {
	facts *Facts
	at    int      // as asked for
	wait  []record // the last -at messages, if at is below 0
	head  int      // the first of wait that still waits
}

func (s *scan) add(i int, r record) {
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
		s.facts.beyond(i, r)
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
	for k, r := range waiting[1:] {
		s.facts.beyond(s.facts.At+1+k, r)
	}
	s.wait = nil
	return true
}

// keep hands a message of the branch to the extensions.
func (f *Facts) keep(i int, r record) {
	if r.visible {
		f.visible++
	}
	for k, fact := range r.facts {
		if fact != nil {
			f.extensions[k].Keep(i, fact)
		}
	}
}

// beyond hands message i, which the branch does not have, to the extensions.
func (f *Facts) beyond(i int, r record) {
	for k, fact := range r.facts {
		if fact != nil {
			f.extensions[k].Drop(i, fact)
		}
	}
}

// Choose replaces the branch's last message with line, in which another swipe is
// chosen. It must be called before any other method.
func (f *Facts) Choose(line []byte) {
	f.beyond(f.At, f.last)
	keys := f.keys()
	f.last = f.look(line, -1, func(i int) []byte { return rawjson.Value(line, keys[i]) })
}

// finish hands the last message to the extensions.
func (f *Facts) finish() {
	if f.finished {
		return
	}
	f.finished = true
	if f.last.visible {
		f.visible++
	}
	for k, e := range f.extensions {
		var fact any
		if f.last.facts != nil {
			fact = f.last.facts[k]
		}
		e.Keep(f.At, fact)
	}
}

// Apply sets the state in the metadata of a branch called chat, "" if it has no name, to what
// it was at message N, and returns what it changed or left. It may be called once for each
// branch that is made from these facts.
func (f *Facts) Apply(metadata *rawjson.Object, chat string) []extension.Change {
	b := f.branch(metadata, chat)
	for _, e := range f.extensions {
		e.Isolate(b)
	}
	return append(b.Changes, f.unknown(metadata)...)
}

func (f *Facts) branch(metadata *rawjson.Object, chat string) *extension.Branch {
	f.finish()
	return &extension.Branch{Metadata: metadata, At: f.At, Visible: f.visible, Chat: chat}
}

// Recap returns what is known of Auto-Recap's scenes up to message N.
func (f *Facts) Recap() *autorecap.Extension {
	f.finish()
	return extension.Find[*autorecap.Extension](f.extensions)
}

// unknown returns what looks like the state of an extension that is not understood: a key
// that no extension has, with an object or list that is not empty.
func (f *Facts) unknown(metadata *rawjson.Object) (changes []extension.Change) {
	var known []string
	for _, e := range f.extensions {
		known = append(known, e.About().Keys...)
	}
	table := extension.TableOf(f.extensions)
	for key, value := range extension.Owned(metadata) {
		isKnown := slices.Contains(known, key) || table.OfChat(value) != ""
		if !isKnown && holdsSomething(value) {
			changes = append(changes, extension.Change{Extension: key, Change: "left as it is at the end of the source: stchat does not know this extension"})
		}
	}
	return changes
}

func holdsSomething(raw []byte) bool {
	for range rawjson.Members(raw) {
		return true
	}
	for range rawjson.Elements(raw) {
		return true
	}
	return false
}

// Rename follows a lorebook to its new name in the metadata of a chat that names it: in all
// keys that hold the name, and in what extensions keep about its entries. r.Plain nil means r.To.
func Rename(r *extension.Renaming) { renameFor(all.New(), r) }

func renameFor(list []extension.Extension, r *extension.Renaming) {
	extension.TableOf(list).Replace(r.Metadata, extension.Metadata, extension.Book, r.From.Name, r.To.Name)
	follow(list, r)
}

// Rebind points metadata at a lorebook's clone as [Rename] does, but leaves names of the past.
// Metadata that does not name the book gets the clone as the chat's own.
func Rebind(r *extension.Renaming) {
	list, md := all.New(), r.Metadata
	table := extension.TableOf(list)
	isFrom := func(name string) bool { return names.LeadsTo(name, r.From.Name) }
	world, _ := lorebook.NameIn(md)
	becomesOwn := isFrom(world) || !slices.ContainsFunc(table.Books(md), isFrom)
	r.Own = becomesOwn || isFrom(autorecap.BookName(md))
	if becomesOwn {
		md.Set("world_info", rawjson.Quote(r.To.Name))
	}
	table.Rename(md, extension.Metadata, extension.Book, func(k extension.Row, name string) string {
		if k.Past || !isFrom(name) {
			return name
		}
		_, within, _ := strings.Cut(k.Path, "/")
		r.Changes = append(r.Changes, extension.Change{Extension: k.Extension, What: extension.Internal, Change: fmt.Sprintf("%s set to %q", within, r.To.Name)})
		return r.To.Name
	})

	follow(list, r)
}

// follow lets the extensions follow; core's effects come last in the report.
func follow(list []extension.Extension, r *extension.Renaming) {
	if r.Plain == nil {
		r.Plain = r.To
	}
	for _, e := range slices.Backward(list) {
		e.Rename(r)
	}
}
