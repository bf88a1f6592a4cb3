package rules

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/place/userdir"
)

// numAttachmentKeys is the number of keys of extra that attach files.
const numAttachmentKeys = 6

// attachmentKeys returns the keys of extra that attach files. The last four are from versions before
// media and files (FORMATS.md E4).
func attachmentKeys() [numAttachmentKeys]string {
	return [...]string{"media", "files", "image", "file", "video", "image_swipes"}
}

// attachmentKey returns the number of a raw key among [attachmentKeys], -1 for others. It is asked for
// every key of every extra, so it is a switch.
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
func judgeLegacyMedia(l *jsonl.Line, b *batch, extra []byte, attached *[numAttachmentKeys][]byte) {
	for i, key := range [...]string{2: "image", "file", "video", "image_swipes"} {
		if raw := attached[i]; key != "" && raw != nil && (key != "image_swipes" || rawjson.KindOf(raw) == rawjson.Array) {
			b.add(LegacyMedia, l, extra, key+" is kept as up to SillyTavern 1.13")
			return
		}
	}
}

// judgeAttachments judges whether the message's images and files exist.
func judgeAttachments(l *jsonl.Line, b *batch, dir userdir.Dir, extra []byte, attached *[numAttachmentKeys][]byte) {
	for _, raw := range attached {
		if rawjson.KindOf(raw) != rawjson.Array {
			judgeAttachment(l, b, dir, extra, raw)
			continue
		}
		for element := range rawjson.Elements(raw) {
			judgeAttachment(l, b, dir, extra, element)
		}
	}
}

// judgeAttachment judges an address, or an object that has one.
func judgeAttachment(l *jsonl.Line, b *batch, dir userdir.Dir, extra, raw []byte) {
	if address, missing := missingFile(dir, raw); missing {
		b.add(MissingAttachment, l, extra, fmt.Sprintf("%q is not there", clip(address)))
	}
}

// judgeDataBank judges whether the files in the chat's Data Bank exist: those that the metadata list
// as attachments (getDataBankAttachmentsForSource of SillyTavern's chats.js).
func judgeDataBank(c *Chat, md *rawjson.Object) {
	if !c.HasDir {
		return
	}
	for element := range rawjson.Elements(md.Value("attachments")) {
		if address, missing := missingFile(c.Dir, element); missing {
			c.reportHead(MissingAttachment, fmt.Sprintf("%q, in the chat's Data Bank, is not there", clip(address)))
		}
	}
}

// missingFile takes an address, or an object that has one, and reports whether it names a file that the
// user folder should have and has not.
func missingFile(dir userdir.Dir, raw []byte) (address string, missing bool) {
	if url, ok := rawjson.Lookup(raw, "url"); ok {
		raw = url
	}
	if bytes.HasPrefix(raw, []byte(`"data:`)) {
		return "", false // in the chat itself, and megabytes long
	}
	address, ok := rawjson.Unquote(raw)
	if !ok || address == "" {
		return "", false
	}
	exists, ours := dir.Serves(address)
	return address, ours && !exists
}

// repairMedia moves a message's attachments into the lists media and files, in the order and with all
// the effects of ensureMessageMediaIsArray (script.js of SillyTavern 1.19). Each value that
// SillyTavern drops is listed as lost.
func repairMedia(line []byte) (out []byte, changes []Change) {
	m, err := rawjson.ParseObject(line)
	if err != nil {
		return line, nil
	}
	extra, ok := m.Object("extra")
	if !ok {
		return line, nil
	}
	move := &mediaMove{extra: extra}
	move.file()
	move.imageSwipes()
	move.image()
	move.medium("video")
	if len(move.moved) == 0 {
		return line, nil
	}
	m.Set("extra", extra.Bytes())
	changes = []Change{{Rule: LegacyMedia, Text: "moved " + strings.Join(move.moved, ", ") + " into the lists of media and files"}}
	for _, lost := range move.lost {
		changes = append(changes, Change{Rule: LegacyMedia, Text: "took " + lost.what + " out, which SillyTavern drops", What: lost.what, Lost: lost.raw})
	}
	return m.Bytes(), changes
}

type mediaMove struct {
	extra *rawjson.Object
	moved []string
	lost  []lostValue
}

type lostValue struct {
	what string
	raw  []byte
}

// take removes a value from extra and returns it.
func (m *mediaMove) take(key string) (raw []byte) {
	raw, ok := m.extra.Get(key)
	if ok {
		raw = bytes.Clone(raw)
		m.extra.Unset(key)
		m.moved = append(m.moved, key)
	}
	return raw
}

// list returns a list in extra, and creates it if the value is not a list.
func (m *mediaMove) list(key string) []byte {
	raw, ok := m.extra.Get(key)
	if rawjson.KindOf(raw) == rawjson.Array {
		return raw
	}
	if ok && rawjson.KindOf(raw) != rawjson.Null {
		m.lose(key, bytes.Clone(raw))
	}
	m.extra.Set(key, []byte("[]"))
	return []byte("[]")
}

func (m *mediaMove) lose(what string, raw []byte) {
	m.lost = append(m.lost, lostValue{what, raw})
}

// push appends an element to a list of extra.
func (m *mediaMove) push(key string, element []byte) {
	m.extra.Set(key, rawjson.Append(m.list(key), element))
}

// medium returns an element of media, if the value is an address.
func medium(kind string, raw []byte) (element []byte, ok bool) {
	if rawjson.KindOf(raw) != rawjson.String || !rawjson.Truthy(raw) {
		return nil, false
	}
	return append(append([]byte(`{"type":"`+kind+`","url":`), raw...), '}'), true
}

func (m *mediaMove) file() {
	if !m.extra.Has("file") {
		return
	}
	m.list("files")
	if raw := m.take("file"); rawjson.Truthy(raw) {
		m.push("files", raw)
	}
}

const gallery = `"gallery"` // the value of media_display if there were image_swipes

func (m *mediaMove) imageSwipes() {
	if rawjson.KindOf(m.extra.Value("image_swipes")) != rawjson.Array {
		return // it stays
	}
	list := m.list("media")
	raw := m.extra.Value("image_swipes")
	var fresh []byte
	for swipe := range rawjson.Elements(raw) {
		if element, ok := medium("image", swipe); ok {
			m.extra.Set("media_display", []byte(gallery))
			fresh = append(append(fresh, ','), element...)
		} else if rawjson.Truthy(swipe) {
			m.lose("an element of image_swipes", bytes.Clone(swipe))
		}
	}

	if fresh != nil {
		m.extra.Set("media", rawjson.Append(list, fresh[1:]))
	}
	m.take("image_swipes")
}

func (m *mediaMove) image() {
	raw, had := m.medium("image")
	if !had {
		return
	}
	if string(m.extra.Value("media_display")) == gallery {
		if at := indexOfURL(m.list("media"), raw); at >= 0 {
			m.extra.Set("media_index", strconv.AppendInt(nil, int64(at), 10))
		}
	}
	m.unique()
}

// indexOfURL returns the index of the first element of media with an address, -1 if there is
// none.
func indexOfURL(list, address []byte) int {
	want, ok := rawjson.Unquote(address)
	i := 0
	for element := range rawjson.Elements(list) {
		if is, isText := rawjson.Unquote(rawjson.Value(element, "url")); ok && isText && is == want {
			return i
		}
		i++
	}
	return -1
}

// unique drops elements of media whose address occurred before.
func (m *mediaMove) unique() {
	list, seen := m.list("media"), map[string]bool{}
	edited := rawjson.Filter(list, func(_ int, element []byte) bool {
		raw := rawjson.Value(element, "url")
		url, ok := rawjson.Unquote(raw)
		if !ok {
			return true
		}
		again := seen[url]
		seen[url] = true
		if again && !sameMedium(element, raw) {
			m.lose("a second entry of media", bytes.Clone(element))
		}
		return !again
	})

	if !bytes.Equal(edited, list) {
		m.extra.Set("media", edited)
	}
}

// sameMedium reports whether an element holds nothing but an image's type and address.
func sameMedium(element, url []byte) bool {
	plain, ok := medium("image", url)
	return ok && bytes.Equal(rawjson.Compact(element), plain)
}

// medium moves the single image or video to media and returns its address.
func (m *mediaMove) medium(kind string) (raw []byte, had bool) {
	if !m.extra.Has(kind) {
		return nil, false
	}
	m.list("media")
	raw = m.take(kind)
	if element, ok := medium(kind, raw); ok {
		m.push("media", element)
	} else if rawjson.Truthy(raw) {
		m.lose(kind, raw)
	}
	return raw, true
}
