package backups_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/backups"
	"stchat/internal/sillytavern/group"
)

func TestKeys(t *testing.T) {
	tests := []struct {
		name string
		want []string
	}{
		{"Mira", []string{"mira"}},
		{"Mira Holm", []string{"mira_holm"}},
		{"A.B", []string{"a_b"}},
		{"O'Neil 😀 v1.0", []string{"o_neil____v1_0_6e1c8ce1", "o_neil____v1_0"}}, // SillyTavern 1.19 made this one
		{"dots...", []string{"dots"}},
		{"a:b", []string{"ab"}},
		{"con", []string{""}},
		{"...", []string{""}},
		{"灯台", []string{"___f2df7bb7", "__"}},
		{"2026-01-02 @03h04m05s", []string{"2026_01_02__03h04m05s"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, backups.Keys(tt.name)); diff != "" {
			t.Errorf("Keys(%q) (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestParse(t *testing.T) {
	zone := time.FixedZone("here", 2*60*60)
	at := time.Date(2026, 11, 20, 21, 4, 11, 0, zone)
	type parsed struct {
		Key   string
		At    time.Time
		Dated bool
	}
	tests := []struct {
		file string
		want parsed
	}{
		{"chat_mira_20261120-210411.jsonl", parsed{"mira", at, true}},
		{"chat_mira_20261120-210411.JSONL", parsed{"mira", at, true}},
		{"chat_mira_20250101-000000_20261120-210411.jsonl", parsed{"mira_20250101-000000", at, true}},
		{"chat__20261120-210411.jsonl", parsed{"", at, true}},
		{"chat_mira_20261320-210411.jsonl", parsed{Key: "mira"}}, // month 13
		{"chat_mira_20260230-210411.jsonl", parsed{Key: "mira"}},
		{"chat_mira_20261120-250000.jsonl", parsed{Key: "mira"}},
		{"chat_mira_20261120-210460.jsonl", parsed{Key: "mira"}},
		{"chat_mira_20261120-21041.jsonl", parsed{}},
		{"chat_mira_2026112 -210411.jsonl", parsed{}},
		{"chat_mira_20261120_210411.jsonl", parsed{}},
		{"chat_mira_-2026112-210411.jsonl", parsed{}},
		{"chat_20261120-210411.jsonl", parsed{}},
		{"chat_note.jsonl", parsed{}},
		{"chat_.jsonl", parsed{}},
		{"chat_", parsed{}},
		{"", parsed{}},
		{"chat_mira_20261120-210411.txt", parsed{}},
		{"settings_me_20261120-210411.json", parsed{}},
	}
	for _, tt := range tests {
		var got parsed
		got.Key, got.At, got.Dated = backups.Parse(tt.file, zone)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("Parse(%q) (-want +got):\n%s", tt.file, diff)
		}
	}
}

// FuzzParse holds that what Parse understands is what SillyTavern would write again,
// and that nothing in a name makes it fail.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"chat_mira_20261120-210411.jsonl", "chat__00010101-000000.jsonl", "chat_\xff_20261320-999999.jsonl", "chat_../x_20261120-210411.jsonl", "chat_a_2026１１20-210411.jsonl"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, file string) {
		key, at, dated := backups.Parse(file, time.UTC)
		if !dated {
			return
		}
		if want := "chat_" + key + "_" + at.Format("20060102-150405"); want != file[:len(file)-len(".jsonl")] {
			t.Errorf("Parse(%q) = %q, %v", file, key, at)
		}
	})
}

// folder makes a user folder; names that end in a slash are folders.
func folder(t *testing.T, files ...string) userdir.Dir {
	t.Helper()
	dir := userdir.Dir{Root: t.TempDir()}
	for _, name := range files {
		path := filepath.Join(dir.Root, filepath.FromSlash(name))
		parent := filepath.Dir(path)
		if strings.HasSuffix(name, "/") {
			parent = path
		}
		if err := os.MkdirAll(parent, 0o777); err != nil {
			t.Fatal(err)
		}
		if parent != path {
			if err := os.WriteFile(path, []byte(`{"id":"1","name":"Crew","chats":["G 1"]}`), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

func TestRead(t *testing.T) {
	dir := folder(t, "backups/chat_mira_20261120-210411.jsonl", "backups/chat_mira_20261120-210401.jsonl",
		"backups/chat_mira_20261320-210411.jsonl", "backups/chat_mira_20261120-210421.jsonl/", "backups/chat_mira_note.txt",
		"backups/settings_me_20261120-210411.json", "backups/_group_metadata_update/x.jsonl", "backups/chat_other.jsonl")
	month13 := filepath.Join(dir.Backups(), "chat_mira_20261320-210411.jsonl")
	made := time.Date(2026, 11, 20, 21, 4, 5, 0, time.Local)
	if err := os.Chtimes(month13, made, made); err != nil {
		t.Fatal(err)
	}
	old := time.Date(2020, 1, 1, 0, 0, 0, 0, time.Local)
	if err := os.Chtimes(filepath.Join(dir.Backups(), "chat_other.jsonl"), old, old); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("chat_mira_20261120-210431.jsonl", filepath.Join(dir.Backups(), "chat_mira_20261120-210431.jsonl")); err != nil {
		t.Log("no symbolic links here:", err)
	}
	f, err := backups.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range f.Backups {
		got = append(got, fmt.Sprintf("%s %q %s", filepath.Base(b.Path), b.Key, b.At.Format("20060102-150405")))
	}
	want := []string{
		`chat_other.jsonl "" 20200101-000000`,
		`chat_mira_20261120-210401.jsonl "mira" 20261120-210401`,
		`chat_mira_20261320-210411.jsonl "mira" 20261120-210405`,
		`chat_mira_20261120-210411.jsonl "mira" 20261120-210411`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if f, err := backups.Read(userdir.Dir{Root: t.TempDir()}); err != nil || len(f.Backups) > 0 || len(f.Quotas(nil)) > 0 {
		t.Errorf("no folder: %v, %v", f, err)
	}
	if _, err := backups.Read(folder(t, "backups")); err == nil {
		t.Error("a file in the folder's place is no error")
	}
}

func TestQuotas(t *testing.T) {
	files := []string{"backups/chat_mira_note.txt", "backups/chat_mirage_20261120-000000.jsonl"}
	for i := range 38 {
		files = append(files, fmt.Sprintf("backups/chat_mira_20261120-2104%02d.jsonl", i))
	}
	for i := range 12 {
		files = append(files, fmt.Sprintf("backups/chat_mira_holm_20261120-2104%02d.jsonl", i))
	}
	f, err := backups.Read(folder(t, files...))
	if err != nil {
		t.Fatal(err)
	}
	want := []backups.Quota{
		{Key: "mira", Owners: []string{"Mira"}, Used: 51, Limit: 50, Backups: 38, Bytes: 38 * 40, Others: []backups.Share{{"mira_holm", []string{"Mira Holm", "mira-holm"}, 12}}},
		{Key: "mira_holm", Owners: []string{"Mira Holm", "mira-holm"}, Used: 12, Limit: 50, Backups: 12, Bytes: 12 * 40},
		{Key: "mirage", Used: 1, Limit: 50, Backups: 1, Bytes: 40},
	}
	owners := backups.Owners{"mira": {{Name: "Mira"}}, "mira_holm": {{Name: "Mira Holm"}, {Name: "mira-holm"}}}
	if diff := cmp.Diff(want, f.Quotas(owners)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFindOwners(t *testing.T) {
	dir := folder(t, "chats/Mira/", "chats/mira/", "chats/灯台/", "chats/loose.jsonl", "characters/Mira.png", "characters/Gone.png",
		"group chats/G 1.jsonl", "group chats/Stray.jsonl", "groups/1.json")
	groups, err := group.LoadAll(dir.Groups())
	if err != nil {
		t.Fatal(err)
	}
	mira := []backups.Owner{{Kind: userdir.Solo, Name: "Mira"}, {Kind: userdir.Solo, Name: "mira"}}
	got := backups.FindOwners(dir, groups)
	if len(got["mira"]) == 1 {
		mira = mira[:1] // a disk that ignores letter case
	}
	want := backups.Owners{
		"mira":        mira,
		"gone":        {{Kind: userdir.Solo, Name: "Gone"}},
		"___f2df7bb7": {{Kind: userdir.Solo, Name: "灯台"}},
		"__":          {{Kind: userdir.Solo, Name: "灯台"}},
		"g_1":         {{Kind: userdir.Group, Name: "G 1", Group: "Crew"}},
		"stray":       {{Kind: userdir.Group, Name: "Stray"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBelongs(t *testing.T) {
	shares := func(n ...int) func(int) int { return func(i int) int { return n[i] } }
	slugs := func(list ...string) (chats []backups.Facts) {
		for _, slug := range list {
			chats = append(chats, backups.Facts{Slug: slug})
		}
		return chats
	}
	tests := []struct {
		name   string
		of     backups.Facts
		chats  []backups.Facts
		shared func(int) int
		want   int
	}{
		{"the slug's", backups.Facts{Slug: "b"}, slugs("a", "b"), shares(9, 0), 1},
		{"a shared slug", backups.Facts{Slug: "a"}, slugs("a", "a", "b"), shares(1, 5, 9), 1},
		{"no such slug", backups.Facts{Slug: "x"}, slugs("a", "b"), shares(1, 2), 1},
		{"no slug at all", backups.Facts{}, slugs("", ""), shares(3, 3), 0},
		{"nothing in common", backups.Facts{Slug: "x"}, slugs("a"), shares(0), -1},
		{"no chat", backups.Facts{Slug: "x"}, nil, shares(), -1},
		{"a branch that inherited the slug of its parent, which is gone", backups.Facts{Slug: "a"}, []backups.Facts{{Slug: "a", Parent: "A"}}, shares(9), -1},
		{"a branch that is gone, of a parent with the slug", backups.Facts{Slug: "a", Parent: "A"}, []backups.Facts{{Slug: "a", Name: "A"}}, shares(9), -1},
		{"a branch whose parent was renamed", backups.Facts{Slug: "b", Parent: "A"}, []backups.Facts{{Slug: "b", Parent: "C"}}, shares(9), 0},
		{"a branch without a slug, of a parent that was renamed", backups.Facts{Parent: "A"}, []backups.Facts{{Name: "C"}}, shares(9), -1},
		{"a branch that its greeting was written over", backups.Facts{Slug: "b", Parent: "A"}, []backups.Facts{{Slug: "c", Name: "B", Begins: true}}, shares(1), 0},
	}
	for _, tt := range tests {
		if got := backups.Belongs(tt.of, tt.chats, tt.shared); got != tt.want {
			t.Errorf("%s: %d; want %d", tt.name, got, tt.want)
		}
	}
}

// A group's chat has its name back if that was a time.
func TestGroupChat(t *testing.T) {
	for key, want := range map[string]string{
		"2026_03_01_18h00m00s000ms": "2026-03-01@18h00m00s000ms",
		"2024_1_5_3h04m05s":         "2024-1-5@3h04m05s",
		"the_lake":                  "the_lake",
		"the_2024_1_5_3h04m05s":     "the_2024_1_5_3h04m05s",
	} {
		got := backups.GroupChat(key)
		if got != want || backups.Keys(got)[0] != key {
			t.Errorf("GroupChat(%q) = %q with the key %q, want %q", key, got, backups.Keys(got)[0], want)
		}
	}
}
