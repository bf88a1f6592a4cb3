package inspect

import (
	"os"
	"strings"

	"stchat/internal/extension"
	"stchat/internal/extension/autorecap"
	"stchat/internal/extension/luker"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
)

// MaxKeys is how many keys of the metadata are listed, so that a hostile header cannot fill
// the memory; the rest are only counted.
const MaxKeys = 10_000

// keyOwners tells of what is in the metadata whose it is: the place in a list of extensions.
type keyOwners struct {
	byKey  map[string]int
	byName map[string]int // of the extension
	table  extension.Table
}

func ownersOf(list []extension.Extension) keyOwners {
	owners := keyOwners{byKey: map[string]int{}, byName: map[string]int{}, table: extension.TableOf(list)}
	for i, e := range list {
		about := e.About()
		owners.byName[about.Name] = i
		for _, key := range about.Keys {
			owners.byKey[key] = i
		}
	}
	return owners
}

// ownerOf returns the owner of a key and its value.
func (k *keyOwners) ownerOf(key string, value []byte) (place int, owned bool) {
	if place, owned = k.byKey[key]; owned {
		return place, true
	}
	place, owned = k.byName[k.table.OfChat(value)]
	return place, owned
}

// extensions returns what the extensions keep in the metadata, in the messages and beside the
// chat.
func extensions(list []extension.Extension, owner keyOwners, c *chat.Chat, md *rawjson.Object, t *totals, f *library.Folder) []any {
	extension.Find[*autorecap.Extension](list).Counts = autorecap.SceneCounts{
		Breaks: t.breaks,
		Hidden: t.hiddenBreaks,
		Recaps: t.recaps,
	}

	sizes := make([]int64, len(list))
	var unknown []any
	for key, raw := range extension.Owned(md) {
		size := int64(len(raw))
		i, owned := owner.ownerOf(key, raw)
		isCore := strings.HasPrefix(key, "cfg_") // of which core has more than are listed
		switch {
		case owned:
			sizes[i] += size
		case !isCore && len(unknown) < MaxKeys:
			unknown = append(unknown, &Unknown{Name: key, Bytes: size})
		}
	}

	var all []any
	for i, e := range list {
		if view := e.View(md, sizes[i]); view != nil {
			all = append(all, view)
		}
	}

	if l := lukerOf(c, f); l != nil {
		all = append(all, l)
	}
	return append(all, unknown...)
}

// lukerOf describes the chat's sidecars; nil if there are none.
func lukerOf(c *chat.Chat, f *library.Folder) *Luker {
	if f == nil {
		return nil
	}
	files := f.Sidecars(c.Name)
	if len(files) == 0 {
		return nil
	}
	l := &Luker{Name: "luker", Known: true}
	for _, file := range files {
		s := Sidecar{Namespace: file.Namespace, Kind: string(file.Kind)}
		if info, err := os.Lstat(file.Path); err == nil {
			s.Bytes = info.Size()
			l.Bytes += s.Bytes
		}
		if file.Kind == luker.FloorLog {
			s.Commits, s.LastFloor = floors(file.Path)
		}
		l.Sidecars = append(l.Sidecars, s)
	}
	return l
}

// floors returns the number of commits in a floor log, and the last message that
// one of them belongs to; nil if the log cannot be read.
func floors(path string) (commits, last *int) {
	f, err := chat.OpenRegular(path)
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	n := 0
	err = luker.EachCommit(f, func(c *luker.Commit) error {
		if !c.Valid {
			return nil
		}
		n++
		if floor := c.Floor; last == nil || floor > *last {
			last = &floor
		}
		return nil
	})
	if err != nil {
		return nil, nil
	}
	return &n, last
}

// lorebookOf describes the lorebook in the user folder, if that is known.
func lorebookOf(around *library.Library, dir userdir.Dir, hasDir bool, name string) *Lorebook {
	if !hasDir {
		return &Lorebook{Name: name}
	}
	return Describe(name, around.BookOf(dir, name))
}

// Describe returns what is known of a lorebook, by the name that it has where it is named.
func Describe(name string, b *library.Book) *Lorebook {
	l := &Lorebook{Name: name, Exists: &b.Exists}
	switch {
	case b.Err != nil:
		l.Error = new(b.Err.Error())
	case b.Exists:
		l.Entries = &b.Entries
		l.Internal = &b.Internal
		if b.QueueErr != nil {
			l.Error = new(b.QueueErr.Error())
		} else {
			l.Pending = &b.Pending
		}
	}
	return l
}
