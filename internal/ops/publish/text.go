package publish

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"stchat/internal/json/jsvalue"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops/look"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

// texter writes what SillyTavern's own export writes, to the byte (src/endpoints/chats.js,
// /export), and the names of chapters, which it does not know.
type texter struct{ w io.Writer }

func (t *texter) begin(p *published) error {
	if p.chapter == 0 {
		return nil
	}
	title := oneLine(p.title())
	_, err := io.WriteString(t.w, title+"\n"+strings.Repeat("=", visible.Width(title))+"\n\n")
	return err
}

func (t *texter) end() error { return nil }

func (t *texter) message(m *look.Message) error {
	text, name := m.Text, m.Name
	if rawjson.Truthy(m.Raw.Display) {
		text = m.Display
	}
	if text == nil {
		return fmt.Errorf("message %s: %w", index(m), ErrNoText)
	}
	if name == nil {
		name = new(printed(m.Raw.Name))
	}
	_, err := io.WriteString(t.w, rawjson.WellFormed(*name)+": "+rawjson.WellFormed(unix(*text))+"\n\n")
	return err
}

func index(m *look.Message) string {
	if m.Index == nil {
		return "?"
	}
	return strconv.Itoa(*m.Index)
}

func unix(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// printed returns a value as JavaScript prints it into a text.
func printed(raw []byte) string {
	if raw == nil {
		return "undefined"
	}
	v, _ := jsvalue.Parse(raw) // the line is valid
	return jsvalue.String(v)
}

// marker writes Markdown.
type marker struct {
	w   io.Writer
	opt *Options
	day string
}

// markdownStart is how the heading begins.
const markdownStart = "# "

func (k *marker) begin(p *published) error {
	k.day = ""
	between := ""
	if p.chapter > 1 {
		between = "\n"
	}
	_, err := fmt.Fprintf(k.w, between+markdownStart+"%s\n\n%s\n", oneLine(p.title()), oneLine(p.about(p.owner)))
	return err
}

func (k *marker) end() error { return nil }

// about returns whose chat it is, by the name as it is shown, when it was, and how long.
func (p *published) about(owner string) string {
	var parts []string
	if p.owner != "" {
		parts = append(parts, owner)
	}
	if span := look.Span(p.first, p.last, dayForm); span != "" {
		parts = append(parts, span)
	}
	return strings.Join(append(parts, plural.Many(p.messages, "message")), " · ")
}

const dayForm = "2 January 2006"

func oneLine(s string) string { return strings.Join(strings.Fields(rawjson.WellFormed(s)), " ") }

func (k *marker) message(m *look.Message) error {
	var b strings.Builder
	head := "**" + oneLine(name(m)) + "** · #" + index(m)
	if at, ok := m.Time(); ok {
		at = at.Local()
		if day := at.Format("Monday " + dayForm); day != k.day {
			k.day = day
			b.WriteString("\n## " + day + "\n")
		}
		head += " · " + at.Format("15:04")
	}

	b.WriteString("\n" + head + "\n\n")
	if m.Reasoning != nil && *m.Reasoning != "" && k.opt.Reasoning {
		b.WriteString("<details><summary>" + m.Thought() + "</summary>\n\n" + unix(rawjson.WellFormed(*m.Reasoning)) + "\n\n</details>\n\n")
	}
	b.WriteString(unix(rawjson.WellFormed(shownText(m))) + "\n")
	for i, swipe := range m.SwipeTexts {
		if swipe != nil && (m.Swipe == nil || i+1 != *m.Swipe) {
			fmt.Fprintf(&b, "\n<details><summary>%d/%d</summary>\n\n%s\n\n</details>\n", i+1, m.Swipes, unix(rawjson.WellFormed(*swipe)))
		}
	}

	_, err := io.WriteString(k.w, b.String())
	return err
}

// name returns who says a message.
func name(m *look.Message) string {
	if m.Name != nil && strings.TrimSpace(*m.Name) != "" {
		return *m.Name
	}
	return "(" + m.Role + ")"
}

// shownText returns the text that SillyTavern shows.
func shownText(m *look.Message) string {
	switch {
	case m.Display != nil && *m.Display != "":
		return *m.Display
	case m.Text != nil:
		return *m.Text
	}
	return ""
}
