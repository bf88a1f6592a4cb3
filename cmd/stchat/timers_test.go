package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// recipesIn returns the code blocks of docs/history.md in a language.
func recipesIn(t *testing.T, language string, want int) (blocks []string) {
	t.Helper()
	page := string(read(t, filepath.Join("..", "..", "docs", "history.md")))
	for _, b := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(page, -1) {
		blocks = append(blocks, b[1])
	}
	if len(blocks) != want {
		t.Fatalf("%d recipes in %s, want %d", len(blocks), language, want)
	}
	return blocks
}

// verifier returns a program that verifies a recipe; the test is skipped if it is not installed.
func verifier(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("no %s here", name)
	}
	return path
}

// TestTimersSystemd has systemd verify the units of docs/history.md.
func TestTimersSystemd(t *testing.T) {
	analyze := verifier(t, "systemd-analyze")
	dir := t.TempDir()
	args := []string{"verify", "--user"}
	for _, b := range recipesIn(t, "ini", 2) {
		name, unit, _ := strings.Cut(strings.TrimPrefix(b, "# "), "\n")
		args = append(args, filepath.Join(dir, name))
		if err := os.WriteFile(args[len(args)-1], []byte(unit), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(analyze, args...)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

// TestTimersCron has cron verify its line of docs/history.md, and the shell its command.
func TestTimersCron(t *testing.T) {
	recipe := recipesIn(t, "crontab", 1)[0]
	file := filepath.Join(t.TempDir(), "crontab")
	if err := os.WriteFile(file, []byte(recipe), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Run("shell", func(t *testing.T) {
		fields := strings.SplitN(strings.TrimSpace(recipe), " ", 6)
		if out, err := exec.Command(verifier(t, "sh"), "-n", "-c", fields[5]).CombinedOutput(); err != nil {
			t.Errorf("sh -n -c %q: %v\n%s", fields[5], err, out)
		}
	})
	t.Run("crontab", func(t *testing.T) {
		crontab := verifier(t, "crontab")
		usage, _ := exec.Command(crontab, "-h").CombinedOutput() // how it is asked to verify differs, and the wrong flag would do something else
		flag := ""
		switch {
		case strings.Contains(string(usage), "-T "):
			flag = "-T"
		case regexp.MustCompile(`-n\s+\(dry run`).Match(usage):
			flag = "-n"
		default:
			t.Skip("this crontab cannot verify a file")
		}
		if out, err := exec.Command(crontab, flag, file).CombinedOutput(); err != nil {
			t.Errorf("crontab %s: %v\n%s", flag, err, out)
		}
	})
}

// TestTimersLaunchd verifies the property list of docs/history.md with macOS's plutil, or else
// libplist's plistutil, which exits with 0 whatever it read.
func TestTimersLaunchd(t *testing.T) {
	recipe := recipesIn(t, "xml", 1)[0]
	for dec := xml.NewDecoder(strings.NewReader(recipe)); ; {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "stchat.snapshot.plist")
	if err := os.WriteFile(file, []byte(recipe), 0o666); err != nil {
		t.Fatal(err)
	}
	if plutil, err := exec.LookPath("plutil"); err == nil {
		if out, err := exec.Command(plutil, "-lint", file).CombinedOutput(); err != nil {
			t.Errorf("plutil -lint: %v\n%s", err, out)
		}
		return
	}
	binary := file + ".bin"
	out, err := exec.Command(verifier(t, "plistutil"), "-i", file, "-o", binary).CombinedOutput()
	if data, _ := os.ReadFile(binary); err != nil || !strings.Contains(string(data), "stchat.snapshot") {
		t.Errorf("plistutil: %v\n%s", err, out)
	}
}
