package main_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"stchat/internal/folder/rules"
	"stchat/internal/ops"
	"stchat/internal/ops/repair"
	"stchat/scripts/internal/chatgen"
)

// Check finds nothing in chats that only begin as SillyTavern's page begins them, and finds each in
// which another word of the greeting differs than a macro.
func TestGreetings(t *testing.T) {
	const n = 200
	dir := t.TempDir()
	if err := chatgen.Greetings(dir, n, 7); err != nil {
		t.Fatal(err)
	}
	check := func() []rules.Finding {
		t.Helper()
		res, err := repair.Check(t.Context(), repair.CheckOptions{List: ops.List{Paths: []string{dir}}, Now: time.Now()})
		if err != nil || len(res.Chats) != n || len(res.Errs) > 0 {
			t.Fatalf("%d chats, %v, %v", len(res.Chats), res.Errs, err)
		}
		return res.Findings
	}
	for _, f := range check() {
		t.Errorf("%s: %s: %s", f.Path, f.Rule, f.Message)
	}

	paths, err := filepath.Glob(filepath.Join(dir, "chats", "Mira", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		data = bytes.Replace(data, []byte(`"mes":"`), []byte(`"mes":"Another word. `), 1)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found := 0
	for _, f := range check() {
		if f.Rule == rules.SwipeText && f.Index == 0 {
			found++
		}
	}
	if found != n {
		t.Errorf("%d greetings of %d differ", found, n)
	}
}

func TestGreetingsRefused(t *testing.T) {
	if err := chatgen.Greetings(t.TempDir(), 0, 1); err == nil {
		t.Error("no chats were made")
	}
}
