package edit

import (
	"regexp"
	"testing"
)

// TestWholeWords: a word is found behind a part of another one that looks like its beginning, and where one
// alternative is the beginning of another.
func TestWholeWords(t *testing.T) {
	for _, c := range []struct{ match, text, want string }{
		{`no no`, "mono no no", "mono <no no>"},
		{`no`, "mono no, nonono no", "mono <no>, nonono <no>"},
		{`Jon|Jonathan`, "Jonathan came, Jon too, Jonas not", "<Jonathan> came, <Jon> too, Jonas not"},
		{`(?i)éa`, "ÉA éaé xéa éa", "<ÉA> éaé xéa <éa>"},
		{`Jon( Snow)?`, "Jon Snowdon, Jon Snow, Jonson", "<Jon> Snowdon, <Jon Snow>, Jonson"},
		{`é+`, "éé éx", "<éé> éx"},
		{`^no`, "no no", "<no> no"},
		{`^no`, "nono no", "nono no"},
		{`(?m)^ ?no`, "nono no\n no", "nono no\n< no>"},
		{`no$`, "mono no", "mono <no>"},
		{`\bno\b`, "no_no no", "no_no <no>"},
		{`x*`, "a - x", "a <>-<> <x>"},
	} {
		s := prepared([]Substitution{{Match: regexp.MustCompile(c.match), Words: true}})
		got := ""
		at := 0
		for _, m := range s[0].matches([]byte(c.text)) {
			got += c.text[at:m[0]] + "<" + c.text[m[0]:m[1]] + ">"
			at = m[1]
		}
		got += c.text[at:]
		if got != c.want {
			t.Errorf("%s in %q: %q, want %q", c.match, c.text, got, c.want)
		}
	}
}
