package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// headerDamages are first lines that are no header, by what is wrong with them.
func headerDamages() map[string]string {
	return map[string]string{
		"torn":            `{"chat_metadata":{"integrity":"00000000`,
		"metadata a list": `{"chat_metadata":[1],"user_name":"unused","character_name":"unused"}`,
	}
}

// TestDamagedHeaderFailsAlone gives each command 200 chats, of which one has a damaged header: it
// fails under its path, and the others are done.
func TestDamagedHeaderFailsAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("several thousand chats")
	}
	t.Parallel()
	const chats, torn = 200, 100
	for _, command := range [][]string{
		{"checkpoint", "CHATS"},
		{"branch", "CHATS", "--at", "1", "--isolate"},
		{"meta", "set", "CHATS", "--set", "a=1"},
		{"edit", "CHATS", "1", "--set", "mes=x"},
		{"replace", "Hello", "Good day", "CHATS", "-y"},
		{"hide", "CHATS", "1", "-y"},
		{"slim", "CHATS"},
		{"delete", "CHATS", "1", "-y"},
		{"export", "CHATS", "--format", "txt", "-o", "OUT"},
		{"export", "CHATS", "--format", "rows", "-o", "OUT"},
		{"clone-lorebook", "CHATS"},
	} {
		t.Run(strings.Join(command, " "), func(t *testing.T) {
			t.Parallel()
			for why, header := range headerDamages() {
				paths := chatsWithHeader(t, chats, torn, header)
				code, failed, done := documentsOf(t, withChats(command, paths))
				if code != 2 || !slices.Equal(failed, paths[torn:torn+1]) || done != chats-1 {
					t.Errorf("%s: exit %d, %d failed, the first: %q, %d done", why, code, len(failed), slices.Concat(failed, []string{""})[0], done)
				}
			}
		})
	}
}

// withChats puts chats and a folder for what is written in place of their words in a command.
func withChats(command, chats []string) (args []string) {
	for _, arg := range command {
		switch arg {
		case "CHATS":
			args = append(args, chats...)
		case "OUT":
			args = append(args, filepath.Join(filepath.Dir(chats[0]), "..", "..", "..", "out")+string(filepath.Separator))
		default:
			args = append(args, arg)
		}
	}
	return append(args, "--json")
}

// chatsWithHeader makes a user folder with n chats that share a lorebook, of which the one at index
// has the given first line.
func chatsWithHeader(t *testing.T, n, index int, header string) (paths []string) {
	t.Helper()
	user := filepath.Join(t.TempDir(), "user")
	folder := filepath.Join(user, "chats", "Mira")
	worlds := filepath.Join(user, "worlds")
	for _, dir := range []string{folder, worlds} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(worlds, "Harbour.json"), `{"entries":{"0":{"uid":0,"key":["sea"],"content":"cold"}}}`)
	for i := range n {
		first := `{"chat_metadata":{"world_info":"Harbour"},"user_name":"unused","character_name":"unused"}`
		if i == index {
			first = header
		}
		path := filepath.Join(folder, fmt.Sprintf("C%03d.jsonl", i))
		write(path, first+"\n"+`{"name":"Mira","is_user":false,"mes":"Hello."}`+"\n"+`{"name":"Tom","is_user":true,"mes":"Hi."}`)
		paths = append(paths, path)
	}
	return paths
}

// documentsOf runs a command, and returns the paths of its errors and how many documents are about
// something that was done.
func documentsOf(t *testing.T, args []string) (code int, failed []string, done int) {
	t.Helper()
	out, _, code := terminal(t, 0, args...)
	for line := range strings.Lines(out) {
		doc := gjson.Parse(line)
		switch {
		case doc.Get("error").Exists():
			failed = append(failed, doc.Get("path").String())
		case !doc.Get("summary").Exists():
			done++
		}
	}
	return code, failed, done
}
