package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stchat/internal/extension"
	"stchat/internal/extension/all"
	"stchat/internal/jsonl/rawjson"
)

// TestNameKeys: what renames, clones, moves, deletes and checks knows every row of the table that
// holds a name.
func TestNameKeys(t *testing.T) {
	for _, k := range all.Table() {
		if k.Holds != extension.Book && k.Holds != extension.OwnChat {
			continue
		}
		for verb, try := range map[string]func(t *testing.T, k extension.Row){
			"rename book": func(t *testing.T, k extension.Row) {
				mustRun(t, "rename", "worlds/Old.json", "New")
				wantNames(t, k, "New", "A", "chats/Mira/A.jsonl", "worlds/New.json")
			},
			"rename chat": func(t *testing.T, k extension.Row) {
				mustRun(t, "rename", "chats/Mira/A.jsonl", "B")
				wantNames(t, k, "Old", "B", "chats/Mira/B.jsonl", "worlds/Old.json")
			},
			"isolate": func(t *testing.T, k extension.Row) {
				mustRun(t, "branch", "--isolate", "-n", "X", "--naming", "sillytavern", "--at", "0", "chats/Mira/A.jsonl")
				book, chat := "Old__CP_X", "X"
				if k.Past || k.File == extension.Settings {
					book = "Old" // not a branch's
				}
				switch {
				case strings.HasPrefix(k.Path, "auto_recap_checkpoint_state"):
					chat = "A" // left, and told
				case strings.Contains(k.Path, extension.Named):
					chat = "A" // what the source's name stands for is the source's
				case k.File == extension.Settings:
					chat = "A" // the branch begins anew
				}
				wantNames(t, k, book, chat, "chats/Mira/X.jsonl", "worlds/Old__CP_X.json")
			},
			"move": func(t *testing.T, k extension.Row) {
				mustRun(t, "move", "chats/Mira/A.jsonl", "chats/Ann", "-n", "B")
				wantNames(t, k, "Old", "B", "chats/Ann/B.jsonl", "worlds/Old.json")
			},
			"delete": func(t *testing.T, k extension.Row) {
				if said := mustRun(t, "rm", "-v", "chats/Mira/A.jsonl"); opens(k) != strings.Contains(said, "no chat names Old any more") {
					t.Errorf("delete says %s", said)
				}
			},
			"check": func(t *testing.T, k extension.Row) {
				if err := os.Remove("worlds/Old.json"); err != nil {
					t.Fatal(err)
				}
				out, _, _ := terminal(t, 0, "check", ".")
				if opens(k) != (strings.Contains(out, "lorebook-missing") || strings.Contains(out, "lorebook-mismatch")) {
					t.Errorf("check says %s", out)
				}
			},
		} {
			t.Run(verb+"/"+strings.ReplaceAll(k.Path, "/", "."), func(t *testing.T) {
				nameIn(t, k)
				try(t, k)
			})
		}
	}
}

// opens reports whether a chat that has the key names the lorebook Old for somebody to open.
func opens(k extension.Row) bool {
	return k.File == extension.Lorebook || k.File == extension.Metadata && k.Holds == extension.Book && !k.Past
}

// nameIn changes to a new user folder in which a key names the lorebook Old or the chat A.
func nameIn(t *testing.T, k extension.Row) {
	t.Helper()
	content := map[extension.File]string{extension.Metadata: "{}", extension.Lorebook: `{"entries":{}}`, extension.Settings: "{}"}
	if k.File == extension.Lorebook {
		content[extension.Metadata] = `{"world_info":"Old"}`
	}
	name := "Old"
	if k.Holds == extension.OwnChat {
		name = "A"
	}
	value := string(rawjson.Quote(name))
	path := strings.Split(k.Path, "/")
	for i, step := range slices.Backward(path) {
		switch {
		case step == extension.Named:
			value = `{"` + name + `":` + value + `,"x":1}`
		case step != extension.Each:
			value = `{"` + step + `":` + value + `}`
		case slices.Contains([]string{"members", "globalSelect", "charLore", "extraBooks", "routerHistory"}, path[i-1]):
			value = `["x",` + value + `]`
		default:
			value = `{"7":` + value + `,"8":{}}`
		}
	}
	content[k.File] = value
	t.Chdir(t.TempDir())
	for path, data := range map[string]string{
		"chats/Mira/A.jsonl":   `{"chat_metadata":` + content[extension.Metadata] + "}\n" + `{"name":"Mira","is_user":false,"mes":"a"}`,
		"chats/Ann/C.jsonl":    `{"chat_metadata":{}}` + "\n" + `{"name":"Ann","is_user":false,"mes":"c"}`,
		"characters/Mira.json": `{"name":"Mira","chat":"A"}`, "characters/Ann.json": `{"name":"Ann","chat":"C"}`,
		"worlds/Old.json": content[extension.Lorebook], "settings.json": content[extension.Settings],
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func mustRun(t *testing.T, args ...string) (said string) {
	t.Helper()
	out, errs, code := terminal(t, 0, args...)
	if code != 0 {
		t.Fatalf("%q: exit %d, %s", args, code, out+errs)
	}
	return out + errs
}

// wantNames compares what the key names in the chat, the lorebook or the settings.
func wantNames(t *testing.T, k extension.Row, wantBook, wantChat, chat, book string) {
	t.Helper()
	raw := map[extension.File]func() []byte{
		extension.Metadata: func() []byte {
			line, _, _ := strings.Cut(string(read(t, chat)), "\n")
			return rawjson.Value([]byte(line), "chat_metadata")
		},
		extension.Lorebook: func() []byte { return read(t, book) },
		extension.Settings: func() []byte { return read(t, "settings.json") },
	}[k.File]()
	var got []string
	rawjson.Edit(raw, func(root *rawjson.Object) {
		all.Table().Rename(root, k.File, k.Holds, func(_ extension.Row, name string) string {
			if name != "x" {
				got = append(got, name)
			}
			return name
		})
	})
	want := wantBook
	if k.Holds == extension.OwnChat {
		want = wantChat
	}
	if !slices.Equal(got, []string{want}) {
		t.Errorf("%s names %q, want %q", raw, got, want)
	}
}
