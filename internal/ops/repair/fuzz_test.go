package repair_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/folder/rules"
	"stchat/internal/ops"
	"stchat/internal/ops/repair"
)

// fuzzedChat is the chat that is fuzzed, besideIt one that it can link to and
// that names it as its parent.
const (
	fuzzedChat = solo + "A.jsonl"
	besideIt   = solo + "B.jsonl"
)

// addChats adds chats of every kind of damage that a rule knows; with -short some of them.
func addChats(f *testing.F) {
	for i, tt := range ruleCases() {
		if testing.Short() && i%8 > 0 {
			continue
		}
		for _, files := range []tree{tt.has, tt.almost} {
			if data := files[fuzzedChat]; len(data) < 1<<12 {
				f.Add([]byte(data))
			}
		}
	}
	for _, data := range []string{
		"\n", "\r\n\r\n", "\x00", "{", "[]", "{}", "5\n", "\ufeff", "\ufeff\n{}", "\r", "{}\r\r\n",
		chat(plainHeader, "{", say(0, ""), "{\r", "[1]", say(1, ""), "\x00\x00", "{\"a"),
		chat(say(0, ""), plainHeader, say(1, "")), chat(say(0, ""), plainHeader, plainHeader),
		chat(head(1, `"main_chat":"B"`), say(0, `"extra":{"bookmark_link":"B","branches":["x","B"]}`), say(1, "")),
		chat(plainHeader, say(0, `"swipe_id":7,"swipes":["a","line 0"],"swipe_info":[]`), say(1, `"swipe_id":0,"swipes":["b"]`)),
		chat(`{"chat_metadata":[1]}`, "\x00"+say(0, ""), say(1, "")+"\x00"),
		chat(plainHeader, say(0, "")+",;"+say(1, "")+","), "]" + indented(plainHeader, say(0, "")),
	} {
		f.Add([]byte(data))
	}
}

// plantFuzzed writes the chat beside one that knows it; ok is false for what
// would only take time.
func plantFuzzed(t *testing.T, data []byte) (root string, ok bool) {
	if len(data) > 1<<16 {
		return "", false
	}
	return plant(t, tree{fuzzedChat: string(data), besideIt: talk(head(1, `"main_chat":"A"`), 3)}), true
}

// FuzzCheck holds that any bytes can be checked, that what is found lies in the
// file, and that it is found again.
func FuzzCheck(f *testing.F) {
	addChats(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		root, ok := plantFuzzed(t, data)
		if !ok {
			return
		}
		first := check(t, root)
		lines := bytes.Split(data, []byte("\n"))
		for i := range first.Findings {
			f := &first.Findings[i]
			if f.Message == "" || f.Effect() == "" || f.Repair() == "" {
				t.Errorf("a finding that does not say all: %+v", f)
			}
			if filepath.Base(f.Path) != "A.jsonl" {
				continue
			}
			switch {
			case f.Line < 0 || f.Line > len(lines):
				t.Errorf("%s: line %d of %d", f.Rule, f.Line, len(lines))
			case f.Column < 0 || f.Line == 0 && f.Column > 0 || f.Line > 0 && f.Column > len(lines[f.Line-1])+1:
				t.Errorf("%s: column %d of %q", f.Rule, f.Column, lines[max(f.Line, 1)-1])
			case f.Index > bytes.Count(data, []byte("{")): // a line may have several objects
				t.Errorf("%s: message %d of %d lines", f.Rule, f.Index, len(lines))
			}
		}
		if again := check(t, root); !slices.Equal(first.Findings, again.Findings) || !slices.Equal(first.Chats, again.Chats) {
			t.Errorf("found %v, then %v", found(root, first.Findings), found(root, again.Findings))
		}
	})
}

// heardLine is a message as SillyTavern reads it, and its line.
type heardLine struct {
	heard  string
	raw    string
	number int // physical line, from 1
}

// readLines reads a chat as [read] does, in order. What has a header's keys is
// no message: repair may put it where a header belongs.
func readLines(data string) []heardLine {
	var out []heardLine
	first := true
	for i, line := range strings.Split(data, "\n") {
		var v any
		if json.Unmarshal([]byte(line), &v) != nil || v == nil || v == false || v == "" || v == 0.0 {
			continue
		}
		o, _ := v.(map[string]any)
		mes, ok := o["mes"].(string)
		if _, header := o["chat_metadata"]; !first && ok && !header {
			out = append(out, heardLine{fmt.Sprintf("%q %v %q", o["name"], o["is_user"], mes), strings.TrimRight(line, "\r"), i + 1})
		}
		first = false
	}
	return out
}

// FuzzRepair holds what repair promises of any bytes: a dry run writes nothing;
// SillyTavern reads every message that it read before, in their order, and
// those that no action names to the byte; all that was taken out is kept; and a
// second run has nothing to do.
func FuzzRepair(f *testing.F) {
	addChats(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		root, ok := plantFuzzed(t, data)
		if !ok {
			return
		}
		before := files(t, root)
		dry := runRepair(t, false, repair.Options{}, root)
		if diff := cmp.Diff(before, files(t, root)); diff != "" {
			t.Fatalf("a dry run changed something:\n%s", diff)
		}
		rep := runRepair(t, true, repair.Options{}, root)
		if (actions(dry) > 0) != (actions(rep) > 0) {
			t.Errorf("the dry run tells %d actions, the repair %d", actions(dry), actions(rep))
		}
		after := files(t, root)
		for name, was := range before {
			path := filepath.Join(root, filepath.FromSlash(name))
			at := slices.IndexFunc(rep.Results, func(r *repair.Result) bool { return r.Doc.Path == path && r.Doc.Total > 0 })
			if at < 0 {
				if after[name] != was {
					t.Errorf("%s: changed without an action", name)
				}
				continue
			}
			repaired(t, was, after[name], rep.Results[at])
		}
		for _, f := range check(t, root).Findings {
			if rules.Repairable().Has(f.Rule) && !f.ByHand() && !leftAlone(rep, f.Path) {
				t.Errorf("still there: %s: %s:%d: %s", f.Rule, filepath.Base(f.Path), f.Line, f.Message)
			}
		}
		if again := runRepair(t, true, repair.Options{}, root); actions(again) > 0 {
			t.Errorf("a second run: %+v", again.Results[0].Doc.Actions)
		}
		if diff := cmp.Diff(after, files(t, root)); diff != "" {
			t.Errorf("a second run changed something:\n%s", diff)
		}
	})
}

// leftAlone reports whether a chat was not repaired, since messages that can be read would be lost.
func leftAlone(rep *repair.Report, path string) bool {
	return slices.ContainsFunc(rep.Results, func(r *repair.Result) bool {
		return r.Doc.Path == path && errors.Is(r.Err, repair.ErrFewerLeft)
	})
}

// repaired holds the chat that repair wrote against the one that was there.
func repaired(t *testing.T, was, is string, res *repair.Result) {
	t.Helper()
	if !res.Doc.Done || res.Doc.Backup == nil {
		t.Fatalf("not written, or no backup: %+v", res)
	}
	if kept, err := os.ReadFile(*res.Doc.Backup); err != nil || string(kept) != was {
		t.Errorf("the backup is not what the chat was: %v", err)
	}

	named, shifted := map[int]bool{}, false
	for _, a := range res.Doc.Actions {
		if a.Line != nil && a.Rule != "crlf" {
			named[*a.Line] = true
		}
		// after these the chat is looked at again: its lines may be others
		shifted = shifted || slices.Contains([]string{"bom", "no-header", "misplaced-header", "not-an-object"}, a.Rule)
	}
	have, changed := readLines(is), 0
	for _, m := range readLines(was) {
		at := slices.IndexFunc(have, func(h heardLine) bool { return h.heard == m.heard })
		if at < 0 {
			t.Errorf("SillyTavern no longer reads line %d in its place: %s", m.number, m.heard)
			continue
		}
		if have[at].raw != m.raw {
			changed++
			if !shifted && !named[m.number] {
				t.Errorf("line %d, which no action names:\n%s\nbecame\n%s", m.number, m.raw, have[at].raw)
			}
		}
		have = have[at+1:]
	}
	if changed > len(named) {
		t.Errorf("%d messages changed, and the actions name %d lines", changed, len(named))
	}

	var quarantined []byte
	if res.Doc.Quarantine != nil {
		var err error
		if quarantined, err = os.ReadFile(*res.Doc.Quarantine); err != nil {
			t.Error(err)
		}
	}
	if slices.ContainsFunc(res.Doc.Actions, func(a repair.Action) bool {
		return slices.Contains([]string{"utf-16", "json-layout", "joined-lines"}, a.Rule)
	}) {
		return // its lines are others; that no value is lost is reline's to show
	}
	for line := range strings.SplitSeq(strings.TrimPrefix(was, "\ufeff"), "\n") {
		var o map[string]json.RawMessage
		if json.Unmarshal([]byte(line), &o) == nil && o != nil {
			continue
		}
		line = strings.TrimRight(line, "\r")
		if rest := strings.Trim(line, "\x00 \t\r"); !bytes.Contains(quarantined, []byte(line)) && !strings.Contains(is, rest) {
			t.Errorf("neither in the chat nor in the .damaged file: %q", line)
		}
	}
}

// TestCheckEnds holds that a check that is called off says so.
func TestCheckEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	root := plant(t, tree{fuzzedChat: talk(plainHeader, 2)})
	if res, err := repair.Check(ctx, repair.CheckOptions{List: ops.List{Paths: []string{root}}, Now: now}); err == nil {
		t.Errorf("gave %+v", res)
	}
}
