package move

import (
	"cmp"
	"slices"

	"stchat/internal/autorecap"
	"stchat/internal/card"
	"stchat/internal/changeset"
	"stchat/internal/chat"
	"stchat/internal/family"
	"stchat/internal/group"
	"stchat/internal/message"
	"stchat/internal/meta"
	"stchat/internal/rawjson"
)

// linesOf returns the edits of a chat's header and messages.
func linesOf(n *naming, e *fileEdit) chat.Lines {
	var lines chat.Lines
	indexes := make([]int, 0, len(e.names))
	for index := range e.names {
		indexes = append(indexes, index)
	}
	for index := range e.heirs {
		if e.names[index] == nil {
			indexes = append(indexes, index)
		}
	}
	slices.SortFunc(indexes, cmp.Compare)
	if _, ok := e.names[family.Header]; !ok && (e.own != "" || e.book) {
		indexes = append([]int{family.Header}, indexes...)
	}
	for _, index := range indexes {
		names := e.names[index]
		if index == family.Header {
			lines = append(lines, chat.LineEdit{Index: chat.HeaderIndex, Do: headerDo(func(md *rawjson.Object) { editHeader(n, md, e, names) })})
			continue
		}
		heirs := e.heirs[index]
		lines = append(lines, chat.LineEdit{Index: index, Do: func(line []byte) ([]byte, error) {
			line = message.EditLinks(line, func(_ bool, name string) (string, bool) {
				to, ok := names[name]
				if !ok {
					return name, true
				}
				return to, to != ""
			})
			splice, err := message.BranchSplice(line, heirs...)
			if err != nil || splice == nil {
				return line, err
			}
			return splice.Apply(line), nil
		}})
	}
	return lines
}

// editHeader edits the names in a chat's metadata.
func editHeader(n *naming, md *rawjson.Object, e *fileEdit, names map[string]string) {
	written, _ := rawjson.Unquote(md.Value("main_chat"))
	switch to, ok := names[written]; {
	case !ok:
	case to != "":
		md.Set("main_chat", rawjson.Quote(to))
	case n.parent[e.chat] != "":
		md.Set("main_chat", rawjson.Quote(n.parent[e.chat]))
	default:
		md.Unset("main_chat")
		// Auto-Recap erases another chat's recap if there is no parent (FORMATS.md B2.1)
		autorecap.OwnRunning(md, e.chat.Name)
	}
	if e.own != "" {
		autorecap.Own(md, e.own)
	}
	if e.book {
		n.book.metadata(md)
	}
}

// headerDo returns an edit of the metadata in a header's line.
func headerDo(edit func(md *rawjson.Object)) func(line []byte) ([]byte, error) {
	return func(line []byte) ([]byte, error) {
		if line == nil {
			return nil, nil // an old group chat has no header
		}
		return meta.Edit(line, func(md *rawjson.Object) error {
			edit(md)
			return nil
		})
	}
}

// bytesOf returns the edit of a group file or a card.
func bytesOf(n *naming, path string, e *fileEdit) changeset.Edit {
	names := e.names[family.NoLine]
	edit := func(name string) (string, bool) {
		to, ok := names[name]
		if !ok {
			return name, true
		}
		return to, to != ""
	}
	if c := n.folder.graph.Card; c != nil && c.Path == path {
		return changeset.Bytes(func(old []byte) ([]byte, error) {
			now, err := card.Parse(old, path)
			if err != nil {
				return nil, err
			}
			to, keep := edit(now.Chat)
			if !keep {
				to = n.open[path]
			}
			if to == "" || to == now.Chat {
				return old, nil
			}
			return now.WithChat(to)
		})
	}
	return changeset.Bytes(func(old []byte) ([]byte, error) {
		g, err := group.Parse(path, old)
		if err != nil {
			return nil, err
		}
		open := ""
		if _, keep := edit(g.ChatID); !keep {
			open = n.open[path]
		}
		data, err := g.WithNames(edit, open)
		if err != nil || open == "" {
			return data, err
		}
		if g, err = group.Parse(path, data); err != nil {
			return nil, err
		}
		return g.WithChats(open) // a fresh name is not in its list
	})
}
