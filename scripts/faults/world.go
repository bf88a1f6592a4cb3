package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// snapshot is the content of every file below a folder, by its path with slashes.
// What is neither file nor folder has its type for content.
type snapshot map[string]string

// take reads a snapshot. Files that vanish meanwhile are left out.
func take(dir string) (snapshot, error) {
	s := snapshot{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil || isRecord(filepath.ToSlash(rel)) {
			return err
		}
		if !e.Type().IsRegular() {
			s[filepath.ToSlash(rel)] = e.Type().String()
			return nil
		}
		data, err := os.ReadFile(p)
		s[filepath.ToSlash(rel)] = string(data)
		return err
	})
	return s, err
}

// isRecord reports whether a file is what the program keeps of what it has done, for undo:
// that is no part of the world. What it has begun and not ended is part of it.
func isRecord(name string) bool {
	return strings.HasPrefix(name, own) && !unfinished.MatchString(name)
}

const own = ".stchat/"

var unfinished = regexp.MustCompile(`\.journal(\.tmp)?$|\.tmp$|\.probe$`)

// put makes the files below dir those of the snapshot; is is what is there now.
func (s snapshot) put(dir string, is snapshot) error {
	for name := range is {
		if _, ok := s[name]; !ok {
			if err := os.RemoveAll(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
				return err
			}
		}
	}
	for name, data := range s {
		if now, ok := is[name]; ok && now == data {
			continue
		}
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
			return err
		}
		// A new file, so that no other name of the old one changes with it.
		if err := os.Remove(p); err != nil && !os.IsNotExist(err) {
			return err
		}
		if err := os.WriteFile(p, []byte(data), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// temps returns the program's own files among those of the snapshot: drafts, and what it has
// begun and not ended.
func (s snapshot) temps() []string {
	var list []string
	for name := range s {
		if tempName.MatchString(path.Base(name)) || strings.HasPrefix(name, own) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

var tempName = regexp.MustCompile(`^\.stchat-[0-9a-f]{12}-[1-9][0-9]*-[0-9a-f]{8}\.tmp$`)

// without returns the snapshot without some of its files.
func (s snapshot) without(names []string) snapshot {
	s = maps.Clone(s)
	for _, name := range names {
		delete(s, name)
	}
	return s
}

// mask hides what differs from run to run where it cannot be asked for: slugs that
// are made up, and times in Luker's chat_sync and in what repair says.
func (s snapshot) mask() snapshot {
	m := snapshot{}
	for name, data := range s {
		data = slug.ReplaceAllString(data, "SLUG")
		data = synced.ReplaceAllString(data, `"updated_at":0`)
		m[name] = repaired.ReplaceAllString(data, "at its repair")
	}
	return m
}

var (
	slug     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	synced   = regexp.MustCompile(`"updated_at":\d+`)
	repaired = regexp.MustCompile(`at its repair, .*`)
)

// dangling lists what points at a file that does not exist: links and parents of
// chats, lorebooks they name, chats that groups list and that groups and cards have
// open, sidecars' chats apart (they are written first).
func (s snapshot) dangling() []string {
	return s.danglingBut(func(string, string) bool { return false })
}

// danglingBut lists them without those that may be.
func (s snapshot) danglingBut(may func(from, to string) bool) []string {
	var list []string
	missing := func(from, what, file string) {
		if _, ok := s[file]; !ok && !may(from, file) {
			list = append(list, fmt.Sprintf("%s: its %s %s does not exist", from, what, file))
		}
	}
	for name, data := range s {
		folder := path.Dir(name)
		switch {
		case path.Ext(name) == ".jsonl":
			for line := range strings.SplitSeq(data, "\n") {
				var l chatLine
				if json.Unmarshal([]byte(line), &l) != nil {
					continue // a world may have damage in it
				}
				if l.Metadata.Book != "" {
					missing(name, "lorebook", "worlds/"+l.Metadata.Book+".json")
				}
				if l.Metadata.Main != "" {
					missing(name, "parent", folder+"/"+l.Metadata.Main+".jsonl")
				}
				for _, chat := range append(l.Extra.Branches, l.Extra.Bookmark) {
					if chat != "" {
						missing(name, "link", folder+"/"+chat+".jsonl")
					}
				}
			}
		case folder == "groups" && path.Ext(name) == ".json":
			var g struct {
				Open  string   `json:"chat_id"`
				Chats []string `json:"chats"`
			}
			if err := json.Unmarshal([]byte(data), &g); err != nil {
				list = append(list, fmt.Sprintf("%s: %v", name, err))
			}
			for _, chat := range append(g.Chats, g.Open) {
				if chat != "" {
					missing(name, "chat", "group chats/"+chat+".jsonl")
				}
			}
		case folder == "characters" && path.Ext(name) == ".json":
			var c struct {
				Chat string `json:"chat"`
			}
			if err := json.Unmarshal([]byte(data), &c); err != nil {
				list = append(list, fmt.Sprintf("%s: %v", name, err))
			}
			if c.Chat != "" {
				missing(name, "open chat", "chats/"+strings.TrimSuffix(path.Base(name), ".json")+"/"+c.Chat+".jsonl")
			}
		case path.Ext(name) == ".json" && !json.Valid([]byte(data)):
			list = append(list, name+": is not JSON")
		}
	}
	slices.Sort(list)
	return list
}

// chatLine is the part of a chat's line that points at files.
type chatLine struct {
	Metadata struct {
		Book string `json:"world_info"`
		Main string `json:"main_chat"`
	} `json:"chat_metadata"`
	Extra struct {
		Bookmark string   `json:"bookmark_link"`
		Branches []string `json:"branches"`
	} `json:"extra"`
}

// loose lists chats that their groups or sources do not know of: what a failure
// after the chat leaves to be completed.
func (s snapshot) loose(linked bool) []string {
	listed, noted := map[string]bool{}, map[string]bool{}
	for name, data := range s {
		switch {
		case path.Dir(name) == "groups":
			var g struct {
				Chats []string `json:"chats"`
			}
			_ = json.Unmarshal([]byte(data), &g) // dangling reports it
			for _, chat := range g.Chats {
				listed[chat] = true
			}
		case path.Ext(name) == ".jsonl":
			for line := range strings.SplitSeq(data, "\n") {
				var l chatLine
				_ = json.Unmarshal([]byte(line), &l) // dangling reports it
				for _, chat := range append(l.Extra.Branches, l.Extra.Bookmark) {
					noted[path.Dir(name)+"/"+chat+".jsonl"] = true
				}
			}
		}
	}
	var list []string
	for name, data := range s {
		if path.Ext(name) != ".jsonl" {
			continue
		}
		if path.Dir(name) == "group chats" && !listed[strings.TrimSuffix(path.Base(name), ".jsonl")] {
			list = append(list, name+" is in no group")
		}
		var l chatLine
		first, _, _ := strings.Cut(data, "\n")
		_ = json.Unmarshal([]byte(first), &l) // dangling reports it
		if linked && l.Metadata.Main != "" && !noted[name] {
			list = append(list, name+" is not noted in its source")
		}
	}
	slices.Sort(list)
	return list
}
