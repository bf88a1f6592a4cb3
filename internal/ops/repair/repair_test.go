package repair_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"stchat/internal/change/changeset"
	"stchat/internal/folder/rules"
	"stchat/internal/ops"
	"stchat/internal/ops/repair"
	"stchat/internal/place/userdir"
)

// uuids returns slugs that are told apart.
func uuids() func() string {
	n := 0
	return func() string {
		n++
		return fmt.Sprintf("aaaaaaaa-0000-4000-8000-%012d", n)
	}
}

func runRepair(t *testing.T, write bool, opt repair.Options, paths ...string) *repair.Report {
	t.Helper()
	opt.List.Paths = paths
	opt.Changes = changeset.Options{DryRun: !write, NoSync: true, Now: now, Command: []string{"repair"}, NewUUID: uuids()}
	rep, err := repair.Repair(context.Background(), opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range rep.Errs {
		t.Error(err)
	}
	for _, r := range rep.Results {
		if r.Err != nil && !errors.Is(r.Err, repair.ErrNothingLeft) && !errors.Is(r.Err, repair.ErrFewerLeft) {
			t.Error(r.Err)
		}
	}
	return rep
}

// TestRefused holds that repair leaves a chat alone rather than take what is in it for damage.
func TestRefused(t *testing.T) {
	const A = solo + "A.jsonl"
	list := "[" + plainHeader + "," + say(0, "") + "]"
	hidden := "{\nnull\n" + strings.TrimPrefix(strings.Replace(indented(plainHeader, say(0, `"extra":{"x":[{}]}`)), "}\n{", "},{", 1), "{\n")
	for name, tt := range map[string]struct {
		file  string
		rules []rules.ID
		want  string
	}{
		"nothing but damage":       {"{\n[", nil, "no message"},
		"under a BOM":              {"\ufeff" + `{"broken`, []rules.ID{rules.TornTail}, "no message"},
		"a header and damage":      {chat(plainHeader, `{"name":"Mira","mes":"to`), nil, "no message"},
		"a header and NUL bytes":   {plainHeader + "\n\x00\x00", nil, "no message"},
		"UTF-32":                   {"\xff\xfe\x00\x00{\x00\x00\x00\"\x00\x00\x00", nil, "no message"},
		"a list, by another rule":  {list, []rules.ID{rules.NotAnObject}, "json-layout"},
		"pretty, by two":           {indented(plainHeader, say(0, "")), []rules.ID{rules.InvalidJSON, rules.TornTail}, "json-layout"},
		"UTF-16, by another rule":  {utf16Text(talk(plainHeader, 2)), []rules.ID{rules.NUL}, "utf-16"},
		"UTF-16, but not joined":   {utf16Text(plainHeader + say(0, "")), []rules.ID{rules.UTF16}, "joined-lines"},
		"something behind a comma": {chat(plainHeader, say(0, "")+",;"+say(1, "")+",", say(2, "")), nil, "2 of 3 messages would be left"},
		"a list behind a bracket":  {"{" + list[:len(list)-1] + "," + say(1, "") + "]", nil, "no message"},
		"a broken object joined":   {hidden, nil, "0 of 1 messages would be left"},
		"the same in UTF-16":       {utf16Text(hidden), nil, "0 of 1 messages would be left"},
		"the rest of a torn list":  {list[:len(list)-9], []rules.ID{rules.JSONLayout, rules.InvalidJSON, rules.TornTail}, "no message"},
	} {
		root := plant(t, tree{A: tt.file})
		for _, write := range []bool{false, true} {
			opt := repair.Options{Rules: tt.rules, List: ops.List{Paths: []string{root}}, Changes: changeset.Options{DryRun: !write, NoSync: true, Now: now, NewUUID: uuids()}}
			rep, err := repair.Repair(t.Context(), opt)
			if err != nil || len(rep.Results) != 1 || rep.Results[0].Err == nil || !strings.Contains(rep.Results[0].Err.Error(), tt.want) {
				t.Errorf("%s: %+v, %v", name, rep.Results, err)
			}
		}
		if diff := cmp.Diff(tree{A: tt.file}, files(t, root)); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", name, diff)
		}
	}
}

// withDangling is all that repair repairs unasked, and the rules of links that lead
// nowhere.
func withDangling() []rules.ID {
	return append(slices.DeleteFunc(rules.All(), func(id rules.ID) bool { return !rules.Repairable().Has(id) }),
		rules.DanglingMainChat, rules.DanglingCheckpoint, rules.DanglingBranch)
}

func actions(rep *repair.Report) int {
	n := 0
	for _, r := range rep.Results {
		n += r.Doc.Total
	}
	return n
}

// files reads a folder whole, by slashed paths, without stchat's own records.
func files(t *testing.T, root string) tree {
	t.Helper()
	out := tree{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err == nil && d.Name() == userdir.Own:
			return filepath.SkipDir
		case err != nil || d.IsDir():
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(root, path)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRepairEveryRule repairs whatever breaks a rule: a dry run changes nothing,
// what repair says it repairs is found no more, the old files are kept, and a
// second run finds nothing to do.
func TestRepairEveryRule(t *testing.T) {
	repaired := map[string]bool{}
	for i, tt := range ruleCases() {
		if testing.Short() && repaired[tt.rule] {
			continue
		}
		t.Run(fmt.Sprintf("%s/%d", tt.rule, i), func(t *testing.T) {
			root := plant(t, tt.has)
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
			for _, r := range rep.Results {
				rel, _ := filepath.Rel(root, r.Doc.Path)
				if errors.Is(r.Err, repair.ErrNothingLeft) {
					continue // it is by hand, as the next check says
				}
				if r.Doc.Done && after[filepath.ToSlash(rel)] == before[filepath.ToSlash(rel)] && r.Doc.Quarantine != nil {
					continue // only what another file held of it is kept
				}
				if r.Doc.Backup == nil || !r.Doc.Done {
					t.Fatalf("%s: no backup, or not written: %+v", rel, r)
				}
				if kept, err := os.ReadFile(*r.Doc.Backup); err != nil || string(kept) != before[filepath.ToSlash(rel)] {
					t.Errorf("%s is not what %s was: %v", *r.Doc.Backup, rel, err)
				}
			}
			for _, f := range check(t, root).Findings {
				if rules.Repairable().Has(f.Rule) && !f.ByHand() {
					t.Errorf("still there: %s: %s:%d: %s", f.Rule, f.Path, f.Line, f.Message)
				}
			}
			if again := runRepair(t, true, repair.Options{}, root); actions(again) > 0 {
				t.Errorf("a second run: %+v", again.Results[0].Doc.Actions)
			}
			if diff := cmp.Diff(after, files(t, root)); diff != "" {
				t.Errorf("a second run changed something:\n%s", diff)
			}
			for _, r := range rep.Results {
				for _, a := range r.Doc.Actions {
					repaired[a.Rule] = true
				}
			}
		})
	}
	for _, id := range rules.All() {
		if rules.Repairable().Has(id) != repaired[id.String()] {
			t.Errorf("%s: mended %v, promised %v", id, repaired[id.String()], rules.Repairable().Has(id))
		}
	}
}

// TestRepaired has files and what becomes of them, to the byte.
func TestRepaired(t *testing.T) {
	const A = solo + "A.jsonl"
	empty := `{"chat_metadata":{},"user_name":"unused","character_name":"unused"}`
	one := func(more string) string { return chat(plainHeader, say(0, more)) }
	tests := []struct {
		name  string
		has   tree
		rules []rules.ID
		want  tree // the files that changed
		lost  string
	}{
		{
			name: "torn line in the middle", has: tree{A: chat(plainHeader, say(0, ""), `{"na`, say(1, ""))},
			want: tree{A: talk(plainHeader, 2)}, lost: "# line 3: invalid-json: the line ends inside a string\n{\"na\n",
		},
		{
			name: "torn tail", has: tree{A: talk(plainHeader, 2) + "\n{\"na"}, want: tree{A: talk(plainHeader, 2)},
			lost: "# line 4: torn-tail: the line ends inside a string\n{\"na\n",
		},
		{
			name: "torn tail with a newline", has: tree{A: talk(plainHeader, 2) + "\n{\"na\n"}, want: tree{A: talk(plainHeader, 2) + "\n"},
			lost: "# line 4: torn-tail: the line ends inside a string\n{\"na\n",
		},
		{
			name: "several at the end", has: tree{A: talk(plainHeader, 1) + "\n{\n[1]\n\x00\x00"}, want: tree{A: talk(plainHeader, 1)},
			lost: "# line 3: invalid-json: the line ends where a key or } must follow\n{\n# line 4: not-an-object: a list, not an object\n[1]\n",
		},
		{
			name: "only the tail", has: tree{A: chat(plainHeader, "{", say(0, ""), "{")}, rules: []rules.ID{rules.TornTail},
			want: tree{A: chat(plainHeader, "{", say(0, ""))}, lost: "# line 4: torn-tail: the line ends where a key or } must follow\n{\n",
		},
		{
			name: "all but the tail", has: tree{A: chat(plainHeader, "{", say(0, ""), "{")}, rules: []rules.ID{rules.InvalidJSON},
			want: tree{A: chat(plainHeader, say(0, ""), "{")}, lost: "# line 2: invalid-json: the line ends where a key or } must follow\n{\n",
		},
		{
			name: "torn header", has: tree{A: chat(`{"chat_meta`, say(0, ""))}, want: tree{A: chat(empty, say(0, ""))},
			lost: "# line 1: invalid-json: the line ends inside a string\n{\"chat_meta\n",
		},
		{
			name: "a picture that moved, by its name", rules: []rules.ID{rules.MissingAttachment},
			has:  tree{A: chat(plainHeader, say(0, `"extra":{"media":[{"url":"/user/images/Mira/a.png","type":"image"}]}`)), "user/images/Old/a.png": "x", "user/images/Old/b.png": "x"},
			want: tree{A: chat(plainHeader, say(0, `"extra":{"media":[{"url":"/user/images/Old/a.png","type":"image"}]}`))},
		},
		{
			name: "two of that name", rules: []rules.ID{rules.MissingAttachment},
			has:  tree{A: chat(plainHeader, say(0, `"extra":{"media":[{"url":"/user/images/Mira/a.png"}]}`)), "user/images/Old/a.png": "x", "backgrounds/a.png": "x"},
			want: tree{},
		},
		{
			name: "of two files of a name the one of the size; only that under another name", rules: []rules.ID{rules.MissingAttachment},
			has:  tree{A: chat(plainHeader, say(0, `"extra":{"files":[{"url":"/user/files/1.txt","size":3,"name":"a.txt"},{"url":"/user/files/2.txt","size":3,"name":"b.txt"},{"url":"/user/files/3.txt","size":3,"name":"c.txt"}]}`)), "user/files/x/1.txt": "abc", "user/files/y/1.txt": "abcd", "user/files/b.txt": "abc", "user/files/c.txt": "abcd"},
			want: tree{A: chat(plainHeader, say(0, `"extra":{"files":[{"url":"/user/files/x/1.txt","size":3,"name":"a.txt"},{"url":"/user/files/b.txt","size":3,"name":"b.txt"},{"url":"/user/files/3.txt","size":3,"name":"c.txt"}]}`))},
		},
		{
			name: "a picture that slim named, by its bytes", rules: []rules.ID{rules.MissingAttachment},
			has:  tree{A: chat(plainHeader, say(0, `"extra":{"media":[{"url":"/user/images/Mira/2d711642b726b044.png"},{"url":"/user/images/Mira/2d711642b726b045.png"}]}`)), "user/images/Mira/dusk.png": "x", "user/images/Mira/dusk.jpg": "x"},
			want: tree{A: chat(plainHeader, say(0, `"extra":{"media":[{"url":"/user/images/Mira/dusk.png"},{"url":"/user/images/Mira/2d711642b726b045.png"}]}`))},
		},
		{
			name: "an address in the program's folder is none of the user's", rules: []rules.ID{rules.MissingAttachment},
			has:  tree{A: chat(plainHeader, say(0, `"extra":{"media":[{"url":"/img/a.png"},{"url":"https://example.org/user/images/a.png"}]}`)), "user/images/Old/a.png": "x"},
			want: tree{},
		},
		{
			name: "the Data Bank, and a message that can be read again", rules: []rules.ID{rules.MissingAttachment, rules.NUL},
			has:  tree{A: chat(head(1, `"attachments":[{"url":"/user/files/a.txt","size":1},7]`), "\x00\x00"+say(0, `"extra":{"file":{"url":"/user/files/b.txt"}}`)), "user/files/x/a.txt": "a", "user/files/x/b.txt": "b"},
			want: tree{A: chat(head(1, `"attachments":[{"url":"/user/files/x/a.txt","size":1},7]`), say(0, `"extra":{"file":{"url":"/user/files/x/b.txt"}}`))},
		},
		{
			name: "a cancelled swipe beyond the last one",
			has:  tree{A: chat(plainHeader, `{"name":"Mira","is_user":false,"mes":"","extra":{"bookmark_link":"A"},"swipe_id":3,"swipes":["one","two",""],"swipe_info":[{},{"send_date":"2026-01-02T03:04:05.000Z","extra":{"model":"m"}},{}]}`)},
			want: tree{A: chat(plainHeader, `{"name":"Mira","is_user":false,"mes":"two","extra":{"model":"m","bookmark_link":"A"},"swipe_id":1,"swipes":["one","two",""],"swipe_info":[{},{"send_date":"2026-01-02T03:04:05.000Z","extra":{"model":"m"}},{}],"send_date":"2026-01-02T03:04:05.000Z"}`)},
			lost: "# line 2, message 0: swipe-id: extra of the message without text\n{\"bookmark_link\":\"A\"}\n",
		},
		{
			name: "a message without text, whose swipe has one",
			has:  tree{A: chat(plainHeader, `{"name":"Mira","is_user":false,"mes":"","swipe_id":0,"swipes":["one","two"]}`)},
			want: tree{A: chat(plainHeader, `{"name":"Mira","is_user":false,"mes":"one","swipe_id":0,"swipes":["one","two"]}`)},
		},
		{
			name: "nothing has text",
			has:  tree{A: chat(plainHeader, `{"name":"Mira","is_user":false,"mes":"","swipe_id":4,"swipes":[" "]}`)},
			want: tree{A: chat(plainHeader, `{"name":"Mira","is_user":false,"mes":"","swipe_id":1,"swipes":[" ",""]}`)},
		},
		{name: "BOM", has: tree{A: "\ufeff" + talk(plainHeader, 1)}, want: tree{A: talk(plainHeader, 1)}},
		{name: "BOM and no header", has: tree{A: "\ufeff" + say(0, "")}, want: tree{A: chat(empty, say(0, ""))}},
		{name: "no header under a BOM that stays", has: tree{A: "\ufeff" + say(0, "")}, rules: []rules.ID{rules.NoHeader}, want: tree{A: "\ufeff" + chat(empty, say(0, ""))}},
		{
			name: "a torn first line under a BOM", has: tree{A: "\ufeff" + chat(`{"broken`, plainHeader, say(0, ""))}, rules: []rules.ID{rules.InvalidJSON},
			want: tree{A: talk(plainHeader, 1)}, lost: "# line 1: invalid-json: the line ends inside a string\n\ufeff{\"broken\n",
		},
		{
			name: "two torn tails", has: tree{A: chat(plainHeader, "{", say(0, ""), "{", "", `{"n`)}, rules: []rules.ID{rules.TornTail},
			want: tree{A: chat(plainHeader, "{", say(0, ""), "")},
			lost: "# line 4: torn-tail: the line ends where a key or } must follow\n{\n# line 6: torn-tail: the line ends inside a string\n{\"n\n",
		},
		{
			name: "a tail behind another kind of damage", has: tree{A: chat(plainHeader, say(0, ""), "{", "[1]", `{"n`)}, rules: []rules.ID{rules.TornTail},
			want: tree{A: chat(plainHeader, say(0, ""), "{", "[1]")}, lost: "# line 5: torn-tail: the line ends inside a string\n{\"n\n",
		},
		{name: "two BOMs", has: tree{A: "\ufeff\ufeff" + talk(plainHeader, 1)}, want: tree{A: talk(plainHeader, 1)}},
		{name: "two BOMs, one wanted", has: tree{A: "\ufeff\ufeff" + talk(plainHeader, 1)}, rules: []rules.ID{rules.InvalidJSON}, want: tree{A: "\ufeff" + talk(plainHeader, 1)}},
		{name: "BOM before a message", has: tree{A: chat(plainHeader, "\ufeff"+say(0, ""), say(1, ""))}, want: tree{A: talk(plainHeader, 2)}},
		{name: "BOM before the last message", has: tree{A: chat(plainHeader, say(0, ""), "\ufeff"+say(1, ""))}, want: tree{A: talk(plainHeader, 2)}},
		{name: "NUL before a message to mend", has: tree{A: chat(plainHeader, "\x00"+say(0, `"swipe_id":7`))}, want: tree{A: chat(plainHeader, say(0, `"swipe_id":0,"swipes":["line 0"]`))}},
		{name: "NUL before the header", has: tree{A: chat("\x00\x00"+plainHeader, say(0, ""))}, want: tree{A: talk(plainHeader, 1)}},
		{name: "NUL before a header to mend", has: tree{A: chat("\x00"+head(1, recapOf("B", 1, 0)), say(0, ""))}, want: tree{A: chat(head(1, recapOf("A", 1, 0)), say(0, ""))}},
		{name: "NUL before a message before the header", has: tree{A: chat("\x00"+say(0, ""), plainHeader, say(1, ""))}, want: tree{A: talk(plainHeader, 2)}},
		{name: "CR LF before the header", has: tree{A: chat(say(0, "")+"\r", plainHeader+"\r")}, want: tree{A: talk(plainHeader, 1)}},
		{name: "CR LF before the header that stays", has: tree{A: chat(say(0, "")+"\r", plainHeader+"\r")}, rules: []rules.ID{rules.NoHeader}, want: tree{A: talk(plainHeader, 1)}},
		{name: "CR LF", has: tree{A: strings.ReplaceAll(talk(plainHeader, 2)+"\n", "\n", "\r\n")}, want: tree{A: talk(plainHeader, 2) + "\n"}},
		{
			name: "CR LF and a torn line", has: tree{A: chat(plainHeader+"\r", "{\r", say(0, "")+"\r", "{")}, want: tree{A: chat(plainHeader, say(0, ""))},
			lost: "# line 2: invalid-json: the line ends where a key or } must follow\n{\n# line 4: torn-tail: the line ends where a key or } must follow\n{\n",
		},
		{
			name: "CR LF that stays", has: tree{A: chat(plainHeader+"\r", "{\r", say(0, "")+"\r", "")}, rules: []rules.ID{rules.InvalidJSON}, want: tree{A: chat(plainHeader+"\r", say(0, "")+"\r", "")},
			lost: "# line 2: invalid-json: the line ends where a key or } must follow\n{\n",
		},
		{name: "NUL around a message", has: tree{A: chat(plainHeader, "\x00\x00"+say(0, "")+"\x00", say(1, ""))}, want: tree{A: talk(plainHeader, 2)}},
		{
			name: "NUL inside a message", has: tree{A: chat(plainHeader, "{\"a\":\"\x00\"}", say(0, ""))}, want: tree{A: chat(plainHeader, say(0, ""))},
			lost: "# line 2: nul: NUL byte in a string\n{\"a\":\"\x00\"}\n",
		},
		{
			name: "blank lines stay", has: tree{A: "\n" + chat(plainHeader, "", "{", " ", say(0, "")) + "\n\n"}, want: tree{A: "\n" + chat(plainHeader, "", " ", say(0, "")) + "\n\n"},
			lost: "# line 4: invalid-json: the line ends where a key or } must follow\n{\n",
		},
		{name: "header inside", has: tree{A: chat(say(0, ""), plainHeader, say(1, ""))}, want: tree{A: talk(plainHeader, 2)}},
		{name: "header inside with a dead parent", has: tree{A: chat(say(0, ""), head(1, `"main_chat":"B"`))}, rules: withDangling(), want: tree{A: chat(head(1, ""), say(0, ""))}},
		{
			name: "metadata that is no object", has: tree{A: chat(`{"user_name":"Ines", "chat_metadata":[1]}`, say(0, ""))}, want: tree{A: chat(`{"user_name":"Ines", "chat_metadata":{}}`, say(0, ""))},
			lost: "# line 1: not-an-object: chat_metadata is a list, not an object\n{\"user_name\":\"Ines\", \"chat_metadata\":[1]}\n",
		},

		{name: "swipe_id finds its text", has: tree{A: one(`"swipe_id":7,"swipes":["a","line 0"],"swipe_info":[{},{}]`)}, want: tree{A: one(`"swipe_id":1,"swipes":["a","line 0"],"swipe_info":[{},{}]`)}},
		{
			name: "swipe_id adds its text", has: tree{A: one(`"swipe_id":7,"swipes":["a"],"swipe_info":[{}],"extra":{"model":"m"}`)},
			want: tree{A: one(`"swipe_id":1,"swipes":["a","line 0"],"swipe_info":[{},{"send_date":"2026-01-02T03:04:00.000Z","extra":{"model":"m"}}],"extra":{"model":"m"}`)},
		},
		{name: "swipe_id without swipes", has: tree{A: one(`"swipe_id":7`)}, want: tree{A: one(`"swipe_id":0,"swipes":["line 0"]`)}},
		{
			name: "swipe's text", has: tree{A: one(`"swipe_id":1,"swipes":["a", "b" ,"c"]`)}, want: tree{A: one(`"swipe_id":1,"swipes":["a", "line 0" ,"c"]`)},
			lost: "# line 2, message 0: swipe-text: the text of swipe 2\n\"b\"\n",
		},
		{
			name: "swipe_info", has: tree{A: one(`"gen_started":"s","swipe_id":0,"swipes":["line 0","b","c"],"swipe_info":[{"x":1}, null]`)},
			want: tree{A: one(`"gen_started":"s","swipe_id":0,"swipes":["line 0","b","c"],"swipe_info":[{"x":1}, {"send_date":"2026-01-02T03:04:00.000Z","gen_started":"s","extra":{}},{"send_date":"2026-01-02T03:04:00.000Z","gen_started":"s","extra":{}}]`)},
		},

		{
			name: "shared slug", has: tree{A: talk(plainHeader, 1), solo + "B.jsonl": chat(strings.Replace(plainHeader, `"},`, `","main_chat":"A"},`, 1), say(0, ""))},
			want: tree{solo + "B.jsonl": chat(`{"chat_metadata":{"integrity":"aaaaaaaa-0000-4000-8000-000000000001","main_chat":"A"},"user_name":"unused","character_name":"unused"}`, say(0, ""))},
		},
		{
			name: "dead links", rules: withDangling(), has: tree{A: one(`"extra":{"a":1,"bookmark_link":"x","branches":["y","B","z"],"b":2}`), solo + "B.jsonl": talk(head(2, ""), 1)},
			want: tree{A: one(`"extra":{"a":1,"branches":["B"],"b":2}`)},
		},
		{name: "dead branches alone", rules: withDangling(), has: tree{A: one(`"extra":{"branches":["y"]}`)}, want: tree{A: one(`"extra":{}`)}},
		{
			name: "dead links of swipes, too", rules: withDangling(), has: tree{A: one(`"extra":{"bookmark_link":"x"},"swipe_id":0,"swipes":["line 0"],"swipe_info":[{"extra":{"bookmark_link":"x","a":1}}]`)},
			want: tree{A: one(`"extra":{},"swipe_id":0,"swipes":["line 0"],"swipe_info":[{"extra":{"a":1}}]`)},
		},
		{name: "dead parent and a recap", rules: withDangling(), has: tree{A: talk(head(1, `"main_chat":"B",`+recapOf("B", 1, 0)), 1)}, want: tree{A: talk(head(1, recapOf("A", 1, 0)), 1)}},
		{name: "dead parent and a missing lorebook", rules: withDangling(), has: tree{A: talk(head(1, `"main_chat":"B",`+recapOf("B", 1, 0)+`,"world_info":"Gone"`), 1)}, want: tree{A: talk(head(1, recapOf("A", 1, 0)+`,"world_info":"Gone"`), 1)}},
		{name: "recap", has: tree{A: talk(head(1, recapOf("B", 1, 0)), 1)}, want: tree{A: talk(head(1, recapOf("A", 1, 0)), 1)}},
		{
			name: "unsafe names", has: tree{A: chat(head(1, `"main_chat":"B?"`), say(0, `"extra":{"bookmark_link":"B:","branches":["<B>","B"]}`)), solo + "B.jsonl": talk(head(2, ""), 1)},
			want: tree{A: chat(head(1, `"main_chat":"B"`), say(0, `"extra":{"bookmark_link":"B","branches":["B","B"]}`))},
		},
		{
			name: "unlisted branch", has: tree{A: chat(head(1, ""), say(0, ""), say(1, ""), say(2, "")), solo + "B.jsonl": chat(head(2, `"main_chat":"A"`), say(0, ""), say(1, ""), say(4, ""))},
			rules: []rules.ID{rules.UnlistedBranch}, want: tree{A: chat(head(1, ""), say(0, ""), say(1, `"extra":{"branches":["B"]}`), say(2, ""))},
		},
		{
			name: "unlisted branches", has: tree{A: chat(head(1, ""), say(0, ""), say(1, "")), solo + "B.jsonl": chat(head(2, `"main_chat":"A"`), say(0, ""), say(1, "")), solo + "C.jsonl": chat(head(3, `"main_chat":"A"`), say(0, ""), say(1, ""))},
			rules: []rules.ID{rules.UnlistedBranch}, want: tree{A: chat(head(1, ""), say(0, ""), say(1, `"extra":{"branches":["B","C"]}`))},
		},

		{
			name: "group list", has: tree{"group chats/G.jsonl": talk(head(1, ""), 1), "group chats/H.jsonl": chat(head(2, `"main_chat":"G"`), say(0, "")), "groups/1.json": "{\n    \"id\": \"1\",\n    \"chat_id\": \"G\",\n    \"chats\": [\n        \"G\"\n    ]\n}"},
			want: tree{"groups/1.json": "{\n    \"id\": \"1\",\n    \"chat_id\": \"G\",\n    \"chats\": [\n        \"G\",\n        \"H\"\n    ]\n}"},
		},
		{
			name: "group metadata", has: tree{"group chats/G.jsonl": talkWith(say(0, ""), say(1, "")), "groups/1.json": groupFile(`"past_metadata":{"G":{"x":1.0}},"chat_metadata":{"y":2}`, "F", "G"), "group chats/F.jsonl": say(0, "")},
			want: tree{
				"group chats/G.jsonl": chat(`{"chat_metadata":{"x":1.0},"user_name":"unused","character_name":"unused"}`, say(0, ""), say(1, "")),
				"group chats/F.jsonl": chat(`{"chat_metadata":{"y":2},"user_name":"unused","character_name":"unused"}`, say(0, "")),
				"groups/1.json":       groupFile("", "F", "G"),
			},
		},
		{
			name: "group metadata beside a header", has: tree{"group chats/G.jsonl": talk(plainHeader, 1), "groups/1.json": groupFile(`"chat_metadata":{"y":2}`, "G")},
			want: tree{"groups/1.json": groupFile("", "G")},
			lost: "# line 1: group-old-layout: the metadata in the file of the group \"Supper\", which differs from the header's\n{\"y\":2}\n",
		},
		{
			name: "group metadata that the header has", has: tree{"group chats/G.jsonl": talk(head(1, `"y":2`), 1), "groups/1.json": groupFile(`"chat_metadata":{"y":2.0}`, "G")},
			want: tree{"groups/1.json": groupFile("", "G")},
		},
		{
			name: "Luker", has: tree{A: chat(plainHeader, "{", say(0, "")), solo + "A.luker-state.chat_sync.json": `{"integrity":"11111111-0000-4000-8000-000000000000","updated_at":1}`},
			want: tree{
				A:                                     chat(strings.Replace(plainHeader, "11111111-0000-4000-8000-000000000000", "aaaaaaaa-0000-4000-8000-000000000001", 1), say(0, "")),
				solo + "A.luker-state.chat_sync.json": fmt.Sprintf(`{"integrity":"aaaaaaaa-0000-4000-8000-000000000001","updated_at":%d}`, now.UnixMilli()),
			},
			lost: "# line 2: invalid-json: the line ends where a key or } must follow\n{\n",
		},
		{name: "a second header stays", has: tree{A: chat(plainHeader, say(0, ""), head(2, ""))}, want: tree{}},
		{
			name: "the header twice", has: tree{A: chat(plainHeader, say(0, ""), plainHeader, say(1, ""), plainHeader+"\r")}, want: tree{A: chat(plainHeader, say(0, ""), say(1, ""))},
			lost: "# line 3: misplaced-header: the header once more\n" + plainHeader + "\n# line 5: misplaced-header: the header once more\n" + plainHeader + "\n",
		},
		{name: "an unlisted chat of nobody's stays", has: tree{"group chats/G.jsonl": talk(plainHeader, 1), "groups/1.json": groupFile("", "H")}, want: tree{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := plant(t, tt.has)
			dry := runRepair(t, false, repair.Options{Rules: tt.rules}, root)
			rep := runRepair(t, true, repair.Options{Rules: tt.rules}, root)
			sameRun(t, dry, rep)
			got := tree{}
			lost := ""
			for name, data := range files(t, root) {
				switch {
				case strings.HasSuffix(name, ".damaged"):
					_, lost, _ = strings.Cut(data, "\n")
				case data != tt.has[name]:
					got[name] = data
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.lost, lost); diff != "" {
				t.Errorf("quarantine (-want +got):\n%s", diff)
			}
			for _, r := range rep.Results {
				if (r.Doc.Quarantine != nil) != (tt.lost != "") && strings.HasSuffix(r.Doc.Path, ".jsonl") {
					t.Errorf("quarantine: %v", r.Doc.Quarantine)
				}
			}
			if again := runRepair(t, true, repair.Options{Rules: tt.rules}, root); actions(again) > 0 {
				t.Errorf("a second run: %+v", again.Results[0].Doc.Actions)
			}
		})
	}
}

// sameRun holds that a dry run tells what the real one does.
func sameRun(t *testing.T, dry, real *repair.Report) {
	t.Helper()
	told := func(rep *repair.Report) (docs []repair.Document) {
		for _, r := range rep.Results {
			doc := r.Doc
			doc.Done, doc.Backup, doc.Quarantine, doc.Operation = false, nil, nil, nil
			docs = append(docs, doc)
		}
		return docs
	}
	if diff := cmp.Diff(told(dry), told(real), cmpopts.IgnoreFields(changeset.Step{}, "Kept")); diff != "" {
		t.Errorf("the dry run and the real one (-dry +real):\n%s", diff)
	}
}

// ending is a context that ends when it was asked so often whether it has.
type ending struct {
	context.Context
	left atomic.Int64
}

func (e *ending) Err() error {
	if e.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestRepairInterrupted holds that a repair that is called off anywhere tells just
// what it did, and does the rest of it when it is called again.
func TestRepairInterrupted(t *testing.T) {
	has := tree{}
	for i := range 6 {
		has[fmt.Sprintf("%sA%d.jsonl", solo, i)] = chat(head(i, ""), "{", say(0, ""))
	}
	begun, whole, step := false, false, int64(1)
	if testing.Short() {
		step = 7
	}
	for asked := int64(0); !whole; asked += step {
		root := plant(t, has)
		ctx := &ending{Context: context.Background()}
		ctx.left.Store(asked)
		opt := repair.Options{Changes: changeset.Options{NoSync: true, Now: now, NewUUID: uuids()}}
		opt.List.Paths = []string{root}
		rep, err := repair.Repair(ctx, opt)
		whole = err == nil
		done := 0
		for _, r := range rep.Results {
			rel, _ := filepath.Rel(root, r.Doc.Path)
			changed := files(t, root)[filepath.ToSlash(rel)] != has[filepath.ToSlash(rel)]
			if changed != r.Doc.Done || changed == (r.Err != nil) {
				t.Errorf("asked %d times: %s: changed %v, told %v, %v", asked, rel, changed, r.Doc.Done, r.Err)
			}
			if changed {
				done++
			}
		}
		for name, data := range files(t, root) {
			if data != has[name] && strings.HasSuffix(name, ".jsonl") {
				done--
			}
		}
		if done != 0 {
			t.Errorf("asked %d times: %d chats more are told than changed", asked, done)
		}
		begun = begun || !whole && len(rep.Results) > 0
		if rep := runRepair(t, true, repair.Options{}, root); whole && actions(rep) > 0 {
			t.Error("a whole run left something to do")
		}
		if left := runRepair(t, false, repair.Options{}, root); actions(left) > 0 {
			t.Errorf("asked %d times: the next run does not end it", asked)
		}
	}
	if !begun {
		t.Error("no run was called off while it mended")
	}
}

func TestRepairQuarantineNames(t *testing.T) {
	bad := chat(plainHeader, "{", say(0, ""))
	root := plant(t, tree{solo + "A.jsonl": bad, solo + "A.damaged": "mine", solo + "A.2.damaged": "mine, too"})
	runRepair(t, true, repair.Options{}, root)
	got := files(t, filepath.Join(root, filepath.FromSlash(solo)))
	if got["A.damaged"] != "mine" || got["A.2.damaged"] != "mine, too" || got["A.3.damaged"] == "" || len(got) != 4 {
		t.Errorf("what was taken out: %q", got)
	}
}

func TestRepairBump(t *testing.T) {
	root := plant(t, tree{solo + "A.jsonl": chat(plainHeader, "{", say(0, "")), solo + "B.jsonl": talk(head(2, ""), 1)})
	runRepair(t, true, repair.Options{BumpIntegrity: true}, root)
	got := files(t, root)
	if !strings.HasPrefix(got[solo+"A.jsonl"], `{"chat_metadata":{"integrity":"aaaaaaaa-`) {
		t.Errorf("no new slug: %s", got[solo+"A.jsonl"])
	}
	if got[solo+"B.jsonl"] != talk(head(2, ""), 1) {
		t.Error("a chat without findings was written")
	}
}

// message is what SillyTavern shows of a message.
type heard struct {
	Name   string
	IsUser any
	Mes    string
}

// read reads a chat as SillyTavern does: split at LF, drop what does not parse,
// and take the first for the header.
func read(data string) map[heard]int {
	out := map[heard]int{}
	first := true
	for line := range strings.SplitSeq(data, "\n") {
		var v any
		if json.Unmarshal([]byte(line), &v) != nil || v == nil || v == false || v == "" || v == 0.0 {
			continue
		}
		o, _ := v.(map[string]any)
		mes, ok := o["mes"].(string)
		name, _ := o["name"].(string)
		if !first && ok {
			out[heard{name, o["is_user"], mes}]++
		}
		first = false
	}
	return out
}

// hurt damages a chat in one of the ways that are known.
func hurt(r *rand.Rand, data string) string {
	lines := strings.Split(data, "\n")
	at := r.IntN(len(lines))
	replace := func(from, to string) {
		for range lines {
			if strings.Contains(lines[at], from) {
				lines[at] = strings.Replace(lines[at], from, to, 1)
				return
			}
			at = (at + 1) % len(lines)
		}
	}
	switch r.IntN(18) {
	case 0:
		lines[at] = lines[at][:r.IntN(len(lines[at])+1)]
	case 1:
		return data[:len(data)-r.IntN(min(200, len(data)))]
	case 2:
		lines = slices.Insert(lines, at, strings.Repeat("\x00", 1+r.IntN(50)))
	case 3:
		lines[at] += "\x00\x00"
	case 4:
		lines[at] = "\x00" + lines[at]
	case 5:
		return strings.ReplaceAll(data, "\n", "\r\n")
	case 6:
		return "\ufeff" + strings.TrimPrefix(data, "\ufeff")
	case 7:
		lines = slices.Delete(lines, 0, 1)
	case 8:
		lines = slices.Insert(lines, at, []string{"[1]", "null", "5", `"x"`, "{}", "", "   ", "{]"}[r.IntN(8)])
	case 9:
		replace(`"swipe_id":`, `"swipe_id":9`)
	case 10:
		replace(`"swipes":["`, `"swipes":["x`)
	case 11:
		replace(`"swipe_info":[`, `"swipe_info":[],"old":[`)
	case 12:
		replace(`"extra":{`, `"extra":{"bookmark_link":"gone","branches":["gone","too"],`)
	case 13:
		replace(`"main_chat":"`, `"main_chat":"not `)
	case 14:
		replace(`"integrity":"`, `"integrity":"same","was":"`)
	case 15:
		lines[0], lines[len(lines)-1] = lines[len(lines)-1], lines[0]
	case 16:
		data += "\n\n"
		return data
	case 17:
		replace(`"chat_metadata":{`, `"chat_metadata":3,"was":{`)
	}
	return strings.Join(lines, "\n")
}

// TestRepairHurtDemo hurts the demo at random, and repairs it: SillyTavern
// reads at least what it read before, lines that were not repaired are as they
// were, nothing is left to repair.
func TestRepairHurtDemo(t *testing.T) {
	demo := files(t, filepath.Join("..", "..", "..", "testdata", "demo"))
	seeds := uint64(20)
	if testing.Short() {
		seeds = 5
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 7))
			has := tree{}
			for _, name := range slices.Sorted(maps.Keys(demo)) { // so that a seed means the same in each run
				data := demo[name]
				if strings.HasSuffix(name, ".jsonl") {
					for range r.IntN(4) {
						data = hurt(r, data)
					}
				}
				if strings.HasPrefix(name, "groups/") && r.IntN(2) == 0 {
					data = strings.Replace(data, `"chats": [`, `"chats": [], "old": [`, 1)
				}
				has[name] = data
			}
			root := plant(t, has)
			rep := runRepair(t, true, repair.Options{}, root)
			after := files(t, root)
			repaired := map[string]*repair.Result{}
			for _, res := range rep.Results {
				rel, _ := filepath.Rel(root, res.Doc.Path)
				repaired[filepath.ToSlash(rel)] = res
			}
			for name, data := range has {
				if !strings.HasSuffix(name, ".jsonl") {
					continue
				}
				have := read(after[name])
				for m, n := range read(data) {
					if have[m] < n {
						t.Errorf("%s: SillyTavern no longer reads %+v", name, m)
					}
				}
				sameLines(t, name, data, after[name], repaired[name])
			}
			for _, f := range check(t, root).Findings {
				if rules.Repairable().Has(f.Rule) && !f.ByHand() {
					t.Errorf("still there: %s: %s:%d: %s", f.Rule, f.Path, f.Line, f.Message)
				}
			}
			if again := runRepair(t, true, repair.Options{}, root); actions(again) > 0 {
				t.Errorf("a second run: %+v", again.Results[0].Doc.Actions)
			}
			if diff := cmp.Diff(after, files(t, root)); diff != "" {
				t.Error("a second run changed something")
			}
		})
	}
}

// sameLines holds that the lines of a repaired chat are the old ones, but for
// as many as the actions name.
func sameLines(t *testing.T, name, before, after string, res *repair.Result) {
	t.Helper()
	if res == nil {
		if before != after {
			t.Errorf("%s: changed without an action", name)
		}
		return
	}
	named := map[int]bool{}
	for _, a := range res.Doc.Actions {
		if a.Line != nil {
			named[*a.Line] = true
		}
	}
	old := map[string]int{}
	for i, line := range strings.Split(strings.TrimPrefix(before, "\ufeff"), "\n") {
		line = strings.TrimRight(line, "\r")
		old[line]++
		if strings.Contains(line, "chat_metadata") {
			continue // it may have been moved, and then repaired where it was moved to
		}
		if !named[i+1] && !bytes.Contains([]byte(after), []byte(line)) {
			t.Errorf("%s: line %d is not as it was: %.80q", name, i+1, line)
		}
	}
	fresh := 0
	for line := range strings.SplitSeq(after, "\n") {
		if old[line] == 0 {
			fresh++
		}
	}
	if fresh > len(named)+1 { // and the header, moved and repaired
		t.Errorf("%s: %d lines are new, and %d were named", name, fresh, len(named))
	}
}

// TestRepairManyBlocks repairs a chat of several megabytes, whose lines are
// read in pieces, some longer than a piece: dead links on every seventh
// message, a torn line behind every hundredth.
func TestRepairManyBlocks(t *testing.T) {
	was, want := []string{plainHeader}, []string{plainHeader}
	for i := range 2000 {
		text := strings.Repeat("x", 1500)
		if i%900 == 450 {
			text = strings.Repeat("y", 2<<20)
		}
		line := func(extra string) string {
			return fmt.Sprintf(`{"name":"M","is_user":false,"mes":"%d %s","extra":{%s}}`, i, text, extra)
		}
		if i%7 == 0 {
			was = append(was, line(`"bookmark_link":"gone"`))
		} else {
			was = append(was, line(""))
		}
		want = append(want, line(""))
		if i%100 == 0 {
			was = append(was, line("")[:1200])
		}
	}
	root := plant(t, tree{solo + "A.jsonl": chat(was...)})
	rep := runRepair(t, true, repair.Options{Rules: withDangling()}, root)
	if got := files(t, root)[solo+"A.jsonl"]; got != chat(want...) {
		t.Error("not what was wanted")
	}
	if n := actions(rep); n != 286+20 {
		t.Errorf("%d actions, want 306", n)
	}
	for i, a := range rep.Results[0].Doc.Actions[1:] {
		if before := rep.Results[0].Doc.Actions[i]; *a.Line < *before.Line {
			t.Fatalf("line %d after line %d", *a.Line, *before.Line)
		}
	}
}
