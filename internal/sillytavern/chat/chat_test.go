package chat_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/jsonl"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
)

func write(t *testing.T, path, data string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, path string, opt chat.Options) *chat.Chat {
	t.Helper()
	c, err := chat.Open(context.Background(), path, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestHeader(t *testing.T) {
	type seen struct {
		Kind     chat.HeaderKind
		Line     int
		Body     int64
		BodyLine int
		Damage   []string
		Metadata string
	}
	const message = `{"name":"Mira","is_user":false,"mes":"hi"}`
	const modern = `{"chat_metadata":{"a":1},"user_name":"unused","character_name":"unused"}`
	for _, tc := range []struct {
		name, data string
		want       seen
	}{
		{"modern", modern + "\n" + message, seen{chat.Modern, 1, int64(len(modern)) + 1, 1, nil, `{"a":1}`}},
		{"behind blank lines, CR LF", "\n \r\n" + modern + "\r\n" + message, seen{chat.Modern, 3, int64(len(modern)) + 6, 3, nil, `{"a":1}`}},
		{"legacy by create_date", `{"user_name":"unused","create_date":"2023-5-12"}` + "\n" + message, seen{chat.Legacy, 1, 49, 1, nil, `{}`}},
		{"legacy by a real name", `{"user_name":"You","character_name":"Mira"}`, seen{chat.Legacy, 1, 43, 1, nil, `{}`}},
		{"metadata null", `{"chat_metadata":null}` + "\n" + message, seen{chat.Modern, 1, 23, 1, nil, `{}`}},
		{"metadata is no object", `{"x":1,"chat_metadata":[1]}` + "\n" + message, seen{chat.Damaged, 1, 28, 1, []string{"1:24: chat_metadata is a list, not an object"}, `{}`}},
		{"none", message, seen{chat.None, 0, 0, 0, nil, `{}`}},
		{"a message with user_name", `{"user_name":"x","mes":"y"}`, seen{chat.None, 0, 0, 0, nil, `{}`}},
		{"first line torn", `{"chat_met` + "\n" + message, seen{chat.Damaged, 0, 11, 1, []string{"1:11: the line ends inside a string"}, `{}`}},
		{"torn line before the header", `{"torn` + "\n" + modern, seen{chat.Modern, 2, int64(len(modern)) + 7, 2, []string{"1:7: the line ends inside a string"}, `{"a":1}`}},
		{"BOM", "\ufeff" + modern + "\n" + message, seen{chat.Modern, 1, int64(len(modern)) + 4, 1, []string{"1:1: the file begins with a byte order mark (BOM)"}, `{"a":1}`}},
		{"empty", "", seen{chat.None, 0, 0, 0, nil, `{}`}},
		{"only damage", "{", seen{chat.Damaged, 0, 1, 0, []string{"1:2: the line ends where a list's first value or ] must follow"}, `{}`}},
	} {
		c := open(t, write(t, filepath.Join(t.TempDir(), "x.jsonl"), tc.data), chat.Options{Any: true})
		got := seen{c.HeaderKind, c.HeaderLine, c.Body, c.BodyLine, nil, string(c.Metadata().Bytes())}
		for _, d := range c.Damage.First {
			got.Damage = append(got.Damage, d.Error())
		}
		if tc.name == "only damage" {
			got.Damage, tc.want.Damage = nil, nil // its wording is the jsonl package's
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tc.name, diff)
		}
	}
}

func TestPlace(t *testing.T) {
	root := t.TempDir()
	solo := write(t, filepath.Join(root, "chats", "Mira", "a.jsonl"), "{}")
	write(t, filepath.Join(root, "groups", "1.json"), `{"id":"1","name":"Pair","chat_id":"g","chats":["g","h"],"chat_metadata":{"now":1},"past_metadata":{"h":{"then":2}}}`)
	group := write(t, filepath.Join(root, "group chats", "h.jsonl"), `{"name":"x","mes":""}`)
	orphan := write(t, filepath.Join(root, "group chats", "z.jsonl"), `{"name":"x","mes":""}`)
	loose := write(t, filepath.Join(t.TempDir(), "loose.jsonl"), "")

	c := open(t, solo, chat.Options{})
	if c.Kind != userdir.Solo || c.Owner != "Mira" || !c.HasDir || c.Name != "a" {
		t.Errorf("solo: %v %q %v %q", c.Kind, c.Owner, c.HasDir, c.Name)
	}
	c = open(t, group, chat.Options{})
	if c.Kind != userdir.Group || c.Owner != "Pair" || len(c.Groups) != 1 {
		t.Errorf("group: %v %q %d groups", c.Kind, c.Owner, len(c.Groups))
	}
	// old group files keep the metadata of chats without a header
	if got := string(c.Metadata().Bytes()); got != `{"then":2}` {
		t.Errorf("metadata of the headerless group chat: %s", got)
	}
	if c = open(t, orphan, chat.Options{}); len(c.Groups) != 0 || c.Owner != "" {
		t.Errorf("orphan: %d groups, owner %q", len(c.Groups), c.Owner)
	}
	if c = open(t, loose, chat.Options{}); c.Kind != userdir.File || c.HasDir {
		t.Errorf("loose: %v %v", c.Kind, c.HasDir)
	}
	if c = open(t, loose, chat.Options{Data: root}); !c.HasDir || c.Dir.Root != root {
		t.Errorf("loose with a user folder given: %v %q", c.HasDir, c.Dir.Root)
	}
}

func TestStdin(t *testing.T) {
	c := open(t, chat.Stdin, chat.Options{Stdin: strings.NewReader(`{"chat_metadata":{}}` + "\n{}")})
	if c.Name != "" || c.HeaderKind != chat.Modern || c.Body != 21 || c.Source.Size != 23 {
		t.Errorf("%q %v body %d size %d", c.Name, c.HeaderKind, c.Body, c.Source.Size)
	}
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	if _, err := chat.Open(context.Background(), dir, chat.Options{}); err == nil || !strings.Contains(err.Error(), "a folder, not a chat") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := chat.Open(context.Background(), filepath.Join(dir, "no.jsonl"), chat.Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("nothing there: %v", err)
	}
	if runtime.GOOS != "windows" {
		if _, err := chat.Open(context.Background(), os.DevNull, chat.Options{}); !errors.Is(err, chat.ErrNotRegular) {
			t.Errorf("a device: %v", err)
		}
	}
}

// A file that is written while it is read is no chat to copy from.
func TestUnchanged(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "x.jsonl"), "{}\n{}")
	c := open(t, path, chat.Options{Any: true})
	if err := c.Unchanged(); err != nil {
		t.Fatal(err)
	}
	write(t, path, "{}\n{}\n{}")
	if err := c.Unchanged(); !errors.Is(err, jsonl.ErrChanged) {
		t.Errorf("after a write: %v", err)
	}
}
