package rules

import (
	"time"

	"stchat/internal/extension"
	"stchat/internal/jsonl"
	"stchat/internal/meta"
	"stchat/internal/place/userdir"
)

// scan is the reading of one chat. judge judges lines concurrently; fold combines the
// results in the lines' order.
type scan struct {
	chat   *Chat
	now    time.Time
	names  extension.Table
	judge  lineJudge
	around *Lookup

	head      head
	hasHead   bool     // the metadata were read
	headHash  uint64   // of the header's line
	torn      *Finding // a line that is not JSON, while it may be the last one
	tornFrom  int      // where the run of lines that are not JSON up to that one begins
	lastLine  int      // the last line that is not blank
	firstLine int      // the first line that is not blank
	date      date     // of the last message that has one
	crlf      int      // number of lines that end in CR LF
	crlfLine  int      // the first of them
	damaged   int      // number of damaged lines
	salvaged  int      // of these, messages with junk around them
}

// fold adds a batch to those before it.
func (s *scan) fold(b *batch, base jsonl.Base, damage jsonl.Damages) error {
	c := s.chat
	survived := len(b.hashes)
	if base.Index == 0 && survived > 0 {
		s.begin(b, base)
	}
	shift := base.Index
	if c.HasHeader {
		shift--
	}
	if damage.Total > 0 && damage.First[0].Code == jsonl.BOM {
		c.report(BOM, damage.First[0].Line, damage.First[0].Column, damage.First[0].Reason)
	}
	s.ends(b, base)
	s.findings(b, base, shift)
	s.headers(b, base, shift)
	s.dates(b, base, shift)
	s.links(b, base, shift)
	s.watched(b, base, shift)
	c.Lines = base.Index + survived
	c.Messages = shift + survived
	return nil
}

// ends adds up the batch's first and last lines, torn ones and line ends.
func (s *scan) ends(b *batch, base jsonl.Base) {
	if b.lines > 0 {
		goesOn := s.torn != nil && b.tornFrom == b.head
		s.endTorn(InvalidJSON)
		if s.torn = b.torn; s.torn != nil {
			s.torn.Line += base.Line + 1
			if !goesOn {
				s.tornFrom = base.Line + b.tornFrom + 1
			}
		}
		s.lastLine = base.Line + b.last + 1
		if s.firstLine == 0 {
			s.firstLine = base.Line + b.head + 1
		}
	}

	if s.crlf == 0 {
		s.crlfLine = base.Line + b.crlfLine + 1
	}
	s.crlf += b.crlf
	s.damaged += b.damage
	s.salvaged += b.salvaged
}

// findings moves the batch's findings to the chat.
func (s *scan) findings(b *batch, base jsonl.Base, shift int) {
	if !s.chat.checked {
		return
	}
	for _, f := range b.findings.list {
		f.Line += base.Line + 1
		if f.Index != noMessage {
			f.Index += shift
		}
		s.chat.add(f)
	}

	for _, f := range b.unlessGreeting {
		f.Line += base.Line + 1
		f.Index += shift
		if f.Index != 0 {
			s.chat.add(f)
		}
	}

	all := &s.chat.findings
	all.repairable = all.repairable.With(b.findings.repairable)
	for k, n := range b.findings.counts {
		all.count(k, n-min(n, perRule))
	}
}

// headers judges headers of the batch that are not the chat's first line.
func (s *scan) headers(b *batch, base jsonl.Base, shift int) {
	c := s.chat
	for _, h := range b.headers {
		if shift+h.index < 0 {
			continue // the chat's own
		}
		if c.Inside++; c.Inside == 1 {
			c.InsideAt, c.InsideLine = h.at, base.Line+h.number+1
		}
		f := Finding{Rule: MisplacedHeader, Line: base.Line + h.number + 1, Index: shift + h.index, Message: "the header is not the first line"}
		switch {
		case c.HasHeader && h.hash == s.headHash:
			f.Message = "the header once more, byte for byte"
		case c.HasHeader || c.Inside > 1:
			f.Message, f.repair = "a second header, inside the chat", "remove the line, or split the file there, by hand"
		}

		c.add(f)
	}
}

// links updates the rolling hash of the messages, and keeps the links on them.
func (s *scan) links(b *batch, base jsonl.Base, shift int) {
	c, links := s.chat, b.links
	for i, h := range b.hashes {
		if shift+i < 0 {
			continue // the header
		}
		c.chain = roll(c.chain, h)
		for ; len(links) > 0 && links[0].Index == i; links = links[1:] {
			l := links[0]
			if len(c.Links) == maxLinks {
				c.moreLinks = true
				break
			}
			l.Index = shift + i
			l.Line = base.Line + l.Line + 1
			l.chain = c.chain
			c.Links = append(c.Links, l)
		}
	}
}

// maxLinks is the number of links of a chat that are kept and judged.
const maxLinks = 100_000

// begin takes the first surviving line, which may be the header.
func (s *scan) begin(b *batch, base jsonl.Base) {
	c := s.chat
	c.FirstLine = base.Line + b.lead + 1
	if len(b.headers) > 0 && b.headers[0].index == 0 {
		s.headHash = b.headers[0].hash
		s.head, s.hasHead = readHeader(b.headers[0].raw)
		c.HasHeader, c.HeaderLine = true, base.Line+b.headers[0].number+1
	} else if _, raw := s.around.OldGroups(c); raw != nil {
		s.head, s.hasHead = readOldMetadata(raw)
		c.inGroupFile = s.hasHead
	}

	if s.hasHead {
		for _, e := range s.judge.extensions {
			e.Watch(s.head.metadata)
		}
	}
}

// finish judges what takes the whole chat. size is the file's, in bytes.
func (s *scan) finish(size int64) {
	c := s.chat
	if s.torn != nil {
		c.TornLine, c.TornFrom = s.torn.Line, s.tornFrom
	}
	s.endTorn(TornTail)
	if c.FirstLine == 0 {
		c.FirstLine = s.firstLine
	}
	if s.crlf > 0 {
		c.report(CRLF, s.crlfLine, 0, "lines end in CR LF")
	}
	switch {
	case s.lastLine == 0:
		message := "the file has only blank lines"
		if size == 0 {
			message = "the file is empty"
		}
		c.report(EmptyFile, 0, 0, message)
	case c.HasHeader && s.lastLine == c.HeaderLine:
		c.report(HeaderOnly, c.HeaderLine, 0, "the chat has no messages")
	}

	if s.hasHead {
		if c.HasHeader {
			judgeHeader(c, s.head)
		}
		c.keepNames(s.head.metadata, s.names)
		judgeDataBank(c, s.head.metadata)
	}

	if c.checked {
		s.judgeState()
	}
	if c.Reading != nil {
		s.damaged += len(c.Reading.Torn)
	}
	switch {
	case c.Kind == userdir.File && c.Lines == 0:
		c.findings.leave("fix it by hand: no line of the file shows that it is a chat")
	case s.damaged > 0 && c.Messages+s.salvaged == 0:
		c.NothingLeft = true
		c.findings.leave("repair leaves it alone, as no line of the file can be read as a message: look for an older version with 'stchat lost', or in SillyTavern's backups")
	}
}

// dates compares the batch's first date with the last one before it.
func (s *scan) dates(b *batch, base jsonl.Base, shift int) {
	d := b.firstDate
	if !d.known {
		return
	}
	if !s.date.known {
		s.chat.FirstDate = d.ms
	} else if before(d, s.date) {
		s.chat.add(Finding{Rule: DateOrder, Line: base.Line + d.number + 1, Column: d.column, Index: shift + d.index, Message: orderMessage(d, s.date)})
	}
	s.date = b.lastDate
}

// endTorn reports the waiting line that is not JSON, under id: torn-tail if it is the
// last of the file.
func (s *scan) endTorn(id ID) {
	if f := s.torn; f != nil {
		s.chat.report(id, f.Line, f.Column, f.Message)
		s.torn = nil
	}
}

// watched tells extensions what they saw in the batch's messages.
func (s *scan) watched(b *batch, base jsonl.Base, shift int) {
	for _, m := range b.marks {
		if rule, fault := s.judge.extensions[m.extension].Sighted(shift+m.index, m.id); fault != "" {
			s.chat.add(Finding{Rule: Named(rule), Line: base.Line + m.number + 1, Column: m.column, Index: shift + m.index, Message: fault})
		}
	}
}

// batch is what was found in the lines of one batch.
type batch struct {
	lines    int // that are not blank
	head     int // number of the first of them
	lead     int // number of the first line that survives
	last     int // number of the last line that is not blank
	crlf     int
	crlfLine int
	damage   int      // number of damaged lines
	salvaged int      // of these, messages with junk around them
	findings findings // with lines, from 0, and indexes counted in the batch
	torn     *Finding // the last line, if it is not JSON

	unlessGreeting []Finding // on the first message, which are none if it is the chat's first too

	tornFrom  int      // where the run of lines that are not JSON up to that one begins
	hashes    []uint64 // of the surviving lines
	links     []Link   // with lines and indexes counted in the batch
	marks     []mark   // what extensions saw
	sighting  extension.Sighting
	headers   []headerLine
	firstDate date // the first readable date, which is compared with that of the batch before
	lastDate  date // the last one
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

func (b *batch) reset() {
	clear(b.findings.counts)
	kept := findings{list: b.findings.list[:0], counts: b.findings.counts}
	*b = batch{findings: kept, unlessGreeting: b.unlessGreeting[:0], hashes: b.hashes[:0], links: b.links[:0], marks: b.marks[:0], headers: b.headers[:0], sighting: b.sighting}
}

// add notes a finding on a line; value is the part of the line that is wrong.
func (b *batch) add(id ID, l *jsonl.Line, value []byte, message string) {
	b.addByHand(id, l, value, message, "")
}

// addUnlessGreeting notes a finding that is none in the chat's greeting; see [batch.mayGreet].
func (b *batch) addUnlessGreeting(id ID, l *jsonl.Line, value []byte, message string) {
	f := Finding{Rule: id, Line: l.Number, Column: column(l, value), Index: l.Index, Message: message}
	b.unlessGreeting = append(b.unlessGreeting, f)
}

// addByHand notes a finding that repair leaves, though it repairs others of the rule;
// repair says how a person can repair it.
func (b *batch) addByHand(id ID, l *jsonl.Line, value []byte, message, repair string) {
	b.findings.add(Finding{Rule: id, Line: l.Number, Column: column(l, value), Index: l.Index, Message: message, repair: repair})
}

// damaged notes a damaged line. A line that is not JSON waits until it is known
// whether it is the file's last.
func (b *batch) damaged(l *jsonl.Line) {
	id := DamageRule(l.Damage)
	b.damage++
	if rest, ok := WithoutJunk(l.Raw); ok && !meta.IsHeader(rest) {
		b.salvaged++
	}
	f := Finding{Rule: id, Line: l.Number, Column: l.Damage.Column, Index: noMessage, Message: l.Damage.Reason}
	if id == NotAnObject && l.Damage.SillyTavernKeeps {
		f.Message += "; SillyTavern keeps it as a message and counts it, stchat does not"
	}
	if id == InvalidJSON {
		b.torn = &f
		return
	}
	b.findings.add(f)
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
