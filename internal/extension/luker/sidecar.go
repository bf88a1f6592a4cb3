package luker

import (
	"os"
	"path/filepath"
	"strings"
)

// Parts of a sidecar's file name.
const (
	infix    = ".luker-state."
	fileEnd  = ".json"
	floorLog = "__floor_log"
	beside   = ".state." // in the names of characters' state
	orphans  = "__orphans"
)

// SyncNamespace is the namespace of the sidecar that holds a chat's slug.
const SyncNamespace = "chat_sync"

// Kind is what a sidecar holds, by its namespace.
type Kind string

// The kinds of sidecars.
const (
	FloorLog Kind = "floor log" // cut at a branch
	ChatSync Kind = "chat_sync" // never copied
	Orphans  Kind = "orphans"   // what a recovery left behind; skipped
	Plain    Kind = "plain"     // known to its plugin only; not copied, listed
)

// Sidecar is one file of Luker's that belongs to a chat.
type Sidecar struct {
	Path      string
	Namespace string
	Kind      Kind
}

// KindOf classifies a namespace.
func KindOf(namespace string) Kind {
	switch {
	case namespace == SyncNamespace:
		return ChatSync
	case strings.HasSuffix(namespace, floorLog):
		return FloorLog
	case strings.HasSuffix(namespace, orphans):
		return Orphans
	default:
		return Plain
	}
}

// SidecarName returns the file name of a chat's sidecar; chat is the chat's name
// without ".jsonl".
func SidecarName(chat, namespace string) string { return chat + infix + namespace + fileEnd }

// IsSidecar reports whether a file's name is that of some chat's sidecar.
func IsSidecar(file string) bool {
	return strings.HasSuffix(file, fileEnd) && strings.Contains(file, infix)
}

// Chats returns the names of the chats to which the sidecar with a file name may belong:
// several where a chat's name or a namespace contains ".luker-state.".
func Chats(file string) (chats []string) {
	for at := 0; ; at++ {
		i := strings.Index(file[at:], infix)
		if i < 0 {
			return chats
		}
		at += i
		chats = append(chats, file[:at])
	}
}

// Among returns the sidecars of one chat among the names of files in its folder. Letter case
// counts, as it does for Luker, and those of other chats are not included: "A" has none of those
// of "A - Branch #1".
func Among(files []string, folder, chat string) []Sidecar {
	var list []Sidecar
	for _, file := range files {
		namespace, ok := strings.CutPrefix(file, chat+infix)
		if !ok {
			continue
		}
		if namespace, ok = strings.CutSuffix(namespace, fileEnd); ok && namespace != "" {
			list = append(list, Sidecar{Path: filepath.Join(folder, file), Namespace: namespace, Kind: KindOf(namespace)})
		}
	}
	return list
}

// CharacterStateName returns the file name of a character's state; stem is the name of its card
// without ".png" (src/endpoints/characters.js).
func CharacterStateName(stem, namespace string) string { return stem + beside + namespace + fileEnd }

// CharacterStates returns the state that lies beside a character's card, sorted by name.
// The error is that of reading the folder.
func CharacterStates(card string) ([]Sidecar, error) {
	folder, stem := filepath.Dir(card), strings.TrimSuffix(filepath.Base(card), filepath.Ext(card))
	entries, err := os.ReadDir(folder)
	var list []Sidecar
	for _, entry := range entries {
		namespace, ok := strings.CutPrefix(entry.Name(), stem+beside)
		if !ok || !entry.Type().IsRegular() {
			continue
		}
		if namespace, ok = strings.CutSuffix(namespace, fileEnd); ok && namespace != "" {
			list = append(list, Sidecar{Path: filepath.Join(folder, entry.Name()), Namespace: namespace, Kind: Plain})
		}
	}
	return list, err
}

// Stems returns the names, without extension, of the cards to which a file in the characters'
// folder may belong as their state: none if it is not state, several where a card's name or a
// namespace contains ".state.".
func Stems(file string) (stems []string) {
	name, ok := strings.CutSuffix(file, fileEnd)
	for at := 0; ok; {
		i := strings.Index(name[at:], beside)
		if i < 0 {
			break
		}
		if at += i; at > 0 && at+len(beside) < len(name) {
			stems = append(stems, name[:at])
		}
		at++
	}
	return stems
}
