package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
)

// nobody is the user who runs the program where files are locked: root may write anywhere.
const nobody = 65534

// lock is one thing that may not be written, or read.
type lock struct {
	name string
	mode os.FileMode
	on   func(sc *scenario) []string // paths in the world
}

func locks() []lock {
	folders := func(sc *scenario) []string {
		var list []string
		for name := range sc.new {
			if dir := path.Dir(name); !slices.Contains(list, dir) {
				list = append(list, dir)
			}
		}
		return list
	}
	files := func(sc *scenario) []string {
		var list []string
		for name := range sc.old {
			list = append(list, name)
		}
		return list
	}
	return []lock{
		{"a folder that may not be written", 0o555, folders},
		{"a folder that may not be listed", 0o333, folders},
		{"a folder that may not be entered", 0o666, folders},
		{"a file that may not be written", 0o444, files},
		{"a file that may not be read", 0o200, files},
	}
}

// lockFiles removes the permissions of each folder and file of each scenario in turn,
// and puts whole worlds on a disk that is mounted read-only.
func (h *harness) lockFiles(out io.Writer) error {
	setpriv, err := exec.LookPath("setpriv")
	if err != nil || os.Geteuid() != 0 {
		fmt.Fprintln(out, "\nread-only files and folders: skipped, since it takes root and setpriv")
		return nil
	}
	if err := os.Chmod(h.dir, 0o755); err != nil {
		return err
	}
	under := []string{setpriv, fmt.Sprint("--reuid=", nobody), fmt.Sprint("--regid=", nobody), "--clear-groups"}
	var rows []string
	for _, l := range locks() {
		rows = append(rows, l.name)
		for _, sc := range h.cases {
			for _, name := range l.on(sc) {
				if err := h.locked(sc, l, name, under); err != nil {
					return err
				}
			}
		}
	}
	row, err := h.readOnlyDisk()
	if err != nil {
		return err
	}
	h.tally.table(out, "permissions (as nobody)", append(rows, row), columns())
	return nil
}

func (h *harness) locked(sc *scenario, l lock, name string, under []string) error {
	dir, err := h.world()
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := h.settle(sc, dir); err != nil {
		return err
	}
	err = filepath.WalkDir(dir, func(p string, _ os.DirEntry, err error) error {
		if err == nil {
			err = os.Chown(p, nobody, nobody)
		}
		return err
	})
	if err != nil {
		return err
	}
	p := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.Chmod(p, l.mode); err != nil {
		return err
	}
	got, err := h.call(dir, under, sc.args(want))
	if err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if info, err := os.Stat(p); err == nil && info.IsDir() {
		mode = 0o755
	}
	if err := os.Chmod(p, mode); err != nil && !errors.Is(err, fs.ErrNotExist) { // it may have moved
		return err
	}
	return h.judge(sc, dir, l.name, name, got, trouble{})
}

// readOnlyDisk runs every scenario where nothing can be written at all.
func (h *harness) readOnlyDisk() (row string, err error) {
	row = "a disk that is mounted read-only"
	disk := filepath.Join(h.dir, "read-only")
	if err := os.MkdirAll(disk, 0o777); err != nil {
		return row, err
	}
	if err := mount(disk, "-t", "tmpfs", "-o", "size=16m", "tmpfs"); err != nil {
		return row + " (skipped)", nil // what cannot be mounted is not tested
	}
	defer func() { _ = exec.Command("umount", disk).Run() }() // it goes with the machine at the latest
	dir := filepath.Join(disk, "world")
	for _, sc := range h.cases {
		if err := h.settle(sc, dir); err != nil {
			return row, err
		}
		if err := mount(disk, "-o", "remount,ro"); err != nil {
			return row, err
		}
		got, err := h.call(dir, nil, sc.args(want))
		if err != nil {
			return row, err
		}
		if err := mount(disk, "-o", "remount,rw"); err != nil {
			return row, err
		}
		if err := h.judge(sc, dir, row, "all of it", got, trouble{mustFail: true}); err != nil {
			return row, err
		}
	}
	return row, nil
}
