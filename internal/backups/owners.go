package backups

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stchat/internal/group"
	"stchat/internal/userdir"
)

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
	owners, seen := Owners{}, map[Owner]bool{}
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
		isFolder := e.IsDir()
		if e.Type()&os.ModeSymlink != 0 {
			info, err := os.Stat(filepath.Join(folder, name))
			isFolder = err == nil && info.IsDir()
		}
		if isFolder != (ext == "") || !strings.EqualFold(name[max(len(name)-len(ext), 0):], ext) {
			continue
		}
		found = append(found, name[:len(name)-len(ext)])
	}
	return found
}

// Quota is the use of the places of one key.
type Quota struct {
	Key    string
	Used   int // files whose names begin as the key's backups do: beyond the limit, a save deletes the oldest
	Others []Share
}

// Share is how many places of another key's quota a key's backups take.
type Share struct {
	Key  string
	Used int
}

// Quotas returns the quota of each key that has backups, sorted by key. Others are the keys
// whose backups a save under this one deletes, too.
func (f *Folder) Quotas() []Quota {
	var quotas []Quota
	for _, key := range f.keys() {
		q := Quota{Key: key}
		shares := map[string]int{}
		begin := prefix + key + "_"
		from, _ := slices.BinarySearch(f.names, begin) // ReadDir sorts
		for _, file := range f.names[from:] {
			if !strings.HasPrefix(file, begin) {
				break
			}
			q.Used++
			if theirs, _, _ := Parse(file, time.UTC); theirs != "" && theirs != key {
				shares[theirs]++
			}
		}
		for key, used := range shares {
			q.Others = append(q.Others, Share{key, used})
		}
		slices.SortFunc(q.Others, func(a, b Share) int { return cmp.Compare(a.Key, b.Key) })
		quotas = append(quotas, q)
	}
	return quotas
}

// keys returns the keys of the backups, sorted, each once.
func (f *Folder) keys() []string {
	var keys []string
	for _, b := range f.Backups {
		if b.Key != "" {
			keys = append(keys, b.Key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
