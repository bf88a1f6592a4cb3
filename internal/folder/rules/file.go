package rules

import (
	"bytes"
	"fmt"
	"strings"

	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/sillytavern/reline"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

const bom = "\xef\xbb\xbf"

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

// WithoutJunk returns a line without the NUL bytes and byte order marks around it. ok is false
// if there are none, or if the rest is not a JSON object.
func WithoutJunk(line []byte) (rest []byte, ok bool) {
	rest = line
	for {
		n := len(rest)
		rest = bytes.Trim(rest, "\x00 \t\r")
		rest = bytes.TrimPrefix(rest, []byte(bom))
		rest = bytes.TrimSuffix(rest, []byte(bom))
		if len(rest) == n {
			break
		}
	}

	if len(rest) == len(line) || rawjson.KindOf(rest) != rawjson.ObjectKind || jsonl.Check(rest) != nil {
		return nil, false
	}
	return rest, true
}

// judgeReading judges a file that is not lines of UTF-8. All other rules judge it as the lines that it
// is read as.
func judgeReading(c *Chat) {
	r := c.Reading
	if r == nil {
		return
	}
	// the lines are those of the file already
	report := func(id ID, line int, message string) {
		if c.checked {
			c.findings.add(Finding{Rule: id, Path: c.Path, Line: line, Index: noMessage, Message: message})
		}
	}

	if r.Encoding != reline.UTF8 {
		report(UTF16, 1, "the file is "+r.Encoding.String()+", and SillyTavern reads UTF-8")
	}
	if r.HasLayout() {
		report(JSONLayout, r.First, layoutMessage(r))
	}
	for _, j := range r.Joined {
		message := "an object, and something behind or before it"
		if j.Objects > 1 {
			message = fmt.Sprintf("%d objects in one line", j.Objects)
		}
		report(JoinedLines, j.Line, message)
	}

	for _, t := range r.Torn {
		report(InvalidJSON, t.Line, "an object that is not whole: "+t.Reason)
	}
}

// layoutMessage tells how the objects stand in the file.
func layoutMessage(r *reline.Reading) string {
	switch {
	case r.List && r.Spread > 0:
		return "the objects are in a list, and on several lines each"
	case r.List:
		return "the objects are in a list, not one per line"
	case r.Spread > 0:
		return "objects are spread over several lines"
	default:
		return "there are commas behind objects"
	}
}

// OnReading returns the rules by which a chat must be repaired to be lines of UTF-8.
func (c *Chat) OnReading() Set {
	r := c.Reading
	if r == nil {
		return Set{}
	}
	var ids []ID
	if r.Encoding != reline.UTF8 {
		ids = append(ids, UTF16)
	}
	if r.HasLayout() {
		ids = append(ids, JSONLayout)
	}
	if len(r.Joined) > 0 {
		ids = append(ids, JoinedLines)
	}
	if len(r.Torn) > 0 {
		ids = append(ids, InvalidJSON)
	}
	return SetOf(ids...)
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
		f.repair = "fix the group file that cannot be read first: it may hold the chat's metadata"
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
