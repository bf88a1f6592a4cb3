// Package rules finds problems in SillyTavern chats and in the files around them.
// It holds the rules of check, one file per family.
//
// [Checker.Scan] reads a chat once, from the first byte to the last, and judges each
// line on the way. What remains is a [Chat], a record whose size follows the number
// of its links and findings, not the chat's length. [Checker.Across] then judges
// what takes more than one file: parents and checkpoints, groups, lorebooks, shared
// slugs. Chats are read a second time only where a checkpoint seems to have parted
// from its parent.
//
// Every finding says what SillyTavern or an extension does because of it, and how
// to repair it. A rule about a line has beside it what repairs the line. The facts about
// those programs are in FORMATS.md. The package only reads; internal/ops/repair writes.
package rules

import (
	"context"
	"errors"
	"hash/maphash"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"stchat/internal/extension"
	"stchat/internal/extension/all"
	"stchat/internal/extension/luker"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/reline"
)

// Checker judges chats. It looks up every folder, group file and lorebook
// around them once. It is safe for concurrent use.
type Checker struct {
	now    time.Time
	hasher hasher
	keys   *jsonl.Keys         // that are read of a line
	memory sync.Pool           // *memory
	heads  library.Once[*Chat] // of chats that are not checked, by path
	names  extension.Table
	Lookup *Lookup
}

// memory is what reading a small chat needs, kept for the next one.
type memory struct {
	buf   jsonl.Buffer
	batch batch
}

// smallChat is the size in bytes up to which a chat is read as one batch.
const smallChat = 1 << 20

// New returns a checker; the age of pending operations is measured at now.
func New(now time.Time) *Checker {
	return &Checker{now: now, hasher: hasher{maphash.MakeSeed()}, keys: lineKeys(), names: all.Table(), Lookup: new(Lookup)}
}

// ScanOptions are the options of [Checker.Scan].
type ScanOptions struct {
	Workers  int         // goroutines at most; 0: as many as processors
	Progress func(int64) // called with the bytes read so far; may be nil
}

// Scan reads the chat at path and judges what needs no other file. The error is that
// of reading, or chat.ErrNotChat, and names the path; damage is a finding.
func (k *Checker) Scan(ctx context.Context, path string, opt ScanOptions) (*Chat, error) {
	if err := chat.CheckName(path); err != nil {
		return nil, err
	}
	c := k.newChat(path)
	c.checked = true
	f, src, err := open(c)
	if err != nil {
		return c, err
	}
	defer f.Close()
	return c, k.readAny(ctx, c, src, jsonl.MapOptions{Limit: -1, Workers: opt.Workers, Progress: opt.Progress})
}

// readAny reads a chat whose file need not be lines of UTF-8.
func (k *Checker) readAny(ctx context.Context, c *Chat, src jsonl.Source, lines jsonl.MapOptions) error {
	isSure, err := reline.IsSure(src)
	if err == nil && !isSure {
		err = k.readFrom(ctx, c, src, lines)
		isDamaged := c.findings.has(NUL, InvalidJSON, TornTail, NotAnObject)
		if !isDamaged || err != nil && !errors.Is(err, chat.ErrNotChat) {
			return err
		}
		lines.Progress = nil // the file was read once
	}

	reading, failed := reline.Read(ctx, src)
	if failed != nil {
		return &os.PathError{Op: "read", Path: c.Path, Err: failed}
	}
	if reading == nil && !isSure {
		return err
	}
	again := k.newChat(c.Path)
	again.checked = c.checked
	again.Stamp = c.Stamp
	again.Reading = reading
	*c = *again
	return k.readFrom(ctx, c, reading.Over(src), lines)
}

// Rescan judges a scanned chat again as if its file, read as lines, held src.
func (k *Checker) Rescan(ctx context.Context, was *Chat, src jsonl.Source) (*Chat, error) {
	c := k.newChat(was.Path)
	c.checked = was.checked
	c.Stamp = was.Stamp
	c.Reading = was.Reading
	return c, k.readFrom(ctx, c, src, jsonl.MapOptions{Limit: -1})
}

// Across judges what takes more than one file. chats are the scanned chats; it adds
// to the findings of their scans, and replaces those of an earlier call. It returns
// the findings about other files. The error is that of ctx, or joins those of group
// files that cannot be read.
func (k *Checker) Across(ctx context.Context, chats []*Chat, scope Scope) ([]Finding, error) {
	var families []*folderChats
	byFolder := map[string]*folderChats{}
	for _, c := range chats {
		f := byFolder[c.Folder]
		if f == nil {
			f = &folderChats{folder: k.Lookup.Folder(c.Folder), around: k.Lookup, byName: map[string]*Chat{}}
			byFolder[c.Folder] = f
			families = append(families, f)
		}
		c.findings = c.alone.clone()
		f.chats = append(f.chats, c)
		f.checked = append(f.checked, c)
		f.byName[c.Name] = c
	}

	for _, f := range families {
		if err := k.family(ctx, f); err != nil {
			return nil, err
		}
	}

	judgeSharedBooks(k.Lookup, families)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	other, err := judgeGroupFiles(k.Lookup, chats, scope)
	other = append(other, judgeBookFiles(k.Lookup, chats, scope)...)
	for _, dir := range scope.Worlds {
		other = append(other, judgeStrays(ctx, k.Lookup, dir)...)
	}
	return other, err
}

// family judges the chats of one folder.
func (k *Checker) family(ctx context.Context, f *folderChats) error {
	for _, c := range f.checked {
		judgeNoHeader(k.Lookup, c)
		judgeBook(k.Lookup, c)
	}

	if f.folder.Kind == userdir.File {
		return nil // parents are known only where SillyTavern keeps chats
	}
	if err := k.lookUp(ctx, f); err != nil {
		return err
	}
	f.relate()
	for _, c := range f.checked {
		judgeGroup(f, c)
		judgeLinks(f, c)
	}

	judgeSlugs(f)
	return judgeParents(ctx, f)
}

// lookUp reads what the rules need of the chats of the folder that are not checked:
// the head of each, and all of those that are parents of checked ones.
func (k *Checker) lookUp(ctx context.Context, f *folderChats) error {
	for _, name := range f.folder.Chats {
		if f.byName[name] != nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		path := f.folder.File(name)
		c := k.heads.Get(path, func() *Chat {
			c := k.newChat(path)
			// the header has parent, slug and lorebook, and the line after it the first date
			if k.read(ctx, c, jsonl.MapOptions{Limit: 2, Workers: 1}) != nil {
				return nil // the error is reported when that chat is checked
			}
			return c
		})

		if c == nil {
			continue
		}
		f.chats = append(f.chats, c)
		f.byName[name] = c
	}

	slices.SortFunc(f.chats, func(a, b *Chat) int { return strings.Compare(a.Name, b.Name) })
	for _, c := range f.checked {
		p := f.parent(c)
		if p == nil || p.whole {
			continue
		}
		whole := k.newChat(p.Path)
		if k.read(ctx, whole, jsonl.MapOptions{Limit: -1}) == nil {
			*p = *whole
		}
	}
	return ctx.Err()
}

// newChat returns the record of a chat that has not been read.
func (k *Checker) newChat(path string) *Chat {
	real := userdir.Follow(path)
	f := k.Lookup.Folder(filepath.Dir(real))
	return &Chat{Path: path, Folder: f.Path, Name: userdir.ChatName(real), Kind: f.Kind, Dir: f.Dir, HasDir: f.HasDir}
}

// read fills the chat's record from its file, or from its first lines.
func (k *Checker) read(ctx context.Context, c *Chat, lines jsonl.MapOptions) error {
	f, src, err := open(c)
	if err != nil {
		return err
	}
	defer f.Close()
	return k.readFrom(ctx, c, src, lines)
}

// open opens a chat's file, and notes its stamp.
func open(c *Chat) (f *os.File, src jsonl.Source, err error) {
	f, c.Stamp, err = chat.OpenStamped(c.Path)
	if err != nil {
		return nil, src, err
	}
	return f, jsonl.Source{R: f, Size: c.Stamp.Size()}, nil
}

func (k *Checker) readFrom(ctx context.Context, c *Chat, src jsonl.Source, lines jsonl.MapOptions) (err error) {
	s := k.newScan(c)
	lines.Keys = k.keys
	if src.Size <= smallChat && lines.Limit < 0 {
		err = k.readSmall(s, src, lines)
	} else {
		err = jsonl.Map(ctx, src, lines, s.judge.line, s.fold, (*batch).reset)
	}
	if err != nil {
		return &os.PathError{Op: "read", Path: c.Path, Err: err}
	}
	judgeReading(c)
	s.finish(src.Size)
	if lines.Limit >= 0 {
		return nil
	}
	c.alone, c.whole = c.findings.clone(), true
	if c.Kind != userdir.File {
		return nil
	}
	return chat.CheckShape(ctx, c.Path, src, c.HasHeader)
}

func (k *Checker) newScan(c *Chat) *scan {
	s := &scan{chat: c, now: k.now, names: k.names, judge: lineJudge{hasher: k.hasher}, around: k.Lookup}
	if c.checked {
		s.judge.extensions = all.New()
		s.judge.keys = extension.Reads(s.judge.extensions)
		if c.Kind != userdir.File {
			folder := k.Lookup.Folder(c.Folder)
			c.BesideErr = folder.Err
			extension.Find[*luker.Extension](s.judge.extensions).Beside(folder.Sidecars(c.Name))
		}
	}

	if c.HasDir {
		s.judge.served = &c.Dir
	}
	return s
}

// readSmall reads a chat as one batch, in reused memory.
func (k *Checker) readSmall(s *scan, src jsonl.Source, lines jsonl.MapOptions) error {
	m, ok := k.memory.Get().(*memory)
	if !ok {
		m = new(memory)
	}
	defer k.memory.Put(m)
	m.batch.reset()
	damage, err := m.buf.Each(src, lines, func(l *jsonl.Line) { s.judge.line(l, &m.batch) })
	if err != nil {
		return err
	}
	return s.fold(&m.batch, jsonl.Base{}, damage)
}
