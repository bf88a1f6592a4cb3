package look

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"stchat/internal/chat"
	"stchat/internal/family"
	"stchat/internal/library"
	"stchat/internal/ops"
	"stchat/internal/progress"
	"stchat/internal/treeview"
	"stchat/internal/userdir"
	"stchat/internal/visible"
)

// TreeOptions says which families to show, and what of them.
type TreeOptions struct {
	List ops.List
	By   family.By
	Part TreePart
	All  bool // also show chats without relatives
	Flat bool // one row per chat, without families

	Sort  TreeSort
	Limit int // how many families, or chats if Flat; 0: all

	Preview int  // width of a message's text in cells; 0: none
	Page    bool // include texts of own messages, and the dates of some

	Meter *progress.Meter
}

// TreePart says which part of one chat's family is shown.
type TreePart int

// The parts.
const (
	WholeFamily TreePart = iota
	Ancestors
	Descendants
)

// ErrOneChat means that a part of a family was asked for, but not of exactly one chat.
var ErrOneChat = errors.New("ancestors and descendants are those of one chat")

// TreeResult is the result of Tree.
type TreeResult struct {
	Tree     *treeview.Tree
	Warnings []string
	Errs     []error // of PATHs, and of chats that cannot be read
}

// Tree reads the folders of the chats in a list, finds out which chat was made from which,
// and returns the families: all of a folder that was named, and that of a chat that was
// named. The error is that ctx ended, or [ErrOneChat].
func Tree(ctx context.Context, opt TreeOptions) (*TreeResult, error) {
	walked := ops.Walk(opt.List)
	if opt.Part != WholeFamily && (len(walked.Chats) != 1 || walked.Chats[0].From != "") {
		return nil, ErrOneChat
	}
	res := &TreeResult{}
	for _, err := range walked.Errs {
		res.Errs = append(res.Errs, err)
	}
	walked.Chats = slices.DeleteFunc(walked.Chats, func(t ops.Target) bool {
		err := chat.CheckName(t.Path)
		if err != nil {
			res.Errs = append(res.Errs, ops.PathError(err))
		}
		return err != nil
	})
	lib := new(library.Library)
	asked, folders := foldersOf(walked)
	graphs, err := family.Read(ctx, lib, folders, family.Options{By: opt.By, Meter: opt.Meter})
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		res.Errs = append(res.Errs, ops.PathError(err))
		graphs = nil
	}
	b := &treeBuilder{TreeOptions: opt, shown: map[*family.Chat]*treeview.Chat{}}
	for _, g := range graphs {
		b.add(g, asked[g.Folder.Path])
		for _, c := range g.Chats {
			if c.Err != nil {
				res.Errs = append(res.Errs, ops.PathError(c.Err))
			}
		}
		for _, w := range g.Warnings {
			res.Warnings = append(res.Warnings, warning(w))
		}
	}
	res.Tree = b.tree()
	return res, texts(ctx, b)
}

// asked says which chats of a folder were named; all of them if the folder was.
type asked struct {
	all   bool
	paths map[string]bool
}

// foldersOf returns the folders of chats, each once, in the order of the chats, and which
// chats were asked for in each.
func foldersOf(walked ops.Walked) (map[string]*asked, []string) {
	by := map[string]*asked{}
	var folders []string
	first := map[string]string{} // by real path, the first spelling of a folder
	for _, t := range walked.Chats {
		folder := filepath.Dir(t.Path)
		if by[folder] == nil {
			real := userdir.RealPath(folder)
			if known, ok := first[real]; ok {
				folder = known
			} else {
				first[real] = folder
			}
		}
		a := by[folder]
		if a == nil {
			a = &asked{paths: map[string]bool{}}
			by[folder] = a
			folders = append(folders, folder)
		}
		a.all = a.all || t.From != ""
		a.paths[filepath.Base(t.Path)] = true
	}
	return by, folders
}

// warning returns the text of a warning about kinship.
func warning(w family.Warning) string {
	if w.Kind == family.LetterCase {
		return fmt.Sprintf("%s: names %s, which differs from the chat's name in letter case", w.Chat.Path, visible.Quote(w.Name))
	}
	return fmt.Sprintf("%s: names %s as its parent, but shares no message with it", w.Chat.Path, visible.Quote(w.Name))
}
