package luker

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stchat/internal/userdir"
)

// Parts of a sidecar's file name (FORMATS.md A1.2, sidecar-naming.js).
const (
	infix     = ".luker-state."
	extension = ".json"
	floorLog  = "__floor_log"
	orphans   = "__orphans"
)

// SyncNamespace is the namespace of the sidecar that holds a chat's slug.
const SyncNamespace = "chat_sync"

// Kind says what is in a sidecar, by its namespace (FORMATS.md A2.6).
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

// SidecarName gives the file name of a chat's sidecar; chat is the chat's name
// without ".jsonl".
func SidecarName(chat, namespace string) string { return chat + infix + namespace + extension }

// Sidecars lists the sidecars of the chat at path, whether that file exists or not,
// in the order of their names. Letter case counts, as it does for Luker, and other
// chats' are not among them: "A" has none of those of "A - Branch #1". The error is
// that of reading the folder; a folder that does not exist has none.
func Sidecars(chatPath string) ([]Sidecar, error) {
	folder := filepath.Dir(chatPath)
	entries, err := os.ReadDir(folder)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	var files []string
	for _, entry := range entries {
		if entry.Type().IsRegular() && IsSidecar(entry.Name()) {
			files = append(files, entry.Name())
		}
	}
	return Among(files, folder, userdir.ChatName(chatPath)), nil
}

// IsSidecar reports whether a file's name is that of some chat's sidecar.
func IsSidecar(file string) bool {
	return strings.HasSuffix(file, extension) && strings.Contains(file, infix)
}

// Among picks the sidecars of one chat out of file names of its folder. A caller
// with many chats of a folder reads the folder once.
func Among(files []string, folder, chat string) []Sidecar {
	var list []Sidecar
	for _, file := range files {
		namespace, ok := strings.CutPrefix(file, chat+infix)
		if !ok {
			continue
		}
		if namespace, ok = strings.CutSuffix(namespace, extension); ok && namespace != "" {
			list = append(list, Sidecar{Path: filepath.Join(folder, file), Namespace: namespace, Kind: KindOf(namespace)})
		}
	}
	return list
}
