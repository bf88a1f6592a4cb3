package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"stchat/internal/change/changeset"
	"stchat/internal/ops/edit"
	"stchat/internal/sillytavern/choose"
	"stchat/scripts/internal/chatgen"
)

// seen is what extensions read of a message.
type seen struct {
	Text, Variables, Processed, Initialized string
	Other                                   bool // the variables are those of another swipe
}

// readMessages returns what extensions read of the messages of chats, and how many swipes they have in all.
func readMessages(t *testing.T, paths []string) (all []seen, swipes int) {
	t.Helper()
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range bytes.Split(data, []byte("\n"))[1:] {
			var m struct {
				Text        string          `json:"mes"`
				Chosen      int             `json:"swipe_id"`
				Swipes      []string        `json:"swipes"`
				Variables   json.RawMessage `json:"variables"`
				Processed   json.RawMessage `json:"is_ejs_processed"`
				Initialized json.RawMessage `json:"variables_initialized"`
			}
			if err := json.Unmarshal(line, &m); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			entry := func(value json.RawMessage) string { return entryAt(value, m.Chosen) }
			r := seen{Text: m.Text, Variables: entry(m.Variables), Processed: entry(m.Processed), Initialized: entry(m.Initialized)}
			for k, text := range m.Swipes {
				var v struct{ Text string }
				if err := json.Unmarshal([]byte(entryAt(m.Variables, k)), &v); err == nil && v.Text != text {
					r.Other = true
				}
			}
			swipes += len(m.Swipes)
			all = append(all, r)
		}
	}
	return all, swipes
}

// entryAt returns entry k of a list or of an object, as JavaScript reads it.
func entryAt(value json.RawMessage, k int) string {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) == nil {
		if k < len(list) {
			return string(list[k])
		}
		return ""
	}
	var object map[string]json.RawMessage
	_ = json.Unmarshal(value, &object) // else it has no entry
	return string(object[strconv.Itoa(k)])
}

func swipeValues(t *testing.T) (paths []string, opt edit.Options) {
	t.Helper()
	dir := t.TempDir()
	if err := chatgen.SwipeValues(dir, 200, 7); err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "chats", "Mira", "*.jsonl"))
	if err != nil || len(paths) != 200 {
		t.Fatal(err, len(paths))
	}
	terms := edit.Terms{ExpectMessages: -1, Changes: changeset.Options{Now: time.Now(), NewUUID: uuid.NewString, NoSync: true}}
	return paths, edit.Options{Chats: paths, Terms: terms}
}

// Where slim drops swipes, extensions read of the chosen one what they read before; where it cannot,
// the message stays.
func TestSwipeValuesSlim(t *testing.T) {
	paths, opt := swipeValues(t)
	before, swipesBefore := readMessages(t, paths)
	left := 0
	for _, r := range edit.Slim(t.Context(), edit.SlimOptions{Options: opt, Swipes: true}) {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		left += r.Slim.Unfit
	}
	after, swipesAfter := readMessages(t, paths)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
	if swipesAfter > swipesBefore/2 || left == 0 || left > len(before)/5 {
		t.Errorf("%d swipes, %d before; %d messages left", swipesAfter, swipesBefore, left)
	}
}

// A swipe that is deleted takes its own values along, and no other gets them.
func TestSwipeValuesDelete(t *testing.T) {
	paths, opt := swipeValues(t)
	deleted, refused := 0, 0
	for i, path := range paths {
		opt.Chats = []string{path}
		at := choose.Choice{Ranges: []choose.Range{{From: 0, To: 0}}}
		r := edit.Swipe(t.Context(), edit.SwipeOptions{Options: opt, Choice: at, SwipeChange: edit.SwipeChange{Delete: 1 + i%4}})[0]
		switch {
		case r.Err == nil:
			deleted++
		case errors.Is(r.Err, edit.ErrUnfit):
			refused++
		}
	}
	after, _ := readMessages(t, paths)
	for _, r := range after {
		if r.Other {
			t.Errorf("another swipe's variables: %+v", r)
		}
	}
	if deleted < 80 || refused == 0 || refused > 40 {
		t.Errorf("%d deleted, %d refused", deleted, refused)
	}
}

func TestSwipeValuesRefused(t *testing.T) {
	if err := chatgen.SwipeValues(t.TempDir(), 0, 1); err == nil {
		t.Error("no chats were made")
	}
}
