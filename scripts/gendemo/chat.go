package main

import (
	"fmt"
	"html"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

// A speaker says messages.
type speaker struct {
	name, avatar string // avatar is the file below characters/ or "User Avatars"/
	user         bool
}

var (
	ines   = speaker{"Ines", "ines-calder.png", true}
	maren  = speaker{"Maren Holm", "Maren Holm.png", false}
	shiori = speaker{"汐見 栞", "汐見 栞.png", false}
)

// A message is one line of a chat file.
type message struct {
	speaker speaker
	system  bool
	mes     string
	extra   object
	timing  object // send_date, gen_started, gen_finished
	swipeID int
	swipes  []swipe
	grouped bool // in a group chat: the speaker's avatar is noted
	comment bool
	turn    turn
}

// A swipe is one alternative of a message.
type swipe struct {
	text   string
	timing object
	extra  object
}

// pick chooses another swipe, as a branch from a swipe does (FORMATS E4.2).
func (m message) pick(k int) message {
	m.swipeID, m.mes, m.timing = k, m.swipes[k].text, m.swipes[k].timing
	m.extra = append(object{}, m.swipes[k].extra...)
	return m
}

// line writes the message as SillyTavern does, without the line end.
func (m message) line() string {
	name := m.speaker.name
	if m.comment {
		name = "Note"
	}
	o := object{
		{"name", name},
		{"is_user", m.speaker.user && !m.comment},
		{"is_system", m.system},
		m.timing[0],
		{"mes", m.mes},
		{"extra", m.extra},
	}
	o = append(o, m.timing[1:]...)
	if len(m.swipes) > 0 {
		texts, infos := list{}, list{}
		for _, s := range m.swipes {
			texts = append(texts, s.text)
			infos = append(infos, append(append(object{}, s.timing...), member{"extra", s.extra}))
		}
		o = append(o, member{"swipe_id", m.swipeID}, member{"swipes", texts}, member{"swipe_info", infos})
	}
	switch {
	case m.comment:
		o = append(o, member{"force_avatar", "img/quill.png"})
	case m.speaker.user:
		o = append(o, member{"force_avatar", "/thumbnail?type=persona&file=" + url.PathEscape(m.speaker.avatar)})
	case m.grouped:
		o = append(o,
			member{"original_avatar", m.speaker.avatar},
			member{"force_avatar", "/thumbnail?type=avatar&file=" + url.PathEscape(m.speaker.avatar)})
	}
	return compact(o)
}

// A teller turns a story into messages, and keeps the clock.
type teller struct {
	clock    time.Time
	speakers map[string]speaker
	group    bool
}

// tell makes one message. index is its place in the chat.
func (w *teller) tell(t turn, index int) (message, error) {
	who, ok := w.speakers[t.who]
	m := message{speaker: who, grouped: w.group && !who.user, turn: t, mes: t.texts[0], swipeID: t.chosen}
	switch {
	case t.comment:
		m.comment, m.system = true, true
		m.timing = object{{"send_date", w.after(20 * time.Second)}}
		m.extra = object{{"bias", nil}, {"type", "comment"}, {"gen_id", w.clock.UnixMilli()}, {"api", "manual"}, {"model", "slash command"}}
		return m, nil
	case !ok:
		return m, fmt.Errorf("message %d: nobody is called @%s", index, t.who)
	case who.user:
		m.system = t.hidden
		m.timing = object{{"send_date", w.after(time.Duration(30+utf8.RuneCountInString(t.texts[0])/4) * time.Second)}}
		m.extra = object{{"isSmallSys", false}}
		if t.attached != "" {
			m.extra = append(m.extra,
				member{"media", list{object{{"url", picturePath(t.attached)}, {"type", "image"}, {"title", strings.TrimSuffix(t.attached, ".png")}}}},
				member{"media_display", "gallery"}, member{"inline_image", true})
		}
		return m, nil
	}
	for i, text := range t.texts {
		if i == t.chosen {
			text = illustrated(text, t.images, index)
		}
		m.swipes = append(m.swipes, w.generate(t, text, index == 0))
	}
	chosen := m.swipes[t.chosen]
	m.mes, m.timing = chosen.text, chosen.timing
	m.extra = append(object{}, chosen.extra...)
	return m, nil
}

// generate makes one swipe; a greeting comes from the character card, so
// nothing is known about how it was made.
func (w *teller) generate(t turn, text string, greeting bool) swipe {
	if greeting {
		return swipe{text, object{{"send_date", stamp(w.clock)}}, object{}}
	}
	started := w.after(1200 * time.Millisecond)
	runes := utf8.RuneCountInString(text)
	w.clock = w.clock.Add(time.Duration(2100+runes*17) * time.Millisecond)
	extra := object{{"api", "koboldcpp"}, {"model", "saltmarsh-12b-q6"}}
	if t.reason != "" {
		extra = append(extra, member{"reasoning", t.reason}, member{"reasoning_duration", 900 + 21*len(t.reason)}, member{"reasoning_signature", nil})
	}
	if t.took != "" {
		extra = append(extra, member{"time_to_first_token", t.took})
	}
	extra = append(extra, member{"token_count", 1 + runes/4})
	if w.group {
		extra = append(extra, member{"gen_id", w.clock.UnixMilli()})
	}
	return swipe{text, object{{"send_date", stamp(w.clock)}, {"gen_started", started}, {"gen_finished", stamp(w.clock)}}, extra}
}

// after advances the clock and returns the time.
func (w *teller) after(d time.Duration) string {
	w.clock = w.clock.Add(d + 137*time.Millisecond)
	return stamp(w.clock)
}

// stamp writes a time as Date.prototype.toISOString does.
func stamp(t time.Time) string { return t.Format("2006-01-02T15:04:05.000Z") }

// tellAll makes the messages of a whole story.
func (w *teller) tellAll(turns []turn) ([]message, error) {
	var all []message
	for i, t := range turns {
		m, err := w.tell(t, i)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// illustrated puts the marker and the picture of the last image after the
// text, as Auto-Illustrator does.
func illustrated(text string, images []illustration, index int) string {
	if len(images) == 0 {
		return text
	}
	last := images[len(images)-1]
	return fmt.Sprintf("%s\n<!-- auto-illustrator:promptId=%s,imageUrl=%s -->\n<img src=\"%s\" title=\"AI generated image #1\" alt=\"AI generated image #1\">",
		text, promptID(last.prompt, index, 0), html.EscapeString(picturePath(last.file)), html.EscapeString(picturePath(last.file)))
}

// picturePath returns the path by which messages name a picture of Maren's.
func picturePath(file string) string { return "/user/images/Maren Holm/" + file }

// visible counts the messages that reach the model, which is what timed
// lorebook effects count (FORMATS E3.2).
func visible(messages []message) int {
	n := 0
	for _, m := range messages {
		if !m.system {
			n++
		}
	}
	return n
}

// chatFile writes a chat: the header and the messages, joined by LF.
func chatFile(metadata object, messages []message) []byte {
	lines := []string{compact(object{{"chat_metadata", metadata}, {"user_name", "unused"}, {"character_name", "unused"}})}
	for _, m := range messages {
		lines = append(lines, m.line())
	}
	return []byte(strings.Join(lines, "\n"))
}
