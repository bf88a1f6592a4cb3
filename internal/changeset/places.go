package changeset

import "path/filepath"

// places tells where the files of a journal's steps are.
type places struct{ root *root }

// path is the file that is made, changed or goes.
func (p places) path(s *step) string {
	if s.Do == Replace {
		return realOf(p.root.at(s.Path)) // the file behind a link
	}
	return p.root.at(s.Path)
}

// to is the new name of a file that moves.
func (p places) to(s *step) string { return p.root.at(s.To) }

// kept is what becomes of the old file.
func (p places) kept(s *step) string { return p.root.own(s.Kept) }

// temp is the draft, or what was kept and comes back.
func (p places) temp(s *step) string {
	if isKept(s.Temp) {
		return p.root.own(s.Temp)
	}
	return filepath.Join(filepath.Dir(p.path(s)), s.Temp)
}
