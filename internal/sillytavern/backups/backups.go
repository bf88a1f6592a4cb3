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
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"stchat/internal/change/safefile"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/group"
	"stchat/internal/text/lazyregexp"
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
	Path string
	Key  string    // empty if the name does not end in a time, so that the key is unknown
	At   time.Time // when it was made: by its name, else by its modification time
	Size int64
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
		info, err := e.Info()
		if err != nil { // it was pruned just now
			continue
		}
		key, at, dated := Parse(e.Name(), time.Local)
		if !dated {
			at = info.ModTime()
		}
		f.Backups = append(f.Backups, Backup{
			Path: filepath.Join(f.Path, e.Name()),
			Key:  key,
			At:   at,
			Size: info.Size(),
		})
	}

	slices.SortStableFunc(f.Backups, func(a, b Backup) int { return a.At.Compare(b.At) })
	return f, err
}

// Parse reads the name of a backup's file: its key, which is found from the right, since a
// key can look like a time, and the time in the given zone. dated is false if the name has
// no time, or one that does not exist (month 13); in the latter case it still has a key.
func Parse(file string, zone *time.Location) (key string, at time.Time, dated bool) {
	if !strings.HasPrefix(file, prefix) || !userdir.HasExtension(file) {
		return "", time.Time{}, false
	}
	stem := file[len(prefix) : len(file)-len(names.Extension)]
	cut := strings.LastIndexByte(stem, '_')
	if cut < 0 {
		return "", time.Time{}, false
	}
	key = stem[:cut]
	text := stem[cut+1:]
	if !looksLikeTime(text) {
		return "", time.Time{}, false
	}
	// Checked without a zone: an hour that a clock change leaves out is a time all the same.
	utc, err := time.Parse(timeLayout, text)
	if err != nil {
		return key, time.Time{}, false
	}
	at = time.Date(utc.Year(), utc.Month(), utc.Day(), utc.Hour(), utc.Minute(), utc.Second(), 0, zone)
	return key, at, true
}

// looksLikeTime reports whether text is digits with a hyphen where a time has it.
func looksLikeTime(text string) bool {
	date, clock, _ := strings.Cut(text, "-")
	return len(date) == 8 && len(clock) == 6 && strings.Trim(date+clock, "0123456789") == ""
}

// Keys returns the keys under which SillyTavern keeps backups of what is called name: a character's
// avatar without its extension, which is also its folder's name, or a group chat's name. The first
// is that of 1.19, which ends in a hash where the name has a character outside 0x20 to 0x7E; then
// there is a second one, that of 1.18 and earlier (getBackupKey in src/endpoints/chats.js).
func Keys(name string) []string {
	name = rawjson.WellFormed(name)
	key := keyOf(names.File(name))
	if !strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 || r > 0x7e }) {
		return []string{key}
	}
	sum := sha256.Sum256([]byte(name))
	return []string{key + "_" + hex.EncodeToString(sum[:4]), key}
}

// timeKey is the key of a chat that is named by its time, as SillyTavern names chats of groups
// (humanizedDateTime in public/scripts/RossAscends-mods.js, with milliseconds since 1.16).
var timeKey = lazyregexp.New(`^(\d{4})_(\d{1,2})_(\d{1,2})_(\d{1,2}h\d\dm\d\ds(?:\d+ms)?)$`)

// GroupChat returns a name for a group's chat whose backups have a key: the one that SillyTavern gave
// it, if it was a time, or else the key.
func GroupChat(key string) string {
	return timeKey().ReplaceAllString(key, "$1-$2-$3@$4")
}

// keyOf returns name in lower case, with each UTF-16 unit outside [a-zA-Z0-9] made a _.
func keyOf(name string) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(name)) {
		switch {
		case u >= 'a' && u <= 'z' || u >= '0' && u <= '9':
			b.WriteByte(byte(u))
		case u >= 'A' && u <= 'Z':
			b.WriteByte(byte(u) + 'a' - 'A')
		default:
			b.WriteByte('_')
		}
	}
	return b.String()
}

// Facts is what tells which chat a backup is of.
type Facts struct {
	Slug   string // the header's integrity; empty if there is none, or if it tells nothing
	Parent string // the header's main_chat
	Name   string // of the chat
	Begins bool   // the chat has nothing but its greeting, which may be written over another
}

// Excludes reports whether a backup cannot be of a chat. A branch names its parent from its first
// save on: what names none was never the branch, and what names a parent was never that parent.
// A chat that was written over by its greeting names none any more.
func (chat *Facts) Excludes(b *Facts) bool {
	sameSlug := b.Slug != "" && b.Slug == chat.Slug
	if chat.Parent != "" {
		otherParent := b.Parent != chat.Parent && !sameSlug
		return b.Parent == "" || otherParent
	}
	if b.Parent != "" {
		isOfBranch := !chat.Begins && !sameSlug
		return b.Parent == chat.Name || isOfBranch
	}
	return false
}

// Belongs returns the index of the chat that a backup is of: the only one with its slug; if several
// or none have it, the one that shares most with it, of equals the first; -1 if none shares
// anything. shared counts what chat i has in common with the backup: lines, or texts.
//
// A slug alone is no proof: up to 1.18 a branch inherits it.
func Belongs(b Facts, chats []Facts, shared func(i int) int) int {
	same := 0
	only := -1
	for i := range chats {
		sameSlug := b.Slug != "" && chats[i].Slug == b.Slug
		if sameSlug && !chats[i].Excludes(&b) {
			same++
			only = i
		}
	}

	if same == 1 {
		return only
	}

	best := -1
	most := 0
	for i := range chats {
		otherSlug := same > 1 && chats[i].Slug != b.Slug
		if otherSlug || chats[i].Excludes(&b) {
			continue
		}
		if n := shared(i); n > most {
			best = i
			most = n
		}
	}
	return best
}

// Owner is a possible owner of backups: a character, or one chat of a group.
type Owner struct {
	Kind userdir.Kind // Solo or Group
	Name string       // the character's folder, or the group chat's name
	// Group is the group's name, which is a stranger's text; empty where no group lists
	// the chat, and for a character.
	Group string
}

// Owners are the possible owners of the backups in a user folder.
type Owners map[string][]Owner // by key

// FindOwners lists the characters, by their folders of chats and their cards, and the
// chats of groups, by their files and the groups' lists, so that what has lost its
// chats still has its backups. groups may be nil.
func FindOwners(dir userdir.Dir, groups *group.Set) Owners {
	owners := Owners{}
	seen := map[Owner]bool{}
	add := func(o Owner) {
		if o.Name == "" || seen[o] {
			return
		}
		seen[o] = true
		for _, key := range Keys(o.Name) {
			owners[key] = append(owners[key], o)
		}
	}

	for _, name := range namesIn(dir.Chats(), "") {
		add(Owner{Kind: userdir.Solo, Name: name})
	}
	for _, stem := range namesIn(dir.Characters(), userdir.CardExtension) {
		add(Owner{Kind: userdir.Solo, Name: userdir.CharacterFolder(stem + userdir.CardExtension)})
	}
	listed := map[string]bool{}
	if groups != nil {
		for _, g := range groups.Files {
			for _, chat := range g.Chats {
				listed[chat] = true
				add(Owner{userdir.Group, chat, g.Name})
			}
		}
	}

	for _, file := range namesIn(dir.GroupChats(), ".jsonl") {
		if !listed[file] {
			add(Owner{Kind: userdir.Group, Name: file})
		}
	}
	return owners
}

// namesIn returns the names of the files with an extension in a folder, without it, or if
// ext is empty, of its subfolders. For a folder that cannot be read it returns none.
func namesIn(folder, ext string) (found []string) {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		name := e.Name()
		stem := name[:max(len(name)-len(ext), 0)]
		hasExt := strings.EqualFold(name[len(stem):], ext)
		wantsDir := ext == ""
		if hasExt && userdir.IsDir(filepath.Join(folder, name)) == wantsDir {
			found = append(found, stem)
		}
	}
	return found
}

// Quota is the use of the places of one key: a part of the summary of lost.
type Quota struct {
	Key     string   `json:"key"`
	Owners  []string `json:"owners"`
	Used    int      `json:"used"` // files whose names begin as the key's backups do: beyond the limit, a save deletes the oldest
	Limit   int      `json:"limit"`
	Backups int      `json:"backups"` // under this key
	Bytes   int64    `json:"bytes"`
	Others  []Share  `json:"others"` // other keys whose backups take places, too, and are deleted by the same saves
}

// Share is how many places of another key's quota a key's backups take.
type Share struct {
	Key    string   `json:"key"`
	Owners []string `json:"owners"`
	Used   int      `json:"used"`
}

// Quotas returns the quota of each key that has backups, sorted by key.
func (f *Folder) Quotas(owners Owners) (quotas []Quota) {
	under := map[string]Quota{}
	for _, b := range f.Backups {
		if b.Key != "" {
			q := under[b.Key]
			q.Backups++
			q.Bytes += b.Size
			under[b.Key] = q
		}
	}

	for _, key := range slices.Sorted(maps.Keys(under)) {
		q := under[key]
		q.Key = key
		q.Owners = owners.names(key)
		q.Limit = Limit
		shares := map[string]int{}
		for _, file := range f.names {
			if !strings.HasPrefix(file, prefix+key+"_") {
				continue
			}
			q.Used++
			if theirs, _, _ := Parse(file, time.UTC); theirs != "" && theirs != key {
				shares[theirs]++
			}
		}

		for _, key := range slices.Sorted(maps.Keys(shares)) {
			q.Others = append(q.Others, Share{key, owners.names(key), shares[key]})
		}
		quotas = append(quotas, q)
	}
	return quotas
}

// names returns the names of the possible owners of a key.
func (o Owners) names(key string) (list []string) {
	for _, owner := range o[key] {
		list = append(list, owner.Name)
	}
	return list
}
