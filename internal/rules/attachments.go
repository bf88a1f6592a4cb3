package rules

import (
	"bytes"
	"fmt"

	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
	"stchat/internal/userdir"
)

// attachmentKeys is the number of keys of extra that attach files. The last four
// are from versions before media and files (FORMATS.md E4).
const attachmentKeys = 6

func attachmentKey(key []byte) int {
	switch string(key) {
	case `"media"`:
		return 0
	case `"files"`:
		return 1
	case `"image"`:
		return 2
	case `"file"`:
		return 3
	case `"video"`:
		return 4
	case `"image_swipes"`:
		return 5
	}
	return -1
}

// judgeLegacyMedia judges whether the message keeps attachments as before media and files.
// SillyTavern moves them there when it loads the chat, but leaves an image_swipes that is
// not a list (ensureMessageMediaIsArray of 1.19's script.js).
func judgeLegacyMedia(l *jsonl.Line, b *batch, extra []byte, attached *[attachmentKeys][]byte) {
	for i, key := range [...]string{2: "image", "file", "video", "image_swipes"} {
		if raw := attached[i]; key != "" && raw != nil && (key != "image_swipes" || rawjson.KindOf(raw) == rawjson.Array) {
			b.add(LegacyMedia, l, extra, key+" is kept as up to SillyTavern 1.13")
			return
		}
	}
}

// judgeAttachments judges whether the message's images and files exist.
func judgeAttachments(l *jsonl.Line, b *batch, dir userdir.Dir, extra []byte, attached *[attachmentKeys][]byte) {
	for _, raw := range attached {
		switch rawjson.KindOf(raw) {
		case rawjson.String:
			judgeAttachment(l, b, dir, extra, raw)
		case rawjson.ObjectKind:
			judgeAttachmentIn(l, b, dir, extra, raw)
		case rawjson.Array:
			for element := range rawjson.Elements(raw) {
				if rawjson.KindOf(element) == rawjson.String {
					judgeAttachment(l, b, dir, extra, element)
				} else {
					judgeAttachmentIn(l, b, dir, extra, element)
				}
			}
		}
	}
}

func judgeAttachmentIn(l *jsonl.Line, b *batch, dir userdir.Dir, extra, object []byte) {
	if raw, ok := rawjson.Lookup(object, "url"); ok {
		judgeAttachment(l, b, dir, extra, raw)
	}
}

func judgeAttachment(l *jsonl.Line, b *batch, dir userdir.Dir, extra, raw []byte) {
	if bytes.HasPrefix(raw, []byte(`"data:`)) {
		return // in the chat itself, and megabytes long
	}
	address, ok := rawjson.Unquote(raw)
	if !ok || address == "" {
		return
	}
	if exists, ours := dir.Serves(address); exists || !ours {
		return
	}
	b.add(MissingAttachment, l, extra, fmt.Sprintf("%q is not there", clip(address)))
}
