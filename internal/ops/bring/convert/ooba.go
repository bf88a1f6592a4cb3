package convert

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"stchat/internal/text/lazyregexp"
)

// oobaBegin is what the user says, internally, before a greeting.
const oobaBegin = "<|BEGIN-VISIBLE-CHAT|>"

// oobaMedia are the players and pictures that extensions of text-generation-webui (silero_tts,
// elevenlabs_tts, sd_api_pictures) put into a visible text: they show files of that program, which nothing
// else has. A picture that is itself in the text, a data: address, is not among them.
var oobaMedia = lazyregexp.New(`(?is)<(audio|video)\b[^>]*>.*?</(?:audio|video)>|<(?:audio|video|img)\b[^>]*\bsrc=["']?/?file[/=][^>]*>`)

// readOoba reads what text-generation-webui saves (oobabooga, modules/chat.py: data and data_visible
// up to 2023, then internal and visible; metadata by #7003 and #7004).
func readOoba(c *Conversation, v gjson.Result, opt *Options) error {
	o := objectOf(v)
	visible, internal := o.get("visible"), o.get("internal")
	if o.get("data_visible").IsArray() {
		visible, internal = o.get("data_visible"), o.get("data")
	}
	var meant [][2]string
	each(internal, func(_, pair gjson.Result) {
		texts, _ := sides(pair)
		meant = append(meant, texts)
	})
	metadata := map[string]gjson.Result{}
	each(o.get("metadata"), func(key, value gjson.Result) { metadata[key.Str] = value })
	n := 0
	each(visible, func(_, pair gjson.Result) {
		said, others := sides(pair)
		c.drop("entries that are not text", others)
		var inner [2]string
		if n < len(meant) {
			inner = meant[n]
		}
		for k, who := range []string{"user", "assistant"} {
			m := Message{Role: User, Text: c.shown(said[k], inner[k])}
			if k == 1 {
				m.Role = Character
			}
			if m.Text == "" || m.Text == oobaBegin {
				continue
			}
			about := objectOf(metadata[fmt.Sprintf("%s_%d", who, n)])
			c.drop("files", amount(about.get("attachments")))
			m.versions(about, inner[k], opt)
			c.add(m)
		}
		n++
	})
	return nil
}

// shown returns the text of a message, from what the program shows of it, in HTML, and what it keeps. It
// counts the sounds and pictures that are left out.
func (c *Conversation) shown(visible, internal string) string {
	media := len(oobaMedia().FindAllStringIndex(visible, -1))
	if media > 0 {
		c.drop("sounds and pictures", media)
		visible = strings.TrimSpace(oobaMedia().ReplaceAllLiteralString(visible, ""))
		isSame := html.UnescapeString(visible) == strings.TrimSpace(internal)
		if visible == "" || isSame { // a player may stand in the place of the text
			return internal
		}
	}
	escaped := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#x27;").Replace(internal)
	if escaped == visible {
		return internal
	}
	return visible
}

// sides returns the two texts of a pair, and how many other things are in it; a number counts as its text.
func sides(pair gjson.Result) (texts [2]string, others int) {
	i := 0
	each(pair, func(_, v gjson.Result) {
		switch {
		case i < len(texts) && v.Type == gjson.String:
			texts[i] = text(v)
		case i < len(texts) && v.Type == gjson.Number:
			texts[i] = v.Raw
		case v.Type != gjson.Null:
			others++
		}
		i++
	})
	return texts, others
}

// versions adds the date of a message, and its versions. meant is its internal text, which a version
// has. A text that no version has is one more.
func (m *Message) versions(about object, meant string, opt *Options) {
	m.Date = dateOf(about.get("timestamp"), opt.zone())
	current := max(indexOf(about.get("current_version_index")), 0)
	var all []Message
	each(about.get("versions"), func(_, v gjson.Result) {
		version := objectOf(v)
		all = append(all, Message{Role: m.Role, Text: version.text("content"), Date: dateOf(version.get("timestamp"), opt.zone())})
	})
	isThis := func(v Message) bool { return v.Text == m.Text || v.Text == meant }
	if current >= len(all) || !isThis(all[current]) {
		current = slices.IndexFunc(all, isThis)
	}
	if current < 0 {
		current = len(all)
		all = append(all, *m)
	}
	all[current].Text = m.Text
	if len(all) > 1 {
		m.Swipes, m.Swipe = all, current
	}
}
