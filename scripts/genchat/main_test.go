package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"stchat/scripts/internal/chatgen"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.jsonl")
	for _, c := range []struct {
		args     []string
		messages int
	}{
		{[]string{"-preset", "small"}, 200},
		{[]string{"-preset", "medium", "-messages", "50"}, 50},
		{[]string{"-preset", "large", "-bytes", "296000"}, 100},
		{[]string{"-messages", "7", "-layout", "joined", "-encoding", "utf-16be"}, 7},
		{[]string{"-messages", "20", "-bytes", "9000", "-seed", "4", "-o", file}, 20},
		{[]string{"-preset", "archive", "-messages", "3", "-bytes", "29600", "-o", dir}, 0},
	} {
		var stdout, stderr bytes.Buffer
		if err := run(c.args, &stdout, &stderr); err != nil {
			t.Errorf("%q: %v", c.args, err)
			continue
		}
		var stats chatgen.Stats
		if err := json.Unmarshal(stderr.Bytes(), &stats); err != nil {
			t.Errorf("%q: stderr is %q: %v", c.args, &stderr, err)
		}
		if c.messages > 0 && stats.Messages != c.messages {
			t.Errorf("%q: %d messages", c.args, stats.Messages)
		}
		if stats.Bytes == 0 {
			t.Errorf("%q: nothing was written", c.args)
		}
	}
	if info, err := os.Stat(file); err != nil || info.Size() < 8000 {
		t.Errorf("%v %v", info, err)
	}
}

func TestRunRefuses(t *testing.T) {
	for _, args := range [][]string{
		{},
		{"-preset", "huge"},
		{"-preset", "archive"},
		{"-greetings", "-messages", "3"},
		{"-greetings", "-o", t.TempDir()},
		{"-swipevalues", "-messages", "3"},
		{"-swipevalues", "-o", t.TempDir()},
		{"-messages", "3", "extra"},
		{"-damage", "2", "-messages", "3"},
		{"-preset", "archive", "-o", t.TempDir(), "-pictures", "1"},
		{"-preset", "archive", "-o", t.TempDir(), "-layout", "list"},
		{"-messages", "3", "-layout", "round"},
		{"-messages", "3", "-encoding", "utf-7"},
		{"-messages", "x"},
		{"-messages", "3", "-o", t.TempDir()},
	} {
		if err := run(args, io.Discard, io.Discard); err == nil {
			t.Errorf("%q was accepted", args)
		}
	}
	if err := run([]string{"-help"}, io.Discard, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-help gave %v", err)
	}
}
