package rules

import (
	"fmt"
	"math"
	"strings"

	"stchat/internal/extension"
	"stchat/internal/extension/all"
	"stchat/internal/extension/autorecap"
	"stchat/internal/rawjson"
)

// head is a header that was read.
type head struct {
	header   *rawjson.Object
	metadata *rawjson.Object // empty if it is not an object
	raw      []byte          // the metadata
}

// readHeader reads a header; ok is false if it is not an object.
func readHeader(line []byte) (h head, ok bool) {
	header, err := rawjson.ParseObject(line)
	if err != nil {
		return h, false
	}
	h.header = header
	h.raw = header.Value("chat_metadata")
	if h.metadata, err = rawjson.ParseObject(h.raw); err != nil {
		h.metadata = rawjson.NewObject()
	}
	return h, true
}

// judgeHeader judges the header against the number of messages, and keeps what the
// rules across files need.
func judgeHeader(c *Chat, h head, names extension.NameKeys) {
	md := h.metadata
	report := func(id ID, message string) { c.report(id, c.HeaderLine, 0, message) }
	if key, n := h.header.Duplicates(); n > 0 {
		report(DuplicateKey, duplicateMessage("", key, n))
	}
	if kind := rawjson.KindOf(h.raw); kind != rawjson.ObjectKind && kind != rawjson.Null && kind != rawjson.Invalid {
		c.add(Finding{
			Rule: NotAnObject, Line: c.HeaderLine, Index: -1, Message: fmt.Sprintf("chat_metadata is %v, not an object", kind),
			effect: "SillyTavern loads the chat without its metadata: lorebook, author's note, parent and what extensions keep",
		})
	}
	if key, n := md.Duplicates(); n > 0 {
		report(DuplicateKey, duplicateMessage("chat_metadata", key, n))
	}
	c.MainChat = text(md, "main_chat")
	c.Integrity = text(md, "integrity")
	c.Lorebook = text(md, "world_info")
	c.AutoBook = strings.Clone(autorecap.BookName(md))
	c.Books = names.Books(md)
	judgeRecap(c, md)
}

// text returns a copy of a member that is a string, "" for everything else.
func text(o *rawjson.Object, key string) string {
	s, _ := rawjson.Unquote(o.Value(key))
	return strings.Clone(s)
}

// judgeRecap judges whether the current version of the running recap exists.
func judgeRecap(c *Chat, md *rawjson.Object) {
	running, ok := autorecap.RunningIn(md)
	if !ok {
		return
	}
	chosen, isNumber := rawjson.Float(running.Current())
	found := false
	n := 0
	for version := range running.Versions() {
		n++
		number, ok := version.Number()
		found = found || ok && isNumber && number == chosen
	}
	id, _ := running.ChatID()
	c.recap = recap{chatID: strings.Clone(id), versions: n}
	if n > 0 && !found {
		f := Finding{Rule: RecapVersion, Line: c.HeaderLine, Index: noMessage, Message: fmt.Sprintf("current_version %s is not one of the running recap's versions", clip(orNothing(running.Current())))}
		if running.Newest() == nil {
			f.mend = "give the versions their numbers by hand"
		}
		c.add(f)
	}
}

// StateErrors returns what check would call an error in what Auto-Recap and Auto-Illustrator keep
// in the metadata of the chat with that name. missing reports whether a lorebook does not exist.
func StateErrors(metadata *rawjson.Object, name string, missing func(book string) bool) (list []string) {
	c := &Chat{Name: name, MainChat: text(metadata, "main_chat"), checked: true}
	judgeRecap(c, metadata)
	for _, f := range c.Findings() {
		list = append(list, f.Message)
	}
	if book := text(metadata, "world_info"); c.ForeignRecap() && c.MainChat == "" && (book == "" || !missing(book)) {
		list = append(list, erasedRecap(c))
	}
	judgeExtensions(all.New(), metadata, &extension.Judging{Messages: math.MaxInt, Report: func(rule, message string) {
		if id, err := Find(rule); err == nil && id.Rule().Severity == Error {
			list = append(list, message)
		}
	}})
	return list
}

func orNothing(raw []byte) string {
	if len(raw) == 0 {
		return "(missing)"
	}
	return string(raw)
}

// judgeOwner judges whether Auto-Recap will erase the running recap
// (get_running_recap_storage, FORMATS.md B2.1).
func judgeOwner(around *Surroundings, c *Chat) {
	if !around.RecapErased(c) {
		return
	}
	c.report(RecapChatID, c.HeaderLine, 0, erasedRecap(c))
}

// erasedRecap describes a running recap that Auto-Recap will erase.
func erasedRecap(c *Chat) string {
	return fmt.Sprintf("the running recap is of the chat %q, and this chat has no parent", clip(c.recap.chatID))
}

// judgeExtensions lets each extension judge what it keeps in the metadata.
func judgeExtensions(list []extension.Extension, metadata *rawjson.Object, j *extension.Judging) {
	j.Metadata = metadata
	for _, e := range list {
		e.Judge(j)
	}
}
