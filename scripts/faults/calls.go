package main

import (
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// sysCall is a system call and the errors that it is made to fail with.
type sysCall struct {
	names  string // strace's expression
	errors []string
	// hard are the errors that may not go unnoticed when they hit a temporary file or a
	// folder: others mean that the file system has no such thing, or are tried again.
	hard []string
	// calm calls get no signals: there are many of them, and others between.
	calm bool
}

// Signals that are delivered at each of the calls, beside errors.
var signals = []string{"INT", "TERM", "KILL"}

func sysCalls() []sysCall {
	io := []string{"EIO", "ENOSPC", "EDQUOT", "EACCES", "EPERM", "EINTR"}
	disk := []string{"EIO", "ENOSPC", "EDQUOT"}
	return []sysCall{
		{"openat", []string{"EIO", "ENOSPC", "EACCES", "EMFILE", "EROFS"}, nil, false},
		{"write", io, disk, false},
		{"pread64,read", []string{"EIO", "EINTR", "ESTALE"}, nil, false},
		{"ftruncate", io, disk, false},
		{"lseek", []string{"EIO"}, nil, false},
		{"fsync,fdatasync", append(io, "EINVAL", "EOPNOTSUPP", "EROFS"), disk, false},
		{"sync_file_range", []string{"EIO", "ENOSPC", "EINVAL"}, nil, false},
		{"close", []string{"EIO", "ENOSPC", "EDQUOT"}, disk, false},
		{"linkat", []string{"EIO", "ENOSPC", "EACCES", "EPERM", "EOPNOTSUPP", "EMLINK", "EXDEV", "ENOSYS"}, nil, false},
		{"renameat,renameat2", []string{"EIO", "ENOSPC", "EACCES", "EPERM", "EXDEV", "EROFS", "EBUSY"}, nil, false},
		{"unlinkat,unlink", []string{"EIO", "EACCES", "EPERM", "EBUSY"}, nil, false},
		{"fchmodat,fchmod", []string{"EIO", "EPERM", "EACCES"}, nil, false},
		{"fstat,newfstatat", []string{"EIO", "EACCES"}, nil, true},
		{"getdents64", []string{"EIO"}, nil, false},
	}
}

// What a message says for an error.
var errno = map[string]syscall.Errno{
	"EIO": syscall.EIO, "ENOSPC": syscall.ENOSPC, "EDQUOT": syscall.EDQUOT, "EACCES": syscall.EACCES, "EPERM": syscall.EPERM,
	"EMFILE": syscall.EMFILE, "EROFS": syscall.EROFS, "EXDEV": syscall.EXDEV, "EBUSY": syscall.EBUSY, "ESTALE": syscall.ESTALE,
}

// failCalls makes each call of each scenario fail once, in every way.
func (h *harness) failCalls(out io.Writer) error {
	if !h.canTrace() {
		fmt.Fprintln(out, "\nfaults by system call: skipped, since there is no strace here")
		return nil
	}
	type job struct {
		sc     *scenario
		call   sysCall
		fault  string // an error or a signal
		signal bool
		more   []string // further injections, which lead to this call
	}
	var jobs []job
	var rows []string
	for _, call := range sysCalls() {
		rows = append(rows, call.names)
		for _, sc := range append(slices.Clip(h.cases), h.special...) {
			if sc.only != "" && sc.only != call.names {
				continue
			}
			for _, e := range call.errors {
				jobs = append(jobs, job{sc: sc, call: call, fault: e})
			}
			for _, s := range signals {
				if call.calm {
					break
				}
				jobs = append(jobs, job{sc: sc, call: call, fault: s, signal: true})
			}
		}
	}
	// File systems without hard links, and without a rename that refuses to replace.
	noLinks := []string{"-e", "inject=linkat:error=EPERM"}
	noRename := append(noLinks[:2:2], "-e", "inject=renameat2:error=EINVAL")
	const without, worst = "renameat2, no links", "renameat, no links and no such rename"
	rows = append(rows, without, worst)
	for _, sc := range h.cases {
		for _, e := range []string{"EIO", "ENOSPC", "EACCES", "EROFS"} {
			jobs = append(jobs, job{sc: sc, call: sysCall{names: without}, fault: e, more: noLinks},
				job{sc: sc, call: sysCall{names: worst}, fault: e, more: noRename})
		}
	}
	err := h.each(len(jobs), func(i int, dir string) error {
		j := jobs[i]
		if err := h.settle(j.sc, dir); err != nil {
			return err
		}
		for n, missed := 1, 0; missed < 2; n++ {
			hit, err := h.inject(j.sc, dir, j.call, j.fault, j.signal, n, j.more)
			if err != nil {
				return fmt.Errorf("%s: %w", j.sc.name, err)
			}
			missed++
			if hit {
				missed = 0
			}
		}
		return nil
	})
	h.tally.table(out, "system call", rows, columns())
	return err
}

func (h *harness) canTrace() bool {
	_, err := exec.LookPath("strace")
	return err == nil && runtime.GOOS == "linux"
}

// inject runs the scenario once with the n-th such call of a thread disturbed, and
// judges it. hit is false if the run has fewer.
func (h *harness) inject(sc *scenario, dir string, call sysCall, fault string, signal bool, n int, more []string) (hit bool, err error) {
	log := dir + ".strace"
	set, _, _ := strings.Cut(call.names, ", ") // what follows is for people
	expr := "inject=" + set + ":error=" + fault
	if signal {
		expr = "inject=" + set + ":signal=" + fault
	}
	var trace strings.Builder
	trace.WriteString(set)
	if set == "close" {
		trace.WriteString(",openat,write") // which show what was open for reading only, and what is a note
	}
	for i := 1; i < len(more); i += 2 {
		name, _, _ := strings.Cut(strings.TrimPrefix(more[i], "inject="), ":")
		trace.WriteString("," + name)
	}
	under := append([]string{"strace", "-f", "-q", "-y", "-o", log, "-e", "trace=" + trace.String()}, more...)
	under = append(under, "-e", expr+":when="+strconv.Itoa(n))
	out, err := h.call(dir, under, sc.args(want))
	if err != nil {
		return false, err
	}
	text, err := os.ReadFile(log)
	if err != nil {
		return false, err
	}
	lines := hits(string(text), dir, set, fault, signal)
	if lines == "" {
		// A program of -bin that is linked with C is loaded by the system, which is disturbed, too.
		notLoaded := strings.Contains(out.stderr, "error while loading shared libraries")
		if out.code != 0 && !notLoaded {
			return false, fmt.Errorf("undisturbed: %s", out)
		}
		f, err := sc.look(dir)
		if err != nil {
			return false, err
		}
		return strings.Contains(string(text), "INJECTED") && len(more) == 0, h.reset(sc, dir, f.is)
	}
	if set == "close" && strings.Contains(out.stderr, "another run of this program") {
		// What strace fails is not closed at all, so a lock stays.
		f, err := sc.look(dir)
		if err != nil {
			return false, err
		}
		return true, h.reset(sc, dir, f.is)
	}
	// Two signals, from two threads at once, are two presses of Ctrl-C: the second kills.
	t := trouble{signal: signal, killed: fault == "KILL" || strings.Count(lines, "--- SIG") > 1}
	// A look at a file that fails once is as good as a file that changed: it is left alone.
	if e, ok := errno[fault]; ok && !call.calm {
		t.cause = e.Error()
	}
	for _, e := range call.hard {
		lost := sc.store && strings.Contains(lines, "/.stchat>")
		t.mustFail = t.mustFail || e == fault && !lost && mustNotice(lines, string(text), dir)
	}
	t.mute = strings.Contains(lines, "(2<")
	t.keepsTemp = strings.Contains(set, "unlink") && !signal
	how := fmt.Sprintf("%s at call %d: %s", fault, n, strings.TrimSpace(strings.ReplaceAll(lines, dir, "")))
	return true, h.judge(sc, dir, call.names, how, out, t)
}

// hits are the lines of strace's log in which the disturbance hit: for an error,
// calls on the world and on the program's streams; the runtime's own, on files of the
// system, do not count.
func hits(log, dir, set, fault string, signal bool) string {
	var found strings.Builder
	for line := range joined(log) {
		switch {
		case signal:
			if strings.Contains(line, "--- SIG"+fault+" ") && strings.Contains(line, "SI_KERNEL") || strings.Contains(line, "+++ killed by SIG"+fault) {
				found.WriteString(line)
			}
		case !strings.Contains(line, "INJECTED") || !strings.Contains(line, " "+fault+" "):
		case stream.MatchString(line):
			found.WriteString(line)
		case !ofSystem.MatchString(line):
			call, _, _ := strings.Cut(strings.TrimLeft(line, "0123456789 "), "(")
			if strings.Contains(","+set+",", ","+call+",") && strings.Contains(line, filepath.Dir(dir)) {
				found.WriteString(line)
			}
		}
	}
	return found.String()
}

// joined returns the lines of a log, with calls that another thread's line
// interrupted in one line where they end.
func joined(log string) iter.Seq[string] {
	return func(yield func(string) bool) {
		begun := map[string]string{} // by thread
		for line := range strings.Lines(log) {
			thread, rest, _ := strings.Cut(line, " ")
			if head, ok := strings.CutSuffix(rest, " <unfinished ...>\n"); ok {
				begun[thread] = head
				continue
			}
			if _, tail, ok := strings.Cut(rest, " resumed>"); ok && begun[thread] != "" {
				line = thread + " " + begun[thread] + tail
				delete(begun, thread)
			}
			if !yield(line) {
				return
			}
		}
	}
}

// ofSystem finds a call on a file of the system.
var ofSystem = regexp.MustCompile(`"/(proc|sys|etc|usr)/|<(/proc|/sys|/etc|/usr|anon_inode|pipe|socket)[:/]`)

// stream finds a call on standard output or error.
var stream = regexp.MustCompile(`\([12]<`)

// mustNotice reports whether one of the calls was on a temporary file or a folder that
// is being synced, and not on what is only read, or notes what the next call can count anew.
func mustNotice(lines, log, dir string) bool {
	for line := range strings.Lines(lines) {
		call, _, _ := strings.Cut(strings.TrimLeft(line, "0123456789 "), "(")
		isTemporary := strings.Contains(line, ".stchat-") && !strings.Contains(line, "(deleted)")
		if isTemporary && !isNote(line, log) && (call != "close" || !onlyRead(line, log)) {
			return true
		}
		if call == "fsync" && strings.Contains(line, filepath.Base(dir)) {
			return true
		}
	}
	return false
}

// temporary finds the name of a temporary file.
var temporary = regexp.MustCompile(`\.stchat-[0-9a-f-]+\.tmp`)

// isNote reports whether a line of a log is about the file that notes how much room the records for undo take.
func isNote(line, log string) bool {
	file := temporary.FindString(line)
	for l := range joined(log) {
		if file != "" && strings.Contains(l, file) && strings.Contains(l, `"{\"before\":`) {
			return true
		}
	}
	return false
}

// onlyRead reports whether what a line of a log closes was last opened for reading only.
func onlyRead(line, log string) bool {
	_, file, _ := strings.Cut(line, "close(")
	file, _, _ = strings.Cut(file, ")")
	before, _, _ := strings.Cut(log, line)
	opened := false
	for l := range joined(before) {
		if strings.Contains(l, "openat(") && strings.Contains(l, "= "+file) {
			opened = strings.Contains(l, "O_RDONLY")
		}
	}
	return opened
}
