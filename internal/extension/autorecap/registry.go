package autorecap

import (
	"strings"

	"stchat/internal/lorebook"
	"stchat/internal/rawjson"
)

// Reference is a uid that a registry entry names.
type Reference struct {
	Comment string // the registry entry's comment
	UID     string // the uid it names
	Found   bool   // the book has an entry with that uid
}

// References returns the uids that a book's registries name, in the order of the file. It reads
// both forms: "- UID=3 | name: X" and the older "- uid: 3 | X".
func References(b *lorebook.Book) []Reference {
	var refs []Reference
	uids := b.UIDs()
	for i := range b.Entries {
		e := &b.Entries[i]
		if e.Kind() != lorebook.Registry {
			continue
		}
		content, _ := rawjson.Unquote(rawjson.Value(e.Raw, "content"))
		for text := range strings.SplitSeq(content, "\n") {
			if uid, ok := referenceIn(text); ok {
				refs = append(refs, Reference{Comment: e.Comment, UID: uid, Found: uids[uid]})
			}
		}
	}
	return refs
}

// referenceIn returns the uid that a line of a registry names.
func referenceIn(line string) (uid string, ok bool) {
	line, ok = strings.CutPrefix(strings.TrimSpace(line), "-")
	if !ok {
		return "", false
	}
	line, _, _ = strings.Cut(strings.TrimSpace(line), "|")
	const mark = "uid"
	if len(line) <= len(mark) || !strings.EqualFold(line[:len(mark)], mark) {
		return "", false
	}
	rest := strings.TrimSpace(line[len(mark):])
	if rest == "" || rest[0] != '=' && rest[0] != ':' {
		return "", false
	}
	uid = strings.TrimSpace(rest[1:])
	return uid, uid != ""
}
