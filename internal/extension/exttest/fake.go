// Package exttest has an extension for the tests of those who ask all extensions.
package exttest

import (
	"fmt"
	"strconv"

	"stchat/internal/extension"
	"stchat/internal/jsonl/rawjson"
)

// Fake is an extension that keeps, in chat_metadata.fake, a message (at), its lorebook (book)
// and its chat (chat), and in the extra of messages another message (fake). It counts the
// messages that have one.
type Fake struct {
	extension.None
	Kept, Dropped int
	Renamed       []string // lorebooks
}

// About returns the keys.
func (*Fake) About() extension.About {
	return extension.About{Name: "fake", Keys: []string{"fake"}, Reads: []string{"fake"}, Rows: extension.Table{
		extension.Key(extension.Metadata, extension.Book, "fake/book"), extension.Key(extension.Metadata, extension.OwnChat, "fake/chat"),
	}}
}

// Look returns the message that a message names.
func (*Fake) Look(m *extension.Message) any {
	if at, ok := rawjson.Int(m.Value("fake")); ok {
		return at
	}
	return nil
}

// Keep counts messages that stay.
func (f *Fake) Keep(_ int, fact any) {
	if fact != nil {
		f.Kept++
	}
}

// Drop counts messages that go.
func (f *Fake) Drop(int, any) { f.Dropped++ }

// Lost tells what goes.
func (*Fake) Lost(i int, fact any) string { return fmt.Sprintf("message %d names message %d", i, fact) }

// edit edits the message in the metadata.
func (f *Fake) edit(metadata *rawjson.Object, r *extension.Report, to func(at int) (int, bool)) {
	metadata.Edit(func(own *rawjson.Object) {
		at, ok := rawjson.Int(own.Value("at"))
		if !ok {
			return
		}
		switch now, stays := to(at); {
		case !stays:
			own.Unset("at")
			r.Add(f, "message %d forgotten", at)
		case now != at:
			own.Set("at", strconv.AppendInt(nil, int64(now), 10))
			r.Add(f, "message %d → %d", at, now)
		}
	}, "fake")
}

// Isolate forgets a message that the branch lacks.
func (f *Fake) Isolate(b *extension.Branch) {
	f.edit(b.Metadata, &b.Report, func(at int) (int, bool) { return at, at <= b.At })
}

// Follow moves the message.
func (f *Fake) Follow(s *extension.Following) { f.edit(s.Metadata, &s.Report, s.Staying) }

// Holds reports whether a message names another.
func (*Fake) Holds(*rawjson.Object) func(m *extension.Message) bool {
	return func(m *extension.Message) bool { return m.Value("fake") != nil }
}

// Line moves the message that a message names.
func (*Fake) Line(s *extension.Following, _ int, line []byte) []byte {
	if at, ok := rawjson.Int(rawjson.Value(line, "extra", "fake")); ok {
		line, _ = rawjson.SetPath(line, strconv.AppendInt(nil, int64(s.Map(at)), 10), "extra", "fake")
	}
	return line
}

// Rename notes a lorebook's new name.
func (f *Fake) Rename(r *extension.Renaming) { f.Renamed = append(f.Renamed, r.To.Name) }

// Judge reports a message beyond the last one.
func (*Fake) Judge(j *extension.Judging) {
	if at, ok := rawjson.Int(rawjson.Value(j.Metadata.Value("fake"), "at")); ok && at >= j.Messages {
		j.Report("beyond-end", "fake names a message that is not there")
	}
}

// Repair forgets such a message.
func (f *Fake) Repair(m *extension.Repairing) {
	if m.Wants("beyond-end") {
		f.edit(m.Metadata, &extension.Report{}, func(at int) (int, bool) {
			if at >= m.Messages {
				m.Note(extension.Repaired{Rule: "beyond-end", Text: fmt.Sprintf("forgot message %d", at)})
			}
			return at, at < m.Messages
		})
	}
}

// View is what Fake keeps.
type View struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// View describes the metadata.
func (*Fake) View(_ *rawjson.Object, bytes int64) extension.View {
	if bytes == 0 {
		return nil
	}
	return &View{"fake", bytes}
}

// Cells returns a label and the size.
func (v *View) Cells() (label string, cells []string) { return "Fake", []string{fmt.Sprint(v.Bytes)} }

// Entries returns 1.
func (v *View) Entries() int { return 1 }
