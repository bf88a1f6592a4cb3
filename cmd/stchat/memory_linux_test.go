package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The most that a plain checkpoint may take of memory, whatever the chat's
// size, and what it may take beyond a line that it must parse as a whole.
const (
	plainPeak = 17 << 20 // 16 was the goal; the program itself, without any chat, has grown to 12.5
	alittle   = 32 << 20
)

// mainPeak is the program, which at its end writes the most memory that it had
// into the file $STCHAT_PEAK. What the system tells its parent would not do: on
// Linux a process starts with the peak of the one that made it.
func mainPeak() {
	code := run(context.Background(), newEnv(), os.Args[1:])
	status, err := os.ReadFile("/proc/self/status")
	if err == nil {
		err = os.WriteFile(os.Getenv("STCHAT_PEAK"), status, 0o666)
	}
	if err != nil {
		panic(err)
	}
	os.Exit(code)
}

// peak runs stchat and gives the most memory that it had at a time.
func peak(t *testing.T, args ...string) int64 {
	t.Helper()
	status := filepath.Join(t.TempDir(), "status")
	cmd := exec.Command("stchat-peak", args...)
	cmd.Env = append(cmd.Environ(), "STCHAT_PEAK="+status)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	_, rest, _ := strings.Cut(string(read(t, status)), "VmHWM:")
	kilobytes, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}

// least returns the least of up to five peaks, or the first that is not above enough: how much
// of the program and of its heap the system keeps at a time is not the same in all runs.
func least(enough int64, peak func() int64) int64 {
	got := peak()
	for run := 1; got > enough && run < 5; run++ {
		got = min(got, peak())
	}
	return got
}

// program builds stchat as it is released: with the tests in it, and with the system's C
// library, it takes 3 MB more.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stchat")
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// programPeak is [peak] of a built program. It is asked for over and over while it runs.
func programPeak(t *testing.T, program string, args ...string) (most int64) {
	t.Helper()
	cmd := exec.Command(program, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case err := <-done:
			if err != nil || most == 0 {
				t.Fatalf("%q: %v, %d bytes", args, err, most)
			}
			return most
		case <-time.After(time.Millisecond):
		}
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(status), "VmHWM:")
		if fields := strings.Fields(rest); len(fields) > 0 {
			kilobytes, err := strconv.ParseInt(fields[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			most = max(most, kilobytes<<10)
		}
	}
}

// chatOf writes a chat of n lines, each as line makes it, in pieces.
func chatOf(t *testing.T, n int, line func(w *bufio.Writer, i int)) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "c.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	w.WriteString(`{"chat_metadata":{},"user_name":"unused","character_name":"unused"}`)
	for i := range n {
		w.WriteByte('\n')
		line(w, i)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// A chat of 150 MB in ordinary lines stands for one of 1 GB here, to be quick:
// what does not follow the file's size shows in either.
func TestPlainCutsStaySmall(t *testing.T) {
	if testing.Short() || underRace {
		t.Skip("writes 300 MB, and the race detector needs memory of its own")
	}
	text := strings.Repeat("the lamp turns over the salt and the slow water ", 30)
	path := chatOf(t, 100_000, func(w *bufio.Writer, i int) {
		fmt.Fprintf(w, `{"name":"Mira","is_user":%t,"send_date":"2026-01-02T03:04:05.000Z","mes":"%d %s","extra":{}}`, i%2 == 0, i, text)
	})
	stchat := program(t)
	for _, tc := range []struct {
		most int64
		args []string
	}{
		{plainPeak, []string{"checkpoint", path, "-o", filepath.Join(filepath.Dir(path), "a.jsonl")}},
		{plainPeak, []string{"branch", path, "-a", "-2", "--dry-run"}},
		{plainPeak, []string{"checkpoint", path, "-a", "-100000", "--dry-run"}},
		{32 << 20, []string{"split", path, "--every", "1000", "--dry-run"}},
		{32 << 20, []string{"copy", path, "--dry-run"}},
		{32 << 20, []string{"join", path, path, "--dry-run"}},
	} {
		got := least(tc.most, func() int64 {
			_ = os.Remove(filepath.Join(filepath.Dir(path), "a.jsonl")) // made by the run before
			return programPeak(t, stchat, tc.args...)
		})
		if got > tc.most {
			t.Errorf("%s: %d bytes at the peak, want %d at most", tc.args[0], got, tc.most)
		}
	}
}

// A chat of a million damaged lines stands for one of ten.
func TestRepairOfDamageStaysSmall(t *testing.T) {
	if testing.Short() || underRace {
		t.Skip("mends a million lines, and the race detector needs memory of its own")
	}
	got := least(64<<20, func() int64 {
		path := chatOf(t, 1_000_000, func(w *bufio.Writer, i int) {
			if i == 0 {
				w.WriteString(`{"name":"Mira","is_user":false,"mes":"x"}`)
				return
			}
			w.WriteByte('{')
		})
		return peak(t, "repair", path, "-y")
	})
	if got > 64<<20 {
		t.Errorf("%d bytes at the peak, want %d at most", got, 64<<20)
	}
}

func TestLongLineCostsItselfAndALittle(t *testing.T) {
	if testing.Short() || underRace {
		t.Skip("writes 400 MB, and the race detector needs memory of its own")
	}
	const size = 200 << 20
	piece := strings.Repeat("iVBORw0KGgoAAAAN", 1<<12)
	path := chatOf(t, 3, func(w *bufio.Writer, i int) {
		w.WriteString(`{"mes":"x","swipes":["x","y"],"extra":{"image":"`)
		if i == 1 {
			for range size / len(piece) {
				w.WriteString(piece)
			}
		}
		w.WriteString(`"}}`)
	})
	out := filepath.Join(filepath.Dir(path), "a.jsonl")
	// nothing of it need be parsed as a whole
	got := least(plainPeak, func() int64 {
		_ = os.Remove(out) // made by the run before
		return peak(t, "checkpoint", path, "-o", out)
	})
	if got > plainPeak {
		t.Errorf("checkpoint: %d bytes at the peak, want %d at most", got, plainPeak)
	}
	if info, err := os.Stat(out); err != nil || info.Size() < size {
		t.Errorf("the copy: %v, %v", info, err)
	}
	// now it is parsed
	for _, tc := range []struct {
		most int64
		args []string
	}{
		{size + alittle, []string{"checkpoint", path, "-a", "1", "--link", "--dry-run"}},
		// the swipe that was chosen keeps the message's extra in swipe_info
		{6 * size, []string{"branch", path, "-a", "1", "--swipe", "2", "-o", out, "--force"}},
	} {
		if got := peak(t, tc.args...); got > tc.most {
			t.Errorf("%q: %d bytes at the peak, want %d at most", tc.args, got, tc.most)
		}
	}
}
