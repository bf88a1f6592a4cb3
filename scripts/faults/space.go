package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
)

// page is what a file of tmpfs grows by.
const page = 4096

// fillDisk runs every scenario on a small tmpfs, with every amount of space left
// from nothing to enough, and with every number of files that may still be made.
func (h *harness) fillDisk(out io.Writer) error {
	disk := filepath.Join(h.dir, "disk")
	if err := os.MkdirAll(disk, 0o777); err != nil {
		return err
	}
	if err := mount(disk, "-t", "tmpfs", "-o", "size=16m", "tmpfs"); err != nil {
		fmt.Fprintln(out, "\na full disk: skipped, since no tmpfs can be mounted here:", err)
		return nil
	}
	defer func() { _ = exec.Command("umount", disk).Run() }() // it goes with the machine at the latest
	const steps, files = 24, 8
	rows := []string{"space for part of the bytes", "space for some of the files"}
	dir := filepath.Join(disk, "world")
	filler := filepath.Join(disk, "filler")
	t := trouble{cause: syscall.ENOSPC.Error()}
	for _, sc := range h.cases {
		need := 0
		for name, data := range sc.new {
			if sc.old[name] != data {
				need += len(data)/page*page + page
			}
		}
		for i := range steps {
			free := need * i / (steps - 1)
			if err := h.settle(sc, dir); err != nil {
				return err
			}
			if err := fill(filler, int64(free/page*page)); err != nil {
				return err
			}
			got, err := h.call(dir, nil, sc.args(want))
			if err != nil {
				return err
			}
			if err := os.Remove(filler); err != nil {
				return err
			}
			if err := h.judge(sc, dir, rows[0], fmt.Sprintf("%d of %d bytes", free, need), got, t); err != nil {
				return err
			}
		}
		for i := range files {
			if err := h.settle(sc, dir); err != nil {
				return err
			}
			used, err := inodes(disk)
			if err != nil {
				return err
			}
			if err := mount(disk, "-o", "remount,nr_inodes="+strconv.Itoa(used+i)); err != nil {
				return err
			}
			got, err := h.call(dir, nil, sc.args(want))
			if err != nil {
				return err
			}
			if err := mount(disk, "-o", "remount,nr_inodes=100000"); err != nil {
				return err
			}
			if err := h.judge(sc, dir, rows[1], fmt.Sprintf("%d files", i), got, t); err != nil {
				return err
			}
		}
	}
	h.tally.table(out, "a full disk (tmpfs)", rows, columns())
	return nil
}

func mount(dir string, flags ...string) error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("not on %s", runtime.GOOS)
	}
	if text, err := exec.Command("mount", append(flags, dir)...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	return nil
}

// fill leaves so many bytes free.
func fill(filler string, free int64) error {
	f, err := os.Create(filler)
	if err != nil {
		return err
	}
	defer f.Close()
	block := make([]byte, page)
	for {
		if _, err := f.Write(block); err != nil {
			break // full
		}
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return f.Truncate(max(0, info.Size()-free))
}

// inodes counts the files and folders below a mount, with its root.
func inodes(disk string) (n int, err error) {
	err = filepath.WalkDir(disk, func(string, os.DirEntry, error) error {
		n++
		return nil
	})
	return n, err
}
