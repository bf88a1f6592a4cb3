package names_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/place/names"
)

const chat = "Mira - 2026-01-02@03h04m05s006ms"

var now = time.Date(2026, 3, 4, 5, 6, 7, 8_900_000, time.FixedZone("", 7200))

// takes makes a Taken that compares folded, as callers do.
func takes(taken ...string) func(string) bool {
	return func(name string) bool {
		for _, t := range taken {
			if names.Fold(t) == names.Fold(name) {
				return true
			}
		}
		return false
	}
}

func TestMake(t *testing.T) {
	const at = "2026-03-04@05h06m07s008ms"
	type request = names.Request
	tests := []struct {
		name string
		r    request
		want names.Name
	}{
		{
			"suffix given",
			request{Name: "Before the duel"},
			names.Name{File: chat + "__Before the duel", Label: "Before the duel"},
		},
		{
			"suffix given, made safe",
			request{Name: "a:b"},
			names.Name{File: chat + "__ab", Label: "ab"},
		},
		{
			"suffix checkpoint",
			request{},
			names.Name{File: chat + "__Checkpoint #1", Label: "Checkpoint #1", Generated: true},
		},
		{
			"suffix checkpoint, letter case",
			request{Taken: takes(strings.ToUpper(chat)+"__CHECKPOINT #1", chat+"__Checkpoint #2")},
			names.Name{File: chat + "__Checkpoint #3", Label: "Checkpoint #3", Generated: true},
		},
		{
			"suffix branch",
			request{Kind: names.Branch, At: 12},
			names.Name{File: chat + "__Branch #12 - " + at, Label: "Branch #12 - " + at, Generated: true},
		},
		{
			"suffix branch, a millisecond later",
			request{Kind: names.Branch, Taken: takes(chat + "__Branch #0 - " + at)},
			names.Name{
				File:  chat + "__Branch #0 - 2026-03-04@05h06m07s009ms",
				Label: "Branch #0 - 2026-03-04@05h06m07s009ms", Generated: true,
			},
		},

		{
			"sillytavern given",
			request{Style: names.SillyTavern, Name: "Point1"},
			names.Name{File: "Point1", Label: "Point1"},
		},
		// golden/solo-autoname and golden/solo-branch
		{
			"sillytavern checkpoint",
			request{Style: names.SillyTavern},
			names.Name{File: chat + " - Checkpoint #1", Label: "Checkpoint #1", Generated: true},
		},
		{
			"sillytavern branch",
			request{Style: names.SillyTavern, Kind: names.Branch, Taken: takes(chat + " - Branch #1")},
			names.Name{File: chat + " - Branch #2", Label: "Branch #2", Generated: true},
		},
		{
			"sillytavern checkpoint of one",
			request{Style: names.SillyTavern, Chat: "A - Checkpoint #7", Taken: takes("A - Checkpoint #7")},
			names.Name{File: "A - Checkpoint #1", Label: "Checkpoint #1", Generated: true},
		},

		{
			"classic given",
			request{Style: names.Classic, Name: "Point1"},
			names.Name{File: "Point1 - " + at, Label: "Point1"},
		},
		{
			"classic given twice",
			request{Style: names.Classic, Name: "Point1", Taken: takes("Point1 - " + at)},
			names.Name{File: "Point1 - 2026-03-04@05h06m07s009ms", Label: "Point1"},
		},
		{
			"classic checkpoint",
			request{Style: names.Classic, Chats: 4},
			names.Name{File: "Checkpoint #4 - " + at, Label: "Checkpoint #4 - " + at, Generated: true},
		},
		{
			"classic checkpoint past a bare one",
			request{Style: names.Classic, Chats: 4, Taken: takes("Checkpoint #4")},
			names.Name{File: "Checkpoint #5 - " + at, Label: "Checkpoint #5 - " + at, Generated: true},
		},
		{
			"classic branch",
			request{Style: names.Classic, Kind: names.Branch, At: 3},
			names.Name{File: "Branch #3 - " + at, Label: "Branch #3 - " + at, Generated: true},
		},
		{
			"classic branch given",
			request{Style: names.Classic, Kind: names.Branch, Name: "B"},
			names.Name{File: "B - " + at, Label: "B"},
		},

		{
			"version given",
			request{Style: names.Version, Name: "final"},
			names.Name{File: "final", Label: "final"},
		},
		{
			"version",
			request{Style: names.Version, Taken: takes(chat + "-v2")},
			names.Name{File: chat + "-v3", Label: "v3", Generated: true},
		},
		{
			"version branch",
			request{Style: names.Version, Kind: names.Branch},
			names.Name{File: chat + "-v2", Label: "v2", Generated: true},
		},

		{
			"a chat's name from elsewhere",
			request{Chat: "a/../b:c", Name: "x"},
			names.Name{File: "a..bc__x", Label: "x"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.r.Chat == "" {
				tt.r.Chat = chat
			}
			tt.r.Now = now
			got, err := names.Make(tt.r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMakeRefuses(t *testing.T) {
	always := func(string) bool { return true }
	tests := []struct {
		name string
		r    names.Request
		want error
	}{
		{"nothing left", names.Request{Name: "???"}, names.ErrEmptyName},
		{"device", names.Request{Name: "con", Style: names.SillyTavern}, names.ErrReserved},
		{"device behind the chat's name", names.Request{Name: "con"}, names.ErrReserved},
		{"device by the chat's name", names.Request{Chat: "con.x", Name: "y"}, names.ErrReserved},
		{"taken", names.Request{Name: "x", Taken: always}, names.ErrTaken},
		{"no number free", names.Request{Taken: always}, names.ErrNoFree},
		{"no time free", names.Request{Kind: names.Branch, Taken: always}, names.ErrNoFree},
		{"no time free for a given one", names.Request{Name: "x", Style: names.Classic, Taken: always}, names.ErrNoFree},
		{"no room", names.Request{Kind: names.Branch, Max: 20}, names.ErrNoRoom},
		{"no room for a given one", names.Request{Name: "日", Max: 2}, names.ErrEmptyName},
		{"no room beside the time", names.Request{Name: "日", Style: names.Classic, Max: 29}, names.ErrNoRoom},
		{"spaces", names.Request{Name: "  \u3000"}, names.ErrBlankName},
		{"spaces once it is safe", names.Request{Name: "? ?", Style: names.SillyTavern}, names.ErrBlankName},
	}
	for _, tt := range tests {
		if got, err := names.Make(tt.r); !errors.Is(err, tt.want) {
			t.Errorf("%s: %+v, %v; want error %v", tt.name, got, err, tt.want)
		}
	}
	got, _ := names.Make(names.Request{Chat: "A", Name: "x", Taken: always})
	if diff := cmp.Diff(names.Name{File: "A__x", Label: "x"}, got); diff != "" {
		t.Errorf("the name that is taken (-want +got):\n%s", diff)
	}
}

func TestMakeCountsAThousand(t *testing.T) {
	tried := 0
	_, err := names.Make(names.Request{Chat: "A", Taken: func(string) bool { tried++; return true }})
	if tried != 1000 || !errors.Is(err, names.ErrNoFree) {
		t.Errorf("%d tries, error %v", tried, err)
	}
	got, err := names.Make(names.Request{Chat: "A", Taken: func(n string) bool { return n != "A__Checkpoint #1000" }})
	if err != nil || got.File != "A__Checkpoint #1000" {
		t.Errorf("the last try gives %+v, %v", got, err)
	}
}

func TestMakeTooLong(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	const at = "2026-03-04@05h06m07s008ms"
	tests := []struct {
		name, want string
		r          names.Request
	}{
		{"a name that fills the file's is cut by itself", x(238), names.Request{Chat: "Mira", Name: x(300)}},
		{"on a rune", strings.Repeat("あ", 79), names.Request{Chat: "Mira", Name: strings.Repeat("あ", 100)}},
		{"in the chat's style too", x(238), names.Request{Style: names.SillyTavern, Chat: "Mira", Name: x(300)}},
		{"a name that just fits stays", "M__" + x(235), names.Request{Chat: "Mira", Name: x(235)}},
		{"so does one with room for a little", "M…a__" + x(231), names.Request{Chat: "Mirabella", Name: x(231)}},
		{"the middle of the chat's gives way", x(116) + "…y" + x(114) + "__ab", names.Request{Chat: x(134) + "y" + x(114), Name: "ab"}},
		{"on runes", strings.Repeat("あ", 38) + "…" + strings.Repeat("あ", 38) + "__Point", names.Request{Chat: strings.Repeat("あ", 90), Name: "Point"}},
		{"the chat gives way to a number", x(110) + "…" + x(110) + "__Checkpoint #1", names.Request{Chat: x(249)}},
		{"in sillytavern's style", x(110) + "…" + x(109) + " - Checkpoint #1", names.Request{Style: names.SillyTavern, Chat: x(249)}},
		{"in version style", x(116) + "…" + x(116) + "-v2", names.Request{Style: names.Version, Chat: x(249)}},
		{"a time stays", x(210) + " - " + at, names.Request{Style: names.Classic, Name: x(300)}},
		{"for Luker", x(128), names.Request{Chat: "Mira", Name: x(300), Max: names.MaxLuker}},
		{"a time for Luker", x(43) + "…" + x(43) + "__Branch #0 - " + at, names.Request{Kind: names.Branch, Chat: x(249), Max: names.MaxLuker}},
	}
	for _, tt := range tests {
		tt.r.Now = now
		got, err := names.Make(tt.r)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got.File); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		bearsChat := tt.r.Chat != "" && (tt.r.Name == "" || tt.r.Style == "")
		if want := bearsChat && !strings.HasPrefix(got.File, tt.r.Chat); got.Shortened != want {
			t.Errorf("%s: Shortened is %v for %q", tt.name, got.Shortened, got.File)
		}
	}
}

// TestMakeAgainAndAgain holds that branches of branches of branches keep within
// what SillyTavern can save, and tell by their names what they are.
func TestMakeAgainAndAgain(t *testing.T) {
	chat := chat
	for i := range 20 {
		got, err := names.Make(names.Request{Kind: names.Branch, Chat: chat, At: i, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(got.File + names.Extension); n > names.MaxFile || !strings.HasPrefix(got.File, "Mira - 2026") || !strings.HasSuffix(got.File, got.Label) {
			t.Errorf("%d bytes: %q", n, got.File)
		}
		chat = got.File
	}
}

func TestClean(t *testing.T) {
	tests := []struct {
		chat             string
		checkpoint, brch string
	}{
		{"A", "A", "A"},
		{"A - Checkpoint #7", "A", "A - Checkpoint #7"},
		{"A - Branch #7", "A - Branch #7", "A"},
		{"A - Checkpoint #1 - Checkpoint #2", "A - Checkpoint #1", "A - Checkpoint #1 - Checkpoint #2"},
		{"Checkpoint #7 - A", "A", "A"},
		{"Branch #12 - A", "A", "A"},
		{"Branch #1 - Checkpoint #2 - A", "Checkpoint #2 - A", "Checkpoint #2 - A"},
		{"Checkpoint #7 - A - Checkpoint #1", "A", "A - Checkpoint #1"},
		{"A - Checkpoint #", "A - Checkpoint #", "A - Checkpoint #"},
		{"A - Checkpoint #x7", "A - Checkpoint #x7", "A - Checkpoint #x7"},
		{"A Checkpoint #7", "A Checkpoint #7", "A Checkpoint #7"},
		{"Checkpoint # - A", "Checkpoint # - A", "Checkpoint # - A"},
		{"Checkpoint #7", "Checkpoint #7", "Checkpoint #7"},
		{"a - checkpoint #7", "a - checkpoint #7", "a - checkpoint #7"},
		{" - Checkpoint #7", "", " - Checkpoint #7"},
	}
	for _, tt := range tests {
		got := [2]string{names.Clean(tt.chat, names.Checkpoint), names.Clean(tt.chat, names.Branch)}
		if diff := cmp.Diff([2]string{tt.checkpoint, tt.brch}, got); diff != "" {
			t.Errorf("Clean(%q) (-want +got):\n%s", tt.chat, diff)
		}
	}
}

func TestHumanized(t *testing.T) {
	if got := names.Humanized(now); got != "2026-03-04@05h06m07s008ms" {
		t.Errorf("Humanized = %q", got)
	}
}

func TestFold(t *testing.T) {
	same := [][]string{
		{"Mira", "MIRA", "mira"},
		{"Übung", "übung", "ÜBUNG"},
		{"ΣΊΣΥΦΟΣ", "σίσυφος"},
		{"\u212A", "k", "K"},
	}
	for _, group := range same {
		for _, s := range group {
			if names.Fold(s) != names.Fold(group[0]) {
				t.Errorf("Fold(%q) = %q, Fold(%q) = %q", s, names.Fold(s), group[0], names.Fold(group[0]))
			}
		}
	}
	for _, pair := range [][2]string{{"a", "b"}, {"\xff", "\xfe"}, {"\xff", "\uFFFD"}, {"é", "e"}} {
		if names.Fold(pair[0]) == names.Fold(pair[1]) {
			t.Errorf("%q and %q fold to one", pair[0], pair[1])
		}
	}
}

func FuzzMake(f *testing.F) {
	f.Add("Mira", "Point", uint8(0), uint8(0), 12, 0)
	f.Add("con.x", "", uint8(1), uint8(1), 0, 128)
	f.Add(strings.Repeat("あ", 90), strings.Repeat("é", 200), uint8(0), uint8(2), 3, 70)
	f.Fuzz(func(t *testing.T, chat, name string, kind, style uint8, at, limit int) {
		r := names.Request{
			Kind: names.Kind(kind % 2), Style: names.Styles()[style%4], Chat: chat, Name: name, At: at, Now: now, Max: limit,
		}
		got, err := names.Make(r)
		if err != nil {
			return
		}
		if again, err := names.Sanitize(got.File); err != nil || again != got.File {
			t.Fatalf("Make gives %q, which is not safe: %q, %v", got.File, again, err)
		}
		if most := min(limit-1, names.MaxBytes-1) + 1; len(got.File) > names.MaxBytes || limit > 0 && len(got.File) > most {
			t.Fatalf("%d bytes, at most %d allowed", len(got.File), most)
		}
		if got.Label == "" || !utf8.ValidString(got.Label) {
			t.Fatalf("label %q", got.Label)
		}
		if got.Generated && !strings.HasSuffix(got.File, got.Label) {
			t.Fatalf("what was generated is cut: %q lacks %q", got.File, got.Label)
		}
	})
}

func ExampleMake() {
	name, err := names.Make(names.Request{
		Kind:  names.Checkpoint,
		Chat:  "Mira - 2026-01-02@03h04m05s006ms",
		Taken: func(name string) bool { return strings.HasSuffix(name, "#1") },
	})
	fmt.Println(name.File, err)
	fmt.Println(name.Label)
	// Output:
	// Mira - 2026-01-02@03h04m05s006ms__Checkpoint #2 <nil>
	// Checkpoint #2
}
