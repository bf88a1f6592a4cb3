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

// readKobold reads what KoboldAI Lite saves (LostRuins/lite.koboldai.net, index.html,
// generate_savefile and kai_json_load).
func readKobold(c *Conversation, v gjson.Result, _ *Options) error {
	o := objectOf(v)
	c.User = o.text("savedsettings.chatname")
	others := strings.Split(o.text("savedsettings.chatopponent"), "||$||")
	c.Character = others[0]
	names := slices.DeleteFunc(append([]string{c.User}, others...), func(s string) bool { return s == "" })
	k := &koboldReader{Conversation: c, names: names}
	k.take(o.get("prompt"))
	each(o.get("actions"), func(_, action gjson.Result) { k.take(action) })
	k.end()
	c.omit(o, []count{
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

// take reads the text of an action.
func (k *koboldReader) take(v gjson.Result) {
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
		k.marked(s)
	} else {
		k.lines(s)
	}
}

// marked reads a text in which marks say who speaks. What stands behind an end is the character's, as a
// text without marks is.
func (k *koboldReader) marked(s string) {
	for {
		mark := koboldMarks().FindStringSubmatchIndex(s)
		if mark == nil {
			k.text.WriteString(s)
			return
		}
		who, isEnd := s[mark[2]:mark[3]], mark[4] >= 0
		k.text.WriteString(s[:mark[0]])
		k.end()
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

// lines reads a text in which the names at the beginnings of lines say who speaks.
func (k *koboldReader) lines(s string) {
	for line := range strings.Lines(s) {
		if name, rest := k.speaker(line); name != "" {
			k.end()
			k.next.Name, line = name, rest
			if name == k.User {
				k.next.Role = User
			}
		}
		k.text.WriteString(line)
	}
}

// speaker returns whose name a text begins with, and what follows; "" for nobody's.
func (k *koboldReader) speaker(s string) (name, rest string) {
	for _, name := range k.names {
		if rest, ok := strings.CutPrefix(s, name+":"); ok && (rest == "" || strings.ContainsAny(rest[:1], " \r\n")) {
			return name, strings.TrimPrefix(rest, " ")
		}
	}
	return "", s
}

// end ends the message, if there is any text.
func (k *koboldReader) end() {
	k.next.Text = strings.TrimSpace(k.text.String())
	if k.next.Text != "" {
		k.Messages = append(k.Messages, k.next)
	}
	k.next = Message{}
	k.text.Reset()
}
