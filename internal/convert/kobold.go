package convert

import (
	"regexp"
	"slices"
	"strings"

	"stchat/internal/rawjson"
)

const (
	koboldInput  = "{{[INPUT]}}"
	koboldOutput = "{{[OUTPUT]}}"
)

// readKobold reads what KoboldAI Lite saves (LostRuins/lite.koboldai.net, index.html,
// generate_savefile and kai_json_load).
func readKobold(c *Conversation, _ []byte, o object, _ *Options) error {
	c.User = text(o["savedsettings"], "chatname")
	others := strings.Split(text(o["savedsettings"], "chatopponent"), "||$||")
	c.Character = others[0]
	k := &koboldReader{Conversation: c, names: slices.DeleteFunc(append([]string{c.User}, others...), func(s string) bool { return s == "" })}
	pictures := regexp.MustCompile(`(?s)\[<\|.*?\|>\]`)
	take := func(raw []byte) {
		s, ok := rawjson.Unquote(raw)
		if !ok {
			if len(raw) > 0 && rawjson.KindOf(raw) != rawjson.Null {
				c.drop("entries that are not text", 1)
			}
			return
		}
		c.drop("pictures", len(pictures.FindAllStringIndex(s, -1)))
		s = pictures.ReplaceAllLiteralString(s, "")
		if strings.Contains(s, koboldInput) || strings.Contains(s, koboldOutput) {
			k.marked(s)
		} else {
			k.lines(s)
		}
	}
	take(o["prompt"])
	for action := range rawjson.Elements(o["actions"]) {
		take(action)
	}
	k.end()
	if o.text("memory") != "" {
		c.drop("memory", 1)
	}
	c.drop("world info entries", rawjson.Len(o["worldinfo"]))
	c.drop("alternative branches", rawjson.Len(o["altbranches"]))
	return nil
}

// koboldReader collects the text of one message after the other.
type koboldReader struct {
	*Conversation
	names []string // the user's first
	next  Message
	text  strings.Builder
}

// marked reads a text in which marks say who speaks.
func (k *koboldReader) marked(s string) {
	for s != "" {
		role, mark := User, koboldInput
		at := strings.Index(s, koboldInput)
		if out := strings.Index(s, koboldOutput); at < 0 || out >= 0 && out < at {
			role, mark, at = Character, koboldOutput, out
		}
		if at < 0 {
			k.text.WriteString(s)
			return
		}
		k.text.WriteString(s[:at])
		k.end()
		s = strings.TrimLeft(s[at+len(mark):], " \r\n\t")
		k.next.Role = role
		if name, rest := k.speaker(s); name != "" && (name == k.User) == (role == User) {
			k.next.Name, s = name, rest
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
	if k.next.Text = strings.TrimSpace(k.text.String()); k.next.Text != "" {
		k.Messages = append(k.Messages, k.next)
	}
	k.next = Message{}
	k.text.Reset()
}
