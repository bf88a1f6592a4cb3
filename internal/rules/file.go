package rules

import (
	"fmt"
	"strings"

	"stchat/internal/jsonl"
	"stchat/internal/plural"
	"stchat/internal/rawjson"
	"stchat/internal/visible"
)

// DamageRule returns the rule that a damaged line breaks, wherever it stands in the
// file: for a torn tail, too, that is invalid-json.
func DamageRule(d *jsonl.Damage) ID {
	switch d.Code {
	case jsonl.BOM:
		return BOM
	case jsonl.TooDeep:
		return TooDeep
	case jsonl.NotObject:
		return NotAnObject
	}
	if d.Byte == 0 {
		return NUL
	}
	return InvalidJSON
}

// judgeNoHeader judges a chat whose first line is not a header. Metadata that an old
// group file keeps for it is not lost: that is group-old-layout. A new, empty header
// would hide it, so repair adds none while a group file may still have the metadata.
func judgeNoHeader(around *Lookup, c *Chat) {
	if c.HasHeader || c.FirstLine == 0 {
		return
	}
	if old, _ := around.OldGroups(c); old != nil {
		return
	}
	message := "the first line is a message, not a header"
	switch {
	case c.Lines == 0:
		message = "no line of the file can be read, the header neither"
	case c.Inside > 0:
		message = "the header is not the first line"
	}
	f := Finding{Rule: NoHeader, Line: c.FirstLine, Index: -1, Message: message}
	switch set, err := around.groups(c); {
	case c.Inside == 1:
	case err != nil || len(set.Bad) > 0:
		f.repair = "mend the group file that cannot be read first: it may hold the chat's metadata"
	case len(set.Keeping(c.Name)) > 0:
		f.repair = "have the group that holds its metadata list the chat first"
	}
	c.add(f)
}

// repeats is a filter over an object's keys. It rules out most objects that have no key more
// than once.
type repeats [16]uint64

// next takes a raw key and reports whether it may have come before.
func (r *repeats) next(key []byte) bool {
	n := len(key)
	h := uint64(n)
	if n > 2 {
		h = uint64(n)*31 + uint64(key[1])*7 + uint64(key[n-2]) + uint64(key[n/2])*13
	}
	word, bit := &r[h>>6&15], uint64(1)<<(h&63)
	before := *word&bit != 0
	*word |= bit
	return before
}

// duplicateMessage names the first of the n keys that an object has more than once,
// and counts the others.
func duplicateMessage(where, first string, n int) string {
	text := fmt.Sprintf("the key %q is there more than once", clip(first))
	if n > 1 {
		text = fmt.Sprintf("the key %q and %s are there more than once", clip(first), plural.S(n-1, "other"))
	}
	if where == "" {
		return text
	}
	return where + ": " + text
}

// duplicates returns one of the keys that the object raw has more than once, and the
// number of such keys.
func duplicates(raw []byte) (first string, n int) {
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return "", 0
	}
	return o.Duplicates()
}

// firstFew joins the first of n names, quoted, and counts the others.
func firstFew(n int, name func(i int) string, by string) string {
	const enough = 5
	var list []string
	for i := range min(n, enough) {
		list = append(list, fmt.Sprintf("%q", clip(name(i))))
	}
	if n > enough {
		list = append(list, fmt.Sprintf("and %d more", n-enough))
	}
	return strings.Join(list, by)
}

// clip shortens a stranger's text for a message.
func clip(s string) string { return visible.Brief(s) }
