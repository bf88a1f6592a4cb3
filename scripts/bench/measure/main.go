//go:build linux

// Measure times whole processes against each other and prints Markdown tables.
//
// It reads a plan on stdin, one directive per line:
//
//	scenario TITLE       begin a table
//	rounds N             how often every command runs (after one run to warm up)
//	fastest              compare the fastest runs, not the medians: where much
//	                     is written, the price of fresh page cache comes and goes
//	cpu                  compare CPU times, user and system, of the runs with the
//	                     least: for what grows, on a machine that does other things
//	touch MB             before every run, touch and free so much memory, so
//	                     that every run finds as much of it at hand
//	out PATH             removed before every run and at the end
//	run NAME | COMMAND   a command, split at blanks; no shell
//	shell NAME | SCRIPT  a script for sh
//	only N               the last command runs N rounds: it is slow
//	ratio NAME REF [MAX] names without their blanks: compare two commands, and hold the ratio under MAX
//	plus NAME REF MS     hold NAME under REF and MS milliseconds
//	memory NAME MB       hold the peak memory of NAME under MB (1 MB = 10^6 bytes)
//	less NAME REF SHARE  hold the peak memory of NAME under SHARE of REF's
//	note TEXT            printed below the table
//
// With the argument fastest, all scenarios compare the fastest runs.
//
// Commands run interleaved, once a round. Peak memory is the kernel's maximum
// resident set of the child and of those it waited for; it cannot go below
// measure's own (about 2 MB), from which children are forked.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == "touch" {
		touch(os.Args[2])
		return
	}
	busy := len(os.Args) == 2 && os.Args[1] == "fastest"
	plan, err := parse(os.Stdin)
	if err == nil {
		for _, s := range plan {
			s.fastest = s.fastest || busy
			if err = s.run(); err != nil {
				break
			}
			s.print(os.Stdout)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

// touch writes to mb megabytes of memory, in a process of its own: they would
// count as the measured command's otherwise.
func touch(mb string) {
	n, err := strconv.Atoi(mb)
	if err != nil {
		os.Exit(2)
	}
	p, err := syscall.Mmap(-1, 0, n<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		os.Exit(2)
	}
	for i := 0; i < len(p); i += 4096 {
		p[i] = 1
	}
}

type scenario struct {
	title   string
	rounds  int
	fastest bool
	cpu     bool
	touch   string
	outs    []string
	cmds    []*command
	checks  []check
	notes   []string
}

type command struct {
	name  string
	argv  []string
	only  int
	times []time.Duration
	cpus  []time.Duration
	peak  int64 // bytes, the largest of all runs
}

type check struct {
	kind, name, ref string
	limit           float64
}

func parse(r io.Reader) (plan []*scenario, err error) {
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, end := in.ReadString('\n')
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			if word, rest, _ := strings.Cut(line, " "); word == "scenario" {
				plan = append(plan, &scenario{title: rest, rounds: 5})
			} else if len(plan) == 0 {
				return nil, fmt.Errorf("line %d: no scenario yet", n)
			} else if err := plan[len(plan)-1].directive(word, strings.TrimSpace(rest)); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
		}
		if end == io.EOF {
			return plan, nil
		}
		if end != nil {
			return nil, end
		}
	}
}

func (s *scenario) directive(word, rest string) (err error) {
	switch word {
	case "rounds":
		s.rounds, err = strconv.Atoi(rest)
	case "fastest":
		s.fastest = true
	case "cpu":
		s.cpu = true
	case "touch":
		s.touch = rest
	case "out":
		s.outs = append(s.outs, rest)
	case "run", "shell":
		name, text, ok := strings.Cut(rest, "|")
		if !ok {
			return fmt.Errorf("%s: a | is missing", word)
		}
		c := &command{name: strings.TrimSpace(name), argv: strings.Fields(text)}
		if word == "shell" {
			c.argv = []string{"sh", "-c", text}
		}
		s.cmds = append(s.cmds, c)
	case "only":
		s.cmds[len(s.cmds)-1].only, err = strconv.Atoi(rest)
	case "ratio", "plus", "memory", "less":
		f := strings.Fields(rest)
		c := check{kind: word, name: f[0]}
		if word != "memory" {
			c.ref, f = f[1], f[1:]
		}
		if len(f) > 1 {
			c.limit, err = strconv.ParseFloat(f[1], 64)
		}
		s.checks = append(s.checks, c)
	case "note":
		s.notes = append(s.notes, rest)
	default:
		return fmt.Errorf("%q is no directive", word)
	}
	return err
}

func (s *scenario) run() error {
	defer s.clear()
	for round := -1; round < s.rounds; round++ {
		for _, c := range s.cmds {
			if c.only > 0 && round >= c.only {
				continue
			}
			s.clear()
			if s.touch != "" {
				if err := exec.Command(os.Args[0], "touch", s.touch).Run(); err != nil {
					return err
				}
			}
			if err := c.run(round >= 0); err != nil {
				return fmt.Errorf("%s: %s: %w", s.title, c.name, err)
			}
		}
	}
	return nil
}

func (s *scenario) clear() {
	for _, path := range s.outs {
		_ = os.RemoveAll(path) // a run that needs it gone says so itself
	}
}

func (c *command) run(counts bool) error {
	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	cmd.Stderr = os.Stderr
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	if err != nil || !counts {
		return err
	}
	c.times = append(c.times, took)
	c.cpus = append(c.cpus, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	if use, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.peak = max(c.peak, int64(use.Maxrss)<<10) //nolint:unconvert // an int32 on 32-bit systems
	}
	return nil
}

func median(times []time.Duration) time.Duration {
	t := slices.Sorted(slices.Values(times))
	return (t[(len(t)-1)/2] + t[len(t)/2]) / 2
}

func (s *scenario) time(c *command) time.Duration {
	switch {
	case s.cpu:
		return slices.Min(c.cpus)
	case s.fastest:
		return slices.Min(c.times)
	}
	return median(c.times)
}

func (s *scenario) find(name string) *command {
	for _, c := range s.cmds {
		if strings.ReplaceAll(c.name, " ", "") == name {
			return c
		}
	}
	return nil
}

func (s *scenario) print(w io.Writer) {
	fmt.Fprintf(w, "\n### %s\n\n", s.title)
	fmt.Fprint(w, "| command | median | fastest | CPU | peak memory |\n|---|---:|---:|---:|---:|\n")
	for _, c := range s.cmds {
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", c.name, ms(median(c.times)), ms(slices.Min(c.times)),
			ms(median(c.cpus)), mb(c.peak))
	}
	what := "medians"
	switch {
	case s.cpu:
		what = "least CPU times"
	case s.fastest:
		what = "fastest runs"
	}
	fmt.Fprintf(w, "\n| compared (%s of %d) | measured | target | |\n|---|---:|---:|---|\n", what, s.rounds)
	for _, k := range s.checks {
		if c, ref := s.find(k.name), s.find(k.ref); c != nil && (ref != nil || k.kind == "memory") {
			s.verdict(w, k, c, ref)
		}
	}
	for _, note := range s.notes {
		fmt.Fprintf(w, "\n%s\n", note)
	}
}

func (s *scenario) verdict(w io.Writer, k check, c, ref *command) {
	var what, got, want string
	var value float64
	switch k.kind {
	case "ratio":
		value = float64(s.time(c)) / float64(s.time(ref))
		what, got = fmt.Sprintf("%s : %s", c.name, ref.name), fmt.Sprintf("%.2f ×", value)
		want = fmt.Sprintf("≤ %.4g ×", k.limit)
		if value < 0.1 {
			got = fmt.Sprintf("1/%.0f", 1/value)
			want = fmt.Sprintf("≤ 1/%.0f", 1/k.limit)
		}
	case "plus":
		value = float64(s.time(c)-s.time(ref)) / 1e6
		what, got = fmt.Sprintf("%s − %s", c.name, ref.name), fmt.Sprintf("%.1f ms", value)
		want = fmt.Sprintf("≤ %.4g ms", k.limit)
	case "memory":
		value = float64(c.peak) / 1e6
		what, got = "memory of "+c.name, mb(c.peak)
		want = fmt.Sprintf("≤ %.4g MB", k.limit)
	case "less":
		value = float64(c.peak) / float64(ref.peak)
		what, got = fmt.Sprintf("memory of %s : %s", c.name, ref.name), fmt.Sprintf("1/%.0f", 1/value)
		want = fmt.Sprintf("≤ 1/%.0f", 1/k.limit)
	}
	verdict := "met"
	switch {
	case k.limit == 0:
		want, verdict = "", ""
	case value > k.limit:
		verdict = "**not met**"
	}
	fmt.Fprintf(w, "| %s | %s | %s | %s |\n", what, got, want, verdict)
}

func ms(d time.Duration) string {
	f := float64(d) / 1e6
	switch {
	case f >= 1000:
		return fmt.Sprintf("%.2f s", f/1000)
	case f >= 100:
		return fmt.Sprintf("%.0f ms", f)
	default:
		return fmt.Sprintf("%.1f ms", f)
	}
}

func mb(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }
