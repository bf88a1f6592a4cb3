package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// strangeAll puts links, FIFOs and folders in the place of each file in .stchat: no command may
// wait for them, follow them, or write through them, and what no command made is left whole.
func (h *harness) strangeAll(out io.Writer) error {
	const row = "a link, FIFO or folder in .stchat"
	id := "20261121T203325-4f1c9a02"
	names := []string{
		"turn", "lock", ".gitignore", "history.db", "history.db-journal", "history.db-wal", "history.db-shm",
		id + ".journal", id + ".journal.tmp", id + ".done", id + ".foreign", id + "-1", id + ".probe",
	}
	kinds := map[string]func(path, target string) error{
		"link to a file": func(path, target string) error { return os.Symlink(target, path) },
		"dangling link":  func(path, target string) error { return os.Symlink(target+" made", path) },
		"link to zeros":  func(path, _ string) error { return os.Symlink("/dev/zero", path) },
		"FIFO":           func(path, _ string) error { return exec.Command("mkfifo", path).Run() },
		"folder":         func(path, _ string) error { return os.Mkdir(path, 0o700) },
	}
	type strange struct{ name, kind string }
	var all []strange
	for _, name := range names {
		for kind := range kinds {
			all = append(all, strange{name, kind})
		}
	}
	err := h.each(len(all), func(i int, dir string) error {
		s := all[i]
		if err := h.settle(h.cases[0], dir); err != nil {
			return err
		}
		for _, args := range [][]string{{"snapshot", "."}, {"search", "--color", "never", "lamp", "."}} {
			if _, err := h.call(dir, nil, args); err != nil {
				return err
			}
		}
		outside := filepath.Join(h.dir, fmt.Sprint("outside ", i))
		path := filepath.Join(dir, ".stchat", s.name)
		if err := os.WriteFile(outside, []byte("precious"), 0o600); err != nil {
			return err
		}
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		if err := kinds[s.kind](path, outside); err != nil {
			return err
		}
		var bad []string
		for _, args := range [][]string{
			{"meta", "set", supper, "--set", "x=1"},
			{"branch", supper, "--name", "beside"},
			{"log", "--commands"},
			{"undo"},
			{"snapshot", "."},
			{"search", "lamp", "."},
			{"lost", "."},
			{"check", "."},
			{"undo", "--prune", "1d", "-y"},
			{"undo", "--force", id},
		} {
			cmd := h.command(dir, nil, args)
			began := time.Now()
			if err := cmd.Start(); err != nil {
				return err
			}
			tooLong := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
			got, err := cmd.ended(cmd.Wait(), began)
			tooLong.Stop()
			if err != nil {
				return err
			}
			if got.code < 0 || got.code > 2 {
				bad = append(bad, fmt.Sprintf("%q: %s", args, got))
			}
			if data, err := os.ReadFile(outside); err != nil || string(data) != "precious" {
				bad = append(bad, fmt.Sprintf("%q writes through a link", args))
			}
			if _, err := os.Lstat(outside + " made"); err == nil {
				bad = append(bad, fmt.Sprintf("%q makes a file behind a link", args))
			}
		}
		h.tally.add(row, "runs")
		if len(bad) > 0 {
			h.tally.add(row, brokenness)
			h.tally.fault(row, s.name+" as a "+s.kind, bad, outcome{})
		}
		return nil
	})
	if err != nil {
		return err
	}
	h.tally.table(out, "strange files", []string{row}, []string{"runs", brokenness})
	return nil
}
