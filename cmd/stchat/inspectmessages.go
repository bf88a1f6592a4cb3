package main

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"

	"stchat/internal/inspect"
	"stchat/internal/plural"
	"stchat/internal/visible"
)

// writeShownMessage writes a message's row for a person.
func writeShownMessage(w *bufio.Writer, c *console, m *inspect.Message) {
	date := ""
	if m.Date != nil {
		date = shownDate(c, *m.Date)
	}
	cell := func(s string, cells int) string { return visible.Pad(visible.Truncate(s, cells), cells) }
	row := padLeft("#"+strconv.Itoa(m.Index), 6) + " " + paint(c.outColor, roleColor(m.Role), cell(textOr(m.Name), 14)) + " "
	used := 6 + 1 + 14 + 1
	const roomy = 70 // on a narrower terminal the text is worth more than the date
	if c.Width == 0 || c.Width >= roomy {
		row += paint(c.outColor, dim, cell(date, 16)) + " " + cell(swipeText(m), 5) + " "
		used += 16 + 1 + 5 + 1
	}
	room := max(0, c.Width-used)
	if s := marks(m); s != "" {
		s = "[" + s + "]"
		if c.Width > 0 {
			s = cutTo(s, room)
		}
		row += paint(c.outColor, yellow, s) + " "
		room = max(0, room-visible.Width(s)-1)
	}
	text := visible.Text(firstLine(m))
	if m.Name == nil || m.Role == "system" {
		text = "(" + m.Role + ") " + text
	}
	if c.Width > 0 {
		text = cutTo(text, room)
	}
	fmt.Fprintln(w, strings.TrimRight(row+text, " "))
}

// cutTo is visible.Truncate for any room, even none.
func cutTo(s string, room int) string {
	if room < 1 {
		return ""
	}
	return visible.Truncate(s, room)
}

func roleColor(role string) string {
	switch role {
	case "user":
		return cyan
	case "system":
		return dim
	}
	return green
}

// textOr returns s escaped for a terminal, "" for nil.
func textOr(s *string) string {
	if s == nil {
		return ""
	}
	return visible.Text(*s)
}

// swipeText returns the chosen swipe, from 1, and how many are stored; "" if none are.
func swipeText(m *inspect.Message) string {
	if m.Swipes == 0 {
		return ""
	}
	chosen := "?"
	if m.Swipe != nil && *m.Swipe <= m.Swipes {
		chosen = strconv.Itoa(*m.Swipe)
	}
	return chosen + "/" + strconv.Itoa(m.Swipes)
}

// marks lists the links and other marks of a message.
func marks(m *inspect.Message) string {
	var list []string
	if m.Checkpoint != nil {
		list = append(list, "checkpoint")
	}
	if n := len(m.Branches); n > 0 {
		list = append(list, plural.Of(n, "branch", "branches"))
	}
	if m.SceneBreak {
		list = append(list, "scene break")
	}
	if m.Hidden {
		list = append(list, "hidden")
	}
	return strings.Join(list, ", ")
}

// firstLine returns the first line of a message that is not blank.
func firstLine(m *inspect.Message) string {
	if m.Text == nil {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimLeft(*m.Text, " \t\r\n"), "\n")
	return strings.TrimRight(line, "\r")
}
