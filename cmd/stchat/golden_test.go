package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// scenario is a scenario.json of testdata/golden: what was done in SillyTavern
// 1.19.0, and what the new chats were called.
type scenario struct {
	Source string `json:"source"`
	Steps  []struct {
		Op     string  `json:"op"`
		At     int     `json:"at"`
		Name   *string `json:"name"`
		Result string  `json:"result"`
	} `json:"steps"`
}

// What the whole of each scenario must agree in (testdata/golden/README.md).
const (
	sameFiles    = iota // every byte of every file
	sameMessages        // message bytes, and the metadata less what opening a chat adds
	sameMeaning         // all that the source's messages hold: the rest was added on loading
)

func TestGolden(t *testing.T) {
	scenarios := map[string]int{
		"solo-checkpoint":    sameFiles,
		"solo-autoname":      sameFiles,
		"solo-branch":        sameFiles,
		"solo-names":         sameMessages,
		"solo-bad-lines":     sameMessages,
		"solo-crlf":          sameMessages,
		"group":              sameMessages,
		"group-headerless":   sameMessages,
		"solo-legacy-header": sameMeaning,
	}
	golden := filepath.Join("..", "..", "testdata", "golden")
	found, err := filepath.Glob(filepath.Join(golden, "*", "scenario.json"))
	if err != nil || len(found) != len(scenarios) {
		t.Fatalf("%d scenarios in %s, %v; %d are known here", len(found), golden, err, len(scenarios))
	}
	for name, level := range scenarios {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := goldenRun{t: t, after: filepath.Join(golden, name, "after"), work: t.TempDir(), level: level}
			decodeFile(t, filepath.Join(golden, name, "scenario.json"), &g.scenario)
			if err := os.CopyFS(g.work, os.DirFS(filepath.Join(golden, name, "before"))); err != nil {
				t.Fatal(err)
			}
			g.play()
			g.compare()
		})
	}
}

type goldenRun struct {
	scenario
	t           *testing.T
	after, work string // user folders
	level       int
}

// play does the scenario's steps with stchat. A branch is made without --link:
// SillyTavern opens it before the note on the source is ever saved.
func (g *goldenRun) play() {
	g.t.Helper()
	source, folder := g.Source, g.chats()
	for _, step := range g.Steps {
		if step.Op == "branch-of-branch" {
			source = g.Steps[0].Result
		}
		args := []string{"branch", filepath.Join(g.work, folder, source+".jsonl"), "--naming", "sillytavern", "-a", strconv.Itoa(step.At), "--skip-damaged", "--json"}
		if step.Op == "checkpoint" {
			args[0] = "checkpoint"
			args = append(args, "--link")
		}
		// SillyTavern's own slug, so that whole files compare
		file := safeName(step.Result)
		args = append(args, "--set", "integrity="+metadataOf(g.t, filepath.Join(g.after, folder, file+".jsonl"))["integrity"].(string))
		if step.Name != nil {
			args = append(args, "-n", *step.Name)
		}
		cmd := exec.Command("stchat", args...)
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil {
			g.t.Fatalf("%q: %v\n%s", args, err, said.String())
		}
		var doc struct{ Name string }
		if err := json.Unmarshal(out, &doc); err != nil || doc.Name != file {
			g.t.Errorf("made %q, %v; SillyTavern calls it %q", doc.Name, err, file)
		}
	}
}

// chats is the folder of the scenario's chats.
func (g *goldenRun) chats() string {
	if _, err := os.Stat(filepath.Join(g.after, "group chats")); err == nil {
		return "group chats"
	}
	return filepath.Join("chats", "Mira")
}

// compare compares all files, and that they are the same ones.
func (g *goldenRun) compare() {
	t := g.t
	t.Helper()
	files := filesIn(t, g.after)
	if diff := cmp.Diff(files, filesIn(t, g.work)); diff != "" {
		t.Errorf("files (-SillyTavern +stchat):\n%s", diff)
	}
	for _, file := range files {
		theirs, ours := filepath.Join(g.after, file), filepath.Join(g.work, file)
		base := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		switch {
		case filepath.Dir(file) == "groups":
			compareGroups(t, theirs, ours)
		case g.level == sameFiles || filepath.Ext(file) != ".jsonl":
			if diff := cmp.Diff(read(t, theirs), read(t, ours)); diff != "" {
				t.Errorf("%s (-SillyTavern +stchat):\n%s", file, diff)
			}
		case g.level == sameMeaning:
			compareMeaning(t, theirs, ours)
		default:
			if diff := cmp.Diff(g.safeLinks(messagesOf(t, theirs)), messagesOf(t, ours)); diff != "" {
				t.Errorf("messages of %s (-SillyTavern +stchat):\n%s", file, diff)
			}
		}
		if filepath.Ext(file) == ".jsonl" && base != g.Source {
			if diff := cmp.Diff(withoutNotes(metadataOf(t, theirs)), withoutNotes(metadataOf(t, ours))); diff != "" {
				t.Errorf("metadata of %s (-SillyTavern +stchat):\n%s", file, diff)
			}
		}
	}
}

// safeName is what the server made of the names in the scenarios.
func safeName(name string) string {
	return strings.NewReplacer(":", "", "?", "", "*", "", "<", "", ">", "", `\|`, "").Replace(name)
}

// safeLinks returns messages with links to the files that there are: SillyTavern
// itself notes a name as it was typed, which leads nowhere.
func (g *goldenRun) safeLinks(messages []string) []string {
	for _, step := range g.Steps {
		typed := strings.ReplaceAll(step.Result, `\`, `\\`)
		for i, m := range messages {
			messages[i] = strings.ReplaceAll(m, `"bookmark_link":"`+typed+`"`, `"bookmark_link":"`+safeName(step.Result)+`"`)
		}
	}
	return messages
}

// compareGroups compares what a checkpoint or a branch changes in a group file.
func compareGroups(t *testing.T, theirs, ours string) {
	t.Helper()
	var want, got struct{ Chats []string }
	decodeFile(t, theirs, &want)
	decodeFile(t, ours, &got)
	if diff := cmp.Diff(want.Chats, got.Chats); diff != "" {
		t.Errorf("chats of the group (-SillyTavern +stchat):\n%s", diff)
	}
	if !bytes.Contains(read(t, ours), []byte(`    "chat_id": "2026-01-02@03h04m05s006ms",`)) {
		t.Error("the group's chat_id changed")
	}
}

// compareMeaning compares the keys that our messages have.
func compareMeaning(t *testing.T, theirs, ours string) {
	t.Helper()
	want, got := messagesOf(t, theirs), messagesOf(t, ours)
	if len(want) != len(got) {
		t.Fatalf("%s: %d messages, SillyTavern has %d", ours, len(got), len(want))
	}
	for i := range got {
		var w, g map[string]any
		decode(t, []byte(want[i]), &w)
		decode(t, []byte(got[i]), &g)
		for key := range w {
			if _, ok := g[key]; !ok {
				delete(w, key)
			}
		}
		if diff := cmp.Diff(w, g); diff != "" {
			t.Errorf("%s, message %d (-SillyTavern +stchat):\n%s", ours, i, diff)
		}
	}
}

// messagesOf returns a chat's messages as SillyTavern reads them.
func messagesOf(t *testing.T, path string) []string {
	t.Helper()
	var messages []string
	for line := range strings.Lines(string(read(t, path))) {
		line = strings.Trim(line, " \t\r\n")
		if json.Valid([]byte(line)) && !strings.Contains(line, `"chat_metadata"`) {
			messages = append(messages, line)
		}
	}
	return messages
}

func metadataOf(t *testing.T, path string) map[string]any {
	t.Helper()
	var header struct {
		Metadata map[string]any `json:"chat_metadata"`
	}
	line, _, _ := bytes.Cut(read(t, path), []byte("\n"))
	decode(t, line, &header)
	return header.Metadata
}

// withoutNotes takes off what SillyTavern adds whenever it opens a chat.
func withoutNotes(md map[string]any) map[string]any {
	for _, key := range []string{"note_prompt", "note_interval", "note_position", "note_depth", "note_role"} {
		if md[key] == "" || key != "note_prompt" {
			delete(md, key)
		}
	}
	return md
}

// filesIn returns the files below a folder, by their paths in it, but for what is
// kept for undo.
func filesIn(t *testing.T, root string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Name() == ".stchat" {
			return fs.SkipDir
		}
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(root, path)
			files = append(files, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	return files
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func decodeFile(t *testing.T, path string, v any) {
	t.Helper()
	decode(t, read(t, path), v)
}

func decode(t *testing.T, data []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}
