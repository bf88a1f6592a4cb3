package rules

import (
	"context"
	"hash/maphash"
	"os"
	"path/filepath"
	"sync"
	"time"

	"stchat/internal/chat"
	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// Checker judges chats. It looks up every folder, group file and lorebook
// around them once, and may be used by several goroutines at once.
type Checker struct {
	now    time.Time
	seed   maphash.Seed
	memory sync.Pool // *memory
	*surroundings
}

// memory is what reading a small chat takes, kept for the next one.
type memory struct {
	buf   jsonl.Buffer
	batch batch
}

// smallChat is up to which size a chat is read as one batch.
const smallChat = 1 << 20

// New makes a checker; now is what pending operations are old by.
func New(now time.Time) *Checker {
	return &Checker{now: now, seed: maphash.MakeSeed(), surroundings: newSurroundings()}
}

// The keys of a line that are looked at.
const (
	keyName = iota
	keyIsUser
	keyMes
	keyDate
	keySwipeID
	keySwipes
	keySwipeInfo
	keyExtra
	keyMetadata
	keyUserName
	keyCharacterName
)

func lineKeys() *jsonl.Keys {
	return jsonl.NewKeys("name", "is_user", "mes", "send_date", "swipe_id", "swipes", "swipe_info", "extra",
		"chat_metadata", "user_name", "character_name")
}

// ScanOptions says how a chat is read.
type ScanOptions struct {
	Workers  int         // goroutines at most; 0: as many as processors
	Progress func(int64) // called with the bytes read so far; may be nil
}

// Scan reads the chat at path and judges what it tells by itself. The error is
// that of reading, and names the path; damage is a finding.
func (k *Checker) Scan(ctx context.Context, path string, opt ScanOptions) (*Chat, error) {
	c := k.newChat(path)
	c.checked = true
	return c, k.read(ctx, c, opt)
}

// newChat makes the record of a chat that has not been read.
func (k *Checker) newChat(path string) *Chat {
	f := k.folder(filepath.Dir(path))
	return &Chat{Path: path, Folder: filepath.Dir(path), Name: userdir.ChatName(path), Kind: f.kind, Dir: f.dir, HasDir: f.hasDir}
}

// read fills the chat's record from its file.
func (k *Checker) read(ctx context.Context, c *Chat, opt ScanOptions) error {
	src, f, stamp, err := open(c.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	c.Stamp = stamp
	s := &scan{Checker: k, chat: c, keys: lineKeys()}
	lines := jsonl.MapOptions{Limit: -1, Keys: s.keys, Workers: opt.Workers, Progress: opt.Progress}
	if src.Size <= smallChat {
		err = s.readSmall(src, lines)
	} else {
		err = jsonl.Map(ctx, src, lines, s.line, s.fold, (*batch).reset)
	}
	if err != nil {
		return &os.PathError{Op: "read", Path: c.Path, Err: err}
	}
	s.finish(src.Size)
	return nil
}

// readSmall reads a chat as one batch, with memory that is used again.
func (s *scan) readSmall(src jsonl.Source, lines jsonl.MapOptions) error {
	m, ok := s.memory.Get().(*memory)
	if !ok {
		m = new(memory)
	}
	defer s.memory.Put(m)
	m.batch.reset()
	damage, err := m.buf.Each(src, lines, func(l *jsonl.Line) { s.line(l, &m.batch) })
	if err != nil {
		return err
	}
	return s.fold(&m.batch, jsonl.Base{}, damage)
}

// open opens a chat's file and gives its bytes as they are now.
func open(path string) (jsonl.Source, *os.File, safefile.Stamp, error) {
	f, err := chat.OpenRegular(path)
	if err != nil {
		return jsonl.Source{}, nil, safefile.Stamp{}, err
	}
	stamp, err := safefile.StampOf(f)
	if err != nil {
		_ = f.Close() // only read from
		return jsonl.Source{}, nil, stamp, err
	}
	return jsonl.Source{R: f, Size: stamp.Size()}, f, stamp, nil
}

// scan is the reading of one chat. Its methods line and those that line calls
// run beside each other and only write to the batch.
type scan struct {
	*Checker
	chat *Chat
	keys *jsonl.Keys

	header    []byte        // the header's line
	torn      *jsonl.Damage // a line that is not JSON, while it may be the last one
	lastLine  int           // the last line that is not blank, and the first
	firstLine int
	date      date // of the last message that has one
	crlf      int  // lines that end in CR LF, and the first of them
	crlfLine  int
}

// batch is what the lines of one batch gave.
type batch struct {
	lines    int // not blank
	head     int // number of the first one, and of the first that survives
	lead     int
	last     int // number of the last one
	crlf     int
	crlfLine int
	found    []found
	counts   [2][ruleCount]int32 // of found, those that are mended by hand apart
	hashes   []uint64            // of the surviving lines
	links    []Link              // their lines and indexes are those in the batch
	headers  []headerLine
	first    date // the first and last readable date
	latest   date
}

// headerLine is a line that is a header, if it is the first to survive.
type headerLine struct {
	index, number int
	raw           []byte // of the batch's first surviving line only
	at            Span
}

// found is a finding whose place in the file is not known yet.
type found struct {
	rule                  ID
	number, column, index int
	message, mend         string
}

func (b *batch) reset() {
	*b = batch{found: b.found[:0], hashes: b.hashes[:0], links: b.links[:0], headers: b.headers[:0]}
}

// add notes a finding on a line; value is the part of the line that is wrong.
func (b *batch) add(id ID, l *jsonl.Line, value []byte, message string) {
	b.addByHand(id, l, value, message, "")
}

// addByHand notes a finding that repair does not mend, though it mends others of
// the rule; mend says how a person does.
func (b *batch) addByHand(id ID, l *jsonl.Line, value []byte, message, mend string) {
	byHand := 0
	if mend != "" {
		byHand = 1
	}
	n := &b.counts[byHand][id]
	if *n > perRule {
		return // more than are kept
	}
	*n++
	b.found = append(b.found, found{id, l.Number, column(l, value), l.Index, message, mend})
}

// column gives the byte of the line, from 1, at which the value of one of its
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

// line judges one line by itself.
func (s *scan) line(l *jsonl.Line, b *batch) {
	if b.lines++; b.lines == 1 {
		b.head = l.Number
	}
	b.last = l.Number
	if l.CRLF {
		if b.crlf++; b.crlf == 1 {
			b.crlfLine = l.Number
		}
	}
	if l.Damage != nil {
		return // fold is told of it, with its place
	}
	if l.Index == 0 {
		b.lead = l.Number
	}
	if l.BadUTF8 {
		b.add(InvalidUTF8, l, nil, "bytes that are not UTF-8 inside a string")
	}
	if isHeader(l) {
		h := headerLine{index: l.Index, number: l.Number, at: Span{l.Off, int64(len(l.Raw))}}
		if l.Index == 0 {
			h.raw = append([]byte(nil), l.Raw...)
		}
		b.headers = append(b.headers, h)
		b.hashes = append(b.hashes, 0)
		return
	}
	s.message(l, b)
}

// isHeader is meta.IsHeader on a line whose members are known.
func isHeader(l *jsonl.Line) bool {
	has := func(k int) bool { _, ok := l.Value(k); return ok }
	return has(keyMetadata) || (has(keyUserName) || has(keyCharacterName)) && !has(keyMes)
}

// fold puts a batch behind those before it.
func (s *scan) fold(b *batch, base jsonl.Base, damage []jsonl.Damage) error {
	c := s.chat
	survived := len(b.hashes)
	if base.Index == 0 && survived > 0 {
		s.begin(b, base)
	}
	shift := base.Index
	if c.HasHeader {
		shift--
	}
	s.damage(damage)
	if b.lines > 0 {
		s.lastLine = base.Line + b.last + 1
		if s.firstLine == 0 {
			s.firstLine = base.Line + b.head + 1
		}
	}
	if b.crlf > 0 {
		if s.crlf == 0 {
			s.crlfLine = base.Line + b.crlfLine + 1
		}
		s.crlf += b.crlf
	}
	for i := range b.found {
		f := &b.found[i]
		c.add(Finding{Rule: f.rule, Line: base.Line + f.number + 1, Column: f.column, Index: shift + f.index, Message: f.message, mend: f.mend})
	}
	for _, h := range b.headers {
		if shift+h.index >= 0 {
			if c.Inside++; c.Inside == 1 {
				c.InsideAt = h.at
			}
			f := Finding{Rule: MisplacedHeader, Line: base.Line + h.number + 1, Index: shift + h.index, Message: "the header is not the first line"}
			if c.HasHeader || c.Inside > 1 {
				f.Message, f.mend = "a second header, inside the chat", "remove the line, or split the file there, by hand"
			}
			c.add(f)
		}
	}
	s.dates(b, base, shift)
	links := b.links
	for i, h := range b.hashes {
		if shift+i < 0 {
			continue // the header
		}
		c.chain = roll(c.chain, h)
		for ; len(links) > 0 && links[0].Index == i; links = links[1:] {
			l := links[0]
			l.Index, l.Line, l.chain = shift+i, base.Line+l.Line+1, c.chain
			c.Links = append(c.Links, l)
		}
	}
	c.Lines = base.Index + survived
	c.Messages = shift + survived
	return nil
}

// begin meets the first surviving line.
func (s *scan) begin(b *batch, base jsonl.Base) {
	c := s.chat
	c.FirstLine = base.Line + b.lead + 1
	if len(b.headers) > 0 && b.headers[0].index == 0 {
		s.header = b.headers[0].raw
		c.HasHeader, c.HeaderLine = true, base.Line+b.headers[0].number+1
	}
}

// finish judges what only the whole chat tells.
func (s *scan) finish(size int64) {
	c := s.chat
	s.endDamage()
	if c.FirstLine == 0 {
		c.FirstLine = s.firstLine
	}
	if s.crlf > 0 {
		c.report(CRLF, s.crlfLine, 0, "lines end in CR LF")
	}
	switch {
	case s.lastLine == 0:
		c.report(EmptyFile, 0, 0, emptyMessage(size))
	case c.HasHeader && s.lastLine == c.HeaderLine:
		c.report(HeaderOnly, c.HeaderLine, 0, "the chat has no messages")
	}
	if c.HasHeader {
		s.judgeHeader()
	}
}

// roll puts one more message behind a rolling hash.
func roll(chain, message uint64) uint64 {
	const odd = 0x9e3779b97f4a7c15
	chain = (chain ^ message) * odd
	return chain ^ chain>>29
}

// hash is the hash of what two chats that share a message agree on: its name,
// is_user and mes, as they are spelled.
func (s *scan) hash(l *jsonl.Line) uint64 {
	name, _ := l.Value(keyName)
	user, _ := l.Value(keyIsUser)
	mes, _ := l.Value(keyMes)
	h := maphash.Bytes(s.seed, mes)
	h = roll(h, maphash.Bytes(s.seed, name))
	if rawjson.Truthy(user) {
		h = ^h
	}
	return h
}
