package chatgen

import (
	"bytes"
	"fmt"
	"strings"
)

// greetingMacros are macros that cards use in greetings, each with what SillyTavern puts in its place,
// escaped as in a JSON string.
var greetingMacros = []struct{ macro, value string }{
	{"{{user}}", "Tom"},
	{"<USER>", "Tom"},
	{"{{char}}", "Mira"},
	{"<BOT>", "Mira"},
	{"{{// only the author sees this}}", ""},
	{"{{setvar::mood::calm}}", ""},
	{"{{random::{{user}}::you}}", "Tom"},
	{"{{newline}}", `\n`},
	{"{{time}}", "5:37 PM"},
}

// Greetings writes a user folder with n chats as SillyTavern's page begins them: message 0 is the greeting
// of a card, its swipes are the card's greetings with their macros, and only the message's text has what
// stands for these. Every other chat is as versions up to 1.15 wrote it, with an empty swipe_info. The
// same seed makes the same bytes.
func Greetings(dir string, n int, seed uint64) error {
	w := newWriter(seed)
	g := &greetings{w}
	return writeFolder(dir, n, func(i int) []byte { return g.chat(i%2 == 0) })
}

// greetings makes chats with greetings.
type greetings struct {
	*writer
}

// chat returns a chat, as versions up to 1.15 wrote it if isOld.
func (g *greetings) chat(isOld bool) []byte {
	const date = "2025-06-01T12:00:00.000Z"
	swipes := make([]string, 1+g.below(5))
	texts := make([]string, len(swipes))
	var info []string
	for k := range swipes {
		swipes[k], texts[k] = g.greeting()
		if !isOld {
			info = append(info, `{"send_date":"`+date+`","extra":{}}`)
		}
	}
	chosen := g.below(len(swipes))

	var out bytes.Buffer
	hardHeader(&out, fmt.Sprintf(`"integrity":"%s"`, g.uuid(nil)))
	fmt.Fprintf(&out, "\n"+`{"name":"Mira","is_user":false,"is_system":false,"send_date":"%s","mes":"%s","extra":{},`, date, texts[chosen])
	fmt.Fprintf(&out, `"swipe_id":%d,"swipes":["%s"],"swipe_info":[%s]}`, chosen, strings.Join(swipes, `","`), strings.Join(info, ","))
	for m := range g.below(4) {
		fmt.Fprintf(&out, "\n"+`{"name":"Tom","is_user":true,"is_system":false,"send_date":"2025-06-01T12:0%d:00.000Z","mes":"%s","extra":{}}`, m+1, g.sentence())
	}
	return out.Bytes()
}

// greeting returns a greeting of a card, and the text that it becomes.
func (g *greetings) greeting() (swipe, text string) {
	for range 1 + g.below(6) {
		m, sentence := greetingMacros[g.below(len(greetingMacros))], g.sentence()
		swipe += sentence + " " + m.macro + " "
		text += sentence + " " + m.value + " "
	}
	if g.below(3) == 0 {
		swipe += `\n\n{{trim}}\n`
	}
	end := g.sentence()
	return swipe + end, text + end
}
