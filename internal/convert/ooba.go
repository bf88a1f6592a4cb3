package convert

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"stchat/internal/rawjson"
)

// oobaBegin is what the user says, internally, before a greeting.
const oobaBegin = "<|BEGIN-VISIBLE-CHAT|>"

// readOoba reads what text-generation-webui saves (oobabooga, modules/chat.py: data and data_visible
// up to 2023, then internal and visible; metadata by #7003 and #7004).
func readOoba(c *Conversation, _ []byte, o object, opt *Options) error {
	visible, internal := o["visible"], o["internal"]
	if old := o["data_visible"]; isList(old) {
		visible, internal = old, o["data"]
	}
	hidden, i := slices.Collect(rawjson.Elements(internal)), 0
	for pair := range rawjson.Elements(visible) {
		var inner []byte
		if i < len(hidden) {
			inner = hidden[i]
		}
		said, meant := sides(pair), sides(inner)
		for k, who := range []string{"user", "assistant"} {
			m := Message{Role: User, Text: said[k]}
			if k == 1 {
				m.Role = Character
			}
			if escaped := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#x27;"); escaped.Replace(meant[k]) == m.Text {
				m.Text = meant[k]
			}
			if m.Text == "" || m.Text == oobaBegin {
				continue
			}
			m.versions(rawjson.Value(o["metadata"], fmt.Sprintf("%s_%d", who, i)), meant[k], cmp.Or(opt.Zone, time.Local))
			c.add(m)
		}
		i++
	}
	return nil
}

// sides returns the two texts of a pair; a number counts as its text.
func sides(pair []byte) (texts [2]string) {
	i := 0
	for raw := range rawjson.Elements(pair) {
		if i < len(texts) {
			if s, ok := rawjson.Unquote(raw); ok {
				texts[i] = s
			} else if rawjson.KindOf(raw) == rawjson.Number {
				texts[i] = string(raw)
			}
		}
		i++
	}
	return texts
}

// versions adds the date of a message, and its versions. meant is its internal text, which a version
// has. A text that no version has is one more.
func (m *Message) versions(about []byte, meant string, zone *time.Location) {
	date := func(raw []byte) time.Time {
		t, _ := time.ParseInLocation("Jan 2, 2006 15:04", text(raw, "timestamp"), zone)
		return t
	}
	m.Date = date(about)
	current, _ := rawjson.Int(rawjson.Value(about, "current_version_index"))
	var all []Message
	for v := range rawjson.Elements(rawjson.Value(about, "versions")) {
		all = append(all, Message{Role: m.Role, Text: text(v, "content"), Date: date(v)})
	}
	isThis := func(v Message) bool { return v.Text == m.Text || v.Text == meant }
	if current < 0 || current >= len(all) || !isThis(all[current]) {
		current = slices.IndexFunc(all, isThis)
	}
	if current < 0 {
		current, all = len(all), append(all, *m)
	}
	if all[current].Text = m.Text; len(all) > 1 {
		m.Swipes, m.Swipe = all, current
	}
}
