package extension

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"stchat/internal/jsonl/rawjson"
	"stchat/internal/text/plural"
)

// Plain is an extension of which only rows are known.
type Plain struct {
	None
	about About
	texts []text // which messages lose when they go
}

// Plains returns the extensions of rows, in the order in which they come up.
func Plains(rows []Row) (list []*Plain) {
	for _, r := range rows {
		at := slices.IndexFunc(list, func(p *Plain) bool { return p.about.Name == r.Extension })
		if at < 0 {
			at = len(list)
			list = append(list, &Plain{about: About{Name: r.Extension}})
		}
		list[at].add(r)
	}
	return list
}

func (p *Plain) add(r Row) {
	p.about.Rows = append(p.about.Rows, r)
	if key, ok := r.owned(); ok && !slices.Contains(p.about.Keys, key) {
		p.about.Keys = append(p.about.Keys, key)
	}
	if r.Holds != Text {
		return
	}
	path := strings.Split(r.Path, "/")
	p.texts = append(p.texts, text{row: r, path: path})
	reads := &p.about.ReadsLine
	if r.File == Extra {
		reads = &p.about.Reads
	}
	if !slices.Contains(*reads, path[0]) {
		*reads = append(*reads, path[0])
	}
}

// text is a row of a text in messages.
type text struct {
	row  Row
	path []string
}

// in returns the text in a message; nil: it has none.
func (t *text) in(m *Message) []byte {
	if t.row.File == Extra {
		return rawjson.Value(m.Value(t.path[0]), t.path[1:]...)
	}
	return rawjson.Value(m.LineValue(t.path[0]), t.path[1:]...)
}

// lost tells that the text of message i goes.
func (t *text) lost(i int) string {
	where := strings.Join(t.path, ".")
	if t.row.File == Extra {
		where = "extra." + where
	}
	return fmt.Sprintf("%s on message %d (%s) is deleted with it", t.row.What, i, where)
}

// About implements Extension.
func (p *Plain) About() About { return p.about }

// Isolate implements Extension.
func (p *Plain) Isolate(b *Branch) { p.about.Rows.Isolate(p, b) }

// Follow implements Extension.
func (p *Plain) Follow(f *Following) { p.about.Rows.Follow(p, f) }

// Judge implements Extension.
func (p *Plain) Judge(j *Judging) { p.about.Rows.Judge(p, j) }

// Repair implements Extension.
func (p *Plain) Repair(m *Repairing) { p.about.Rows.Repair(p, m) }

// Look returns which of the texts a message has, as bits.
func (p *Plain) Look(m *Message) any {
	var has uint8
	for k := range p.texts {
		if rawjson.Truthy(p.texts[k].in(m)) {
			has |= 1 << k
		}
	}
	if has == 0 {
		return nil
	}
	return has
}

// Lost tells which texts go.
func (p *Plain) Lost(i int, fact any) string {
	has, _ := fact.(uint8)
	var lost []string
	for k := range p.texts {
		if has&(1<<k) != 0 {
			lost = append(lost, p.texts[k].lost(i))
		}
	}
	return strings.Join(lost, "; ")
}

// shared is a key of chat_metadata in which each extension may have an object of its own.
const shared = "extensions"

// owned returns the key that a row makes the extension's own: of chat_metadata, or in what extensions
// share in it.
func (r Row) owned() (key string, ok bool) {
	path := strings.Split(r.Path, "/")
	switch {
	case r.File != Metadata || path[0] == Each || path[0] == Named:
		return "", false
	case path[0] == shared && len(path) > 1:
		return path[0] + "/" + path[1], true
	}
	return path[0], true
}

// Owned goes through what extensions keep in chat_metadata: its keys, and those in what extensions
// share in it, such as "extensions/LittleWhiteBox".
func Owned(metadata *rawjson.Object) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for key, raw := range metadata.All() {
			inner := membersOf(metadata, key)
			if inner == nil {
				if !yield(key, raw) {
					return
				}
				continue
			}
			for name, own := range inner.All() {
				if !yield(key+"/"+name, own) {
					return
				}
			}
		}
	}
}

// membersOf returns the object that extensions share under a key; nil: there is none, or it is empty.
func membersOf(metadata *rawjson.Object, key string) *rawjson.Object {
	if key != shared {
		return nil
	}
	inner, ok := metadata.Object(key)
	if !ok || inner.Len() == 0 {
		return nil
	}
	return inner
}

// PlainView is what an extension keeps of which only rows are known.
type PlainView struct {
	Name  string `json:"name"`
	Known bool   `json:"known"` // true
	Bytes int64  `json:"bytes"`

	cells   []string
	entries int
}

// View describes the numbers that the extension keeps.
func (p *Plain) View(metadata *rawjson.Object, bytes int64) View {
	if bytes == 0 {
		return nil
	}
	v := &PlainView{Name: p.about.Name, Known: true, Bytes: bytes}
	for _, r := range p.about.Rows {
		if !r.isNumber() {
			continue
		}
		found := r.beyond(metadata, math.MaxInt)
		v.entries += found.total
		switch {
		case found.total == 0:
		case r.isMany():
			v.cells = append(v.cells, plural.S(found.total, r.What))
		case found.last >= 0:
			v.cells = append(v.cells, fmt.Sprintf("%s %d", r.key(), found.last))
		}
	}

	if len(v.cells) == 0 {
		v.cells = []string{"nothing that goes by messages"}
	}
	return v
}

// Cells implements View.
func (v *PlainView) Cells() (label string, cells []string) { return v.Name, v.cells }

// Entries implements View.
func (v *PlainView) Entries() int { return v.entries }
