package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"stchat/internal/text/visible"
)

// Prose breaks between words, but nothing that is to be copied does.
func TestProsed(t *testing.T) {
	const text = `stchat: deleted files are kept in 'a folder with/many words'; SillyTavern's "undo 1 2 3" and 'stchat undo --prune 20261123T172556-32d84890' drops them, chats/x/a-path-that-is-much-wider-than-the-line.jsonl too`
	const want = `stchat: deleted files are kept
  in 'a folder with/many words';
  SillyTavern's "undo 1 2 3" and
  'stchat undo --prune 20261123T172556-32d84890'
  drops them,
  chats/x/a-path-that-is-much-wider-than-the-line.jsonl
  too`
	if got := prosed(text, 32, "  "); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := prosed(text, 500, "  "); strings.Count(got, "\n") < 1 {
		t.Errorf("wider than 100: %s", got)
	}
	for line := range strings.SplitSeq(prosed(strings.Repeat("灯台", 50), 31, "  "), "\n") {
		if visible.Width(line) > 31 {
			t.Errorf("too wide: %s", line)
		}
	}
	for width := 8; width < 40; width++ { // where a word is cut, no space comes in
		words := []string{strings.Repeat("灯台", width/5), "stchat:\u00a0nope.jsonl:"}
		if filepath.Separator == '/' {
			words = append(words, `a-lamp-with-a-hidden-sign_\u200f`)
		}
		for _, word := range words {
			got := prosed(word+" is not there", width, "  ")
			for line := range strings.SplitSeq(got, "\n") {
				if visible.Width(line) > width {
					t.Errorf("too wide at %d: %s", width, line)
				}
			}
			if got = strings.ReplaceAll(got, "\n  ", ""); !strings.HasPrefix(got, word) {
				t.Errorf("at %d: %q", width, got)
			}
		}
	}
	const paths = "stchat: warning: Mira - a long name.jsonl:3: left out, as chats/Mira Holm/a name with spaces - Branch #1.jsonl and b.jsonl have it"
	const whole = `stchat: warning:
  Mira - a long name.jsonl:3: left
  out, as
  chats/Mira Holm/a name with spaces - Branch #1.jsonl
  and b.jsonl have it`
	if got := prosed(paths, 36, "  "); got != whole {
		t.Errorf("got\n%s\nwant\n%s", got, whole)
	}
	if got, want := prosed("stchat: would change chats/Mira/a name.jsonl: 1 name", 32, "  "), "stchat: would change\n  chats/Mira/a name.jsonl: 1\n  name"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := prosed("stchat:\u00a0'stchat undo 1' does it again", 16, "  "); got != "stchat:\u00a0'stchat undo 1'\n  does it again" {
		t.Errorf("a command right behind the program's name: %q", got)
	}
	for _, whole := range []string{`$'a lamp \u2067 of Mira\'s, two'`, `'a lamp of Mira'\''s, three doors'`, `"a \"lamp\" of hers"`} {
		if got := prosed("it names "+whole+" as its parent", 20, "  "); !strings.Contains(got, "\n  "+whole+"\n") {
			t.Errorf("a quoted name is broken: %q", got)
		}
	}
	for _, address := range []string{`'Maren Holm/Harbour at night'`, `'O'\''Brien of the/Har b'`, `"Mira \"X\" Holm/A b c"`, `'Mira Holm/*'`, `'汐見 栞/灯台 の 夜'`, `$'Mira\u202e Holm/x y'`} {
		for _, around := range []string{"a chat [%s] is gone", "stchat:\u00a0%s: none", "the messages' %s, it's", "('stchat show %s --at 5' shows it)", "'stchat move %s Ines', or", "“%s”", "--owner X=%s;"} {
			for width := 8; width < 60; width++ {
				if got := prosed(fmt.Sprintf(around, address), width, "  "); !strings.Contains(got, address) {
					t.Errorf("at %d an address is broken: %q", width, got)
				}
			}
		}
	}
	if got := prosed("isn't it 'open", 5, ""); got != "isn't\nit\n'open" {
		t.Errorf("an open quote: %q", got)
	}
}
