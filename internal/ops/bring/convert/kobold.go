package convert

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"stchat/internal/text/lazyregexp"
)

var (
	// koboldMarks are the marks with which KoboldAI Lite keeps an instruct template in a text: where
	// somebody begins to speak, and where they end.
	koboldMarks = lazyregexp.New(`\{\{\[(INPUT|OUTPUT|SYSTEM)(_END)?\]\}\}`)
	// koboldPictures are pictures within a text.
	koboldPictures = lazyregexp.New(`(?s)\[<\|.*?\|>\]`)
)

// isKobold reports whether a value is a story of KoboldAI's.
func isKobold(v gjson.Result) bool {
	hasStory := get(v, "actions").IsArray() && get(v, "prompt").Type == gjson.String
	return hasStory || get(v, "savedsettings").Exists()
}

// readKobold reads what KoboldAI Lite saves (LostRuins/lite.koboldai.net, index.html,
// generate_savefile and kai_json_load).
func readKobold(c *Conversation, v gjson.Result, _ *Options) error {
	others := strings.Split(text(get(v, "savedsettings.chatopponent")), "||$||")
	c.Character = others[0]
	c.User = text(get(v, "savedsettings.chatname"))
	names := slices.DeleteFunc(append([]string{c.User}, others...), func(s string) bool { return s == "" })

	k := &koboldReader{Conversation: c, names: names}
	k.action(get(v, "prompt"))
	each(get(v, "actions"), func(_, action gjson.Result) { k.action(action) })
	k.endMessage()

	c.omit(v, []count{
		{"memory", "memory"},
		{"authorsnote", "author's note"},
		{"worldinfo", "world info entries"},
		{"altbranches", "alternative branches"},
	})
	return nil
}

// koboldReader collects the text of one message after the other.
type koboldReader struct {
	*Conversation
	names []string // the user's first
	next  Message
	text  strings.Builder
}

// action reads the text of an action.
func (k *koboldReader) action(v gjson.Result) {
	if v.Type == gjson.Null {
		return
	}
	if v.Type != gjson.String {
		k.drop("entries that are not text", 1)
		return
	}
	s := text(v)
	k.drop("pictures", len(koboldPictures().FindAllStringIndex(s, -1)))
	s = koboldPictures().ReplaceAllLiteralString(s, "")
	if koboldMarks().MatchString(s) {
		k.textWithMarks(s)
	} else {
		k.textWithNames(s)
	}
}

// textWithMarks reads a text in which marks say who speaks. What stands behind an end is the character's, as
// a text without marks is.
func (k *koboldReader) textWithMarks(s string) {
	for {
		mark := koboldMarks().FindStringSubmatchIndex(s)
		if mark == nil {
			k.text.WriteString(s)
			return
		}
		who := s[mark[2]:mark[3]]
		isEnd := mark[4] >= 0
		k.text.WriteString(s[:mark[0]])
		k.endMessage()
		s = s[mark[1]:]
		if isEnd {
			continue
		}

		s = strings.TrimLeft(s, " \r\n\t")
		switch who {
		case "INPUT":
			k.next.Role = User
		case "SYSTEM":
			k.next.Role = Narrator
			continue
		}

		name, rest := k.speaker(s)
		isUser := name == k.User
		if name != "" && isUser == (k.next.Role == User) {
			k.next.Name = name
			s = rest
		}
	}
}

// textWithNames reads a text in which the names at the beginnings of lines say who speaks.
func (k *koboldReader) textWithNames(s string) {
	for line := range strings.Lines(s) {
		name, rest := k.speaker(line)
		if name == "" {
			k.text.WriteString(line)
			continue
		}
		k.endMessage()
		k.next.Name = name
		if name == k.User {
			k.next.Role = User
		}
		k.text.WriteString(rest)
	}
}

// speaker returns whose name a text begins with, and what follows; "" for nobody's.
func (k *koboldReader) speaker(s string) (name, rest string) {
	for _, name := range k.names {
		rest, ok := strings.CutPrefix(s, name+":")
		if !ok {
			continue
		}
		isWhole := rest == "" || strings.ContainsAny(rest[:1], " \r\n")
		if isWhole {
			return name, strings.TrimPrefix(rest, " ")
		}
	}
	return "", s
}

// endMessage adds the message that was read, if it has any text, and begins the next.
func (k *koboldReader) endMessage() {
	k.next.Text = strings.TrimSpace(k.text.String())
	if k.next.Text != "" {
		k.Messages = append(k.Messages, k.next)
	}
	k.next = Message{}
	k.text.Reset()
}
