// Package backups knows the copies of chats that SillyTavern keeps in a user's
// backups/ folder (SillyTavern 1.19.0, src/endpoints/chats.js):
//
//	backups/chat_<key>_<YYYYMMDD-HHMMSS>.jsonl
//
// The key is made of the character's avatar, or of a group chat's own name, and not
// of a solo chat's: all chats of a character share one key, and the 50 places that go
// with it. What SillyTavern prunes is every file whose name begins with "chat_<key>_",
// so a save of "Mira" also deletes backups of "Mira Holm". The time is local.
//
// The package reads names and folders, and a backup's header; it writes nothing.
package backups

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stchat/internal/names"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// Limit is how many backups whose names begin with one key SillyTavern keeps
// (backups.common.numberOfBackups, unless the user configured it otherwise).
const Limit = 50

const (
	prefix     = "chat_"
	timeLayout = "20060102-150405"
)

// Backup is one copy of a chat.
type Backup struct {
	Path  string
	Key   string    // empty if the name does not end in a time, so that the key is unknown
	At    time.Time // when it was made: by its name, else by its modification time
	Dated bool      // At is by its name
	Size  int64
}

// Folder is what a backups folder holds.
type Folder struct {
	Path    string
	Backups []Backup // regular files called chat_*.jsonl, the oldest first
	names   []string // of all that begins with chat_: each takes a place
}

// Read lists the backups folder of a user. One that does not exist is empty. Folders,
// pipes and links that bear a backup's name are no backups, but take its place.
func Read(dir userdir.Dir) (*Folder, error) {
	f := &Folder{Path: dir.Backups()}
	entries, err := safefile.ReadDir(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		f.names = append(f.names, e.Name())
		if !e.Type().IsRegular() || !userdir.HasExtension(e.Name()) {
			continue
		}
		if info, err := e.Info(); err == nil { // else it was pruned just now
			f.Backups = append(f.Backups, of(filepath.Join(f.Path, e.Name()), info))
		}
	}
	slices.SortStableFunc(f.Backups, func(a, b Backup) int { return a.At.Compare(b.At) })
	return f, err
}

// of returns the backup at a path.
func of(path string, info fs.FileInfo) Backup {
	b := Backup{Path: path, Size: info.Size()}
	if b.Key, b.At, b.Dated = Parse(info.Name(), time.Local); !b.Dated {
		b.At = info.ModTime()
	}
	return b
}

// Parse reads the name of a backup's file: its key, which is found from the right, since a
// key can look like a time, and the time in the given zone. dated is false if the name has
// no time, or one that does not exist (month 13); in the latter case it still has a key.
func Parse(file string, zone *time.Location) (key string, at time.Time, dated bool) {
	if !strings.HasPrefix(file, prefix) || !userdir.HasExtension(file) {
		return "", time.Time{}, false
	}
	stem := file[len(prefix) : len(file)-len(names.Extension)]
	cut := len(stem) - len(timeLayout) - 1
	if cut < 0 || stem[cut] != '_' || !timeShape(stem[cut+1:]) {
		return "", time.Time{}, false
	}
	// Checked without a zone: an hour that a clock change leaves out is a time all the same.
	utc, err := time.Parse(timeLayout, stem[cut+1:])
	if err != nil {
		return stem[:cut], time.Time{}, false
	}
	return stem[:cut], time.Date(utc.Year(), utc.Month(), utc.Day(), utc.Hour(), utc.Minute(), utc.Second(), 0, zone), true
}

// timeShape reports whether text is digits with a hyphen where a time has it.
func timeShape(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') != (timeLayout[i] == '-') || c != '-' && timeLayout[i] == '-' {
			return false
		}
	}
	return true
}
