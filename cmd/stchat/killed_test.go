package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// TestKilled kills a process at some moment while it renames a chat with its family.
// The next call that writes ends the change, forward or back, and as that call is undo,
// the files are the old ones, byte for byte. scripts/faults kills far more often, and at
// every system call, where it runs.
func TestKilled(t *testing.T) {
	demo := os.DirFS(filepath.Join("..", "..", "testdata", "demo"))
	const kills = 6
	var whole time.Duration
	for kill := range kills + 1 { // the first run is not killed: it says how long one takes
		dir := t.TempDir()
		if err := os.CopyFS(dir, demo); err != nil {
			t.Fatal(err)
		}
		old := contents(t, dir)
		cmd := exec.Command("stchat", "rename", "chats/Maren Holm/Maren Holm - 2026-03-01@18h42m07s311ms.jsonl", "Storm")
		cmd.Dir = dir
		began := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if kill == 0 {
			if err := cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			whole = time.Since(began)
		} else {
			time.Sleep(whole * time.Duration(kill) / (kills + 1))
			_ = cmd.Process.Kill() // it may be done already
			_ = cmd.Wait()
		}
		undo := exec.Command("stchat", "undo", "-q")
		undo.Dir = dir
		// 1: there was nothing to take back, since the change went back by itself
		if out, err := undo.CombinedOutput(); err != nil && undo.ProcessState.ExitCode() != exitNo {
			t.Errorf("kill %d: %v\n%s", kill, err, out)
		}
		if diff := cmp.Diff(old, contents(t, dir)); diff != "" {
			t.Errorf("kill %d of %d: (-old +new)\n%.2000s", kill, kills, diff)
		}
	}
}

// TestKilledGroup makes of a call for three chats one that was killed as it had made them, and
// writes one of them: undo with its ID completes the other two, leaves that one, and takes the two
// back.
func TestKilledGroup(t *testing.T) {
	dir := t.TempDir()
	chat := func(name string) string { return filepath.Join(dir, "chats", "Mira", name+".jsonl") }
	if err := os.MkdirAll(filepath.Dir(chat("A")), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"A", "B", "C"} {
		if err := os.WriteFile(chat(name), []byte("{\"chat_metadata\":{}}\n{\"mes\":\"0\"}\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	call := func(code int, args ...string) string {
		t.Helper()
		cmd := exec.Command("stchat", args...)
		cmd.Dir = dir
		out, _ := cmd.CombinedOutput() // its exit code tells
		if cmd.ProcessState.ExitCode() != code {
			t.Fatalf("stchat %s: exit %d\n%s", strings.Join(args, " "), cmd.ProcessState.ExitCode(), out)
		}
		return string(out)
	}
	old := contents(t, dir)
	call(0, "meta", "set", "chats", "--set", "note_depth=4")
	done, err := filepath.Glob(filepath.Join(dir, ".stchat", "*.done"))
	if err != nil || len(done) != 1 {
		t.Fatalf("%q, %v", done, err)
	}
	id := strings.TrimSuffix(filepath.Base(done[0]), ".done")
	if err := os.Rename(done[0], strings.TrimSuffix(done[0], "done")+"journal"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(chat("B"), []byte("somebody's\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	old["chats/Mira/B.jsonl"] = "somebody's\n"
	out := call(0, "undo", id, "--data", ".")
	for _, text := range []string{"A.jsonl, ", "C.jsonl; the change is now completed", "but for " + chat("B") + ": somebody has changed that since, and it stays"} {
		if !strings.Contains(out, text) {
			t.Errorf("it does not say %q:\n%s", text, out)
		}
	}
	if diff := cmp.Diff(old, contents(t, dir)); diff != "" {
		t.Errorf("undone (-want +got)\n%s", diff)
	}
	call(2, "undo", id, "--data", ".")
}

// TestKilledImport makes of an import of two chats one that was killed before the second had its
// name: the same import completes it, and finds both chats there. One that has nothing to write says so, too.
func TestKilledImport(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "chats", "Mira")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	lines := "{\"messages\":[{\"role\":\"user\",\"content\":\"one\"}]}\n{\"messages\":[{\"role\":\"user\",\"content\":\"two\"}]}\n"
	if err := os.WriteFile(filepath.Join(dir, "in.jsonl"), []byte(lines), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "none.json"), []byte(`{"mapping":{}}`), 0o666); err != nil {
		t.Fatal(err)
	}
	bring := func(file string, code int) string {
		t.Helper()
		cmd := exec.Command("stchat", "import", file, "Mira", "--data", ".")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != code {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	bring("in.jsonl", 0)
	whole := contents(t, dir)
	done, err := filepath.Glob(filepath.Join(dir, ".stchat", "*.done"))
	if err != nil || len(done) != 1 {
		t.Fatalf("%q, %v", done, err)
	}
	steps := gjson.GetBytes(read(t, done[0]), "steps").Array()
	last := steps[len(steps)-1]
	kill := func() {
		t.Helper()
		if err := os.Rename(filepath.Join(dir, filepath.FromSlash(last.Get("path").String())), filepath.Join(folder, last.Get("temp").String())); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(done[0], strings.TrimSuffix(done[0], "done")+"journal"); err != nil {
			t.Fatal(err)
		}
	}
	kill()
	if out := bring("in.jsonl", 0); strings.Count(out, "the change is now completed") != 1 || strings.Count(out, "\nchats/Mira/") != 2 {
		t.Errorf("it does not say what it found:\n%s", out)
	}
	kill()
	if out := bring("none.json", 1); strings.Count(out, "the change is now completed") != 1 {
		t.Errorf("it does not say what it found:\n%s", out)
	}
	if diff := cmp.Diff(whole, contents(t, dir)); diff != "" {
		t.Errorf("imported again (-want +got)\n%s", diff)
	}
}

// contents reads all files below dir but those that stchat keeps for itself.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(path, ".stchat/") {
			return err
		}
		all[path] = string(read(t, filepath.Join(dir, filepath.FromSlash(path))))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
