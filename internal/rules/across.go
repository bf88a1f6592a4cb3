package rules

import (
	"errors"
	"os"
	"strings"

	"stchat/internal/group"
	"stchat/internal/lorebook"
	"stchat/internal/userdir"
)

// Around selects the files beside the chats that are judged.
type Around struct {
	// Groups are the user folders whose group files are all judged; elsewhere only
	// those that list a checked chat are.
	Groups []userdir.Dir
	// Worlds are the user folders whose lorebooks are all judged, and whose chats
	// folders are searched for strays; elsewhere only the lorebooks that a checked
	// chat names are judged.
	Worlds []userdir.Dir
}

// judgeGroupFiles judges group files. The error joins those of files that cannot be read.
func judgeGroupFiles(look *Surroundings, chats []*Chat, around Around) (out []Finding, err error) {
	var errs []error
	done := map[string]bool{}
	judge := func(file *group.File, dir userdir.Dir) {
		if !done[file.Path] {
			done[file.Path] = true
			out = append(out, judgeGroupFile(look, file, dir)...)
		}
	}
	dirs := map[string]bool{}
	known := func(dir userdir.Dir) *group.Set {
		set, err := look.In(dir)
		if !dirs[dir.Root] {
			dirs[dir.Root] = true
			if err != nil {
				errs = append(errs, err)
			} else {
				errs = append(errs, set.Bad...)
			}
		}
		return set
	}
	for _, dir := range around.Groups {
		if set := known(dir); set != nil {
			for _, file := range set.Files {
				judge(file, dir)
			}
		}
	}
	for _, c := range chats {
		if c.Kind == userdir.Group && c.HasDir {
			known(c.Dir)
		}
		for _, file := range look.listing(c) {
			judge(file, c.Dir)
		}
	}
	return out, errors.Join(errs...)
}

// judgeBookFiles judges lorebooks.
func judgeBookFiles(look *Surroundings, chats []*Chat, around Around) []Finding {
	var out []Finding
	done := map[string]bool{}
	judge := func(b *book, used bool) {
		if b.path != "" && !done[b.path] {
			done[b.path] = true
			out = append(out, judgeBookFile(b, used)...)
		}
	}
	for _, c := range chats {
		for _, name := range c.Books {
			if c.HasDir {
				judge(look.book(c.Dir, name), true)
			}
		}
	}
	for _, dir := range around.Worlds {
		for _, name := range listBooks(dir.Worlds()) {
			judge(look.book(dir, name), false)
		}
	}
	return out
}

// listBooks returns the names of the lorebooks in a worlds folder, none where it cannot
// be read.
func listBooks(worlds string) []string {
	entries, _ := os.ReadDir(worlds)
	var list []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), lorebook.Extension); ok && name != "" && !e.IsDir() {
			list = append(list, name)
		}
	}
	return list
}
