package extension

import (
	"errors"
	"os"
	"slices"
	"time"

	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/lorebook"
	"stchat/internal/text/visible"
)

// Judging is the metadata of a chat that is judged.
type Judging struct {
	Metadata *rawjson.Object
	Chat     string // its name; "": it is not where SillyTavern keeps chats, so nothing depends on it
	Messages int    // how many there are
	Now      time.Time
	Book     func(name string) BookFacts              // a lorebook of the user; nil: that is not known
	Serves   func(address string) (exists, ours bool) // whether a file that is named is the user's, and there; nil: not known
	Find     func(f Finding)
}

// BookFacts is what is known of a lorebook.
type BookFacts struct {
	Missing, Unread bool
	Has             func(uid string) bool // whether it has an entry
}

// Finding is one thing that is wrong.
type Finding struct {
	Rule    string // the rule's id
	Path    string // of a file beside the chat; "": it is in the metadata
	Message string
	Whole   bool   // the message is not cut, however long
	ByHand  string // how a person repairs it, where repair does not; "": as the rule says
	Err     error  // why the system does not give the file, if that is what is wrong
}

// Report reports a finding.
func (j *Judging) Report(rule, message string) { j.Find(Finding{Rule: rule, Message: message}) }

// Sighting is a message of a chat that is judged. What it holds is valid during the call only.
type Sighting struct {
	Texts [2][]byte // the raw text, and the swipes if there are several
	Swipe []byte    // the raw swipe_id
	Seen  []Sight   // by the extension that is asked

	keys   []string
	values [][]byte // those of the keys; none: the message has none of them
}

// Sight is one thing that a message says.
type Sight struct {
	ID string
	In []byte // the text that it stands in; nil: none
}

// Reset forgets the message; keys are those of the next one's extra that are read.
func (s *Sighting) Reset(keys []string) {
	s.keys = keys
	s.values = s.values[:0]
	s.Texts = [2][]byte{}
}

// Set notes the raw value of a key of the message's extra, with its quotes and without escapes, if
// it is one of those that are read.
func (s *Sighting) Set(key, value []byte) {
	for i, k := range s.keys {
		if string(key[1:len(key)-1]) != k {
			continue
		}
		if len(s.values) == 0 {
			s.values = append(s.values, make([][]byte, len(s.keys))...)
		}
		s.values[i] = value
	}
}

// Value returns the raw value of a key of the message's extra, nil if there is none.
func (s *Sighting) Value(key string) []byte {
	if len(s.values) == 0 {
		return nil
	}
	if i := slices.Index(s.keys, key); i >= 0 {
		return s.values[i]
	}
	return nil
}

// See tells what the message says; in is the text that it stands in.
func (s *Sighting) See(id string, in []byte) { s.Seen = append(s.Seen, Sight{id, in}) }

// Repairing is the metadata of a chat that is repaired after it was judged.
type Repairing struct {
	Metadata *rawjson.Object
	Messages int
	Now      time.Time
	Wants    func(rule string) bool
	Note     func(m Repaired)
	Line     func(line []byte) ([]byte, Repaired) // set by Repair: brings a message in step with it
}

// Repaired is one thing that was repaired, and what was taken out for it.
type Repaired struct {
	Rule, Text string
	What       string // what Lost is; "": nothing was taken out
	Lost       []byte // raw
}

// Removed notes that something was taken out.
func (m *Repairing) Removed(rule, what string, raw []byte) {
	m.Note(Repaired{Rule: rule, Text: "removed " + what, What: what, Lost: raw})
}

// Reason returns an error for a finding without its path, which the finding has.
func Reason(err error) string {
	if damage, ok := errors.AsType[*jsonl.Damage](err); ok {
		return damage.Reason
	}
	if bad, ok := errors.AsType[*lorebook.NotReadableError](err); ok {
		return bad.Err.Error()
	}
	if bad, ok := errors.AsType[*os.PathError](err); ok {
		return bad.Err.Error()
	}
	return visible.Brief(err.Error())
}
