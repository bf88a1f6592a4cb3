package rules

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/extension"
	"stchat/internal/extension/autorecap"
	"stchat/internal/family"
	"stchat/internal/jsonl"
	"stchat/internal/lorebook"
	"stchat/internal/names"
)

// book is what remains of a lorebook that was read.
type book struct {
	path     string
	missing  bool
	state    bool // it has extension-internal entries
	err      error
	queueErr error
	pending  int
	lost     []autorecap.Reference // the first references to uids that the book lacks

	lostUnkept int // how many more there are

	uids []uint64 // hashes of the entries' uids, in order
}

// hashUID hashes a uid, so that no texts of the many books are kept.
func hashUID(uid string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(uid)) // never fails
	return h.Sum64()
}

// holds reports whether the book has an entry with the uid.
func (b *book) holds(uid string) bool {
	_, found := slices.BinarySearch(b.uids, hashUID(uid))
	return found
}

func (b *book) read() {
	read, err := lorebook.Open(b.path)
	if err != nil {
		b.err = err
		return
	}
	for i := range read.Entries {
		b.uids = append(b.uids, hashUID(read.Entries[i].UID))
	}
	slices.Sort(b.uids)
	b.state = read.HasExtensionState()
	queue, err := read.Queue()
	b.queueErr, b.pending = err, queue.Pending()
	for _, ref := range autorecap.References(read) {
		if ref.Found {
			continue
		}
		if len(b.lost) == perRule {
			b.lostUnkept++
			continue
		}
		// the text must not hold the whole book in memory
		ref.Comment, ref.UID = strings.Clone(ref.Comment), strings.Clone(ref.UID)
		b.lost = append(b.lost, ref)
	}
}

// judgeBook judges whether a chat's two names of its lorebook agree, and whether the books
// that it names exist.
func judgeBook(around *Lookup, c *Chat) {
	if c.AutoBook != "" && c.AutoBook != c.Lorebook {
		message := fmt.Sprintf("auto_lorebooks names %q, world_info %q", clip(c.AutoBook), clip(c.Lorebook))
		if c.Lorebook == "" {
			message = fmt.Sprintf("auto_lorebooks names %q, and the chat has no lorebook", clip(c.AutoBook))
		}
		c.report(LorebookMismatch, c.HeaderLine, 0, message)
	}
	for _, name := range c.Books {
		mismatch := name == c.AutoBook && name != c.Lorebook // that is told
		if !mismatch && c.HasDir && around.book(c.Dir, name).missing {
			c.report(LorebookMissing, c.HeaderLine, 0, fmt.Sprintf("the lorebook %q is not there", clip(name)))
		}
	}
}

// judgeSharedBooks finds chats that write the same lorebook, among all that are known.
// The chat that began first keeps it.
func judgeSharedBooks(around *Lookup, families []*folderChats) {
	// the writers of a book, the chats of each folder together
	byBook := map[string][][]*Chat{}
	var order []string
	owner := map[string]*folderChats{} // of the last group of a book's writers
	for _, f := range families {
		for _, c := range f.chats {
			if c.Lorebook == "" || !c.HasDir {
				continue
			}
			b := around.book(c.Dir, c.Lorebook)
			if !b.state {
				continue
			}
			writers := byBook[b.path]
			if writers == nil {
				order = append(order, b.path)
			}
			if owner[b.path] != f {
				owner[b.path] = f
				writers = append(writers, nil)
			}
			last := len(writers) - 1
			writers[last] = append(writers[last], c)
			byBook[b.path] = writers
		}
	}
	of := map[string]*folderChats{}
	for _, f := range families {
		of[f.folder.Path] = f
	}
	for _, path := range order {
		writers := byBook[path]
		if len(writers) == 1 && len(writers[0]) == 1 {
			continue
		}
		// the eldest of each folder, and of these the one that began first
		var eldest []*Chat
		for _, chats := range writers {
			eldest = append(eldest, of[chats[0].Folder].eldest(chats))
		}
		keeper := slices.MinFunc(eldest, func(a, b *Chat) int {
			return cmp.Or(family.CompareDates(a.FirstDate, b.FirstDate), cmp.Compare(a.Path, b.Path))
		})
		for _, chats := range writers {
			for _, c := range chats {
				if c != keeper {
					c.add(Finding{
						Rule: LorebookSharedState, Line: c.HeaderLine, Index: -1,
						Message: fmt.Sprintf("writes the lorebook %q, as does %q", clip(c.Lorebook), clip(keeper.Name)),
					})
				}
			}
		}
	}
}

// judgeBookFile judges a lorebook by itself. Findings in one that no chat uses are infos.
func judgeBookFile(b *book, used bool) []Finding {
	var fs findings
	add := func(f Finding) {
		f.Path, f.Index = b.path, -1
		if !used {
			f.Severity = Info
			f.Message += "; no chat uses this lorebook"
		}
		fs.add(f)
	}
	switch {
	case b.missing:
		return nil
	case len(filepath.Base(b.path)) > names.MaxFile:
		add(Finding{Rule: NameTooLong, Message: fmt.Sprintf("the file's name has %d bytes", len(filepath.Base(b.path)))})
	}
	switch {
	case b.err != nil:
		f := Finding{Rule: LorebookUnreadable, Message: "the lorebook cannot be read: " + extension.Reason(b.err)}
		if damage, ok := errors.AsType[*jsonl.Damage](b.err); ok {
			f.Line, f.Column = damage.Line, damage.Column
		}
		add(f)
		return fs.all()
	case b.queueErr != nil:
		add(Finding{
			Rule: LorebookUnreadable, Message: "the queue in the lorebook cannot be read: " + extension.Reason(b.queueErr),
			effect: "Auto-Recap begins an empty queue; what waited in this one is lost",
		})
	case b.pending > 0:
		add(Finding{Rule: LorebookQueue, Message: "operations wait in its queue: " + fmt.Sprint(b.pending)})
	}
	for _, ref := range b.lost {
		add(Finding{Rule: RegistryUID, Message: fmt.Sprintf("%s names uid %s, which no entry has", clip(ref.Comment), clip(ref.UID))})
	}
	if b.lostUnkept > 0 {
		fs.count(kind{RegistryUID, fs.list[len(fs.list)-1].Severity}, b.lostUnkept)
	}
	return fs.all()
}

// judgeBookFiles judges lorebooks.
func judgeBookFiles(look *Lookup, chats []*Chat, scope Scope) []Finding {
	var out []Finding
	done := map[string]bool{}
	judge := func(b *book, used bool) {
		if b.path != "" && !done[b.path] {
			done[b.path] = true
			out = append(out, judgeBookFile(b, used)...)
		}
	}
	for _, c := range chats {
		for _, name := range c.Books {
			if c.HasDir {
				judge(look.book(c.Dir, name), true)
			}
		}
	}
	for _, dir := range scope.Worlds {
		for _, name := range listBooks(dir.Worlds()) {
			judge(look.book(dir, name), false)
		}
	}
	return out
}

// listBooks returns the names of the lorebooks in a worlds folder, none where it cannot
// be read.
func listBooks(worlds string) []string {
	entries, _ := os.ReadDir(worlds)
	var list []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), lorebook.Extension); ok && name != "" && !e.IsDir() {
			list = append(list, name)
		}
	}
	return list
}
