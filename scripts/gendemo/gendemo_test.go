package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestDemoIsGenerated holds testdata/demo and this generator together.
func TestDemoIsGenerated(t *testing.T) {
	files, err := demo()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join("..", "..", "testdata", "demo")
	found := map[string][]byte{}
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		found[filepath.ToSlash(rel)], err = os.ReadFile(name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		if got, ok := found[name]; !ok {
			t.Errorf("%s is missing; run: go run ./scripts/gendemo -o testdata/demo", name)
		} else if !bytes.Equal(got, data) {
			t.Errorf("%s is not what the generator makes; run: go run ./scripts/gendemo -o testdata/demo", name)
		}
		delete(found, name)
	}
	for name := range found {
		t.Errorf("%s is not the generator's", name)
	}
}

// TestRun writes over an old folder: what is gone from the demo goes, and a
// folder that is something else is left alone.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "worlds", "Old.json")
	if err := os.MkdirAll(filepath.Dir(old), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(old, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"-o", dir}, os.Stderr); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Errorf("an old book is still there: %v", err)
	}
	home := t.TempDir()
	thesis := filepath.Join(home, "thesis.txt")
	if err := os.WriteFile(thesis, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"-o", home}, os.Stderr); err == nil {
		t.Error("a folder with a thesis was taken for a demo")
	}
	if _, err := os.Stat(thesis); err != nil {
		t.Error(err)
	}
}

// TestHash holds stringHash to the vectors of FORMATS E3.2, and promptID to
// those of C1.
func TestHash(t *testing.T) {
	for s, want := range map[string]int64{
		"":      3338908027751811,
		"a":     7929297801672961,
		"hello": 4625896200565286,
		"é😀":    402108947828814,
		`{"uid":3,"world":"Book","key":["sea"],"comment":"Sea","content":"Blue.","sticky":2,"decorators":[]}`: 4220533123557421,
	} {
		if got := stringHash(s); got != want {
			t.Errorf("stringHash(%q) = %d, want %d", s, got, want)
		}
	}
	for _, c := range []struct {
		text            string
		message, prompt int
		want            string
	}{
		{"a red door", 4, 0, "prompt_dyibx4"},
		{"", 0, 0, "prompt_288yw"},
		{"小说家", 12, 1, "prompt_2nox27"},
	} {
		if got := promptID(c.text, c.message, c.prompt); got != c.want {
			t.Errorf("promptID(%q, %d, %d) = %s, want %s", c.text, c.message, c.prompt, got, c.want)
		}
	}
}

// A chatDoc is a chat as an independent reader sees it.
type chatDoc struct {
	header struct {
		Metadata map[string]any `json:"chat_metadata"`
	}
	messages []messageDoc
}

type messageDoc struct {
	Name    string   `json:"name"`
	Mes     string   `json:"mes"`
	Date    string   `json:"send_date"`
	SwipeID int      `json:"swipe_id"`
	Swipes  []string `json:"swipes"`
	Info    []struct {
		Date  string         `json:"send_date"`
		Extra map[string]any `json:"extra"`
	} `json:"swipe_info"`
	Extra map[string]any `json:"extra"`
}

func readChat(t *testing.T, data []byte) chatDoc {
	t.Helper()
	var c chatDoc
	for i, line := range bytes.Split(data, []byte("\n")) {
		var err error
		if i == 0 {
			err = json.Unmarshal(line, &c.header)
		} else {
			var m messageDoc
			err = json.Unmarshal(line, &m)
			c.messages = append(c.messages, m)
		}
		if err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
	}
	return c
}

// TestDemoHolds reads the folder with encoding/json and looks for what
// `stchat check` would complain of.
func TestDemoHolds(t *testing.T) {
	files, err := demo()
	if err != nil {
		t.Fatal(err)
	}
	chats, slugs, users, size := map[string]chatDoc{}, map[any]string{}, map[any][]string{}, 0
	for name, data := range files {
		size += len(data)
		if path.Ext(name) == ".jsonl" {
			chats[name] = readChat(t, data)
		}
	}
	if size > 450_000 {
		t.Errorf("the demo has grown to %d bytes", size)
	}
	for name, c := range chats {
		meta := c.header.Metadata
		if other, ok := slugs[meta["integrity"]]; ok {
			t.Errorf("%s and %s share their integrity", name, other)
		}
		slugs[meta["integrity"]] = name
		if book, ok := meta["world_info"]; ok {
			users[book] = append(users[book], name)
		}
		exists := func(chat any) {
			if _, ok := files[path.Join(path.Dir(name), chat.(string)+".jsonl")]; !ok {
				t.Errorf("%s names %v, which is not there", name, chat)
			}
		}
		if parent, ok := meta["main_chat"]; ok {
			exists(parent)
		}
		var before time.Time
		for i, m := range c.messages {
			date, err := time.Parse("2006-01-02T15:04:05.000Z", m.Date)
			if err != nil || !date.After(before) {
				t.Errorf("%s: message %d is dated %s, after %s: %v", name, i, m.Date, before, err)
			}
			before = date
			if len(m.Swipes) != len(m.Info) {
				t.Errorf("%s: message %d has %d swipes and %d infos", name, i, len(m.Swipes), len(m.Info))
			}
			if len(m.Swipes) > 0 && (m.Swipes[m.SwipeID] != m.Mes || m.Info[m.SwipeID].Date != m.Date) {
				t.Errorf("%s: message %d is not its swipe %d", name, i, m.SwipeID)
			}
			if link, ok := m.Extra["bookmark_link"]; ok {
				exists(link)
				checkpoint := chats[path.Join(path.Dir(name), link.(string)+".jsonl")].messages
				if len(checkpoint) != i+1 {
					t.Errorf("the checkpoint of message %d has %d messages", i, len(checkpoint))
				}
			}
			branches, _ := m.Extra["branches"].([]any)
			for _, link := range branches {
				exists(link)
			}
			media, _ := m.Extra["media"].([]any)
			for _, one := range media {
				if url := one.(map[string]any)["url"].(string); files[strings.TrimPrefix(url, "/")] == nil {
					t.Errorf("%s: message %d shows %s, which is not there", name, i, url)
				}
			}
		}
	}
	for book, by := range users {
		data, ok := files["worlds/"+book.(string)+".json"]
		if !ok {
			t.Errorf("%v uses the book %v, which is not there", by, book)
		}
		if bytes.Contains(data, []byte("__operation_queue")) && len(by) > 1 {
			t.Errorf("%v share the book %v and its queue", by, book)
		}
	}
	for name := range files {
		if book, ok := strings.CutPrefix(name, "worlds/"); ok && users[strings.TrimSuffix(book, ".json")] == nil {
			t.Errorf("no chat uses %s", name)
		}
	}
}

// TestStateFollowsThePoint looks at the extension state of the checkpoint and
// the branch, which was pruned, against the source's.
func TestStateFollowsThePoint(t *testing.T) {
	files, err := demo()
	if err != nil {
		t.Fatal(err)
	}
	type state struct {
		Versions, Prompts, Effects int
		ChatID                     string
	}
	want := map[string]state{
		gullRockChat:                  {4, 3, 2, gullRockChat},
		gullRockChat + " - Branch #1": {4, 3, 1, gullRockChat + " - Branch #1"},
		"Before the storm":            {3, 1, 0, "Before the storm"},
	}
	for name, want := range want {
		c := readChat(t, files["chats/Maren Holm/"+name+".jsonl"])
		meta := c.header.Metadata
		recap := meta["auto_recap_running_scene_recaps"].(map[string]any)
		nodes := meta["auto_illustrator"].(map[string]any)["promptRegistry"].(map[string]any)["nodes"].(map[string]any)
		got := state{Versions: len(recap["versions"].([]any)), Prompts: len(nodes), ChatID: recap["chat_id"].(string)}
		if current := recap["current_version"].(float64); int(current) != got.Versions-1 {
			t.Errorf("%s: current version is %v of %d", name, current, got.Versions)
		}
		for id, node := range nodes {
			n := node.(map[string]any)
			message := int(n["messageId"].(float64))
			if id != promptID(n["text"].(string), message, 0) {
				t.Errorf("%s: prompt %s is not that of message %d", name, id, message)
			}
		}
		for _, kind := range meta["timedWorldInfo"].(map[string]any) {
			for key := range kind.(map[string]any) {
				got.Effects++
				if !strings.HasPrefix(key, meta["world_info"].(string)+".") {
					t.Errorf("%s: a timed effect is of %s", name, key)
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestTold holds the story to what the documentation says of it.
func TestTold(t *testing.T) {
	turns, err := readStory("gull-rock")
	if err != nil {
		t.Fatal(err)
	}
	swiped, scenes := 0, 0
	for _, turn := range turns {
		if len(turn.texts) > 1 {
			swiped++
		}
		if turn.scene != "" {
			scenes++
		}
	}
	if len(turns) != 50 || swiped < 10 || scenes != len(sceneRecaps) {
		t.Errorf("%d messages, %d with swipes, %d scenes", len(turns), swiped, scenes)
	}
	if !slices.ContainsFunc(turns, func(t turn) bool { return t.hidden }) {
		t.Error("no hidden message")
	}
}
