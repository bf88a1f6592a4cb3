package rules

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/extension"
	"stchat/internal/folder/family"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl"
	"stchat/internal/lorebook"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/text/visible"
)

// judgeBook judges whether a chat's two names of its lorebook agree, and whether the books
// that it names exist.
func judgeBook(around *Lookup, c *Chat) {
	if c.AutoBook != "" && c.AutoBook != c.Lorebook {
		message := fmt.Sprintf("auto_lorebooks names %q, world_info %q", clip(c.AutoBook), clip(c.Lorebook))
		if c.Lorebook == "" {
			message = fmt.Sprintf("auto_lorebooks names %q, and the chat has no lorebook", clip(c.AutoBook))
		}
		c.reportHead(LorebookMismatch, message)
	}

	for _, name := range c.Books {
		mismatch := name == c.AutoBook && name != c.Lorebook // that is told
		if mismatch || !c.HasDir {
			continue
		}
		path := around.BookOf(c.Dir, name).Path
		switch {
		case path == "":
			c.addHead(missingBook(around, c.Dir, name))
		case !around.isListed(c.Dir, path):
			c.addHead(misspelledBook(c, name, path))
		}
	}
}

// missingBook returns the finding of a lorebook that is not there. If exactly one other looks as if it were
// the same under a new name, the finding has the command that lets it take over.
func missingBook(around *Lookup, dir userdir.Dir, name string) Finding {
	f := Finding{Rule: LorebookMissing, Index: noMessage, Message: fmt.Sprintf("the lorebook %q is not there", clip(name))}
	path, err := userdir.Within(dir.Worlds(), name, lorebook.Extension)
	if err != nil {
		return f
	}
	if now := around.bookLike(dir, path, name); now != "" {
		f.repair = fmt.Sprintf("restore it, or choose another in SillyTavern; if it was renamed to %q there, let everything that names it name that one: stchat rename %s %s",
			now, visible.Quote(path), visible.Quote(now))
	}
	return f
}

// misspelledBook returns the finding of a lorebook at path that is there only since the disk ignores letter case.
func misspelledBook(c *Chat, name, path string) Finding {
	listed, _ := lorebook.Spelling(path)
	f := Finding{
		Rule: LorebookMissing, Index: noMessage,
		Message: lorebook.CalledText(clip(name), clip(listed)),
		repair:  "choose it again in SillyTavern",
	}
	if name == c.Lorebook {
		f.repair += ", or 'stchat meta set CHAT " + visible.Quote("world_info="+listed) + "'"
	}
	return f
}

// isListed reports whether a worlds folder lists the file at path under this very name.
func (s *Lookup) isListed(dir userdir.Dir, path string) bool {
	listed := s.shelved.Get(dir.Worlds(), func() map[string]bool {
		all := map[string]bool{}
		for _, name := range lorebook.List(dir.Worlds()) {
			all[name] = true
		}
		return all
	})
	return listed[strings.TrimSuffix(filepath.Base(path), lorebook.Extension)]
}

// bookLike is [lorebook.Like] for the missing one at path.
func (s *Lookup) bookLike(dir userdir.Dir, path, name string) string {
	return s.likes.Get(path, func() string { return lorebook.Like(dir.Worlds(), name) })
}

// judgeSharedBooks finds chats that write the same lorebook, among all that are known.
// The chat that began first keeps it.
func judgeSharedBooks(around *Lookup, families []*folderChats) {
	writers := map[string][]*Chat{} // of a book, the chats of each folder together
	var order []string
	of := map[string]*folderChats{}
	for _, f := range families {
		of[f.folder.Path] = f
		for _, c := range f.chats {
			if c.Lorebook == "" || !c.HasDir {
				continue
			}
			b := around.BookOf(c.Dir, c.Lorebook)
			if b.Internal == 0 {
				continue
			}
			if writers[b.Path] == nil {
				order = append(order, b.Path)
			}
			writers[b.Path] = append(writers[b.Path], c)
		}
	}

	for _, path := range order {
		var eldest []*Chat // of each folder
		for rest := writers[path]; len(rest) > 0; {
			n := slices.IndexFunc(rest, func(c *Chat) bool { return c.Folder != rest[0].Folder })
			if n < 0 {
				n = len(rest)
			}
			eldest = append(eldest, of[rest[0].Folder].eldest(rest[:n]))
			rest = rest[n:]
		}

		keeper := slices.MinFunc(eldest, func(a, b *Chat) int {
			return cmp.Or(family.CompareDates(a.FirstDate, b.FirstDate), cmp.Compare(a.Path, b.Path))
		})
		for _, c := range writers[path] {
			if c != keeper {
				c.reportHead(LorebookSharedState, fmt.Sprintf("writes the lorebook %q, as does %q", clip(c.Lorebook), clip(keeper.Name)))
			}
		}
	}
}

// judgeBookFile judges a lorebook by itself. Findings in one that no chat uses are infos.
func judgeBookFile(b *library.Book, used bool) []Finding {
	var fs findings
	add := func(f Finding) {
		f.Path, f.Index = b.Path, -1
		if !used {
			f.Severity = Info
			f.Message += "; no chat uses this lorebook"
		}
		fs.add(f)
	}

	if n := len(filepath.Base(b.Path)); n > names.MaxFile {
		add(Finding{Rule: NameTooLong, Message: fmt.Sprintf("the file's name has %d bytes", n)})
	}
	switch {
	case b.Err != nil:
		f := Finding{Rule: LorebookUnreadable, Message: "the lorebook cannot be read: " + extension.Reason(b.Err)}
		if damage, ok := errors.AsType[*jsonl.Damage](b.Err); ok {
			f.Line, f.Column = damage.Line, damage.Column
		}
		add(f)
		return fs.all()
	case b.QueueErr != nil:
		add(Finding{
			Rule: LorebookUnreadable, Message: "the queue in the lorebook cannot be read: " + extension.Reason(b.QueueErr),
			effect: "Auto-Recap begins an empty queue; what waited in this one is lost",
		})
	case b.Pending > 0:
		add(Finding{Rule: LorebookQueue, Message: "operations wait in its queue: " + fmt.Sprint(b.Pending)})
	}

	for _, ref := range b.Lost {
		add(Finding{Rule: RegistryUID, Message: fmt.Sprintf("%s names uid %s, which no entry has", clip(ref.Comment), clip(ref.UID))})
	}
	if b.LostUnkept > 0 {
		fs.count(kind{RegistryUID, fs.list[len(fs.list)-1].Severity}, b.LostUnkept)
	}
	return fs.all()
}

// judgeBookFiles judges lorebooks.
func judgeBookFiles(look *Lookup, chats []*Chat, scope Scope) []Finding {
	var out []Finding
	done := map[string]bool{}
	judge := func(b *library.Book, used bool) {
		if b.Path != "" && !done[b.Path] {
			done[b.Path] = true
			out = append(out, judgeBookFile(b, used)...)
		}
	}

	for _, c := range chats {
		for _, name := range c.Books {
			if c.HasDir {
				judge(look.BookOf(c.Dir, name), true)
			}
		}
	}

	for _, dir := range scope.Worlds {
		for _, name := range lorebook.List(dir.Worlds()) {
			judge(look.BookOf(dir, name), false)
		}
	}
	return out
}
