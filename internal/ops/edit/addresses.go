package edit

import (
	"bytes"
	"context"
	"sync"

	"stchat/internal/jsonl/rawjson"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/text/lazyregexp"
)

// addresses matches what leads to a picture, a file or a page, and is no text of the story: what a link or
// a picture in Markdown and HTML points to, an address of the web, a path below SillyTavern's user folder,
// whose parts may have spaces, and Auto-Illustrator's marker of a picture, which names both.
var addresses = lazyregexp.New(`(?i)` +
	`<!-- auto-illustrator:promptId=[^>\n]*-->` +
	`|\]\([^()"\n]*(?:\([^()"\n]*\)[^()"\n]*)*` +
	`|\b(?:src|href|poster|srcset)\s*=\s*(?:"[^"\n]*"|'[^'\n]*'|[^\s"'>]+)` +
	`|\burl\([^)\n]*` +
	`|\bhttps?://[^\s<>"'()\]]+(?:\([^\s<>"'()\]]*\)[^\s<>"'()\]]*)*` +
	`|\bdata:[a-z]+/[^\s<>"'()\]]+` +
	`|/?\buser/(?:images|files)/(?:[^"<>()|\n]*?\.[a-z0-9]{2,5}\b|\S*)`)

// place is a part of a raw text.
type place struct{ from, to int }

// mayHold returns false of most texts without an address, which takes far less than to look for one. It
// looks for what each kind of address has, and is sure of raw texts and of decoded ones.
func mayHold(text []byte) bool {
	hasSlash := bytes.IndexByte(text, '/') >= 0 // of the web, in data: and below user/
	hasEqual := bytes.IndexByte(text, '=') >= 0 // src=
	hasMarker := bytes.Contains(text, []byte("<!--"))
	isEscaped := bytes.Contains(text, []byte(`\u`)) // any of these may be
	mayHoldOther := hasSlash || hasEqual || hasMarker || isEscaped
	return mayHoldOther || mayHoldLink(text)
}

// mayHoldLink reports whether a text has what a link in Markdown or in CSS has before its address.
func mayHoldLink(text []byte) bool {
	if bytes.IndexByte(text, '(') < 0 {
		return false
	}
	hasLink := bytes.Contains(text, []byte("]("))
	hasURL := bytes.Contains(text, []byte("l(")) || bytes.Contains(text, []byte("L("))
	return hasLink || hasURL
}

// addressesIn returns where in a raw text, with its quotes, addresses stand. None goes on in the next line.
func addressesIn(raw []byte) (list []place) {
	body := raw[1 : len(raw)-1]
	if !mayHold(body) {
		return nil
	}
	for part := range decodedParts(body) {
		lineAt := 0
		for line := range bytes.Lines(part.text) {
			for _, match := range addressesInLine(line) {
				from := part.in(lineAt + match[0])
				to := part.in(lineAt + match[1])
				list = append(list, place{1 + from, 1 + to})
			}
			lineAt += len(line)
		}
	}
	return list
}

// addressesInLine returns where in a line of decoded text addresses begin and end.
func addressesInLine(line []byte) [][]int {
	if !mayHold(line) {
		return nil
	}
	return addresses().FindAllIndex(line, -1)
}

// outside returns those splices of a raw text that no address contains any part of, and how many are left.
func outside(raw []byte, list []rawjson.Splice) (kept []rawjson.Splice, left int) {
	if len(list) == 0 {
		return nil, 0
	}
	inside := addressesIn(raw)
	for _, splice := range list {
		from, to := int(splice.At), int(splice.At+splice.Len)
		for len(inside) > 0 && inside[0].to <= from {
			inside = inside[1:]
		}
		isInside := len(inside) > 0 && inside[0].from < to
		if isInside {
			left++
			continue
		}
		kept = append(kept, splice)
	}
	return kept, left
}

// places counts what substitutions find.
type places struct {
	replaced int
	left     int // in addresses
	names    int // names and IDs in which something was found, and left
}

func (p *places) add(more places) {
	p.replaced += more.replaced
	p.left += more.left
	p.names += more.names
}

// asName returns what was found in a text that is a name, which stays.
func (p places) asName() places {
	if p == (places{}) {
		return p
	}
	return places{names: 1}
}

// placesByLine counts what substitutions find in each line. Each is edited twice, once to see what changes
// and once to write it, by several goroutines, and counts once.
type placesByLine struct {
	mutex sync.Mutex
	of    map[int]places
}

func (l *placesByLine) set(index int, found places) {
	if found == (places{}) {
		return
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.of == nil {
		l.of = map[int]places{}
	}
	l.of[index] = found
}

// counting makes an edit of each line that counts what it finds.
func (l *placesByLine) counting(edit func(line []byte) ([]byte, places, error)) func(context.Context) func(choose.Place) Edit {
	return func(context.Context) func(choose.Place) Edit {
		return func(at choose.Place) Edit {
			return func(line []byte) ([]byte, error) {
				edited, found, err := edit(line)
				l.set(at.Index, found)
				return edited, err
			}
		}
	}
}

// sum returns what was found in messages, and in the header.
func (l *placesByLine) sum() (messages, header places) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for index, found := range l.of {
		if index < 0 {
			header.add(found)
			continue
		}
		messages.add(found)
	}
	return messages, header
}
