package edit_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stchat/internal/ops/edit"
	"stchat/internal/sillytavern/choose"
)

// There and back again gives the old file to the byte, but for tainted, which the chats
// here have already.
func TestRoundTrips(t *testing.T) {
	for seed := range uint64(16) {
		r := rand.New(rand.NewPCG(3, seed))
		text, m := chatText(t, r, true)
		if m.metadata["tainted"] == nil {
			text = strings.Replace(text, `"integrity":"s"`, `"integrity":"s","tainted":true`, 1)
		}
		if strings.Contains(text, "\r") && !strings.HasSuffix(text, "\n") {
			text += "\r\n" // LF goes behind a last line that has no end to tell by
		}
		n := len(m.messages)
		at := r.IntN(n)
		to := min(n-1, at+r.IntN(4))
		for name, trip := range map[string]func(path, saved string) []*edit.Result{
			"add, then delete":             func(path, _ string) []*edit.Result { return addAndDelete(t, path, at) },
			"hide, then unhide":            func(path, _ string) []*edit.Result { return hideAndShow(t, path, text, at, to) },
			"delete --save, then add --at": func(path, saved string) []*edit.Result { return deleteAndAdd(t, path, saved, at, to) },
		} {
			dir := t.TempDir()
			path := filepath.Join(dir, "c.jsonl")
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			for _, result := range trip(path, filepath.Join(dir, "saved")) {
				if result.Err != nil {
					t.Fatalf("seed %d, %s: %v", seed, name, result.Err)
				}
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != text {
				t.Errorf("seed %d, %s at %d..%d:\n%q\nbecomes\n%q", seed, name, at, to, text, got)
			}
		}
	}
}

func these(t *testing.T, from, to int) choose.Choice {
	ranges, err := choose.ParseRanges(fmt.Sprintf("%d..%d", from, to))
	if err != nil {
		t.Fatal(err)
	}
	return choose.Choice{Ranges: ranges}
}

func addAndDelete(t *testing.T, path string, at int) []*edit.Result {
	objects := [][]byte{[]byte(`{"name":"A","is_user":true,"is_system":false,"send_date":"x","mes":"one"}`), []byte(`{"name":"A","is_user":true,"is_system":false,"send_date":"x","mes":"two"}`)}
	added := edit.Add(t.Context(), edit.AddOptions{Options: options(path), At: &at, Objects: objects})
	deleted := edit.Delete(t.Context(), edit.DeleteOptions{Options: options(path), Choice: these(t, at, at+1)})
	return append(added, deleted...)
}

// hideAndShow hides messages of which none is hidden.
func hideAndShow(t *testing.T, path, text string, from, to int) []*edit.Result {
	shown := strings.ReplaceAll(text, `"is_system":true`, `"is_system":false`)
	if shown != text {
		return nil // what was hidden would be shown
	}
	hidden := edit.Hide(t.Context(), edit.HideOptions{Options: options(path), Choice: these(t, from, to), Hide: true})
	return append(hidden, edit.Hide(t.Context(), edit.HideOptions{Options: options(path), Choice: these(t, from, to)})...)
}

func deleteAndAdd(t *testing.T, path, saved string, from, to int) []*edit.Result {
	opt := edit.DeleteOptions{Options: options(path), Choice: these(t, from, to), Save: saved}
	opt.Force = true
	deleted := edit.Delete(t.Context(), opt)
	data, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	var objects [][]byte
	for line := range strings.Lines(string(data)) {
		objects = append(objects, []byte(strings.TrimSuffix(line, "\n")))
	}
	return append(deleted, edit.Add(t.Context(), edit.AddOptions{Options: options(path), At: &from, Objects: objects})...)
}

// Whatever stands in a list of operations, it is refused and nothing changes, or the chat
// is a whole one afterwards.
func FuzzOperations(f *testing.F) {
	for _, ops := range []string{
		`{"op":"delete","at":1}`, `{"op":"set","at":"0..","set":{"/extra/x":1},"unset":["k"],"merge":{},"patch":[]}`,
		`{"op":"add","at":-1,"message":{"mes":""}}` + "\n" + `{"op":"meta","merge":{"a":[]}}`, `{"op":"swipe","at":2,"choose":1}`, `{"op":"test","at":0,"value":{}}`,
	} {
		f.Add(ops)
	}
	const text = "{\"chat_metadata\":{}}\n{\"name\":\"A\",\"is_user\":true,\"mes\":\"one\"}\r\n{\"name\":\"A\",\"is_user\":true,\"mes\":\"two\"}\n" +
		`{"name":"B","is_user":false,"mes":"x","swipe_id":0,"swipes":["x","y"],"extra":{}}`
	f.Fuzz(func(t *testing.T, ops string) {
		list, err := edit.ReadOperations(t.Context(), "ops", []byte(ops))
		if err != nil {
			return
		}
		path := filepath.Join(t.TempDir(), "c.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		result := edit.Apply(t.Context(), edit.BatchOptions{Options: options(path), Operations: list})[0]
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if result.Err != nil {
			if string(got) != text {
				t.Fatalf("%s: %v, and yet the chat becomes\n%s", ops, result.Err, got)
			}
			return
		}
		messages := -1
		for line := range strings.Lines(string(got)) {
			if _, ok := decode(t, line).(map[string]any); !ok {
				t.Fatalf("%s: no object: %s", ops, line)
			}
			messages++
		}
		if want := result.Doc.Messages; want != nil && messages != *want {
			t.Fatalf("%s: %d messages, told %d", ops, messages, *want)
		}
	})
}
