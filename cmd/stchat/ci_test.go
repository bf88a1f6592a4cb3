package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// actionStep returns the script of the action's last step.
func actionStep(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	_, script, ok := strings.Cut(string(data[strings.LastIndex(string(data), "- name:"):]), "run: |\n")
	if !ok {
		t.Fatal("the last step has no script")
	}
	return regexp.MustCompile(`(?m)^        `).ReplaceAllString(script, "")
}

// TestAction runs the action's own script as GitHub does: its exit codes are those of check,
// with a SARIF file and without.
func TestAction(t *testing.T) {
	bash, err := exec.LookPath("bash")
	program, err2 := exec.LookPath("stchat")
	if err := errors.Join(err, err2); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "temp", "stchat"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(dir, "temp", "stchat", "stchat")); err != nil {
		t.Skip(err)
	}
	header := `{"chat_metadata":{"integrity":"11111111-0000-4000-8000-000000000000"},"user_name":"unused","character_name":"unused"}` + "\n"
	for name, content := range map[string]string{
		"good.jsonl": header + `{"name":"Mira","is_user":false,"send_date":"2026-01-02T03:04:05.000Z","mes":"Hello."}`,
		"bad.jsonl":  header + `{"name":"Mir`,
		"known.txt":  `{"rule":"x"}`,
	} {
		path := filepath.Join(dir, "chats", "Mira", name)
		if filepath.Ext(name) == ".txt" {
			path = filepath.Join(dir, "known.jsonl")
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	script := actionStep(t)
	for paths, want := range map[string]int{
		"chats/Mira/good.jsonl":              0,
		"chats/Mira/bad.jsonl":               1,
		"nowhere":                            2,
		"chats/Mira/good.jsonl\nknown.jsonl": 0,
	} {
		for _, sarif := range []string{"", "out.sarif"} {
			cmd := exec.Command(bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
			cmd.Dir = dir
			summary := filepath.Join(t.TempDir(), "summary.md")
			cmd.Env = append(os.Environ(), "RUNNER_TEMP="+filepath.Join(dir, "temp"), "GITHUB_STEP_SUMMARY="+summary, "PATHS="+paths, "SEVERITY=error", "RULE=", "IGNORE=", "BASELINE=", "SARIF="+sarif)
			out, err := cmd.CombinedOutput()
			code := 0
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				code = exit.ExitCode()
			} else if err != nil {
				t.Fatal(err)
			}
			if code != want {
				t.Errorf("%q, SARIF %q: exit %d, want %d\n%s", paths, sarif, code, want, out)
			}
			if said, err := os.ReadFile(summary); want < 2 && (err != nil || !strings.Contains(string(said), "1 chat checked")) {
				t.Errorf("%q, SARIF %q: the summary is %q", paths, sarif, said)
			}
		}
	}
}

// TestPlainYAML: no value without quotes holds what YAML would take for another key.
func TestPlainYAML(t *testing.T) {
	top := filepath.Join("..", "..")
	files, err := filepath.Glob(filepath.Join(top, ".github", "workflows", "*.yml"))
	if err != nil {
		t.Fatal(err)
	}
	plain := regexp.MustCompile(`^ *(?:- )?[\w-]+: ([^'"|>{\[].*)$`)
	for _, path := range append(files, filepath.Join(top, "action.yml"), filepath.Join(top, ".pre-commit-hooks.yaml")) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		script := -1 // how far the text behind "|" is indented at least
		for i, line := range strings.Split(string(data), "\n") {
			indent := len(line) - len(strings.TrimLeft(line, " "))
			if script >= 0 && (indent > script || strings.TrimSpace(line) == "") {
				continue
			}
			if script = -1; strings.HasSuffix(line, ": |") {
				script = indent
			}
			if m := plain.FindStringSubmatch(line); m != nil && strings.Contains(m[1], ": ") {
				t.Errorf("%s:%d: %s", path, i+1, m[1])
			}
		}
	}
}

// TestHookFiles: the hook is given chats, and no other .jsonl file.
func TestHookFiles(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", ".pre-commit-hooks.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^  files: '(.*)'$`).FindSubmatch(data)
	if found == nil {
		t.Fatal("the hook does not say which files")
	}
	files := regexp.MustCompile(string(found[1]))
	for path, want := range map[string]bool{
		"data/default-user/chats/Mira/Harbour.jsonl": true,
		"chats/Mira/Harbour.jsonl":                   true,
		"user/group chats/Trip.jsonl":                true,
		"known.jsonl":                                false,
		"chats/known.jsonl":                          false,
		"backups/chat_mira_20260101-000000.jsonl":    false,
		"my group chats/x.jsonl":                     false,
		"chats/Mira/Harbour.jsonl.txt":               false,
	} {
		if files.MatchString(path) != want {
			t.Errorf("%s: passed to the hook is %v, want %v", path, !want, want)
		}
	}
}
