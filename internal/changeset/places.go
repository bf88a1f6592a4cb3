package changeset

import (
	"path/filepath"

	"stchat/internal/userdir"
)

// places finds the files of a journal's steps. Links are followed once, so that all that is done
// for a step is done to one file.
type places struct {
	root   *root
	real   *userdir.Real
	behind map[*step]string // the files behind links
}

// path returns the path of the file that is created, changed, moved or removed.
func (p places) path(s *step) string {
	if s.Do != Replace {
		return p.root.at(s.Path)
	}
	path, ok := p.behind[s]
	if !ok {
		path = p.real.Path(p.root.at(s.Path))
		p.behind[s] = path
	}
	return path
}

// to returns the new path of a file that moves.
func (p places) to(s *step) string { return p.root.at(s.To) }

// kept returns the path under which the old file is kept.
func (p places) kept(s *step) string { return p.root.own(s.Kept) }

// temp returns the path of the draft, or of the kept file that comes back.
func (p places) temp(s *step) string {
	if isKept(s.Temp) {
		return p.root.own(s.Temp)
	}
	return filepath.Join(filepath.Dir(p.path(s)), s.Temp)
}
