package inspect

import (
	"path/filepath"

	"stchat/internal/family"
	"stchat/internal/library"
)

// Row is a chat in a table.
type Row struct {
	Report *Report
	Depth  int // how many chats above it are in the table: 0 for one without a parent there
}

// Tree orders chats so that each follows its parent, as far as names lead to that
// ([family.New]), and returns how deep each one is.
func Tree(reports []*Report) []Row {
	byFolder := map[string][]*family.Chat{}
	of := make(map[*family.Chat]*Report, len(reports))
	chats := make([]*family.Chat, len(reports))
	for i, r := range reports {
		c := &family.Chat{Path: r.Path, Name: r.Name}
		if r.MainChat != nil {
			c.MainChat = *r.MainChat
		}
		for _, l := range r.Checkpoints {
			c.Links = append(c.Links, family.Link{Kind: family.Checkpoint, Name: l.Name, Index: l.At})
		}
		for _, l := range r.Branches {
			c.Links = append(c.Links, family.Link{Kind: family.Branch, Name: l.Name, Index: l.At})
		}
		folder := filepath.Dir(r.Path)
		byFolder[folder] = append(byFolder[folder], c)
		of[c], chats[i] = r, c
	}
	for _, list := range byFolder {
		names := make([]string, len(list))
		for i, c := range list {
			names[i] = c.Name
		}
		family.New(library.NamesOf(names), list, family.ByLinks)
	}
	rows := make([]Row, 0, len(reports))
	for _, c := range chats {
		if c.Parent == nil {
			family.Walk(c, func(c *family.Chat, depth int) { rows = append(rows, Row{of[c], depth}) })
		}
	}
	return rows
}
