package main

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"

	"stchat/internal/jsondoc"
	"stchat/internal/ops/look"
	"stchat/internal/patch"
	"stchat/internal/rawjson"
	"stchat/internal/visible"
)

// messagePrinter prints messages one after the other.
type messagePrinter struct {
	w               *bufio.Writer
	o               *messageGetOptions
	fields          []field
	title           string // of the chat, until its first message
	terminal, color bool
	any             bool // something was printed
}

// field is one of --fields.
type field struct {
	name string
	path patch.Path
}

func (p *messagePrinter) print(m *look.Message) error {
	switch {
	case p.o.json:
		return jsondoc.Write(p.w, m, "")
	case p.o.format == "raw":
		line := string(m.Line)
		if p.terminal {
			line = visible.Text(line)
		}
		fmt.Fprintln(p.w, line)
	case p.o.format == "fields":
		p.printFields(m)
	default:
		p.printText(m)
	}
	return nil
}

// printText prints a message for a person, with its reasoning and swipes if asked for.
func (p *messagePrinter) printText(m *look.Message) {
	if p.title != "" {
		p.part(paint(p.color, bold, "==> "+visible.Text(p.title)+" <=="))
		p.title = ""
	}
	name := "(" + m.Role + ")"
	if m.Name != nil {
		name = visible.Text(*m.Name)
	}
	text := m.Text
	if p.o.display && m.Display != nil {
		text = m.Display
	}
	if p.o.reasoning && m.Reasoning != nil && *m.Reasoning != "" {
		p.said(m, name, "reasoning", m.Reasoning)
	}
	chosen, about := 0, ""
	if len(m.SwipeTexts) > 0 && m.Swipe != nil {
		chosen = *m.Swipe
		about = fmt.Sprintf("swipe %d, chosen", chosen)
	}
	p.said(m, name, about, text)
	for i, swipe := range m.SwipeTexts {
		if i+1 != chosen {
			p.said(m, name, "swipe "+strconv.Itoa(i+1), swipe)
		}
	}
}

// said prints one text of a message; about says which, and is empty for the message's own.
func (p *messagePrinter) said(m *look.Message, name, about string, text *string) {
	body := ""
	if text != nil {
		body = p.shown(*text)
	}
	if p.o.format == "markdown" {
		var head strings.Builder
		head.WriteString("**" + name + "**")
		for _, s := range []string{p.number(m), textOr(m.Date), about} {
			if s != "" {
				head.WriteString(" · " + s)
			}
		}
		p.part(head.String() + "\n\n" + body)
		return
	}
	if about != "" {
		name += " (" + about + ")"
	}
	p.part(paint(p.color, roleColor(m.Role), name) + ": " + body)
}

func (p *messagePrinter) number(m *look.Message) string {
	if m.Index == nil {
		return ""
	}
	return "#" + strconv.Itoa(*m.Index)
}

// part prints a paragraph, with a blank line before it.
func (p *messagePrinter) part(text string) {
	if p.any {
		fmt.Fprintln(p.w)
	}
	p.any = true
	fmt.Fprintln(p.w, text)
}

// printFields prints a row of values.
func (p *messagePrinter) printFields(m *look.Message) {
	row := make([]string, len(p.fields))
	for i, f := range p.fields {
		row[i] = f.of(m)
		if p.terminal {
			row[i] = visible.Text(row[i])
		}
	}
	fmt.Fprintln(p.w, strings.Join(row, "\t"))
}

// shown returns s with hidden characters escaped on a terminal, and as it is in a pipe.
func (p *messagePrinter) shown(s string) string {
	if p.terminal {
		return visible.Lines(s)
	}
	return s
}

// of returns the value of a field, "" if the message has none.
func (f field) of(m *look.Message) string {
	text := ""
	if m.Text != nil {
		text = *m.Text
	}
	switch f.name {
	case "path":
		return escaped(m.Path)
	case "index":
		if m.Index == nil {
			return ""
		}
		return strconv.Itoa(*m.Index)
	case "role":
		return m.Role
	case "words":
		return strconv.Itoa(len(strings.Fields(text)))
	case "bytes":
		return strconv.Itoa(len(text))
	}
	raw, ok := patch.Get(m.Line, f.path)
	if !ok {
		return ""
	}
	if s, ok := rawjson.Unquote(raw); ok {
		return escaped(s)
	}
	return string(rawjson.Compact(raw))
}

// escaped returns a text without tabs and line ends, which separate fields and rows.
func escaped(s string) string {
	return strings.NewReplacer("\\", `\\`, "\t", `\t`, "\n", `\n`).Replace(s)
}
