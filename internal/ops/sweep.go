package ops

import (
	"path/filepath"

	"stchat/internal/safefile"
)

// sweeper clears, once a folder and call, the temporary files that runs which
// died have left. It is by folder, by whatever path that is reached.
type sweeper map[string]bool

// beside clears the folder of a file that is to be written: of what it leads
// to, where it is a link.
func (s sweeper) beside(path string) { s.in(filepath.Dir(realPath(path))) }

// in clears a folder.
func (s sweeper) in(dir string) {
	if !s[dir] {
		s[dir] = true
		safefile.RemoveStale(dir)
	}
}
