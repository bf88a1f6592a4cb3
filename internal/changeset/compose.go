package changeset

import (
	"errors"
	"path/filepath"

	"stchat/internal/safefile"
)

// newJournal returns a journal without steps.
func newJournal(r *root, opt *Options, undoes string, links bool) *journal {
	j := &journal{
		Version: version, ID: r.id, Set: r.nextSet(), Command: opt.Command, Time: opt.Now.UTC(),
		Host: r.self.Host(), Precious: opt.Precious, Undoes: undoes, Links: links,
	}
	j.Realm, j.Pid = r.self.Process()
	return j
}

// compose turns the plans into the steps of a journal. A move is made in two halves, so
// that no name ever leads nowhere: the new name comes before files are replaced, the old
// one goes with what is removed. read means that files were read, so that all have to be
// looked at again.
func compose(j *journal, r *root, plans []*plan) (read bool, err error) {
	var last []*step
	j.Steps = nil
	for _, p := range plans {
		s := &step{Do: p.Do, About: p.About, Part: p.part.number}
		s.Path, _ = r.rel(p.Path)
		if p.draft != nil {
			s.Temp = filepath.Base(p.draft.at())
			now, err := p.draft.ident()
			if err != nil {
				return false, err
			}
			s.Now = &now
		}
		if p.Do != Create {
			was, anew, err := p.ident()
			if err != nil {
				return false, err
			}
			s.Was, read = &was, read || anew
		}
		if p.Do == Replace || p.Do == Remove {
			s.Kept = j.kept(len(j.Steps) + len(last) + 1)
			p.Kept = r.own(s.Kept)
		}
		switch p.Do {
		case Move:
			s.To, _ = r.rel(p.To)
			if (j.Links || s.Was.Size <= copied) && !sameButCase(p.real, p.to) {
				half := *s
				s.Do, half.Do = link, unlink
				last = append(last, &half)
			}
			j.Steps = append(j.Steps, s)
		case Remove:
			last = append(last, s)
		default:
			j.Steps = append(j.Steps, s)
		}
	}
	j.Steps = append(j.Steps, last...)
	return read, nil
}

// decide publishes the journal under its name, and returns the player for it.
func decide(j *journal, r *root, opt Options) (_ *player, err error) {
	if j.Dev, j.Ino, err = safefile.FileID(r.dir); err != nil {
		return nil, err
	}
	p := newPlayer(newView(r, j), j, opt)
	d, sync := p.stepper.disk, !opt.NoSync
	temp, err := j.write(r, d, sync)
	if err != nil {
		return nil, err
	}
	p.keepAll()
	name := r.own(j.stem() + journalSuffix)
	if err := d.Rename(temp, name, sync); err != nil { // the decision
		return nil, errors.Join(err, d.Remove(temp), p.keepNone())
	}
	if sync {
		if err := d.SyncDir(r.own("")); err != nil {
			return nil, errors.Join(err, d.Remove(name), p.keepNone())
		}
	}
	return p, nil
}
