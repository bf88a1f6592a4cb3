//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// fifo PATH makes a pipe with a name.
func scriptFifo(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: fifo PATH")
	}
	ts.Check(syscall.Mkfifo(ts.MkAbs(args[0]), 0o666))
}

// unprivileged N prog args... is exits for somebody who is not root, to whom a
// read-only file is one: what belongs to root and is not for everybody cannot
// be read or written.
func scriptUnprivileged(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: unprivileged N prog args...")
	}
	prog, err := exec.LookPath(args[1])
	ts.Check(err)
	cmd := exec.Command(prog, args[2:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Stdout, cmd.Stderr = ts.Stdout(), ts.Stderr()
	if os.Geteuid() == 0 {
		const nobody = 65534
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		for _, dir := range []string{filepath.Dir(prog), cmd.Dir} {
			ts.Check(letThrough(dir))
		}
	}
	ended(ts, args[0], cmd.Run())
}

// letThrough lets everybody pass the temporary folders above and with dir.
func letThrough(dir string) error {
	for ; dir != filepath.Clean(os.TempDir()) && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		if err := os.Chmod(dir, info.Mode().Perm()|0o011); err != nil {
			return err
		}
	}
	return nil
}
