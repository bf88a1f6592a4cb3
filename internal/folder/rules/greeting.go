package rules

import (
	"strings"

	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
)

// A greeting is message 0 of a chat, by the character. SillyTavern's page puts its text into mes with
// the macros replaced, and leaves them in the swipe, so that another greeting's are replaced when it is
// chosen (messageFormatting and getFirstMessage of script.js). Up to 1.15 it gave it an empty swipe_info.

// mayGreet reports whether the message is the first of its batch and the character's: the chat's
// greeting, if the batch is the chat's first.
func (b *batch) mayGreet(l *jsonl.Line) bool {
	user, _ := l.Value(keyIsUser)
	isFirst := l.Index == 0 || l.Index == 1 && len(b.headers) == 1
	return isFirst && !rawjson.Truthy(user)
}

// IsGreeted reports whether a message's text is what SillyTavern can have made of the greeting in the
// chosen swipe, both raw strings.
func IsGreeted(swipe, mes []byte) bool {
	greeting, ok := rawjson.Unquote(swipe)
	if !ok {
		return false
	}
	text, ok := rawjson.Unquote(mes)
	return ok && resolves(greeting, text)
}

// resolves reports whether a text is a greeting in which something stands for each macro. Line breaks
// beside a macro may be gone, as {{trim}} takes them away.
func resolves(greeting, text string) bool {
	spans := macros(greeting)
	if len(spans) == 0 {
		return greeting == text
	}

	const lineBreaks = "\r\n"
	first, last := spans[0], spans[len(spans)-1]
	text, begins := strings.CutPrefix(text, strings.TrimRight(greeting[:first.from], lineBreaks))
	text, ends := strings.CutSuffix(text, strings.TrimLeft(greeting[last.to:], lineBreaks))
	if !begins || !ends {
		return false
	}

	for i, macro := range spans[1:] {
		between := strings.Trim(greeting[spans[i].to:macro.from], lineBreaks)
		_, rest, found := strings.Cut(text, between)
		if !found {
			return false
		}
		text = rest
	}
	return true
}

// stretch is a part of a text.
type stretch struct{ from, to int }

// macroMarkers are the macros without braces, in small letters.
func macroMarkers() []string {
	return []string{"<user>", "<bot>", "<char>", "<charifnotgroup>", "<group>"}
}

// macros returns what SillyTavern replaces in a text: {{name}}, which may hold others, all from
// {{name}} to {{/name}}, markers such as <USER>, and the backslash of \{ and \} (evaluateMacros of
// SillyTavern 1.12, MacroEngine of 1.15).
func macros(text string) (found []stretch) {
	add := func(s stretch) {
		for n := len(found); n > 0 && found[n-1].to > s.from; n-- {
			s.from = min(s.from, found[n-1].from)
			found = found[:n-1]
		}
		found = append(found, s)
	}

	var open []int              // where braces begin that have not ended
	begun := map[string][]int{} // where macros begin, by name
	for i := 0; i < len(text); {
		rest := text[i:]
		switch {
		case strings.HasPrefix(rest, `\{`), strings.HasPrefix(rest, `\}`):
			add(stretch{i, i + 1})
			i += 2
		case strings.HasPrefix(rest, "{{"):
			open = append(open, i)
			i += 2
		case strings.HasPrefix(rest, "}}") && len(open) > 0:
			from := open[len(open)-1]
			open = open[:len(open)-1]
			i += 2
			name := macroName(text[from:i])
			if opened, ends := strings.CutPrefix(name, "/"); !ends {
				begun[name] = append(begun[name], from)
			} else if n := len(begun[opened]); n > 0 {
				from = begun[opened][n-1]
				begun[opened] = begun[opened][:n-1]
			}
			add(stretch{from, i})
		default:
			n := markerLength(rest)
			if n > 0 {
				add(stretch{i, i + n})
			}
			i += max(1, n)
		}
	}
	return found
}

// macroName returns the name of a macro with its braces, in small letters; after a slash if the macro
// ends what one of that name began.
func macroName(macro string) string {
	inside := strings.TrimLeft(macro[len("{{"):len(macro)-len("}}")], " \t\r\n#!?~>")
	if at := strings.IndexAny(inside, " \t\r\n:"); at >= 0 {
		inside = inside[:at]
	}
	return strings.ToLower(inside)
}

// markerLength returns the length of the marker with which a text begins, 0 if there is none.
func markerLength(text string) int {
	if text[0] != '<' {
		return 0
	}
	for _, marker := range macroMarkers() {
		if len(text) >= len(marker) && strings.EqualFold(text[:len(marker)], marker) {
			return len(marker)
		}
	}
	return 0
}
