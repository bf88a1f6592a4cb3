package rules

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"stchat/internal/change/changeset"
	"stchat/internal/extension"
	"stchat/internal/extension/luker"
	"stchat/internal/folder/library"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
)

// judgeStrays judges what belongs to nothing in the chats folders of a user folder:
// files that only look like chats, sidecars and whole folders. It also judges the state
// beside the characters' cards.
func judgeStrays(ctx context.Context, around *Lookup, dir userdir.Dir) (out []Finding) {
	cards := cardFolders(dir)
	entries, _ := os.ReadDir(dir.Chats()) // an error is reported where the chats are read
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		f := around.Folder(filepath.Join(dir.Chats(), e.Name()))
		if len(cards) > 0 && !cards[e.Name()] && len(f.Chats) > 0 {
			out = append(out, astray(FolderWithoutCard, f.Path, fmt.Sprintf("no character's card is called %q", clip(e.Name()+userdir.CardExtension))))
		}
		out = append(out, strayIn(f)...)
	}

	out = append(out, strayIn(around.Folder(dir.GroupChats()))...)
	for _, path := range dir.StrayChats() {
		if chat.CheckFile(ctx, path) == nil { // what cannot be read is nothing that SillyTavern misses
			out = append(out, astray(StrayChat, path, "no chat of SillyTavern's lies here"))
		}
	}

	luker.JudgeCharacters(dir.Characters(), func(f extension.Finding) {
		out = append(out, astray(Named(f.Rule), f.Path, f.Message))
	})
	return out
}

// strayIn judges the files of one folder with chats.
func strayIn(f *library.Folder) (out []Finding) {
	for _, file := range f.Strays() {
		out = append(out, astray(WrongExtension, filepath.Join(f.Path, file), "the file's name does not end in .jsonl"))
	}
	for _, file := range f.Orphans() {
		out = append(out, astray(OrphanSidecar, filepath.Join(f.Path, file), "its chat is not there"))
	}
	return out
}

// astray returns a finding about a whole file or folder.
func astray(id ID, path, message string) Finding {
	return Finding{Rule: id, Severity: id.Rule().Severity, Path: path, Index: noMessage, Message: message}
}

// cardFolders returns the chats folders of the characters that have a card.
func cardFolders(dir userdir.Dir) map[string]bool {
	entries, _ := os.ReadDir(dir.Characters())
	folders := map[string]bool{}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), userdir.CardExtension) && !e.IsDir() {
			folders[userdir.CharacterFolder(e.Name())] = true
		}
	}
	return folders
}

// Unfinished returns the finding about a change in root that an interrupted run left.
func Unfinished(root string, e changeset.Ended) Finding {
	f := astray(UnfinishedChange, filepath.Join(root, userdir.Own), "the change "+e.ID+" was begun and not ended")
	if len(e.Command) > 0 {
		f.Message += ": " + clip(strings.Join(e.Command, " "))
	}
	switch {
	case e.Result != changeset.Foreign:
	case errors.Is(e.Err, changeset.ErrElsewhere):
		f.Message += "; it was begun on another machine or in another folder"
		f.repair = "have undo take it back by force, as far as the files are recognised"
	default:
		f.Message += "; its journal cannot be read"
		f.repair = "look at the files by hand, and have undo drop the journal"
	}
	return f
}
