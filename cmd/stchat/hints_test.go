package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestHintsAreKnown: whatever an error of the verbs says would help, the command says how.
func TestHintsAreKnown(t *testing.T) {
	hints := regexp.MustCompile(`Hint: +"([^"]*)"`)
	seen := 0
	err := filepath.WalkDir(filepath.Join("..", "..", "internal", "ops"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		data, err := os.ReadFile(path)
		for _, m := range hints.FindAllStringSubmatch(string(data), -1) {
			if seen++; helps(m[1]) == "" {
				t.Errorf("%s: nothing is known of the hint %q", path, m[1])
			}
		}
		return err
	})
	if err != nil || seen < 10 {
		t.Errorf("%d hints were seen: %v", seen, err)
	}
}
