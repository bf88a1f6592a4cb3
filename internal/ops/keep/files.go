package keep

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/luker"
	"stchat/internal/ops"
	"stchat/internal/userdir"
)

// scope is what a snapshot takes of one folder.
type scope struct {
	root    string
	whole   bool     // a user's whole folder
	part    bool     // a shard's part of it
	files   []string // in the order in which they are taken: chats first
	bytes   int64
	folders map[string]bool
	seen    map[string]bool
}

// scopes groups what PATHs name by the folders whose stores keep it. What has no store is
// in the errors.
func scopes(w ops.Walked, shard ops.Shard, store, root string) ([]*scope, []*ops.SourceError) {
	errs := slices.Clone(w.Errs)
	var list []*scope
	byRoot := map[string]*scope{}
	of := func(root string) *scope {
		real := userdir.RealPath(root)
		s := byRoot[real]
		if s == nil {
			s = &scope{root: root, folders: map[string]bool{}, seen: map[string]bool{}}
			byRoot[real] = s
			list = append(list, s)
		}
		return s
	}
	for _, dir := range w.Users {
		of(dir.Root).whole = true
	}
	for _, dir := range w.Parts {
		of(dir.Root).part = true
	}
	for _, t := range w.Chats {
		dir, ok := userdir.Find(t.Path)
		switch {
		case root != "":
			dir.Root = root
		case ok:
		case store == "":
			errs = append(errs, &ops.SourceError{Path: t.Path, Err: fmt.Errorf("%s: %w", t.Path, ErrLoose)})
			continue
		case t.From != "":
			dir.Root = t.From
		default:
			dir.Root = filepath.Dir(t.Path)
		}
		s := of(dir.Root)
		s.add(t.Path)
		s.bytes += t.Size
		s.folders[filepath.Dir(t.Path)] = true
	}
	for _, s := range list {
		s.around(shard)
	}
	if store != "" && len(list) > 1 {
		errs = append(errs, &ops.SourceError{Path: store, Err: fmt.Errorf("%s: %w: %s and %s are two", store, ErrSeveral, list[0].root, list[1].root)})
		return nil, errs
	}
	return list, errs
}

func (s *scope) add(path string) {
	if !s.seen[path] {
		s.seen[path] = true
		s.files = append(s.files, path)
	}
}

// around adds what belongs to the chats: Luker's sidecars beside them and, for a user's folder,
// the group files, the lorebooks and the cards that are in the shard.
func (s *scope) around(shard ops.Shard) {
	folders := make([]string, 0, len(s.folders))
	for folder := range s.folders {
		folders = append(folders, folder)
	}
	slices.Sort(folders)
	for _, folder := range folders {
		s.addFiles(folder, luker.IsSidecar)
	}
	if !s.whole && !s.part {
		return
	}
	isJSON := func(name string) bool { return strings.EqualFold(filepath.Ext(name), ".json") }
	isCard := func(name string) bool { return isJSON(name) || strings.EqualFold(filepath.Ext(name), ".png") }
	add := func(folder string, wanted func(name string) bool) {
		if shard.Has(filepath.Join(folder, "any")) {
			s.addFiles(folder, wanted)
		}
	}
	dir := userdir.Dir{Root: s.root}
	add(dir.Groups(), isJSON)
	add(dir.Worlds(), isJSON)
	add(dir.Characters(), isCard)
}

// addFiles adds the wanted regular files of a folder. A folder that cannot be listed adds
// none.
func (s *scope) addFiles(folder string, wanted func(name string) bool) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.Type().IsRegular() && wanted(e.Name()) {
			s.add(filepath.Join(folder, e.Name()))
		}
	}
}
