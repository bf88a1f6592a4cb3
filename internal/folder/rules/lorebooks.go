package rules

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"stchat/internal/extension"
	"stchat/internal/folder/family"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl"
	"stchat/internal/lorebook"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/text/visible"
	"stchat/internal/text/words"
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
		if !mismatch && c.HasDir && around.BookOf(c.Dir, name).Path == "" {
			c.addHead(missingBook(around, c.Dir, name))
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

// bookLike returns the name of the only lorebook in the user folder whose name is like that of the missing one
// at path, "" if there is none or more than one.
func (s *Lookup) bookLike(dir userdir.Dir, path, name string) string {
	return s.likes.Get(path, func() string {
		alike := slices.DeleteFunc(listBooks(dir.Worlds()), func(other string) bool { return !likeName(name, other) })
		if len(alike) != 1 {
			return ""
		}
		return alike[0]
	})
}

// likeName reports whether a name may be another after it was changed: of their letters and digits, one
// contains the other, or they differ by a few letters.
func likeName(was, now string) bool {
	const few = 4 // letters that a name must have for a part of another to mean anything
	a, b := lettersOf(was), lettersOf(now)
	if a == b {
		return a != ""
	}
	shorter := min(utf8.RuneCountInString(a), utf8.RuneCountInString(b))
	if shorter < few {
		return false
	}
	isPart := strings.Contains(a, b) || strings.Contains(b, a)
	return isPart || words.Distance(a, b) <= shorter/few
}

// lettersOf returns the letters and digits of a name, folded.
func lettersOf(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, names.Fold(name))
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
		for _, name := range listBooks(dir.Worlds()) {
			judge(look.BookOf(dir, name), false)
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
