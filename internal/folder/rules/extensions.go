package rules

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"stchat/internal/extension"
	"stchat/internal/extension/all"
	"stchat/internal/extension/autorecap"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/place/userdir"
)

// head is a chat's metadata, and the header if they are in one.
type head struct {
	header   *rawjson.Object // nil if a group file holds the metadata
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

// readOldMetadata reads the metadata that a group file holds for a chat; ok is false if they are not
// an object.
func readOldMetadata(raw []byte) (h head, ok bool) {
	metadata, err := rawjson.ParseObject(raw)
	return head{metadata: metadata, raw: raw}, err == nil
}

// judgeHeader judges the shape of the header.
func judgeHeader(c *Chat, h head) {
	if key, n := h.header.Duplicates(); n > 0 {
		c.reportHead(DuplicateKey, duplicateMessage("", key, n))
	}
	if kind := rawjson.KindOf(h.raw); kind != rawjson.ObjectKind && kind != rawjson.Null && kind != rawjson.Invalid {
		c.add(Finding{
			Rule: NotAnObject, Line: c.HeaderLine, Index: -1, Message: fmt.Sprintf("chat_metadata is %v, not an object", kind),
			effect: "SillyTavern loads the chat without its metadata: lorebook, author's note, parent and what extensions keep",
		})
	}

	if key, n := h.metadata.Duplicates(); n > 0 {
		c.reportHead(DuplicateKey, duplicateMessage("chat_metadata", key, n))
	}
}

// keepNames keeps what the rules across files need of the metadata.
func (c *Chat) keepNames(md *rawjson.Object, names extension.Table) {
	c.MainChat = text(md, "main_chat")
	c.Integrity = text(md, "integrity")
	c.Lorebook = text(md, "world_info")
	c.AutoBook = strings.Clone(autorecap.BookName(md))
	c.Books = names.Books(md)
	c.ForeignRecap = autorecap.Foreign(md, c.Name)
}

// text returns a copy of a member that is a string, "" for everything else.
func text(o *rawjson.Object, key string) string {
	s, _ := rawjson.Unquote(o.Value(key))
	return strings.Clone(s)
}

// StateErrors returns what check would call an error in what extensions keep in the metadata of the
// chat with that name. missing reports whether a lorebook does not exist.
func StateErrors(metadata *rawjson.Object, name string, missing func(book string) bool) (list []string) {
	j := &extension.Judging{Metadata: metadata, Chat: name, Messages: math.MaxInt, Find: func(f extension.Finding) {
		if Named(f.Rule).Rule().Severity == Error {
			list = append(list, f.Message)
		}
	}}

	j.Book = func(name string) extension.BookFacts {
		return extension.BookFacts{Missing: missing(name), Unread: true}
	}
	for _, e := range all.New() {
		e.Judge(j)
	}
	return list
}

// Named returns the rule that an extension names.
func Named(rule string) ID {
	id, err := Find(rule)
	if err != nil {
		panic("an extension judges by an unknown rule: " + rule)
	}
	return id
}

// judgeState lets each extension judge what it keeps in the metadata of a checked chat, against its
// messages.
func (s *scan) judgeState() {
	c := s.chat
	j := &extension.Judging{Metadata: s.head.metadata, Messages: c.Messages, Now: s.now, Find: func(f extension.Finding) {
		if !f.Whole {
			f.Message = clip(f.Message)
		}
		c.BesideErr = cmp.Or(c.BesideErr, f.Err)
		found := Finding{Rule: Named(f.Rule), Path: f.Path, Index: noMessage, Message: f.Message, repair: f.ByHand}
		if f.Path != "" {
			c.add(found)
			return
		}
		c.addHead(found)
	}}

	if !s.hasHead {
		j.Metadata = rawjson.NewObject()
	}
	if c.Kind != userdir.File {
		j.Chat = c.Name
	}
	if c.HasDir {
		j.Serves = c.Dir.Serves
		j.Book = func(name string) extension.BookFacts {
			b := s.around.BookOf(c.Dir, name)
			return extension.BookFacts{Missing: b.Path == "", Unread: b.Err != nil, Has: b.Holds}
		}
	}

	for _, e := range s.judge.extensions {
		e.Judge(j)
	}
	if c.findings.repairable.HasAny(OnState()) {
		c.Extensions = s.judge.extensions
	}
}

// OnState returns the rules about what extensions keep in the metadata that repair deals with.
func OnState() Set {
	return SetOf(PendingOld, RecapScene, RecapVersion, BeyondEnd, MemoryBook, PromptShape, PromptDangling, PromptDrift)
}
