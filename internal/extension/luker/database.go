package luker

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"stchat/internal/safefile"
)

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
			if path := filepath.Join(root, "luker-storage.sqlite"); isFile(path) {
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

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// storageMode returns storage.mode of a config.yaml, "" if there is none. It understands
// as much YAML as Luker's own file has: a block with one key per line, or one in braces,
// with comments and quotes.
func storageMode(path string) string {
	if !isFile(path) {
		return ""
	}
	f, err := safefile.Open(path)
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
		if line[0] != ' ' && line[0] != '\t' {
			value, ok := valueOf(trimmed, "storage")
			inside = ok
			if flow, braces := strings.CutPrefix(value, "{"); ok && braces {
				for part := range strings.SplitSeq(strings.TrimSuffix(flow, "}"), ",") {
					if mode, ok := valueOf(strings.TrimSpace(part), "mode"); ok {
						return unquoted(mode)
					}
				}
			}
			continue
		}
		if mode, ok := valueOf(trimmed, "mode"); inside && ok {
			return unquoted(mode)
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
