package rules

import (
	"bytes"
	"fmt"
	"slices"

	"stchat/internal/jsonl/rawjson"
	"stchat/internal/place/userdir"
)

// AttachmentRepair writes the addresses of attachments anew whose files are elsewhere now.
type AttachmentRepair struct {
	Dir  userdir.Dir
	Find func(missing Attachment) (address string, ok bool) // where the file is now; not ok: it is not clear
}

// Attachment is what a message or the Data Bank says of a file.
type Attachment struct {
	Address string
	Name    string // as the user called it; "": not said
	Size    int64  // below 0: not said
}

// message returns the message with its attachments repaired. Swipes repeat those of the message, so each change
// is listed once.
func (a *AttachmentRepair) message(line []byte) (out []byte, changes []Change) {
	inExtra := func(extra *rawjson.Object) { a.extra(extra, &changes) }
	out = rawjson.Edit(line, func(m *rawjson.Object) {
		m.Edit(inExtra, "extra")
		m.EditList("swipe_info", func(_ int, info []byte) ([]byte, bool) {
			return rawjson.Edit(info, func(o *rawjson.Object) { o.Edit(inExtra, "extra") }), true
		})
	})
	return out, changes
}

// extra repairs the attachments in an extra.
func (a *AttachmentRepair) extra(extra *rawjson.Object, changes *[]Change) {
	for _, key := range attachmentKeys() {
		a.key(extra, key, changes)
	}
}

// DataBank repairs the files in a chat's Data Bank, and returns what it changed.
func (a *AttachmentRepair) DataBank(metadata *rawjson.Object) (changes []Change) {
	a.key(metadata, "attachments", &changes)
	return changes
}

// key repairs an attachment, or a list of them, at a key.
func (a *AttachmentRepair) key(in *rawjson.Object, key string, changes *[]Change) {
	value, ok := in.Get(key)
	if !ok {
		return
	}
	if rawjson.KindOf(value) == rawjson.Array {
		in.EditList(key, func(_ int, element []byte) ([]byte, bool) { return a.element(element, changes), true })
		return
	}
	if edited := a.element(value, changes); !bytes.Equal(edited, value) {
		in.Set(key, edited)
	}
}

// element returns an address, or an object that has one, with the address repaired.
func (a *AttachmentRepair) element(raw []byte, changes *[]Change) []byte {
	address, missing := missingFile(a.Dir, raw)
	if !missing {
		return raw
	}
	now, ok := a.Find(attachmentOf(address, raw))
	if !ok {
		return raw
	}

	text := fmt.Sprintf("%q is %q now", clip(address), clip(now))
	if !slices.ContainsFunc(*changes, func(c Change) bool { return c.Text == text }) {
		*changes = append(*changes, Change{Rule: MissingAttachment, Text: text})
	}
	if rawjson.KindOf(raw) != rawjson.ObjectKind {
		return rawjson.Quote(now)
	}
	return rawjson.Edit(raw, func(o *rawjson.Object) { o.Set("url", rawjson.Quote(now)) })
}

// attachmentOf reads what an attachment says of its file.
func attachmentOf(address string, raw []byte) Attachment {
	one := Attachment{Address: address, Size: -1}
	if rawjson.KindOf(raw) != rawjson.ObjectKind {
		return one
	}
	one.Name, _ = rawjson.Unquote(rawjson.Value(raw, "name"))
	if size, ok := rawjson.Float(rawjson.Value(raw, "size")); ok && size >= 0 {
		one.Size = int64(size)
	}
	return one
}
