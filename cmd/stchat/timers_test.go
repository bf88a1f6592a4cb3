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

// TestTimers holds the recipes of docs/history.md against the systems that run them, as
// far as these are here.
func TestTimers(t *testing.T) {
	page := string(read(t, filepath.Join("..", "..", "docs", "history.md")))
	blocks := regexp.MustCompile("(?s)```(ini|xml)\n(.*?)```").FindAllStringSubmatch(page, -1)
	if len(blocks) != 3 {
		t.Fatalf("%d recipes, want two units and a plist", len(blocks))
	}
	dir := t.TempDir()
	var units []string
	for _, b := range blocks {
		if b[1] == "xml" {
			for dec := xml.NewDecoder(strings.NewReader(b[2])); ; {
				if _, err := dec.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("the plist: %v", err)
				}
			}
			continue
		}
		name, unit, _ := strings.Cut(strings.TrimPrefix(b[2], "# "), "\n")
		units = append(units, filepath.Join(dir, name))
		if err := os.WriteFile(units[len(units)-1], []byte(unit), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd-analyze here")
	}
	cmd := exec.Command(analyze, append([]string{"verify", "--user"}, units...)...)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}
