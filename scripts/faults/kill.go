package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// clock is how long a scenario's call takes, from the start of the process.
type clock struct {
	writes time.Duration // until its first temporary file is there
	ends   time.Duration
}

// killAll kills the program at random moments, in every scenario equally often.
func (h *harness) killAll(out io.Writer) error {
	var rows []string
	cases := slices.Clone(h.cases)
	for _, sc := range h.special {
		if sc.only == "kills" {
			cases = append(cases, sc)
		}
	}
	clocks := make([]clock, len(cases))
	for i, sc := range cases {
		var err error
		if clocks[i], err = h.calibrate(sc); err != nil {
			return err
		}
		rows = append(rows, sc.name)
	}
	const batch = 20 // runs in one world before the next scenario
	per := max(1, h.kills/max(1, len(cases)))
	batches := (per + batch - 1) / batch
	err := h.each(batches*len(cases), func(i int, dir string) error {
		sc := cases[i%len(cases)]
		rng := rand.New(rand.NewPCG(h.seed, uint64(i)))
		if err := h.settle(sc, dir); err != nil {
			return err
		}
		from := i / len(cases) * batch
		due := min(batch, per-from)
		for tries := 0; due > 0 && tries < 4*batch; tries++ {
			hit, err := h.killOnce(sc, clocks[i%len(cases)], dir, rng)
			if err != nil {
				return fmt.Errorf("%s: %w", sc.name, err)
			}
			if hit {
				due--
			}
		}
		return nil
	})
	h.tally.table(out, "command", rows, []string{"killed", "too late", old, made, inPart, "killed again", "ended forward", "ended back", "temporary files left", "swept by the next call"})
	return err
}

// calibrate measures a few undisturbed runs, fewer if fewer are to be killed.
func (h *harness) calibrate(sc *scenario) (c clock, err error) {
	dir, err := h.world()
	if err != nil {
		return c, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var writes, ends []time.Duration
	for range min(7, 1+h.kills/100) {
		is, err := take(dir)
		if err != nil {
			return c, err
		}
		if err := h.reset(sc, dir, is); err != nil {
			return c, err
		}
		cmd := h.command(dir, nil, sc.args(want))
		began := time.Now()
		if err := cmd.Start(); err != nil {
			return c, err
		}
		done := make(chan struct{})
		first := make(chan time.Duration, 1)
		go func() { first <- firstTemp(dir, began, done) }()
		out, err := cmd.ended(cmd.Wait(), began)
		close(done)
		if err != nil || out.code != 0 {
			return c, fmt.Errorf("%s: %s %w", sc.name, out, err)
		}
		writes, ends = append(writes, <-first), append(ends, out.took)
	}
	slices.Sort(writes)
	slices.Sort(ends)
	c = clock{writes[len(writes)/4], ends[len(ends)/2]}
	return c, nil
}

// firstTemp waits for a temporary file below dir, until done.
func firstTemp(dir string, began time.Time, done <-chan struct{}) time.Duration {
	for {
		select {
		case <-done:
			return time.Since(began)
		case <-time.After(100 * time.Microsecond):
		}
		for _, pattern := range []string{"*/.stchat-*", "*/*/.stchat-*"} {
			if found, _ := filepath.Glob(filepath.Join(dir, pattern)); len(found) > 0 {
				return time.Since(began)
			}
		}
	}
}

// killOnce starts the call, kills it, looks at what is left, lets a later run sweep
// and resets the world. hit is false if the call was done first.
func (h *harness) killOnce(sc *scenario, c clock, dir string, rng *rand.Rand) (hit bool, err error) {
	cmd := h.command(dir, nil, sc.args(want))
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return false, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	how, due := moment(sc, c, dir, rng)
	var waited error
	select {
	case waited = <-done:
	case <-due:
		_ = cmd.Process.Kill() // it may just have ended
		waited = <-done
	}
	after := time.Since(began)
	out, err := cmd.ended(waited, began)
	if err != nil {
		return false, err
	}
	f, err := sc.look(dir)
	if err != nil {
		return false, err
	}
	how = fmt.Sprintf("killed %s, after %v", how, after)
	switch {
	case out.code == 0:
		h.tally.add(sc.name, "too late")
		if f.state != made || len(f.temps) > 0 {
			f.broken = append(f.broken, "exit 0, but the state is "+f.state)
		}
	case killed(out):
		h.tally.add(sc.name, "killed")
		if f, err = h.afterKill(sc, dir, f, rng); err != nil {
			return false, err
		}
	default:
		f.broken = append(f.broken, "neither killed nor done")
	}
	if len(f.broken) > 0 {
		h.tally.fault(sc.name, how, f.broken, out)
	}
	return killed(out), h.reset(sc, dir, f.is)
}

// afterKill lets the next call end what is left, and counts what that was. Where a
// journal is left, that call is killed too, every other time, and the one after it ends all.
func (h *harness) afterKill(sc *scenario, dir string, f finding, rng *rand.Rand) (finding, error) {
	if len(f.temps) == 0 {
		h.tally.add(sc.name, f.state)
		if f.state == between {
			f.broken = append(f.broken, "neither old nor new, and nothing tells the next call")
		}
		return f, nil
	}
	h.tally.add(sc.name, "temporary files left")
	if slices.ContainsFunc(f.temps, isJournal) && rng.IntN(2) == 0 {
		again, err := h.killNext(dir, rng)
		if err != nil {
			return f, err
		}
		if again {
			h.tally.add(sc.name, "killed again")
			f, err = sc.look(dir)
			if err != nil {
				return f, err
			}
		}
	}
	now, err := h.end(sc, dir)
	if err != nil {
		return f, err
	}
	switch {
	case f.state != between:
		h.tally.add(sc.name, now.state)
	case now.state == old:
		h.tally.add(sc.name, "ended back")
	default:
		h.tally.add(sc.name, "ended forward")
	}
	if len(now.temps) == 0 {
		h.tally.add(sc.name, "swept by the next call")
	}
	now.broken = append(f.broken, now.broken...)
	return now, nil
}

// killNext kills the next call at one of the system calls with which it ends what was
// begun; hit is false if it did not get that far. Without strace it is not killed.
func (h *harness) killNext(dir string, rng *rand.Rand) (hit bool, err error) {
	if !h.canTrace() {
		return false, nil
	}
	out, err := h.next(dir, killAt(dir, rng))
	return killed(out), err
}

// killAt returns the words for strace that kill a run at one of the calls that change names,
// force to disk, or look at files.
func killAt(dir string, rng *rand.Rand) []string {
	calls := []string{"linkat", "renameat", "unlinkat", "fsync", "newfstatat", "openat"}
	call := calls[rng.IntN(len(calls))]
	most := 6
	if call == "newfstatat" || call == "openat" {
		most = 40
	}
	return []string{"strace", "-f", "-q", "-o", dir + ".strace", "-e", "trace=" + call, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, 1+rng.IntN(most))}
}

// killed reports whether a run was ended from outside.
func killed(out outcome) bool {
	return out.code == -1 || out.code == 1 && out.stderr == "" // as on Windows
}

// moment picks when to kill: anywhere, while things are written, or just as a new
// file appears. due fires then.
func moment(sc *scenario, c clock, dir string, rng *rand.Rand) (how string, due <-chan time.Time) {
	between := func(from, to time.Duration) time.Duration {
		return from + time.Duration(rng.Float64()*float64(max(to-from, time.Microsecond)))
	}
	switch rng.IntN(5) {
	case 0:
		return "anywhere", time.After(between(0, c.ends*21/20))
	case 1:
		if len(sc.appear) > 0 {
			delay := between(0, (c.ends-c.writes)/4)
			name := sc.appear[rng.IntN(len(sc.appear))]
			return "as " + name + " appears", onceThere(filepath.Join(dir, filepath.FromSlash(name)), c.ends*2, delay)
		}
	case 2:
		delay := between(0, (c.ends-c.writes)/4)
		return "as its journal appears", onceThere(filepath.Join(dir, ".stchat", "*.journal"), c.ends*2, delay)
	}
	return "while it writes", time.After(between(c.writes, c.ends*21/20))
}

// onceThere fires delay after a file appeared whose path matches, or after the limit.
func onceThere(pattern string, limit, delay time.Duration) <-chan time.Time {
	fire := make(chan time.Time, 1)
	go func() {
		for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(20 * time.Microsecond) {
			if found, _ := filepath.Glob(pattern); len(found) > 0 {
				break
			}
		}
		time.Sleep(delay)
		fire <- time.Now()
	}()
	return fire
}
