package rules

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
)

// attachmentKeys is the number of keys of extra that attach files; the last
// four are those of versions before media and files (FORMATS.md E4).
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

// attachments judges whether the message's images and files are there.
func (s *scan) attachments(l *jsonl.Line, b *batch, extra []byte, attached *[attachmentKeys][]byte) {
	for _, raw := range attached {
		switch rawjson.KindOf(raw) {
		case rawjson.String:
			s.attachment(l, b, extra, raw)
		case rawjson.ObjectKind:
			s.attachmentIn(l, b, extra, raw)
		case rawjson.Array:
			for element := range rawjson.Elements(raw) {
				if rawjson.KindOf(element) == rawjson.String {
					s.attachment(l, b, extra, element)
				} else {
					s.attachmentIn(l, b, extra, element)
				}
			}
		}
	}
}

func (s *scan) attachmentIn(l *jsonl.Line, b *batch, extra, object []byte) {
	if raw, ok := rawjson.Lookup(object, "url"); ok {
		s.attachment(l, b, extra, raw)
	}
}

func (s *scan) attachment(l *jsonl.Line, b *batch, extra, raw []byte) {
	if bytes.HasPrefix(raw, []byte(`"data:`)) {
		return // in the chat itself, and megabytes long
	}
	address, ok := rawjson.Unquote(raw)
	if !ok || address == "" {
		return
	}
	path, ours := attachmentPath(address)
	if !ours {
		return
	}
	for _, p := range path {
		if info, err := os.Stat(filepath.Join(s.chat.Dir.Root, filepath.FromSlash(p))); err == nil && !info.IsDir() {
			return
		}
	}
	b.add(MissingAttachment, l, extra, fmt.Sprintf("%q is not there", clip(address)))
}

// attachmentPath gives the places in the user folder that an address may mean:
// percent-decoded, as a browser asks for it, and as it stands. ours is false
// for what does not lie there: other sites, and pictures of the program's own.
// An address that leads out of the folder has no places.
func attachmentPath(address string) (paths []string, ours bool) {
	address, _, _ = strings.Cut(address, "?")
	address, _, _ = strings.Cut(address, "#")
	rest := strings.TrimPrefix(address, "/")
	ours = false
	for _, served := range [...]string{"user/", "backgrounds/", "characters/", "assets/", "User Avatars/", "User%20Avatars/"} {
		ours = ours || strings.HasPrefix(rest, served)
	}
	if !ours {
		return nil, false
	}
	if decoded, err := url.PathUnescape(rest); err == nil && filepath.IsLocal(filepath.FromSlash(decoded)) {
		paths = append(paths, decoded)
	}
	if filepath.IsLocal(filepath.FromSlash(rest)) {
		paths = append(paths, rest)
	}
	return paths, true
}
