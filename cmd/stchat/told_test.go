package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// toldCase is a call and what a person reads of it.
type toldCase struct {
	before []string // calls that come first
	call   string
	code   int      // with which it exits
	want   []string // what is shown, in this order
	never  []string // what is not
}

// inLuker goes into the folder of Luker of the demo.
const inLuker = "cd luker"

// TestTold: what a person reads of single calls, at 80 columns, each in a demo of its own. The arguments of a
// call are between bars.
func TestTold(t *testing.T) {
	inUTC(t)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}

	for _, tt := range toldCases() {
		demoToWrite(t, here)
		withWren(t)
		for _, call := range tt.before {
			if call == inLuker {
				t.Chdir("luker")
				continue
			}
			_, errs, code := terminal(t, 0, strings.Split(call, "|")...)
			if code == exitTrouble {
				t.Fatalf("%s: %s", call, errs)
			}
		}

		args := append(strings.Split(tt.call, "|"), "--color", "never")
		shown, code := display{width: 80, locale: "C.UTF-8", now: inApril()}.show(args...)
		if code != tt.code {
			t.Errorf("%s: exit %d, not %d:\n%s", tt.call, code, tt.code, shown)
		}
		rest := shown
		for _, want := range tt.want {
			_, after, found := strings.Cut(rest, want)
			if !found {
				t.Errorf("%s: no %q in its place in\n%s", tt.call, want, shown)
				break
			}
			rest = after
		}
		for _, never := range tt.never {
			if strings.Contains(shown, never) {
				t.Errorf("%s: %q in\n%s", tt.call, never, shown)
			}
		}
		t.Chdir(here)
	}
}

// withWren puts the character of the demo's folder of Luker into the demo itself.
func withWren(t *testing.T) {
	t.Helper()
	for _, path := range []string{"characters/Wren Tallow.png", "chats/Wren Tallow/Wren Tallow - 2026-03-12@21h03m55s420ms.jsonl"} {
		data := read(t, filepath.Join("luker", filepath.FromSlash(path)))
		writeFile(t, path, string(data))
	}
}

// toldCases returns the cases of [TestTold].
func toldCases() []toldCase {
	var copies []string
	for range 11 {
		copies = append(copies, "copy|Maren Holm/Before the storm")
	}
	return []toldCase{
		{
			before: copies,
			call:   "slim|Maren Holm/*|--keep-last|0",
			want: []string{
				"made 15 chats smaller: ", "\n  dropped        swipes of ", "\n  free           ", "\n  more           --drop reasoning would free ",
				"\n  2026-03-01 18:42 ", " kB → ", "\n  and 5 more chats\n",
			},
			never: []string{"made Before the storm smaller"},
		},
		{
			before: []string{"slim|Maren Holm/Before the storm|--keep-last|0"},
			call:   "slim|Maren Holm/*|--keep-last|0|--dry-run",
			want:   []string{"would make 3 chats (of 4) smaller: "},
			never:  []string{"is unchanged", "\n  free "},
		},
		{
			before: []string{"slim|Maren Holm/*|--keep-last|0"},
			call:   "slim|Maren Holm/*|--keep-last|0",
			want:   []string{"nothing to drop in 4 chats\n"},
			never:  []string{"is unchanged"},
		},
		{
			before: []string{"add|Maren Holm/@|--role|character|--text|Hello"},
			call:   "copy|Wren Tallow/2026|Supper at the light 🕯️|-n|wren",
			want:   []string{"speakers       not in the group: Wren Tallow (3 messages, now with the card's"},
			never:  []string{"left as they are"},
		},
		{
			before: []string{inLuker},
			call:   "state|set|Wren Tallow/@|quest_book|--set|a=1|--dry-run",
			want:   []string{"would change quest_book of 2026-03-12 21:03\n", "+ /a\n", "+ 1\n"},
		},
		{
			before: []string{inLuker},
			call:   "state|set|Wren Tallow/@|tide_clock|--set|phase=3|--dry-run",
			want:   []string{"would change tide_clock of 2026-03-12 21:03 at message 4\n", "/phase\n", "+ 3\n"},
		},
		{
			call:  "list|--where|lorebook=Zilch",
			want:  []string{"no chat meets --where\n"},
			never: []string{"no chat here"},
		},
		{
			call: "list|--where|lorebook=Zilch|--since|today|--until|today",
			want: []string{"no chat meets --where, --since, --until\n"},
		},
		{
			call: "meta|set|Maren Holm/*|note=y|--where|lorebook=Zilch",
			code: exitNo,
			want: []string{"no chat of 4 meets --where\n"},
		},
		{
			call: "export|Maren/@|-o|a.pdf",
			code: exitTrouble,
			want: []string{"\n  `stchat export Maren/@ --color never -o a.md && pandoc a.md -o a.pdf`\n"},
		},
		{
			call: "rename|Maren Holm/Before the storm|The light|--dry-run",
			want: []string{"\n  `stchat rename 'worlds/z-AutoLB-Gull Rock__CP_Before the storm.json' 'z-AutoLB-Gull Rock__CP_The light'`\n"},
		},
		{
			call:  "rename|Maren Holm/Before the storm|The light",
			want:  []string{"stchat: close this chat in SillyTavern now and reload the others that changed,\n  or their next save undoes this\n"},
			never: []string{"makes the old file anew", "the other chats"},
		},
		{
			call: "rm|Maren Holm/Before the storm|Maren Holm/Maren Holm - 2026-03-01@18h42m07s311ms - Branch #2|-y",
			want: []string{"brings them back, until", "stchat: close these chats in SillyTavern now and reload the others that changed,"},
		},
		{
			before: []string{inLuker},
			call:   "rm|Wren Tallow/@",
			want:   []string{"brings it back, until", "stchat: close this chat in Luker now, or its next save makes the old file anew\n"},
			never:  []string{"SillyTavern"},
		},
		{
			call: "export|Maren/@|-o|../a.jsonl|--format|openai",
			want: []string{"wrote 2026-03-01 18:42: 1 line\n", "left out ", "\n../a.jsonl\n"},
		},
		{
			call: "export|Maren Holm/*|-o|../data/|--format|rows|--dry-run",
			want: []string{"would write 4 chats: 164 lines\n../data/\n"},
		},
		{
			before: []string{"edit|Maren/@|3|First.", "undo", "edit|Maren/@|3|Second."},
			call:   "redo",
			code:   exitTrouble,
			want:   []string{"cannot be redone: changed since:", "does the rest again"},
			never:  []string{"undone"},
		},
		{
			call: "new|maren holm|--open",
			want: []string{"made \"2026-04-01 12:00\", a new chat of Maren Holm\n", "open           it is the chat that Maren Holm opens with\n"},
		},
		{
			call: "branch|Maren Holm/Before the storm|5|test|--open",
			want: []string{"open           it is the chat that Maren Holm opens with\n", "stchat: reload SillyTavern now, or its next save undoes this\n"},
		},
		{
			call: "checkpoint|Supper at the light 🕯️/@|5|test|--open|--dry-run",
			want: []string{"open           it would be the chat that the group opens with\n"},
		},
		{
			call: "copy|Maren Holm/Before the storm|test|--open",
			want: []string{"open           it is the chat that Maren Holm opens with\n", "stchat: reload SillyTavern now, or its next save undoes this\n"},
		},
		{
			call: "import|talk.txt|Maren Holm|--user|Ines|--open",
			want: []string{"open           it is the chat that Maren Holm opens with\n", "stchat: reload SillyTavern now, or its next save undoes this\n"},
		},
		{
			before: []string{"snapshot"},
			call:   "restore|Maren Holm/Before the storm|--rev|-1|-n|again|--open",
			want:   []string{"open           it is the chat that Maren Holm opens with\n", "stchat: reload SillyTavern now, or its next save undoes this\n"},
		},
		{
			call: "show|Maren/Branch #",
			code: exitTrouble,
			want: []string{"stchat: 'Maren/Branch #' fits 2 chats:\n"},
		},
		{
			call: "delete|Maren/Before the storm|0",
			code: exitTrouble,
			want: []string{"stchat: Maren: delete needs the whole name: \"Maren Holm\"\n"},
		},
		{
			before: []string{inLuker},
			call:   "state|set|Wren Tallow/@|recap:|--delete",
			code:   exitTrouble,
			want:   []string{"Auto-Recap's data is in the chat; delete it in the extension\n"},
		},
		{
			before: []string{inLuker},
			call:   "state|get|Wren Tallow/@|nope",
			code:   exitNo,
			want:   []string{"stchat: nothing is kept under \"nope\"\n"},
			never:  []string{"null"},
		},
		{
			call: "meta|get|Maren/@|nope",
			code: exitNo,
			want: []string{": no \"nope\"\n  in the metadata\n"},
		},
		{
			call: "meta|get|Maren Holm/*|nope|void",
			want: []string{"stchat: no \"nope\" or \"void\" in the metadata of these chats\n"},
		},
		{
			before: []string{inLuker, "state|set|Wren Tallow/@|newns|--at|1|--set|a=1"},
			call:   "branch|Wren Tallow/@|3|test",
			want:   []string{"Luker          4 of 5 commits kept; 2 files cut, "},
			never:  []string{"floor"},
		},
		{
			before: []string{inLuker, "branch|Wren Tallow/@|3|test"},
			call:   "hide|Wren Tallow/*|0",
			want:   []string{"stchat: close these chats in Luker first: their open tabs would write over this\n"},
		},
		{
			before: []string{inLuker},
			call:   "delete|Wren Tallow/@|4",
			want:   []string{"Luker          1 commit removed\n"},
			never:  []string{"dropped"},
		},
	}
}
