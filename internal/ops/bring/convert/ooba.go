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

// isOoba reports whether a value is a chat of text-generation-webui.
func isOoba(v gjson.Result) bool {
	if get(v, "data_visible").IsArray() {
		return true
	}
	return get(v, "internal").IsArray() && get(v, "visible").IsArray()
}

// readOoba reads what text-generation-webui saves (oobabooga, modules/chat.py: data and data_visible
// up to 2023, then internal and visible; metadata by #7003 and #7004).
func readOoba(c *Conversation, v gjson.Result, opt *Options) error {
	visible, internal := get(v, "visible"), get(v, "internal")
	if get(v, "data_visible").IsArray() {
		visible, internal = get(v, "data_visible"), get(v, "data")
	}
	var meant [][2]string
	each(internal, func(_, pair gjson.Result) {
		texts, _ := sides(pair)
		meant = append(meant, texts)
	})
	about := get(v, "metadata").Map()

	n := 0
	each(visible, func(_, pair gjson.Result) {
		said, others := sides(pair)
		c.drop("entries that are not text", others)
		var inner [2]string
		if n < len(meant) {
			inner = meant[n]
		}
		user := Message{Role: User, Text: c.shown(said[0], inner[0])}
		c.addOoba(user, inner[0], about[fmt.Sprintf("user_%d", n)], opt)
		reply := Message{Role: Character, Text: c.shown(said[1], inner[1])}
		c.addOoba(reply, inner[1], about[fmt.Sprintf("assistant_%d", n)], opt)
		n++
	})
	return nil
}

// addOoba adds one side of a pair. meant is its internal text, about what the metadata say of it.
func (c *Conversation) addOoba(m Message, meant string, about gjson.Result, opt *Options) {
	if m.Text == "" || m.Text == oobaBegin {
		return
	}
	c.drop("files", amount(get(about, "attachments")))
	m.addVersions(about, meant, opt)
	c.add(m)
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
		isSide := i < len(texts)
		switch {
		case isSide && v.Type == gjson.String:
			texts[i] = text(v)
		case isSide && v.Type == gjson.Number:
			texts[i] = v.Raw
		case v.Type != gjson.Null:
			others++
		}
		i++
	})
	return texts, others
}

// addVersions adds the date of a message, and its versions. meant is its internal text, which a version
// has. A text that no version has is one more.
func (m *Message) addVersions(about gjson.Result, meant string, opt *Options) {
	m.Date = dateOf(get(about, "timestamp"), opt.zone())
	var all []Message
	each(get(about, "versions"), func(_, v gjson.Result) {
		all = append(all, Message{
			Role: m.Role,
			Text: text(get(v, "content")),
			Date: dateOf(get(v, "timestamp"), opt.zone()),
		})
	})

	isThis := func(v Message) bool { return v.Text == m.Text || v.Text == meant }
	current := max(indexOf(get(about, "current_version_index")), 0)
	if current >= len(all) || !isThis(all[current]) {
		current = slices.IndexFunc(all, isThis)
	}
	if current < 0 {
		current = len(all)
		all = append(all, *m)
	}
	all[current].Text = m.Text
	if len(all) > 1 {
		m.Swipes = all
		m.Swipe = current
	}
}
