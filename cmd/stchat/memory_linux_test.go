package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// plainPeak is the most that a plain checkpoint may take of memory, whatever the chat's size. 16 MB
// was the goal; the program itself, without any chat, has grown to 12.5.
const plainPeak = 17 << 20

// A verb takes no more memory than is said here, however large the chat is that it works on.
func TestMemory(t *testing.T) {
	if testing.Short() || underRace {
		t.Skip("writes 300 MB, and the race detector needs memory of its own")
	}
	m := &measured{t: t, program: program(t)}

	// A chat of 75 MB in ordinary lines stands for one of 1 GB here, to be quick: what does not
	// follow the file's size shows in either.
	text := strings.Repeat("the lamp turns over the salt and the slow water ", 30)
	plain := chatOf(t, 50_000, func(w *bufio.Writer, i int) {
		fmt.Fprintf(w, `{"name":"Mira","is_user":%t,"send_date":"2026-01-02T03:04:05.000Z","mes":"%d %s","extra":{"model":"m%d"}}`, i%2 == 0, i, text, i%9)
	})
	out := filepath.Join(t.TempDir(), "out.jsonl")
	m.check(plainPeak, "checkpoint", plain, "-o", out, "--force")
	m.check(plainPeak, "branch", plain, "-a", "-2", "--dry-run")
	m.check(plainPeak, "checkpoint", plain, "-a", "-50000", "--dry-run")
	m.check(plainPeak, "inspect", plain)
	m.check(plainPeak, "inspect", plain, "--json")
	m.check(32<<20, "split", plain, "--every", "500", "--dry-run")
	m.check(32<<20, "copy", plain, "--dry-run")
	m.check(32<<20, "join", plain, plain, "--dry-run")
	// every message is made into text here, and what is done with is not freed at once
	m.check(plainPeak+16<<20, "inspect", plain, "--messages", "-q")
	m.check(plainPeak+16<<20, "inspect", plain, "--messages", "--json", "-q")

	// A million damaged lines stand for ten.
	damaged := chatOf(t, 1_000_000, func(w *bufio.Writer, i int) {
		if i == 0 {
			w.WriteString(`{"name":"Mira","is_user":false,"mes":"x"}`)
			return
		}
		w.WriteByte('{')
	})
	if got := m.peak("repair", damaged, "-y"); got > 64<<20 { // once: then nothing is damaged any more
		t.Errorf("repair: %d bytes at the peak, want %d at most", got, 64<<20)
	}

	m.checkLongLine(out)
	m.checkManyKeys()
}

// checkLongLine checks that a long line costs memory only where it must be parsed as a whole.
func (m *measured) checkLongLine(out string) {
	const size = 100 << 20
	piece := strings.Repeat("iVBORw0KGgoAAAAN", 1<<12)
	path := chatOf(m.t, 3, func(w *bufio.Writer, i int) {
		w.WriteString(`{"mes":"x","swipes":["x","y"],"extra":{"image":"`)
		if i == 1 {
			for range size / len(piece) {
				w.WriteString(piece)
			}
		}
		w.WriteString(`"}}`)
	})

	m.check(plainPeak, "checkpoint", path, "-o", out, "--force")
	info, err := os.Stat(out)
	if err != nil || info.Size() < size {
		m.t.Errorf("the copy: %v, %v", info, err)
	}

	m.check(size+32<<20, "checkpoint", path, "-a", "1", "--link", "--dry-run")
	// the swipe that was chosen keeps the message's extra in swipe_info
	m.check(6*size, "branch", path, "-a", "1", "--swipe", "2", "-o", out, "--force")
}

// checkManyKeys checks that what is kept of a line is at most 16 times its size, however many keys it
// has.
func (m *measured) checkManyKeys() {
	keys := manyKeys(200_000)
	dir := m.t.TempDir()
	chat := func(name, header, message string) string {
		path := filepath.Join(dir, name)
		content := header + "\n" + message + "\n" + `{"name":"Ines","is_user":true,"mes":"y"}`
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			m.t.Fatal(err)
		}
		return path
	}
	const (
		header  = `{"chat_metadata":{},"user_name":"unused"}`
		message = `{"name":"Mira","is_user":false,"mes":"x"}`
	)
	inMessage := chat("message.jsonl", header, `{"name":"Mira","is_user":false,"mes":"x",`+string(keys[1:]))
	inExtra := chat("extra.jsonl", header, `{"name":"Mira","is_user":false,"mes":"x","extra":`+string(keys)+`}`)
	inHeader := chat("header.jsonl", `{"chat_metadata":{},"user_name":"unused",`+string(keys[1:]), message)
	inMetadata := chat("metadata.jsonl", `{"chat_metadata":`+string(keys)+`,"user_name":"unused"}`, message)
	more := chat("more.jsonl", `{"chat_metadata":`+string(keys[:len(keys)-1])+`,"more":{}},"user_name":"unused"}`, message)

	oneLine := int64(plainPeak + 16*len(keys))
	for _, args := range [][]string{
		{"inspect", inMessage},
		{"inspect", inHeader},
		{"inspect", inMetadata},
		{"inspect", "--json", inMetadata},
		{"check", inMessage},
		{"check", inHeader},
		{"check", inMetadata},
		{"repair", inMessage},
		{"repair", inHeader},
		{"repair", inMetadata},
		{"checkpoint", inMessage, "-a", "0", "--link", "--isolate", "--dry-run"},
		{"checkpoint", inExtra, "-a", "0", "--isolate", "--dry-run"},
		{"checkpoint", inHeader, "-a", "0", "--link", "--isolate", "--dry-run"},
		{"checkpoint", inMetadata, "-a", "0", "--link", "--isolate", "--dry-run"},
		{"show", inMessage, "-a", "0"},
		{"edit", inMessage, "-a", "0", "--set", "name=Zoe", "--dry-run"},
		{"edit", inHeader, "-a", "0", "--set", "name=Zoe", "--dry-run"},
		{"edit", inMetadata, "-a", "0", "--set", "name=Zoe", "--dry-run"},
		{"meta", "get", inMetadata, "00000"},
		{"meta", "set", inHeader, "--set", "note_depth=1", "--dry-run"},
		{"meta", "set", inMetadata, "--set", "note_depth=1", "--dry-run"},
	} {
		m.check(oneLine, args...)
	}

	twoLines := oneLine + int64(16*len(keys))
	m.check(twoLines, "diff-meta", inMetadata, inMetadata)
	m.check(twoLines, "diff-meta", "--format", "merge-patch", "--only", "00*", inMetadata, more)
}

// manyKeys returns an object of n short keys, which all differ.
func manyKeys(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, ",\"%05x\":0", i)
	}
	b.Bytes()[0] = '{'
	return append(b.Bytes(), '}')
}

// measured is the program, whose memory is measured.
type measured struct {
	t       *testing.T
	program string
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

// check runs the program, and reports an error if it takes more memory than it may in five runs:
// how much of the program and of its heap the system keeps at a time is not the same in all of them.
func (m *measured) check(most int64, args ...string) {
	m.t.Helper()
	got := m.peak(args...)
	for run := 1; got > most && run < 5; run++ {
		got = min(got, m.peak(args...))
	}
	if got > most {
		m.t.Errorf("%q: %d bytes at the peak, want %d at most", args, got, most)
	}
	m.t.Logf("%s: %d of %d", args[0], got, most)
}

// peak runs the program and returns the most memory that it had at a time. It is asked for over and
// over while the program runs: what the system tells a parent at the end would not do, since on Linux a
// process starts with the peak of the one that made it.
func (m *measured) peak(args ...string) (most int64) {
	m.t.Helper()
	cmd := exec.Command(m.program, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case err := <-done:
			if err != nil {
				m.t.Fatalf("%q: %v\n%s", args, err, said.Bytes())
			}
			if most == 0 {
				m.t.Fatalf("%q: it ended before its memory was asked for", args)
			}
			return most
		case <-time.After(time.Millisecond):
		}
		most = max(most, peakOf(m.t, cmd.Process.Pid))
	}
}

// peakOf returns the most memory that a process had until now, 0 if it has ended.
func peakOf(t *testing.T, pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kilobytes, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
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
