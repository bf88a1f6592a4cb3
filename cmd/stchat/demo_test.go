package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/extension/illustrator"
)

const (
	demoFolder = "../../testdata/demo"
	gullRock   = "Maren Holm - 2026-03-01@18h42m07s311ms"
)

// demo returns the demo's files by their paths.
func demo(t *testing.T) map[string][]byte {
	t.Helper()
	files, root := map[string][]byte{}, os.DirFS(demoFolder)
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[name], err = fs.ReadFile(root, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A demoChat is a chat as an independent reader sees it.
type demoChat struct {
	header struct {
		Metadata map[string]any `json:"chat_metadata"`
	}
	messages []demoMessage
}

type demoMessage struct {
	Name    string   `json:"name"`
	Mes     string   `json:"mes"`
	Hidden  bool     `json:"is_system"`
	Date    string   `json:"send_date"`
	SwipeID int      `json:"swipe_id"`
	Swipes  []string `json:"swipes"`
	Info    []struct {
		Date  string         `json:"send_date"`
		Extra map[string]any `json:"extra"`
	} `json:"swipe_info"`
	Extra map[string]any `json:"extra"`
}

func readDemoChat(t *testing.T, data []byte) demoChat {
	t.Helper()
	var c demoChat
	for i, line := range bytes.Split(data, []byte("\n")) {
		var err error
		if i == 0 {
			err = json.Unmarshal(line, &c.header)
		} else {
			var m demoMessage
			err = json.Unmarshal(line, &m)
			c.messages = append(c.messages, m)
		}
		if err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
	}
	return c
}

// TestDemoHolds reads the demo with encoding/json and looks for what `stchat check`
// would complain of; check finds nothing, either.
func TestDemoHolds(t *testing.T) {
	files := demo(t)
	for _, folder := range []string{demoFolder, demoFolder + "/luker"} {
		if out, errs, code := terminal(t, 0, "check", "--severity", "info", folder); code != 0 {
			t.Errorf("check of %s ends with %d:\n%s%s", folder, code, out, errs)
		}
	}
	chats, slugs, users, size := map[string]demoChat{}, map[any]string{}, map[any][]string{}, 0
	for name, data := range files {
		size += len(data)
		if path.Ext(name) == ".jsonl" {
			chats[name] = readDemoChat(t, data)
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

// TestDemoState looks at the extension state of the checkpoint and
// the branch, which was pruned, against the source's.
func TestDemoState(t *testing.T) {
	files := demo(t)
	type state struct {
		Versions, Prompts, Effects int
		ChatID                     string
	}
	want := map[string]state{
		gullRock:                  {4, 3, 2, gullRock},
		gullRock + " - Branch #1": {4, 3, 1, gullRock + " - Branch #1"},
		"Before the storm":        {3, 1, 0, "Before the storm"},
	}
	for name, want := range want {
		c := readDemoChat(t, files["chats/Maren Holm/"+name+".jsonl"])
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
			if id != illustrator.PromptID(n["text"].(string), message, 0) {
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

// TestDemoStory holds the long chat to what the documentation says of it.
func TestDemoStory(t *testing.T) {
	swiped, hidden := 0, 0
	messages := readDemoChat(t, demo(t)["chats/Maren Holm/"+gullRock+".jsonl"]).messages
	for _, m := range messages {
		if len(m.Swipes) > 1 {
			swiped++
		}
		if m.Hidden {
			hidden++
		}
	}
	if len(messages) != 50 || swiped < 10 || hidden == 0 {
		t.Errorf("%d messages, %d with swipes, %d hidden", len(messages), swiped, hidden)
	}
}
