package address

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/folder/library"
	"stchat/internal/text/visible"
)

// past makes a finder of a user folder in which chats were that are gone.
func past(t *testing.T) (f *Finder, dir string) {
	t.Helper()
	dir = world(t, "chats/Mira/Harbour.jsonl=", "chats/Mira/lantern.jsonl=", "chats/Ines/Only.jsonl=",
		`characters/Ines.json={"name":"Ines of the rocks"}`, "group chats/a.jsonl=", "group chats/others.jsonl=", "group chats/shared.jsonl=",
		`groups/1.json={"id":"1","name":"Trip","chats":["a","dawn"]}`)
	was := map[string][]string{
		"chats/Mira":  {"Harbour", "Harbour lights", "Lantern", "Sea", "lake one", "lake two"},
		"chats/Ines":  {"Only", "dusk"},
		"chats/Trip":  {"a", "b", "shared"},
		"chats/Nadia": {"x"},
		"loose":       {"y"},
		"group chats": {"a", "dawn", "others"},
	}
	return &Finder{Lib: new(library.Library), Data: dir, Past: func(folder string) []string { return was[folder] }}, dir
}

// meant is what an argument names.
type meant struct {
	path        string // relative to the user folder; "": nothing
	gone, guess bool
}

// checkEver checks what arguments name.
func checkEver(t *testing.T, cases map[string]meant) {
	t.Helper()
	for arg, want := range cases {
		f, dir := past(t)
		found, err := f.Find(arg)
		got := meant{gone: found.Gone, guess: found.Guess}
		if len(found.Paths) > 0 {
			got.path = filepath.ToSlash(mustRel(t, dir, found.Paths[0]))
		}
		if _, none := errors.AsType[*NoneError](err); err != nil && !none || got != want {
			t.Errorf("%q is %v, %v; not %v", arg, got, err, want)
		}
	}
}

// What is written exactly comes before what it is a part of, and what is there before what is gone.
func TestFindEver(t *testing.T) {
	checkEver(t, map[string]meant{
		"Mira/Harbour":        {path: "chats/Mira/Harbour.jsonl"},
		"Mira/Harbour lights": {path: "chats/Mira/Harbour lights.jsonl", gone: true},
		"Mira/lant":           {path: "chats/Mira/lantern.jsonl", guess: true},
		"Mira/har":            {path: "chats/Mira/Harbour.jsonl", guess: true},
		"Mira/lights":         {path: "chats/Mira/Harbour lights.jsonl", gone: true, guess: true},
		"Mira/sea":            {path: "chats/Mira/Sea.jsonl", gone: true},
		"Mira/se":             {path: "chats/Mira/Sea.jsonl", gone: true, guess: true},

		// a file's name is a whole one
		"Mira/Sea.jsonl": {path: "chats/Mira/Sea.jsonl", gone: true},
		"Mira/sea.jsonl": {path: "chats/Mira/Sea.jsonl", gone: true},
		"Mira/se.jsonl":  {},

		// an owner by the card, by a part, as a group, and one who is gone
		"Ines of the rocks/dusk": {path: "chats/Ines/dusk.jsonl", gone: true},
		"rocks/dusk":             {},
		"Ine/dusk":               {path: "chats/Ines/dusk.jsonl", gone: true},
		"Trip/a":                 {path: "group chats/a.jsonl"},
		"Trip/b":                 {path: "chats/Trip/b.jsonl", gone: true},
		"Trip/dawn":              {path: "group chats/dawn.jsonl", gone: true},
		"Trip/others":            {path: "group chats/others.jsonl"},
		"Trip/shared":            {path: "chats/Trip/shared.jsonl", gone: true}, // what lies there is another group's
		"Nadia/x":                {path: "chats/Nadia/x.jsonl", gone: true},
		"loose/y":                {path: "loose/y.jsonl", gone: true},
		"Nadia/z":                {},
		"Mira/nothing":           {},
	})
}

// So is what differs in letter case, where the disk can have both.
func TestFindEverCase(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("the disk takes both names for one")
	}
	checkEver(t, map[string]meant{
		"mira/HARBOUR": {path: "chats/Mira/Harbour.jsonl"},
		"Mira/lantern": {path: "chats/Mira/lantern.jsonl"},
		"Mira/Lantern": {path: "chats/Mira/Lantern.jsonl", gone: true},
		"Mira/LANTERN": {path: "chats/Mira/lantern.jsonl"},
	})
}

// An error names the chats that are gone as it names those that are there.
func TestFindEverNot(t *testing.T) {
	f, _ := past(t)
	want := fmt.Sprintf("Mira/lake fits 2 chats: %s, %s", visible.Quote("Mira/lake one"), visible.Quote("Mira/lake two"))
	found, err := f.Find("Mira/lake")
	if !errors.Is(err, ErrSeveral) || err.Error() != want || !found.Gone {
		t.Errorf("several: %v", err)
	}

	_, err = f.Find("Mira/Saa")
	none, ok := errors.AsType[*NoneError](err)
	if !ok || !slices.Contains(none.Known, "Mira/Sea") || !slices.Contains(none.Known, "Mira/Harbour") {
		t.Errorf("none: %v", err)
	}
}

// Without a history only what is there has a name.
func TestFindNow(t *testing.T) {
	f, _ := past(t)
	f.Past = nil
	_, err := f.Find("Mira/Sea")
	if _, none := errors.AsType[*NoneError](err); !none {
		t.Error(err)
	}
}

func TestChats(t *testing.T) {
	for owner, want := range map[string][]string{
		"Mira":              {"Harbour", "lantern", "-Harbour lights", "-Lantern", "-Sea", "-lake one", "-lake two"},
		"Ines of the rocks": {"Only", "-dusk"},
		"Nadia":             {"-x"},
		"Nobody":            nil,
	} {
		f, dir := past(t)
		var got []string
		for _, chat := range f.Chats(owner) {
			shown := chat.Name
			if chat.Gone {
				shown = "-" + shown
			}
			got = append(got, shown)
			if !filepath.IsLocal(mustRel(t, dir, chat.Path)) || filepath.Base(chat.Path) != chat.Name+".jsonl" {
				t.Errorf("%s is at %s", chat.Name, chat.Path)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", owner, diff)
		}
	}
}

func TestPlaces(t *testing.T) {
	for arg, want := range map[string][]string{
		"Mira/x":              {"chats/Mira/x.jsonl", "Mira/x.jsonl"},
		"Ines of the rocks/x": {"chats/Ines of the rocks/x.jsonl", "Ines of the rocks/x.jsonl", "chats/Ines/x.jsonl"},
		"Trip/x.jsonl":        {"chats/Trip/x.jsonl", "Trip/x.jsonl", "group chats/x.jsonl"},
		"Nobody/x":            {"chats/Nobody/x.jsonl", "Nobody/x.jsonl"},
		"Mira":                nil,
		"a/b/c":               nil,
	} {
		f, dir := past(t)
		var got []string
		for _, path := range f.Places(arg) {
			got = append(got, filepath.ToSlash(mustRel(t, dir, path)))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", arg, diff)
		}
	}
}

func mustRel(t *testing.T, dir, path string) string {
	t.Helper()
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		t.Fatal(err)
	}
	return rel
}
