package changeset

import (
	"context"
	"strings"

	"stchat/internal/safefile"
)

// Settled is the result of [Settle].
type Settled struct {
	Left  []string // files left as they are, since somebody changed them
	Aside []string // unreadable journals, under their new names
}

// Settle takes back what it can of the change id in the root dir, which was neither
// completed nor taken back (see [Unfinished]), on a person's decision. For files that are
// left as they are, the kept content stays, under the same ID. An unreadable journal is
// set aside, with all that was kept for it, until [Discard] drops it.
func Settle(ctx context.Context, dir, id string, opt Options) (done Settled, err error) {
	r := newRoot(dir)
	unlock, held, err := r.lock(ctx)
	if err != nil {
		return done, err
	}
	defer unlock()
	names, err := r.list()
	if err != nil {
		return done, err
	}
	for _, name := range names {
		stem, ok := strings.CutSuffix(name, journalSuffix)
		if !ok || stem != id && !isSetOf(stem, id) {
			continue
		}
		j, err := readJournal(r.own(name))
		if err != nil {
			aside := r.own(stem + asideSuffix)
			if !opt.DryRun {
				if err := opt.system().Rename(r.own(name), aside, !opt.NoSync); err != nil {
					return done, at(r.own(name), err)
				}
			}
			done.Aside = append(done.Aside, aside)
			continue
		}
		if !held && !safefile.ProcessGone(j.Realm, j.Pid) {
			return done, safefile.ErrBusy
		}
		v := newView(r, j)
		v.loose = v.loose || !r.isHome(j)
		p := newPlayer(v, j, opt)
		if err := p.resume(); err != nil {
			return done, err
		}
		if !r.isHome(j) {
			if err := p.all().confined(); err != nil {
				return done, err
			}
		}
		left, err := p.settle(opt)
		done.Left = append(done.Left, left...)
		if err != nil {
			return done, err
		}
	}
	return done, nil
}
