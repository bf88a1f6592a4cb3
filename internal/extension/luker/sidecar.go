package luker

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"stchat/internal/json/jsvalue"
	"stchat/internal/sillytavern/chat"
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
func Chats(file string) []string { return before(file, infix) }

// before returns what stands before each occurrence of part in a name.
func before(name, part string) (list []string) {
	for at := range name {
		if strings.HasPrefix(name[at:], part) {
			list = append(list, name[:at])
		}
	}
	return list
}

// Among returns the sidecars of one chat among the names of files in its folder. Letter case
// counts, as it does for Luker, and those of other chats are not included: "A" has none of those
// of "A - Branch #1".
func Among(files []string, folder, chat string) []Sidecar {
	var list []Sidecar
	for _, file := range files {
		if namespace := namespaceIn(file, chat+infix); namespace != "" {
			list = append(list, Sidecar{Path: filepath.Join(folder, file), Namespace: namespace, Kind: KindOf(namespace)})
		}
	}
	return list
}

// namespaceIn returns the namespace behind a prefix in a file's name, "" if there is none.
func namespaceIn(file, prefix string) string {
	namespace, of := strings.CutPrefix(file, prefix)
	namespace, ends := strings.CutSuffix(namespace, fileEnd)
	if !of || !ends {
		return ""
	}
	return namespace
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
		if namespace := namespaceIn(entry.Name(), stem+beside); namespace != "" && entry.Type().IsRegular() {
			list = append(list, Sidecar{Path: filepath.Join(folder, entry.Name()), Namespace: namespace, Kind: Plain})
		}
	}
	return list, err
}

// Stems returns the names, without extension, of the cards to which a file in the characters'
// folder may belong as their state: none if it is not state, several where a card's name or a
// namespace contains ".state.".
func Stems(file string) []string {
	name, ok := strings.CutSuffix(file, fileEnd)
	if !ok {
		return nil
	}
	return slices.DeleteFunc(before(name, beside), func(stem string) bool { return stem == "" || len(stem)+len(beside) == len(name) })
}

// Normalize returns the namespace that Luker makes of a given one
// (normalizeChatStateNamespace of src/endpoints/chats.js): trimmed, in lower case, with an
// underscore for each UTF-16 unit that is not a-z, 0-9, a point, an underscore or a hyphen,
// and at most 96 characters long. "" means that there is none.
func Normalize(namespace string) string {
	var b strings.Builder
	for _, r := range jsvalue.Trim(namespace) {
		lower := unicode.ToLower(r)
		switch {
		case r == 'İ': // becomes i with a dot above, two units
			b.WriteString("i_")
		case lower >= 'a' && lower <= 'z', lower >= '0' && lower <= '9', lower == '.', lower == '_', lower == '-':
			b.WriteRune(lower)
		case lower > 0xFFFF:
			b.WriteString("__")
		default:
			b.WriteByte('_')
		}
	}

	const most = 96
	return b.String()[:min(b.Len(), most)]
}

// LogOf returns the namespace of the floor log of a namespace.
func LogOf(namespace string) string { return namespace + floorLog }

// DataOf returns the namespace whose changes the floor log with the namespace log holds.
func DataOf(log string) string { return strings.TrimSuffix(log, floorLog) }

// InDatabase reports whether Luker keeps this user's data in a database, where the files are
// stale copies that must not be edited. It looks for luker-storage.sqlite in the user's folder
// and the one above, and for a config.yaml there and up to two folders further up, where a
// server has it, whose storage.mode is anything but fs. reason is a message with what was found,
// "" if the files count.
func InDatabase(userRoot string) (reason string) {
	root, err := filepath.Abs(userRoot)
	if err != nil {
		root = userRoot
	}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	const levels = 4 // <server>/data/<user>, and one to spare
	for level := range levels {
		if level < 2 {
			path := filepath.Join(root, "luker-storage.sqlite")
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				return path + " exists: Luker keeps this user's data in a database, and these files are only copies"
			}
		}
		path := filepath.Join(root, "config.yaml")
		if mode := storageMode(path); mode != "" && mode != "fs" {
			return path + ": storage.mode is " + mode + ": Luker keeps its data in a database, and these files are only copies"
		}
		root = filepath.Dir(root)
	}
	return ""
}

// DatabaseError means that Luker keeps a user's data in a database, not in the files.
type DatabaseError struct {
	Reason string // what InDatabase found
}

func (e *DatabaseError) Error() string { return e.Reason }

// storageMode returns storage.mode of a config.yaml, "" if there is none. It understands
// as much YAML as Luker's own file has: a block with one key per line, or one in braces,
// with comments and quotes.
func storageMode(path string) string {
	f, err := chat.OpenRegular(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	const enough = 1 << 20
	text, err := io.ReadAll(io.LimitReader(f, enough))
	if err != nil {
		return ""
	}
	inside := false
	for line := range strings.Lines(string(text)) {
		if i := strings.Index(line, " #"); i >= 0 {
			line = line[:i]
		}
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || trimmed[0] == '#' {
			continue
		}
		parts := []string{trimmed}
		if line[0] != ' ' && line[0] != '\t' {
			var value string
			value, inside = valueOf(trimmed, "storage")
			parts = nil
			if strings.HasPrefix(value, "{") {
				parts = strings.Split(strings.TrimSuffix(value[1:], "}"), ",")
			}
		}

		for _, part := range parts {
			if mode, ok := valueOf(strings.TrimSpace(part), "mode"); inside && ok {
				return unquoted(mode)
			}
		}
	}
	return ""
}

// valueOf returns the value of a YAML line "key: value"; ok is false if it has another
// key. The key may be quoted.
func valueOf(line, key string) (value string, ok bool) {
	name, value, ok := strings.Cut(line, ":")
	if !ok || unquoted(strings.TrimSpace(name)) != key {
		return "", false
	}
	return strings.TrimSpace(value), true
}

func unquoted(s string) string { return strings.ToLower(strings.Trim(s, `"'`)) }
