package main

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
)

// strangersAll kills runs in the middle of a commit, lets another program write to one of
// the files that the change is of, kills the next call too, every other time, and lets
// the one after it end the change: what the other program wrote must stand.
func (h *harness) strangersAll(out io.Writer) error {
	if !h.canTrace() {
		fmt.Fprintln(out, "\nstrangers before the recovery: skipped, since there is no strace here")
		return nil
	}
	const rounds = 6
	type job struct {
		sc *scenario
		m  meddler
	}
	var jobs []job
	var rows []string
	for _, m := range meddlers() {
		rows = append(rows, m.name)
		for _, sc := range h.cases {
			for range rounds {
				jobs = append(jobs, job{sc, m})
			}
		}
	}
	err := h.each(len(jobs), func(i int, dir string) error {
		j := jobs[i]
		rng := rand.New(rand.NewPCG(h.seed, uint64(i)))
		for range 8 { // until a run is killed with a journal
			left, err := h.halfDone(j.sc, dir, rng)
			if err != nil {
				return err
			}
			if left {
				return h.stranger(j.sc, j.m, dir, rng)
			}
		}
		h.tally.add(j.m.name, "no journal")
		return nil
	})
	h.tally.table(out, "another program, after a kill", rows, []string{"runs", "no journal", "no such file", "killed again", brokenness})
	return err
}

// halfDone kills a run, and reports whether it left a journal.
func (h *harness) halfDone(sc *scenario, dir string, rng *rand.Rand) (bool, error) {
	if err := h.settle(sc, dir); err != nil {
		return false, err
	}
	if _, err := h.call(dir, killAt(dir, rng), sc.args(want)); err != nil {
		return false, err
	}
	is, err := take(dir)
	return slices.ContainsFunc(is.temps(), isJournal), err
}

// stranger lets a meddler write to a file of a change that is half done, has it ended,
// and judges what is left.
func (h *harness) stranger(sc *scenario, m meddler, dir string, rng *rand.Rand) error {
	before, err := take(dir)
	if err != nil {
		return err
	}
	names := sc.ofChange(before, m.new)
	if len(names) == 0 {
		h.tally.add(m.name, "no such file")
		return nil
	}
	name := names[rng.IntN(len(names))]
	if err := m.do(filepath.Join(dir, filepath.FromSlash(name)), m.makes(before[name])); err != nil {
		return err
	}
	after, err := take(dir)
	if err != nil {
		return err
	}
	h.tally.add(m.name, "runs")
	if rng.IntN(2) == 0 {
		again, err := h.killNext(dir, rng)
		if err != nil {
			return err
		}
		if again {
			h.tally.add(m.name, "killed again")
		}
	}
	out, err := h.next(dir, nil)
	if err != nil {
		return err
	}
	strange := written(before, after)
	if sc.masked {
		strange = strange.mask()
	}
	own := sc.with(strange, name)
	his := append(slices.Collect(maps.Keys(strange)), name)
	if len(strange) == 0 { // deleted: its former name may be gone, too
		for file, data := range sc.old {
			if data == before[name] {
				his = append(his, file)
				own.allowed[file] = maps.Clone(own.allowed[file])
				own.allowAs(file, absent)
			}
		}
	}
	bad, f, err := own.strangerStands(dir, strange, name)
	if err != nil {
		return err
	}
	if out.code != 0 {
		bad = append(bad, "the next call failed")
	}
	if sc.apart && !maps.Equal(f.seen.without(his), sc.new.without(his)) {
		bad = append(bad, "the files that the stranger left alone are not new")
	}
	bad = append(bad, own.restWhole(f.seen, append(his, sc.otherName(name)...))...)
	if len(f.temps) > 0 {
		bad = append(bad, fmt.Sprintf("the next call leaves %v", f.temps))
	}
	if len(bad) > 0 {
		h.tally.add(m.name, brokenness)
		h.tally.fault(m.name, sc.name+", "+name, append(bad, "there was: "+strings.Join(slices.Sorted(maps.Keys(before)), ", ")), out)
	}
	return nil
}

// ofChange returns the files that the call makes, changes or removes: those that are there, or
// with free those that are not.
func (sc *scenario) ofChange(is snapshot, free bool) []string {
	var list []string
	for name := range sc.allowed {
		was, wasThere := sc.old[name]
		now, isMade := sc.new[name]
		if _, there := is[name]; (was != now || wasThere != isMade) && there != free {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// otherName returns the other name of a file that moves: it stays where somebody takes the one.
func (sc *scenario) otherName(name string) (list []string) {
	for from, data := range sc.old {
		for to, moved := range sc.new {
			_, stays := sc.new[from]
			_, was := sc.old[to]
			moves := !stays && !was && moved == data
			if moves && (name == from || name == to) {
				list = append(list, from, to)
			}
		}
	}
	return list
}

// written returns the files that a stranger's write changed: more than one where they were
// names of the same file.
func written(before, after snapshot) snapshot {
	list := snapshot{}
	for name, data := range after {
		if was, ok := before[name]; (!ok || was != data) && !tempName.MatchString(filepath.Base(name)) {
			list[name] = data
		}
	}
	return list
}

// with returns the scenario with a stranger's files: they must be what the stranger wrote, but
// a file that was deleted may come back.
func (sc *scenario) with(strange snapshot, name string) *scenario {
	own := *sc
	own.allowed = maps.Clone(sc.allowed)
	for file, data := range strange {
		own.allowed[file] = map[string]bool{data: true}
		if len(strange) > 1 { // another name of it is enough
			own.allowed[file][absent] = true
		}
	}
	if len(strange) == 0 {
		own.allowed[name] = maps.Clone(sc.allowed[name])
		own.allowAs(name, absent)
	}
	return &own
}

// strangerStands looks at the world, and leaves out what the stranger has broken.
func (sc *scenario) strangerStands(dir string, strange snapshot, name string) (bad []string, f finding, err error) {
	if f, err = sc.look(dir); err != nil {
		return nil, f, err
	}
	_, there := f.seen[name]
	for _, b := range f.broken {
		from, _, told := strings.Cut(b, ": ")
		if _, his := strange[from]; (!told || !his) && (there || !strings.Contains(b, "does not exist")) {
			bad = append(bad, b)
		}
	}
	return bad, f, nil
}

// restWhole returns what of the files that the stranger left alone is neither all old nor all
// new. Where a call makes several changes, each of them may be either.
func (sc *scenario) restWhole(s snapshot, his []string) []string {
	if sc.mends || len(sc.partly) > 0 {
		return nil
	}
	rest := s.without(his)
	if maps.Equal(rest, sc.old.without(his)) || maps.Equal(rest, sc.new.without(his)) {
		return nil
	}
	return []string{"the other files are neither all old nor all new"}
}
