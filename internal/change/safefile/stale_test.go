package safefile

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const childEnv = "STCHAT_SAFEFILE_TEST_CHILD"

// TestMain lets the test binary be the process that is killed while it writes.
func TestMain(m *testing.M) {
	if target := os.Getenv(childEnv); target != "" {
		tmp, err := New(target, Options{})
		if err != nil {
			panic(err)
		}
		if _, err := tmp.Write([]byte("half a ch")); err != nil {
			panic(err)
		}
		os.Stdout.WriteString("ready\n")
		io.Copy(io.Discard, os.Stdin) // until it is killed
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func TestRemoveStaleAfterKill(t *testing.T) {
	tag, sure := hostTag()
	if !sure {
		t.Skip("this system does not say where a process id is valid")
	}
	dir := t.TempDir()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childEnv+"="+filepath.Join(dir, "a.jsonl"))
	child.Stderr = os.Stderr
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	left := temps(t, dir)
	if len(left) != 1 {
		t.Fatalf("the child's files: %q", left)
	}
	if gotTag, pid, ok := parseTempName(left[0]); !ok || gotTag != tag || pid != child.Process.Pid {
		t.Errorf("the name %s gives %q, %d, %v", left[0], gotTag, pid, ok)
	}
	if got := RemoveStale(dir, nil, ThisProcess()); got != nil {
		t.Errorf("removed from under a living process: %q", got)
	}

	child.Process.Kill()
	child.Wait()
	// The same dead process on another host proves nothing, nor does a chat's own name.
	foreign := strings.Replace(left[0], tag, strings.Repeat("0", tagDigits), 1)
	keep := map[string]string{foreign: "x", "a.jsonl": "x", "stchat-1.tmp": "x"}
	for n := range keep {
		put(t, filepath.Join(dir, n), "x")
	}
	if diff := cmp.Diff([]string{filepath.Join(dir, left[0])}, RemoveStale(dir, nil, ThisProcess())); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	wantFiles(t, dir, keep)
	if got := RemoveStale(dir, nil, ThisProcess()); got != nil {
		t.Errorf("removed again: %q", got)
	}
}

func TestRemoveStaleOnlyGone(t *testing.T) {
	const tag = "0123456789ab"
	dir := t.TempDir()
	name := func(tag string, pid int) string {
		return tempPrefix + tag + "-" + strconv.Itoa(pid) + "-00000000" + tempSuffix
	}
	put(t, filepath.Join(dir, name(tag, 10)), "x")
	put(t, filepath.Join(dir, name(tag, 11)), "x")
	put(t, filepath.Join(dir, name("ba9876543210", 10)), "x")
	if err := os.Mkdir(filepath.Join(dir, name(tag, 12)), 0o755); err != nil {
		t.Fatal(err)
	}
	names := []string{name(tag, 10), name(tag, 11), name("ba9876543210", 10), name(tag, 12), name(tag, 13)}
	gone := func(pid int) bool { return pid != 11 }
	if diff := cmp.Diff([]string{filepath.Join(dir, name(tag, 10))}, removeStale(dir, names, tag, nil, gone)); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(dir, name(tag, 12))); err != nil {
		t.Errorf("the folder: %v", err)
	}
	if got := RemoveStale(filepath.Join(dir, "none"), nil, ThisProcess()); got != nil {
		t.Errorf("removed from nowhere: %q", got)
	}
}

func TestProcessGone(t *testing.T) {
	for _, pid := range []int{os.Getpid(), os.Getppid(), 0, -1, -os.Getpid()} {
		if processGone(pid) {
			t.Errorf("process %d is gone", pid)
		}
	}
}

func TestTempName(t *testing.T) {
	tag, _ := hostTag()
	again, _ := hostTag()
	if tag != again {
		t.Errorf("two tags of one process: %s, %s", tag, again)
	}
	a, b := tempName(tag), tempName(tag)
	if a == b {
		t.Errorf("twice the name %s", a)
	}
	for _, ext := range []string{".json", ".jsonl"} {
		if strings.HasSuffix(a, ext) {
			t.Errorf("%s ends in %s", a, ext)
		}
	}
	if len(a) > 48 {
		t.Errorf("%s has %d bytes", a, len(a))
	}
	if gotTag, pid, ok := parseTempName(a); gotTag != tag || pid != os.Getpid() || !ok {
		t.Errorf("parseTempName(%s) = %q, %d, %v", a, gotTag, pid, ok)
	}

	const good = ".stchat-0123456789ab-17-0011eeff.tmp"
	if _, pid, ok := parseTempName(good); pid != 17 || !ok {
		t.Errorf("parseTempName(%s) = %d, %v", good, pid, ok)
	}
	for _, bad := range []string{
		"", ".stchat-.tmp", ".stchat---.tmp", good + ".jsonl", good + "l", "x" + good, good[1:],
		".stchat-0123456789ab-0-0011eeff.tmp",
		".stchat-0123456789ab--1-0011eeff.tmp",
		".stchat-0123456789ab-+17-0011eeff.tmp",
		".stchat-0123456789ab-017-0011eeff.tmp",
		".stchat-0123456789ab-4294967313-0011eeff.tmp", // 17 in 32 bits
		".stchat-0123456789ab-99999999999999999999-0011eeff.tmp",
		".stchat-0123456789ab-17 -0011eeff.tmp",
		".stchat-0123456789AB-17-0011eeff.tmp",
		".stchat-0123456789a-17-0011eeff.tmp",
		".stchat-0123456789ab-17-0011eefg.tmp",
		".stchat-0123456789ab-17-0011eeff-1.tmp",
	} {
		if _, pid, ok := parseTempName(bad); ok {
			t.Errorf("parseTempName(%q) = %d, ok", bad, pid)
		}
	}
}
