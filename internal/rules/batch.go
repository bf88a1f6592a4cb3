package rules

import (
	"strings"

	"stchat/internal/illustrator"
	"stchat/internal/jsonl"
)

// batch is what the lines of one batch gave.
type batch struct {
	lines    int // not blank
	head     int // number of the first one, and of the first that survives
	lead     int
	last     int // number of the last one
	crlf     int
	crlfLine int
	found    []found
	torn     *found                          // the last line, if it is not JSON
	tornFrom int                             // the first of the lines that are not JSON up to that one
	counts   [2][severities][ruleCount]int32 // of found, those that are mended by hand apart
	hashes   []uint64                        // of the surviving lines
	links    []Link                          // their lines and indexes are those in the batch
	swipes   []int                           // of all surviving lines, where they are asked for
	recaps   []int                           // indexes of the messages with a scene recap
	marks    []mark                          // of prompts in the messages' texts
	headers  []headerLine
	first    date // the first and last readable date
	latest   date
}

// headerLine is a line that is a header, if it is the first to survive.
type headerLine struct {
	index, number int
	raw           []byte // of the batch's first surviving line only
	hash          uint64
	at            Span
}

// noMessage is the index of a finding that is about no message.
const noMessage = -1

// found is a finding whose place in the file is not known yet.
type found struct {
	rule                  ID
	severity              Severity
	number, column, index int
	message, mend         string
}

func (b *batch) reset() {
	*b = batch{found: b.found[:0], hashes: b.hashes[:0], links: b.links[:0], swipes: b.swipes[:0], recaps: b.recaps[:0], marks: b.marks[:0], headers: b.headers[:0]}
}

// add notes a finding on a line; value is the part of the line that is wrong.
func (b *batch) add(id ID, l *jsonl.Line, value []byte, message string) {
	b.addByHand(id, l, value, message, "")
}

// addByHand notes a finding that repair does not mend, though it mends others of
// the rule; mend says how a person does.
func (b *batch) addByHand(id ID, l *jsonl.Line, value []byte, message, mend string) {
	b.note(found{rule: id, number: l.Number, column: column(l, value), index: l.Index, message: message, mend: mend})
}

// damaged notes a damaged line. One that is not JSON waits until it is known
// whether it is the file's last.
func (b *batch) damaged(l *jsonl.Line) {
	id := DamageRule(l.Damage)
	f := found{rule: id, number: l.Number, column: l.Damage.Column, index: noMessage, message: damageMessage(id, l.Damage)}
	if id == InvalidJSON {
		b.torn = &f
		return
	}
	b.note(f)
}

func (b *batch) note(f found) {
	byHand := 0
	if f.mend != "" {
		byHand = 1
	}
	if f.severity == 0 {
		f.severity = f.rule.Rule().Severity
	}
	n := &b.counts[byHand][f.severity][f.rule]
	if *n++; *n <= perRule {
		b.found = append(b.found, f)
	}
}

// readMarks collects the markers in the message's text and swipes, each prompt once; of
// very many some may be there again. An only swipe is the text, or gives way to it.
func (b *batch) readMarks(l *jsonl.Line) {
	const looked = 32
	from := len(b.marks)
	for _, key := range [...]int{keyMes, keySwipes} {
		raw, _ := l.Value(key)
		if key == keySwipes && l.Count(keySwipes) < 2 {
			break
		}
	markers:
		for id := range illustrator.Markers(raw) {
			for _, m := range b.marks[from:min(len(b.marks), from+looked)] {
				if m.id == id {
					continue markers
				}
			}
			b.marks = append(b.marks, mark{strings.Clone(id), l.Number, column(l, raw), l.Index})
		}
	}
}

// column returns the byte of the line, from 1, at which the value of one of its
// members begins; 0 where value is none.
func column(l *jsonl.Line, value []byte) int {
	if len(value) == 0 {
		return 0
	}
	for _, m := range l.Members() {
		if &l.Raw[m.Val] == &value[0] {
			return m.Val + 1
		}
	}
	return 0
}
