package rules

import (
	"path/filepath"

	"stchat/internal/changeset"
	"stchat/internal/group"
	"stchat/internal/userdir"
)

// listed is a name in a group's list.
type listed struct{ file, chat string }

// isBegun reports whether a group's chat that is not there has only been put into its
// list: SillyTavern greets in it, and makes its file, when it is first opened. The undo
// records tell.
func (s *Surroundings) isBegun(dir userdir.Dir, g *group.File, chat string) bool {
	begun := s.begun.Get(dir.Root, func() map[listed]bool {
		records, _, _ := changeset.Records(dir.Root) // without them there is a finding more
		begun := map[listed]bool{}
		for _, r := range records {
			for _, step := range r.Steps() {
				if name, ok := group.BegunIn(step.About); ok {
					begun[listed{filepath.Join(dir.Root, filepath.FromSlash(step.Path)), name}] = true
				}
			}
		}
		return begun
	})
	return begun[listed{filepath.Clean(g.Path), chat}]
}
