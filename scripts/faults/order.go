package main

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// What a line of strace's log says, with the paths of open files in it (-y).
var (
	wroteTo = regexp.MustCompile(`(?:write|pwrite64|ftruncate)\(\d+<([^>]*)>`)
	forced  = regexp.MustCompile(`(?:fsync|fdatasync)\(\d+<([^>]*)>`)
	named   = regexp.MustCompile(`(?:linkat|renameat2?)\([^"]*"([^"]*)", [^"]*"([^"]*)".* = 0`)
)

// orderAll checks that a power loss finds nothing half done: every file is forced to
// disk after its last byte and before it gets its name, and its folder after that. What a power
// loss leaves is tried in package changeset.
func (h *harness) orderAll(out io.Writer) error {
	if !h.canTrace() {
		fmt.Fprintln(out, "\nthe order of syncs: skipped, since there is no strace here")
		return nil
	}
	var rows []string
	err := h.each(len(h.cases), func(i int, dir string) error {
		sc := h.cases[i]
		if err := h.settle(sc, dir); err != nil {
			return err
		}
		log := dir + ".strace"
		under := []string{"strace", "-f", "-q", "-y", "-s", "4096", "-o", log, "-e", "trace=write,pwrite64,ftruncate,fsync,fdatasync,linkat,renameat,renameat2"}
		got, err := h.call(dir, under, sc.args(want))
		if err != nil {
			return err
		}
		text, err := os.ReadFile(log)
		if err != nil {
			return err
		}
		files, bad := ordered(string(text), dir)
		for range files {
			h.tally.add(sc.name, "files put in place")
		}
		if files == 0 {
			bad = append(bad, "nothing was put in place")
		}
		if len(bad) > 0 {
			h.tally.add(sc.name, brokenness)
			h.tally.fault(sc.name, "order of syncs", bad, got)
		}
		return nil
	})
	for _, sc := range h.cases {
		rows = append(rows, sc.name)
	}
	h.tally.table(out, "order of syncs", rows, []string{"files put in place", brokenness})
	return err
}

// ordered goes through a log and counts the files that got a name.
func ordered(log, dir string) (files int, bad []string) {
	dirty := map[string]bool{}     // temporary files with bytes that no sync has seen
	pending := map[string]string{} // folders to be synced, with the file that was named there
	for line := range joined(log) {
		if m := wroteTo.FindStringSubmatch(line); m != nil {
			dirty[m[1]] = true
		}
		if m := forced.FindStringSubmatch(line); m != nil {
			delete(dirty, m[1])
			delete(pending, m[1])
		}
		m := named.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if mayBeLost(m[2]) {
			continue
		}
		files++
		from, to := absolute(dir, m[1]), absolute(dir, m[2])
		if dirty[from] {
			bad = append(bad, to+" got its name before its bytes were synced")
		}
		pending[path.Dir(to)] = to
	}
	for folder, file := range pending {
		bad = append(bad, fmt.Sprintf("the folder %s was not synced after %s got its name", folder, file))
	}
	slices.Sort(bad)
	return files, bad
}

// mayBeLost reports whether a power loss may take a file of .stchat: a record is made again from the
// journal, which is on the disk; a probe is removed at once; the note of the room for undo is believed
// only if what it says can be true, and else counted anew.
func mayBeLost(name string) bool {
	return slices.ContainsFunc([]string{".done", ".probe", "/.held"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

func absolute(dir, name string) string {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	return name
}
