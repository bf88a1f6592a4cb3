package keep_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/ops"
	"stchat/internal/ops/keep"
)

// folder is a user's folder.
type folder struct {
	t    *testing.T
	root string
}

func newFolder(t *testing.T, owners ...string) *folder {
	f := &folder{t, t.TempDir()}
	for _, dir := range append([]string{"characters", "backups", "group chats"}, owners...) {
		if slices.Contains(owners, dir) {
			dir = filepath.Join("chats", dir)
		}
		if err := os.MkdirAll(filepath.Join(f.root, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// write writes a chat: metadata, and a word a message.
func (f *folder) write(rel, meta, words string) {
	f.t.Helper()
	lines := []string{`{"chat_metadata":{` + meta + `}}`}
	for i, w := range strings.Fields(words) {
		lines = append(lines, fmt.Sprintf(`{"name":"any","is_user":%v,"mes":%q}`, i%2 == 1, w))
	}
	path := filepath.Join(f.root, filepath.FromSlash(rel))
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o666); err != nil {
		f.t.Fatal(err)
	}
}

// empty writes a chat of no bytes.
func (f *folder) empty(rel string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.root, filepath.FromSlash(rel)), nil, 0o666); err != nil {
		f.t.Fatal(err)
	}
}

func (f *folder) snapshot() {
	f.t.Helper()
	opt := keep.SnapshotOptions{List: ops.List{Paths: []string{f.root}}, Now: time.Now(), Each: func(keep.Taken) error { return nil }}
	if _, err := keep.Snapshot(f.t.Context(), opt); err != nil {
		f.t.Fatal(err)
	}
}

func (f *folder) remove(rel string) {
	f.t.Helper()
	if err := os.Remove(filepath.Join(f.root, filepath.FromSlash(rel))); err != nil {
		f.t.Fatal(err)
	}
}

// lost returns what is lost, a line a chat: owner, chat, the messages that it has now,
// lost and reworded ones.
func (f *folder) lost(opt keep.LostOptions) (lines []string) {
	f.t.Helper()
	opt.List = ops.List{Paths: []string{f.root}}
	opt.Now = time.Now()
	res, err := keep.Lost(f.t.Context(), opt)
	if err != nil || len(res.Errs) > 0 {
		f.t.Fatal(err, res.Errs)
	}
	defer res.Close()
	for _, c := range slices.Concat(res.Chats, res.Few) {
		owner, chat, live := "?", "?", "gone"
		if c.Owner != nil {
			owner = *c.Owner
		}
		if c.Chat != nil {
			chat = *c.Chat
		}
		if c.LiveMessages != nil {
			live = fmt.Sprint(*c.LiveMessages)
		}
		line := fmt.Sprint(owner, "/", chat, " ", live, " ", c.Lost, " ", c.Reworded)
		if c.Ambiguous {
			line += " ambiguous"
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

const (
	ten    = "hello a1 a2 a3 a4 a5 a6 a7 a8 a9"
	backup = "backups/chat_mira_20260101-100000.jsonl"
)

// Which chat a backup is of, whose name tells the character alone.
func TestLostOwner(t *testing.T) {
	for _, tt := range []struct {
		name    string
		prepare func(f *folder)
		want    []string
	}{
		{"its slug tells", func(f *folder) {
			f.write("chats/Mira/A.jsonl", `"integrity":"a"`, "hello")
			f.write("chats/Mira/B.jsonl", `"integrity":"b"`, "hello a1 a2")
			f.write(backup, `"integrity":"a"`, ten)
		}, []string{"Mira/A 1 7 0"}},
		{"of two with its slug, what they share", func(f *folder) {
			f.write("chats/Mira/A.jsonl", `"integrity":"a"`, "hello")
			f.write("chats/Mira/B.jsonl", `"integrity":"a","main_chat":"A"`, "hello a1 a2 a3 a4 a5")
			f.write(backup, `"integrity":"a","main_chat":"A"`, ten)
		}, []string{"Mira/B 6 4 0"}},
		{"not a branch that it never was", func(f *folder) {
			f.write("chats/Mira/A.jsonl", ``, "hello")
			f.write("chats/Mira/B.jsonl", `"integrity":"b","main_chat":"A"`, "hello a1 a2 a3 a4 a5")
			f.write(backup, `"integrity":"a"`, ten+" a10")
		}, []string{"Mira/A 1 5 0"}},
		{"of two that have the greeting alone, either", func(f *folder) {
			f.write("chats/Mira/A.jsonl", ``, "hello")
			f.write("chats/Mira/B.jsonl", ``, "hello")
			f.write(backup, ``, ten)
		}, []string{"Mira/A 1 9 0 ambiguous"}},
		{"moved to another character: its slug tells", func(f *folder) {
			f.write("chats/Tomas/A.jsonl", `"integrity":"a"`, "hello a1")
			f.write(backup, `"integrity":"a"`, ten)
		}, []string{"Tomas/A 2 8 0"}},
		{"no chat: it is gone", func(f *folder) {
			f.write("chats/Tomas/B.jsonl", `"integrity":"b"`, "other words")
			f.write(backup, `"integrity":"a"`, ten)
		}, []string{"Mira/Mira - 2026-01-01@10h00m00s gone 10 0"}},
		{"gone, two backups without a slug: one story", func(f *folder) {
			f.write("chats/Tomas/B.jsonl", `"integrity":"b"`, "other words")
			f.write(backup, ``, ten)
			f.write("backups/chat_mira_20260101-110000.jsonl", ``, ten+" a10")
		}, []string{"Mira/Mira - 2026-01-01@11h00m00s gone 11 0"}},
		{"a group's branch without a slug: not one of another parent", func(f *folder) {
			f.write("group chats/B.jsonl", `"main_chat":"T"`, "hello a1 a2 a3 b4")
			f.write("backups/chat_c_20260101-100000.jsonl", `"main_chat":"U"`, "hello a1 a2 a3 c4")
		}, []string{"?/? gone 1 0"}},
		{"likewise: not one that had a name of its own before", func(f *folder) {
			f.write("group chats/B.jsonl", `"main_chat":"T"`, "hello a1 a2 a3 b4")
			f.write("backups/chat_b_20260101-090000.jsonl", `"main_chat":"T"`, "hello a1 a2 a3 b4")
			f.write("backups/chat_c_20260101-100000.jsonl", `"main_chat":"T"`, "hello a1 a2 a3 c4")
		}, []string{"?/? gone 1 0"}},
		{"likewise, renamed since and edited: it is not gone", func(f *folder) {
			f.write("group chats/B.jsonl", `"main_chat":"T"`, "hello a1 a2 a3 b4")
			f.write("backups/chat_b_20260101-110000.jsonl", `"main_chat":"T"`, "hello a1 a2 a3 b4")
			f.write("backups/chat_c_20260101-100000.jsonl", `"main_chat":"T"`, "hello a1 a2 a3 c4")
		}, nil},
		{"a group's, renamed to a name that had backups of its own: the history tells", func(f *folder) {
			f.write("group chats/one.jsonl", `"integrity":"a"`, ten)
			f.write("group chats/two.jsonl", `"integrity":"b"`, "hello b1 b2")
			f.snapshot()
			f.write("backups/chat_two_20260101-100000.jsonl", `"integrity":"b"`, "hello b1 b2")
			f.write("backups/chat_one_20260101-110000.jsonl", ``, ten+" a10 a11")
			f.remove("group chats/one.jsonl")
			f.write("group chats/two.jsonl", `"integrity":"a"`, ten)
			f.snapshot()
			f.write("group chats/two.jsonl", ``, "hello")
		}, []string{"?/two 1 11 0", "?/two gone 2 0"}},
		{"a branch whose parent was renamed: it was never that", func(f *folder) {
			f.write("chats/Mira/R.jsonl", ``, "hello a1 a2 a3 a4 a5")
			f.write(backup, `"main_chat":"P"`, "hello a1 a2 a3 b4")
		}, []string{"Mira/Mira - 2026-01-01@10h00m00s gone 1 0"}},
		{"a branch that left its parent before another did: it is gone", func(f *folder) {
			f.write("chats/Mira/P.jsonl", ``, "hello a1 a2 a3 a4 a5")
			f.write("chats/Mira/B.jsonl", `"main_chat":"P"`, "hello a1 a2 a3 b4")
			f.write(backup, `"main_chat":"P"`, "hello a1 a2 c3")
		}, []string{"Mira/Mira - 2026-01-01@10h00m00s gone 1 0"}},
		{"likewise, and both are gone", func(f *folder) {
			f.write("chats/Mira/R.jsonl", ``, "hello a1 a2 a3 a4 a5 a6 a7 a8")
			f.write(backup, `"main_chat":"P"`, "hello a1 a2 a3 a4 a5 a6 b7")
			f.write("backups/chat_mira_20260101-110000.jsonl", `"main_chat":"P"`, "hello a1 a2 a3 a4 a5 a6 a7 c8")
		}, []string{"Mira/Mira - 2026-01-01@10h00m00s gone 1 0", "Mira/Mira - 2026-01-01@11h00m00s gone 1 0"}},
		{"a branch that went on until it was gone: one story", func(f *folder) {
			f.write("chats/Mira/R.jsonl", ``, "hello a1 a2 a3 a4 a5")
			f.write(backup, `"main_chat":"P"`, "hello a1 a2 a3 b4 b5 b6 b7 b8 b9")
			f.write("backups/chat_mira_20260101-110000.jsonl", `"main_chat":"P"`, "hello a1 a2 a3 b4 b5 b6 b7 b8 b9 b10")
		}, []string{"Mira/Mira - 2026-01-01@11h00m00s gone 7 0"}},
		{"a branch that had its parent's slug: the history tells", func(f *folder) {
			f.write("chats/Mira/A.jsonl", `"integrity":"a"`, "hello a1 a2 a3")
			f.write("chats/Mira/B.jsonl", `"integrity":"a","main_chat":"P"`, "hello a1 a2 a3 b4 b5 b6 b7 b8 b9")
			f.snapshot()
			f.write(backup, `"integrity":"a","main_chat":"P"`, "hello a1 a2 a3 b4 b5 b6 b7 b8 b9")
			f.remove("chats/Mira/A.jsonl")
			f.write("chats/Mira/B.jsonl", `"integrity":"b","main_chat":"P"`, "hello")
		}, []string{"Mira/A gone 3 0", "Mira/B 1 9 0"}},
		{"its words are in another chat", func(f *folder) {
			f.write("chats/Mira/A.jsonl", `"integrity":"a"`, "hello")
			f.write("chats/Tomas/B.jsonl", `"integrity":"b"`, ten)
			f.write(backup, `"integrity":"a"`, ten)
		}, nil},
		{"a chat of which nothing is left: no name is made up", func(f *folder) {
			f.write("chats/Mira/B.jsonl", `"integrity":"b"`, "other words")
			f.write(backup, `"integrity":"a"`, ten)
			f.empty("chats/Mira/A.jsonl")
		}, []string{"Mira/A 0 10 0"}},
		{"likewise, of few messages", func(f *folder) {
			f.write(backup, `"integrity":"a"`, "hello a1 a2")
			f.empty("chats/Mira/A.jsonl")
		}, []string{"Mira/A 0 3 0"}},
		{"likewise, with its header alone", func(f *folder) {
			f.write("chats/Mira/A.jsonl", ``, "")
			f.write(backup, `"integrity":"a"`, ten)
		}, []string{"Mira/A 0 10 0"}},
		{"another chat's header alone", func(f *folder) {
			f.write("chats/Mira/A.jsonl", `"integrity":"b"`, "")
			f.write(backup, `"integrity":"a"`, ten)
		}, []string{"Mira/Mira - 2026-01-01@10h00m00s gone 10 0"}},
		{"of a chat that was empty before, or is another character's", func(f *folder) {
			f.write("backups/chat_mira_29990101-100000.jsonl", `"integrity":"a"`, ten)
			f.empty("chats/Mira/A.jsonl")
			f.empty("chats/Tomas/A.jsonl")
		}, []string{"Mira/Mira - 2999-01-01@10h00m00s gone 10 0"}},
		{"of two of which nothing is left, either", func(f *folder) {
			f.write(backup, `"integrity":"a"`, ten)
			f.empty("chats/Mira/A.jsonl")
			f.empty("chats/Mira/B.jsonl")
		}, []string{"Mira/A 0 10 0 ambiguous"}},
		{"of two stories, one for each of two", func(f *folder) {
			f.write(backup, `"integrity":"a"`, ten)
			f.write("backups/chat_mira_20260101-110000.jsonl", `"integrity":"b"`, "hi b1 b2 b3 b4 b5 b6")
			f.empty("chats/Mira/A.jsonl")
			f.empty("chats/Mira/B.jsonl")
		}, []string{"Mira/A 0 10 0 ambiguous", "Mira/B 0 7 0 ambiguous"}},
		{"of two stories, one is of a chat that is gone", func(f *folder) {
			f.write(backup, `"integrity":"a"`, ten)
			f.write("backups/chat_mira_20260101-110000.jsonl", `"integrity":"b"`, "hi b1 b2 b3 b4 b5 b6")
			f.empty("chats/Mira/A.jsonl")
		}, []string{"Mira/A 0 10 0 ambiguous", "Mira/Mira - 2026-01-01@11h00m00s gone 7 0 ambiguous"}},
		{"a group's chat", func(f *folder) {
			f.write("backups/chat_one_20260101-100000.jsonl", `"integrity":"a"`, ten)
			f.empty("group chats/one.jsonl")
			f.empty("group chats/two.jsonl")
		}, []string{"?/one 0 10 0"}},
		{"several backups: the one that has most", func(f *folder) {
			f.write("chats/Mira/A.jsonl", `"integrity":"a"`, "hello")
			f.write(backup, `"integrity":"a"`, ten)
			f.write("backups/chat_mira_20260101-110000.jsonl", `"integrity":"a"`, "hello a1 a2")
			f.write("backups/chat_mira_20260101-090000.jsonl", `"integrity":"a"`, "hello")
		}, []string{"Mira/A 1 9 0"}},
	} {
		f := newFolder(t, "Mira", "Tomas")
		tt.prepare(f)
		if diff := cmp.Diff(tt.want, f.lost(keep.LostOptions{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// A version is told whether the history has it, a backup, a folder with copies or all of
// them, and once.
func TestLostSources(t *testing.T) {
	for from := 1; from < 8; from++ {
		f := newFolder(t, "Mira")
		var opt keep.LostOptions
		f.write("chats/Mira/A.jsonl", `"integrity":"a"`, ten)
		if from&1 != 0 {
			f.snapshot()
		}
		if from&2 != 0 {
			f.write(backup, `"integrity":"a"`, ten)
		}
		if from&4 != 0 {
			copies := newFolder(t, "Mira")
			copies.write("chats/Mira/A.jsonl", `"integrity":"a"`, ten)
			opt.From = []string{filepath.Join(copies.root, "chats", "Mira")}
		}
		f.write("chats/Mira/A.jsonl", ``, "hello")
		want := []string{"Mira/A 1 9 0"}
		if diff := cmp.Diff(want, f.lost(opt)); diff != "" {
			t.Errorf("from %b (-want +got):\n%s", from, diff)
		}
	}
}

// What is older than asked for does not count.
func TestLostLimits(t *testing.T) {
	f := newFolder(t, "Mira")
	f.write("chats/Mira/A.jsonl", `"integrity":"a"`, "hello")
	f.write(backup, `"integrity":"a"`, ten)
	at := time.Date(2026, 1, 1, 10, 0, 0, 0, time.Local)
	for _, tt := range []struct {
		opt  keep.LostOptions
		want int
	}{
		{keep.LostOptions{Since: at}, 1},
		{keep.LostOptions{Since: at.Add(time.Second)}, 0},
	} {
		if got := f.lost(tt.opt); len(got) != tt.want {
			t.Errorf("since %v: %v", tt.opt.Since, got)
		}
	}
}

// A damaged version in the history hides neither its chat's other versions nor other chats.
func TestLostDamagedVersion(t *testing.T) {
	f := newFolder(t, "Mira")
	f.write("chats/Mira/A.jsonl", `"integrity":"a"`, ten)
	f.write("chats/Mira/B.jsonl", `"integrity":"b"`, "hello b1 b2 b3 b4 b5")
	f.snapshot()
	f.write("chats/Mira/A.jsonl", `"integrity":"a"`, ten+" a10")
	f.write("chats/Mira/C.jsonl", `"integrity":"c"`, "hello")
	f.snapshot()
	f.remove("chats/Mira/A.jsonl")
	f.remove("chats/Mira/B.jsonl")
	db, err := sql.Open("sqlite", keep.StoreOf(f.root, ""))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("UPDATE version SET runs = x'ffffff' WHERE messages = 11"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	res, err := keep.Lost(t.Context(), keep.LostOptions{
		List: ops.List{Paths: []string{f.root}}, Now: time.Now(),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	var got []string
	for _, c := range res.Chats {
		got = append(got, fmt.Sprint(*c.Chat, " ", c.Lost))
	}
	if diff := cmp.Diff([]string{"A 9", "B 5"}, got); diff != "" || len(res.Errs) != 1 {
		t.Errorf("(-want +got)\n%s\nerrors: %v", diff, res.Errs)
	}
}
