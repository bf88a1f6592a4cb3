package rules

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/changeset"
	"stchat/internal/extension/luker"
	"stchat/internal/jsonl"
	"stchat/internal/library"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// judgeStrays judges what belongs to nothing in the chats folders of a user folder:
// files that only look like chats, sidecars and whole folders. It also judges the state
// beside the characters' cards.
func judgeStrays(around *Surroundings, dir userdir.Dir) (out []Finding) {
	cards := cardFolders(dir)
	entries, _ := os.ReadDir(dir.Chats()) // an error is reported where the chats are read
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		f := around.Folder(filepath.Join(dir.Chats(), e.Name()))
		if len(cards) > 0 && !cards[e.Name()] && len(f.Chats) > 0 {
			out = append(out, Finding{
				Rule: FolderWithoutCard, Severity: Warning, Path: f.Path, Index: -1,
				Message: fmt.Sprintf("no character's card is called %q", clip(e.Name()+userdir.CardExtension)),
			})
		}
		out = append(out, strayIn(f)...)
	}
	out = append(out, strayIn(around.Folder(dir.GroupChats()))...)
	return append(out, judgeCharacterStates(dir)...)
}

// strayIn judges the files of one folder with chats.
func strayIn(f *library.Folder) (out []Finding) {
	add := func(id ID, file, message string) {
		out = append(out, Finding{Rule: id, Severity: id.Rule().Severity, Path: filepath.Join(f.Path, file), Index: -1, Message: message})
	}
	for _, file := range f.Strays() {
		add(WrongExtension, file, "the file's name does not end in .jsonl")
	}
	for _, file := range f.Orphans() {
		add(OrphanSidecar, file, "its chat is not there")
	}
	return out
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

// judgeSidecars judges the sidecars that Luker keeps beside a chat (FORMATS.md A1, A2), except
// floor logs, which are judged with the messages.
func judgeSidecars(around *Surroundings, c *Chat) {
	sidecars := around.Folder(c.Folder).Sidecars(c.Name)
	logged := map[string]bool{} // namespaces that have a log
	for _, sidecar := range sidecars {
		if sidecar.Kind == luker.FloorLog {
			logged[luker.DataOf(sidecar.Namespace)] = true
		}
	}
	for _, sidecar := range sidecars {
		switch sidecar.Kind {
		case luker.ChatSync:
			judgeChatSync(c, sidecar.Path)
		case luker.FloorLog:
		default:
			if _, damage := readSidecar(sidecar.Path); damage != "" {
				c.add(Finding{Rule: LukerState, Path: sidecar.Path, Index: noMessage, Message: "the sidecar cannot be read: " + damage})
			}
			if logged[sidecar.Namespace] {
				c.add(Finding{Rule: LukerState, Path: sidecar.Path, Index: noMessage, Message: "data beside its own floor log, which is what counts"})
			}
		}
	}
}

// judgeCharacterStates judges the state that Luker keeps beside the characters' cards
// (FORMATS.md A1.3).
func judgeCharacterStates(dir userdir.Dir) (out []Finding) {
	entries, _ := os.ReadDir(dir.Characters())
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name()] = true
	}
	for _, e := range entries {
		stems := luker.Stems(e.Name())
		if len(stems) == 0 || !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(dir.Characters(), e.Name())
		add := func(message string) {
			out = append(out, Finding{Rule: LukerState, Severity: Warning, Path: path, Index: noMessage, Message: message})
		}
		if !slices.ContainsFunc(stems, func(stem string) bool { return names[stem+userdir.CardExtension] || names[stem+".json"] }) {
			add("its character's card is not there")
		}
		if _, damage := readSidecar(path); damage != "" {
			add("the state cannot be read: " + damage)
		}
	}
	return out
}

// judgeChatSync judges whether Luker's sidecar has a slug. It need not be the header's: what
// appends a message renews only this one, and other endpoints only the header's.
func judgeChatSync(c *Chat, path string) {
	raw, damage := readSidecar(path)
	switch _, ok := rawjson.Unquote(rawjson.Value(raw, "integrity")); {
	case damage != "":
		c.report(LukerSlug, c.HeaderLine, 0, "the sidecar chat_sync cannot be read: "+damage)
	case !ok:
		c.report(LukerSlug, c.HeaderLine, 0, "the sidecar chat_sync has no slug")
	}
}

// readSidecar reads a sidecar, which must be one JSON object; damage is why it cannot.
func readSidecar(path string) (_ []byte, damage string) {
	raw, _, err := safefile.Read(path)
	switch {
	case errors.Is(err, safefile.ErrNotRegular):
		return nil, "not a regular file"
	case err != nil:
		return nil, reason(err)
	}
	if d := jsonl.Check(raw); d != nil {
		return nil, d.Reason
	}
	if kind := rawjson.KindOf(raw); kind != rawjson.ObjectKind {
		return nil, kind.String() + ", not an object"
	}
	return raw, ""
}

// Unfinished returns the finding about a change in root that an interrupted run left.
func Unfinished(root string, e changeset.Ended) Finding {
	f := Finding{
		Rule: UnfinishedChange, Severity: Error, Path: filepath.Join(root, userdir.Own), Index: -1,
		Message: "the change " + e.ID + " was begun and not ended",
	}
	if len(e.Command) > 0 {
		f.Message += ": " + clip(strings.Join(e.Command, " "))
	}
	switch e.Way {
	case changeset.Stuck:
		f.Message += "; it can be neither completed nor taken back, since its files were changed"
	case changeset.Elsewhere:
		f.Message += "; it was begun on another machine or in another folder"
		f.mend = "have undo take it back by force, as far as the files are recognised"
	case changeset.Unreadable:
		f.Message += "; its journal cannot be read"
		f.mend = "have undo set the journal aside, and look at the files by hand"
	}
	return f
}
