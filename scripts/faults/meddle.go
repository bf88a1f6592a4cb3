package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// meddler is another program that does something to a file while stchat is at work.
type meddler struct {
	name string
	// makes returns what the file holds afterwards: absent if it is gone.
	makes func(was string) string
	do    func(path, now string) error
	new   bool // it makes a file that was not there
}

func meddlers() []meddler {
	write := func(path, now string) error { return os.WriteFile(path, []byte(now), 0o666) }
	return []meddler{
		{name: "appends a message", makes: func(was string) string { return was + "\n" + `{"name":"Mira","mes":"More."}` }, do: func(path, now string) error {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString(now[strings.LastIndex(now, "\n"):])
			if e := f.Close(); err == nil {
				err = e
			}
			return err
		}},
		{name: "rewrites it in place, as long as it was", makes: reworded, do: write},
		{name: "puts another in its place", makes: func(was string) string { return strings.ReplaceAll(was, "stones", "stairs") + " " }, do: func(path, now string) error {
			if err := write(path+".other", now); err != nil {
				return err
			}
			return os.Rename(path+".other", path)
		}},
		{name: "cuts it short", makes: func(was string) string { return was[:len(was)/2] }, do: func(path, now string) error { return os.Truncate(path, int64(len(now))) }},
		{name: "empties it", makes: func(string) string { return "" }, do: func(path, _ string) error { return os.Truncate(path, 0) }},
		{name: "deletes it", makes: func(string) string { return absent }, do: func(path, _ string) error { return os.Remove(path) }},
		{name: "makes a file of that name", new: true, makes: func(string) string { return "somebody's" }, do: func(path, now string) error {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666) // one that is there is stchat's, perhaps under another name, too
			if err != nil {
				return err
			}
			_, err = f.WriteString(now)
			return errors.Join(err, f.Close())
		}},
		{name: "makes a folder of that name", new: true, makes: func(string) string { return absent }, do: func(path, _ string) error { return os.Mkdir(path, 0o777) }},
	}
}

// reworded changes the messages' texts and no keys, so that it is known what an edit makes of it; in
// a file without messages, whatever there is.
func reworded(was string) string {
	if now := strings.ReplaceAll(was, "stones", "stairs"); now != was {
		return now
	}
	return strings.ReplaceAll(was, "a", "e")
}

// pauses returns the calls before which the program is made to stand still. The rename of
// a replacement is not among them: a change between the last look at a file and the rename
// is lost, as safefile documents.
func pauses() []string {
	var list []string
	for call, ns := range map[string][]int{
		"openat": {8, 9, 10, 11, 12, 13, 14, 15, 16}, "pread64": {1, 2, 3, 5, 8}, "write": {1, 2, 3, 4},
		"fsync": {1, 2, 3}, "linkat": {1, 2}, "unlinkat": {1}, "fchmodat": {1},
	} {
		for _, n := range ns {
			list = append(list, fmt.Sprintf("%s:delay_enter=%d:when=%d", call, pause.Microseconds(), n))
		}
	}
	return list
}

const pause = 400 * time.Millisecond

// meddleAll lets others change the files while the program works.
func (h *harness) meddleAll(out io.Writer) error {
	if !h.canTrace() {
		fmt.Fprintln(out, "\nchanges meanwhile: skipped, since there is no strace here")
		return nil
	}
	type job struct {
		sc   *scenario
		m    meddler
		name string
		at   string
	}
	var jobs []job
	var rows []string
	for _, m := range meddlers() {
		rows = append(rows, m.name)
		for _, sc := range append(slices.Clip(h.cases), h.special...) {
			if sc.only != "" && sc.only != "meddle" {
				continue
			}
			names := sc.appear
			if !m.new {
				names = nil
				for name := range sc.old {
					names = append(names, name)
				}
			}
			for _, name := range names {
				for i, at := range pauses() {
					if (i+len(jobs))%5 == 0 { // a fifth of all, spread over all
						jobs = append(jobs, job{sc, m, name, at})
					}
				}
			}
		}
	}
	waiting := *h
	waiting.workers = h.workers * 6 // they mostly stand still
	err := waiting.each(len(jobs), func(i int, dir string) error {
		j := jobs[i]
		return h.meddle(j.sc, j.m, j.name, j.at, dir)
	})
	h.tally.table(out, "another program", rows, []string{"runs", "done", "refused", "too late", brokenness})
	return err
}

// meddle runs one scenario and lets a meddler loose in the middle of it.
func (h *harness) meddle(sc *scenario, m meddler, name, at, dir string) error {
	base := sc.old
	if sc.masked {
		base = sc.files
	}
	now := m.makes(base[name])
	path := filepath.Join(dir, filepath.FromSlash(name))
	// The outcome if the change comes first.
	if err := h.settle(sc, dir); err != nil {
		return err
	}
	if err := m.do(path, now); err != nil {
		return err
	}
	first, err := h.call(dir, nil, sc.args(want))
	if err != nil {
		return err
	}
	after, err := sc.look(dir)
	if err != nil {
		return err
	}
	if err := h.settle(sc, dir); err != nil {
		return err
	}
	log := dir + ".strace"
	set, _, _ := strings.Cut(at, ":")
	cmd := h.command(dir, []string{"strace", "-f", "-q", "-o", log, "-e", "trace=" + set, "-e", "inject=" + at}, sc.args(want))
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done: // there is no such call
		h.tally.add(m.name, "too late")
		_, err = cmd.ended(err, began)
		return err
	case <-time.After(pause / 2):
	}
	did := m.do(path, now)
	// stchat may be done with this file, so that the change came on top of its own.
	now = absent
	if data, err := os.ReadFile(path); err == nil {
		now = string(data)
	}
	out, err := cmd.ended(<-done, began)
	if err != nil {
		return err
	}
	if did != nil {
		h.tally.add(m.name, "too late") // it was stchat that made or took it
		return nil
	}
	return h.judgeMeddled(sc, m, name, now, at, dir, out, first, after)
}

// judgeMeddled looks at what is left: the meddler's work must stand, by itself or
// with stchat's edit in it, and all else be as made from the one or the other.
func (h *harness) judgeMeddled(sc *scenario, m meddler, name, now, at, dir string, out, first outcome, after finding) error {
	own := *sc
	own.allowed = map[string]map[string]bool{}
	for file, may := range sc.allowed {
		own.allowed[file] = maps.Clone(may)
	}
	if first.code == 0 {
		for file, data := range after.seen {
			own.allowAs(file, data)
			if _, ok := sc.old[file]; !ok {
				own.allowAs(file, absent)
			}
		}
	}
	own.allowed[name] = map[string]bool{}
	on := snapshot{name: m.makes(sc.new[name])} // an edit that was made anew, on what the meddler left
	for _, s := range []snapshot{{name: now}, on, after.seen} {
		if sc.masked {
			s = s.mask()
		}
		data, ok := s[name]
		if !ok {
			data = absent
		}
		own.allowed[name][data] = true
	}
	f, err := own.look(dir)
	if err != nil {
		return err
	}
	var bad []string
	for _, b := range f.broken {
		// What pointed at a file that is gone points nowhere, and what was broken is
		// broken, under whatever name it goes on: neither is stchat's to mend.
		if !slices.Contains(after.broken, b) && !strings.HasPrefix(b, name+": ") && (now != absent || !strings.Contains(b, "does not exist")) {
			bad = append(bad, b)
		}
	}
	if len(f.temps) > 0 {
		bad = append(bad, "temporary files are left: "+strings.Join(f.temps, ", "))
	}
	h.tally.add(m.name, "runs")
	switch {
	case out.code == 0, out.code == 1 && sc.only == "meddle":
		h.tally.add(m.name, "done")
	case out.code == 2 && len(out.errorLines()) > 0 && !strings.Contains(out.stderr, "goroutine "):
		h.tally.add(m.name, "refused")
	default:
		bad = append(bad, "neither done nor refused")
	}
	if len(bad) > 0 {
		h.tally.add(m.name, brokenness)
		h.tally.fault(m.name, fmt.Sprintf("%s, %s at %s", sc.name, name, at), bad, out)
	}
	return nil
}
