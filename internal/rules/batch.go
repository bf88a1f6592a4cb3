package rules

import (
	"stchat/internal/extension"
	"stchat/internal/jsonl"
)

// batch is what was found in the lines of one batch.
type batch struct {
	lines    int // that are not blank
	head     int // number of the first of them
	lead     int // number of the first line that survives
	last     int // number of the last line that is not blank
	crlf     int
	crlfLine int
	found    []found
	torn     *found                          // the last line, if it is not JSON
	tornFrom int                             // where the run of lines that are not JSON up to that one begins
	counts   [2][severities][ruleCount]int32 // of all findings, in found or not; 1: those only a person can mend
	hashes   []uint64                        // of the surviving lines
	links    []Link                          // with lines and indexes counted in the batch
	swipes   []int                           // of all surviving lines, if they are asked for
	marks    []mark                          // what extensions saw
	sighting extension.Sighting
	headers  []headerLine
	first    date // the first readable date
	latest   date // the last one
}

// headerLine is a line that would be a header if it were the first to survive.
type headerLine struct {
	index, number int
	raw           []byte // of the batch's first surviving line only
	hash          uint64
	at            Span
}

// noMessage is the index of a finding that is not about a message.
const noMessage = -1

// found is a finding whose place is known only within its batch.
type found struct {
	rule                  ID
	severity              Severity
	number, column, index int
	message, mend         string
}

func (b *batch) reset() {
	*b = batch{found: b.found[:0], hashes: b.hashes[:0], links: b.links[:0], swipes: b.swipes[:0], marks: b.marks[:0], headers: b.headers[:0], sighting: b.sighting}
}

// add notes a finding on a line; value is the part of the line that is wrong.
func (b *batch) add(id ID, l *jsonl.Line, value []byte, message string) {
	b.addByHand(id, l, value, message, "")
}

// addByHand notes a finding that repair leaves, though it mends others of the rule;
// mend says how a person can mend it.
func (b *batch) addByHand(id ID, l *jsonl.Line, value []byte, message, mend string) {
	b.note(found{rule: id, number: l.Number, column: column(l, value), index: l.Index, message: message, mend: mend})
}

// damaged notes a damaged line. A line that is not JSON waits until it is known
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

// mark is what an extension saw in a message; number and index are counted in the batch.
type mark struct {
	extension             int
	id                    string
	number, column, index int
}

// column returns the byte of the line, from 1, at which the value of one of its
// members begins; 0 if value is not one of them.
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
