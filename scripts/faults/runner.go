package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// outcome is how one run of the program ended.
type outcome struct {
	code   int // -1: by a signal
	stdout string
	stderr string
	took   time.Duration
}

func (o outcome) String() string {
	return fmt.Sprintf("exit %d: %s", o.code, strings.TrimSpace(o.stderr))
}

// errorLines returns the messages that are no warnings.
func (o outcome) errorLines() []string {
	var list []string
	for line := range strings.SplitSeq(strings.TrimSpace(o.stderr), "\n") {
		if strings.HasPrefix(line, "stchat: ") && !strings.HasPrefix(line, "stchat: warning: ") {
			list = append(list, line)
		}
	}
	return list
}

// process is a run of the program, and what it prints.
type process struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
}

// command prepares a run in dir, with the words of under (strace and its flags) before it.
func (h *harness) command(dir string, under, args []string) *process {
	words := slices.Concat(under, []string{h.bin}, args)
	p := &process{Cmd: exec.Command(words[0], words[1:]...)}
	p.Dir = dir
	// Temporary files lie beside the world, so that what hits them counts as well.
	p.Env = append(os.Environ(), "TZ=UTC", "HOME="+dir, "TMPDIR="+filepath.Dir(dir))
	p.Stdout = &p.stdout
	p.Stderr = &p.stderr
	return p
}

// call runs the program to its end.
func (h *harness) call(dir string, under, args []string) (outcome, error) {
	p := h.command(dir, under, args)
	began := time.Now()
	err := p.Run()
	return p.ended(err, began)
}

// ended returns what became of a run, whose Wait returned err.
func (p *process) ended(err error, began time.Time) (outcome, error) {
	o := outcome{stdout: p.stdout.String(), stderr: p.stderr.String(), took: time.Since(began)}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		o.code = exit.ExitCode()
		return o, nil
	}
	return o, err
}

// prepare runs every scenario undisturbed and keeps what it makes.
func (h *harness) prepare(all []*scenario, match func(string) bool) error {
	for _, sc := range all {
		if !match(sc.name) {
			continue
		}
		if err := h.undisturbed(sc); err != nil {
			return fmt.Errorf("%s, undisturbed: %w", sc.name, err)
		}
		if sc.only == "" {
			h.cases = append(h.cases, sc)
		} else {
			h.special = append(h.special, sc)
		}
	}
	return nil
}

func (h *harness) undisturbed(sc *scenario) error {
	dir, err := h.world()
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := h.setUp(sc, dir); err != nil {
		return err
	}
	if sc.old, err = sc.take(dir); err != nil {
		return err
	}
	sc.allowed = map[string]map[string]bool{}
	sc.allow(sc.old)
	if sc.new, err = h.made(dir, sc, sc.args(want)); err != nil {
		return err
	}
	for name := range sc.new {
		if _, ok := sc.files[name]; !ok && filepath.Ext(name) == ".jsonl" {
			sc.targets = append(sc.targets, name)
		}
		if _, ok := sc.old[name]; !ok && !sc.masked {
			sc.appear = append(sc.appear, name)
		}
	}
	for _, name := range sc.makes {
		if _, ok := sc.new[name]; !ok {
			return fmt.Errorf("%s was not made", name)
		}
	}
	if bad := append(sc.new.dangling(), sc.new.loose(sc.linked)...); len(bad) > 0 {
		return fmt.Errorf("%s", strings.Join(bad, "; "))
	}
	for _, args := range sc.partly {
		if _, err := h.made(dir, sc, args); err != nil {
			return err
		}
	}
	return nil
}

// made returns what a call makes of the scenario's world, and allows it.
func (h *harness) made(dir string, sc *scenario, args []string) (snapshot, error) {
	is, err := take(dir)
	if err != nil {
		return nil, err
	}
	if err := h.reset(sc, dir, is); err != nil {
		return nil, err
	}
	if err := h.mustCall(dir, args); err != nil {
		return nil, err
	}
	made, err := sc.take(dir)
	if err != nil {
		return nil, err
	}
	for name := range sc.old {
		if _, ok := made[name]; !ok && !sc.goes {
			return nil, fmt.Errorf("%s is gone", name)
		}
	}
	sc.allow(made)
	return made, nil
}

func (h *harness) mustCall(dir string, args []string) error {
	out, err := h.call(dir, nil, args)
	if err == nil && out.code != 0 {
		err = fmt.Errorf("stchat %s: %s", strings.Join(args, " "), out)
	}
	return err
}

// world makes an empty folder.
func (h *harness) world() (string, error) { return os.MkdirTemp(h.dir, "world-") }

func (sc *scenario) take(dir string) (snapshot, error) {
	s, err := take(dir)
	if sc.masked {
		s = s.mask()
	}
	return s, err
}

// reset makes the world what it was before the call; is is what is there now, unmasked.
func (h *harness) reset(sc *scenario, dir string, is snapshot) error {
	if len(sc.setup) > 0 { // its records are part of the world
		return h.settle(sc, dir)
	}
	if err := os.RemoveAll(filepath.Join(dir, own)); err != nil { // each record is more for the next call to read
		return err
	}
	return sc.files.put(dir, is)
}

// settle makes the scenario's world in a folder that had another's.
func (h *harness) settle(sc *scenario, dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	return h.setUp(sc, dir)
}

// setUp puts the scenario's files in an empty folder, and makes the calls that come before.
func (h *harness) setUp(sc *scenario, dir string) error {
	if err := sc.files.put(dir, nil); err != nil {
		return err
	}
	for _, args := range sc.setup {
		if err := h.mustCall(dir, args); err != nil {
			return err
		}
	}
	return nil
}

// allow adds a snapshot to what files may hold.
func (sc *scenario) allow(s snapshot) {
	for name := range sc.old {
		sc.allowAs(name, sc.old[name])
		if _, ok := s[name]; !ok {
			sc.allowAs(name, absent)
		}
	}
	for name, data := range s {
		sc.allowAs(name, data)
		if _, ok := sc.old[name]; !ok {
			sc.allowAs(name, absent)
		}
	}
}

func (sc *scenario) allowAs(name, data string) {
	if sc.allowed[name] == nil {
		sc.allowed[name] = map[string]bool{}
	}
	sc.allowed[name][data] = true
}

// The states in which a world can be found.
const (
	old     = "old"     // as before the call
	made    = "new"     // as after it
	inPart  = "in part" // some of its sources are done, each wholly
	between = "between" // neither: the next call must end it
)

// finding is what a look at the world found.
type finding struct {
	state  string
	temps  []string
	broken []string
	is     snapshot // as it is, with temporary files
	seen   snapshot // masked where the scenario is, without
}

// look reads the world and compares it with what may be there.
func (sc *scenario) look(dir string) (f finding, err error) {
	if f.is, err = take(dir); err != nil {
		return f, err
	}
	f.temps = f.is.temps()
	f.seen = f.is.without(f.temps)
	if sc.masked {
		f.seen = f.seen.mask()
	}
	for name, data := range f.seen {
		switch may, known := sc.allowed[name]; {
		case !known:
			f.broken = append(f.broken, "stray file "+name)
		case !may[data]:
			f.broken = append(f.broken, fmt.Sprintf("%s is neither old nor new (%d bytes)", name, len(data)))
		}
	}
	for name, may := range sc.allowed {
		if _, ok := f.seen[name]; !ok && !may[absent] {
			f.broken = append(f.broken, name+" is gone")
		}
	}
	switch {
	case maps.Equal(f.seen, sc.old):
		f.state = old
	case maps.Equal(f.seen, sc.new):
		f.state = made
	default:
		f.state = between
		begun := slices.ContainsFunc(f.temps, isJournal)
		dangling := f.seen.danglingBut(func(from, to string) bool { return begun && sc.passes(from) && sc.passes(to) })
		f.broken = append(f.broken, dangling...)
		if len(f.temps)+len(dangling) == 0 && sc.isPart(f.seen) {
			f.state = inPart
		}
	}
	return f, nil
}

// passes reports whether a call gives a chat its name, or takes it. Chats of a family name one
// another both ways, so while they come and go one after the other no order is without gap.
func (sc *scenario) passes(name string) bool {
	_, was := sc.old[name]
	_, is := sc.new[name]
	return sc.goes && was != is
}

// isPart reports whether what is there is what a call for fewer sources makes.
func (sc *scenario) isPart(s snapshot) bool {
	switch {
	case sc.mends:
		return len(sc.halfMended(s)) == 0
	case len(sc.partly) > 0:
		return len(sc.fresh(s)) == 0
	}
	return false
}

// end lets the next call that writes end what was begun, and looks again. That call is
// for a chat of its own.
func (h *harness) end(sc *scenario, dir string) (f finding, err error) {
	out, err := h.next(dir, nil)
	if err == nil && out.code == 0 && sc.again != nil {
		out, err = h.call(dir, nil, sc.again)
	}
	if err != nil {
		return f, err
	}
	if f, err = sc.look(dir); err != nil {
		return f, err
	}
	if out.code != 0 {
		f.broken = append(f.broken, "the next call: "+out.String())
	}
	if len(f.temps) > 0 {
		f.broken = append(f.broken, fmt.Sprintf("the next call leaves %v", f.temps))
	}
	if f.state == between {
		f.broken = append(f.broken, "after the next call it is neither old nor new")
	}
	return f, nil
}

// next makes the next call, with the words of under before it, and removes what it was for.
func (h *harness) next(dir string, under []string) (out outcome, err error) {
	const other, made = "chats/Next/Next.jsonl", "chats/Next/Next__next.jsonl"
	if err := (snapshot{other: chat("", 1)}).put(dir, nil); err != nil {
		return out, err
	}
	if out, err = h.call(dir, under, []string{"checkpoint", other, "--name", "next"}); err != nil {
		return out, err
	}
	if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(made))); err != nil && out.code == 0 {
		return out, fmt.Errorf("exit 0, but: %w", err)
	}
	return out, os.RemoveAll(filepath.Join(dir, "chats", "Next"))
}

// reached reports whether one of the new chats is in place.
func (f finding) reached(sc *scenario) bool {
	return slices.ContainsFunc(sc.targets, func(name string) bool {
		data, ok := f.seen[name]
		was, existed := sc.old[name]
		return ok && (!existed || data != was)
	})
}

// tally counts what was found, by row and column, and reports what was broken.
type tally struct {
	mu     sync.Mutex
	counts map[[2]string]int
	broken int
	log    io.Writer
}

func (t *tally) add(row, column string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts = map[[2]string]int{}
	}
	t.counts[[2]string{row, column}]++
}

// fault reports broken promises.
func (t *tally) fault(row, how string, broken []string, out outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.broken++
	fmt.Fprintf(t.log, "BROKEN %s, %s:\n    %s\n    %s\n", row, how, strings.Join(broken, "\n    "), out)
}

// table prints the counts as Markdown and forgets them.
func (t *tally) table(w io.Writer, corner string, rows, columns []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(w, "\n| %s | %s |\n|---|%s\n", corner, strings.Join(columns, " | "), strings.Repeat("--:|", len(columns)))
	sum := map[string]int{}
	line := func(row string, count func(column string) int) {
		fmt.Fprintf(w, "| %s |", row)
		for _, column := range columns {
			fmt.Fprintf(w, " %d |", count(column))
		}
		fmt.Fprintln(w)
	}
	for _, row := range rows {
		line(row, func(column string) int {
			n := t.counts[[2]string{row, column}]
			sum[column] += n
			return n
		})
	}
	if len(rows) > 1 {
		line("all", func(column string) int { return sum[column] })
	}
	t.counts = nil
}

// each runs the jobs from as many goroutines as the harness has workers, each with a
// world of its own, and returns the first error.
func (h *harness) each(n int, do func(i int, dir string) error) error {
	var mu sync.Mutex
	var first error
	next := 0
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1, next <= n && first == nil
	}
	var wg sync.WaitGroup
	for range h.workers {
		wg.Go(func() {
			dir, err := h.world()
			for i, ok := take(); ok && err == nil; i, ok = take() {
				err = do(i, dir)
			}
			_ = os.RemoveAll(dir)
			if err != nil {
				mu.Lock()
				first = errors.Join(first, err)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return first
}
