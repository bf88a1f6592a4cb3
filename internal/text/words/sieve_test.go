package words_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"stchat/internal/text/words"
)

// parsed returns a query.
func parsed(t testing.TB, text string) *words.Query {
	t.Helper()
	q, err := words.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// passes holds that what a query matches passes its sieve, however JSON spells it, and reports whether
// it does.
func passes(t testing.TB, query, text string) bool {
	t.Helper()
	q := parsed(t, query)
	raw := spelled(text)
	passed := q.Sieve().Passes(raw)
	matched := q.Match(words.Append(nil, text))
	if matched && !passed {
		t.Errorf("%q matches %q, and %s does not pass", query, text, raw)
	}
	if !matched && q.Sieve().Matches(raw) {
		t.Errorf("%q does not match %q, and is said to match %s", query, text, raw)
	}
	return passed
}

// spelled returns a text as JSON.stringify spells it; what is not UTF-8 stays.
func spelled(text string) []byte {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(rune(c)))
		case c < ' ':
			quoted, _ := json.Marshal(string(rune(c)))
			b.Write(quoted[1 : len(quoted)-1])
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return []byte(b.String())
}

func TestSieve(t *testing.T) {
	for _, c := range []struct{ query, text string }{
		{"lamp", "The LaMp."},
		{"lamp", "\nlamp"},
		{"lamp", "l'amp l’amp"},
		{"dont", "\nDon't!"},
		{"dont", "don’t"},
		{"dont", "do\u00adnt"},
		{"cafe", "Un Café"},
		{"cafe", "un cafe\u0301"},
		{"cafe", "ca\u0301fe"},
		{"etude", "\nÉtude"},
		{"fine", "ﬁne"},
		{"abc", "ＡＢＣ"},
		{"iv", "Ⅳ"},
		{"1", "①"},
		{"kelvin", "\u212aelvin"},
		{"sea", "ſea"},
		{"i", "İ"},
		{"tm", "Brand™ ™"},
		{"rocknroll", "rock'n'roll"},
		{"winter", "winter's"},
		{"a", "'a'"},
		{"lamp", "灯lamp灯"},
		{"harb*", "Harbour"},
		{"salt OR lamp", "a lamp"},
		{"灯台", "灯台"},
		{"café", "cafe"},
		{"lamp", "x\xfflamp\xff"},
		{"lamp", "la\xffmp lamp"},
		{"x1", "x¹"},
		{"aa", "a\u0300\u0301'a"},
		{"office", "oﬃce"},
	} {
		if !passes(t, c.query, c.text) {
			t.Errorf("%q does not pass for %q", c.text, c.query)
		}
	}
	for _, c := range []struct{ query, text string }{
		{"lamp", "The lantern; it's “not” — là … 'l' am'p"}, {"want", "don't can't"}, {"salt lantern", "salt"}, {"zürich", "Zug"}, {"lamp", "灯台のそば、바다, ни одной лампы"}, {"lamp", "Ärger, Öl, übel, ß"},
	} {
		if passes(t, c.query, c.text) {
			t.Errorf("%q passes for %q", c.text, c.query)
		}
	}
	if !parsed(t, "lamp").Sieve().Passes([]byte(`"\u006camp"`)) {
		t.Error("an escaped letter does not pass")
	}
}

// Most texts need not be decoded.
func TestSieveMatches(t *testing.T) {
	for _, c := range []struct {
		query, text string
		want        bool
	}{
		{"lamp", "The lamp.", true},
		{"lamp", "LAMP", true},
		{"lam*", "a lamp", true},
		{"lamp", "a lamplight, a lamp", true},
		{"salt lamp", "“salt” and lamp", false},
		{"salt lamp", "salt and lamp", true},
		{"salt OR lamp", "a lamp", true},
		{"lam", "a lamp", false},
		{"lamp", "clamp", false},
		{"lamp", "lamp’s", false},
		{"lamp -salt", "lamp", false},
		{"fog", "\fog", false},
		{"fog", "\x0cog", false},
		{"salt lamp", "lamp", false},
		{`"a lamp"`, "a lamp", false},
		{"lamp", "lamp\u0301", false},
	} {
		passes(t, c.query, c.text)
		if got := parsed(t, c.query).Sieve().Matches(spelled(c.text)); got != c.want {
			t.Errorf("%q in %q: %v", c.query, c.text, got)
		}
	}
}

// Every character that counts as a letter of ASCII, or joins two, passes.
func TestSieveEveryCharacter(t *testing.T) {
	for r := rune(utf8.RuneSelf); r <= utf8.MaxRune; r++ {
		if !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cf) {
			continue
		}
		if unicode.In(r, unicode.Han, unicode.Hangul) && r%61 > 0 { // one is as another
			continue
		}
		c := string(r)
		if joined := string(words.Append(nil, "q"+c+"q")); joined == " qq " {
			passes(t, "qq", "q"+c+"q")
		}
		for word := range strings.FieldsSeq(string(words.Append(nil, "q"+c+" "+c+"q "+c))) {
			if strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789") == "" {
				passes(t, word, "q"+c+" "+c+"q "+c)
			}
		}
	}
}

// What matches passes, in random texts of what is hard to tell.
func TestSieveRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	parts := []string{"a", "b", "A", "s", "n", "t", "'", "’", "\u00ad", "\u0301", "é", "á", "ﬁ", "Ｂ", "¹", "1", " ", "\n", "\t", "\"", "\\", "…", "灯", "ß", "\xff", "\xc3", "™", "/", "-", "*"}
	some := func(n int) string {
		var b strings.Builder
		for range 1 + rng.IntN(n) {
			b.WriteString(parts[rng.IntN(len(parts))])
		}
		return b.String()
	}
	matched := 0
	for range 200_000 {
		query := some(4)
		if _, err := words.Parse(query); err != nil {
			continue
		}
		if passes(t, query, some(12)) {
			matched++
		}
	}
	if matched < 1000 {
		t.Errorf("only %d pass", matched)
	}
}
