package edit

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"stchat/internal/rawjson"
)

func TestSubstitution(t *testing.T) {
	for _, c := range []struct{ match, with, raw, want string }{
		{`a`, `b`, `"a \u0061 \/ \u00e9 a"`, `"b b \/ \u00e9 b"`},
		{`(?i)JON\b`, `John`, `"Jon's jonah jon"`, `"John's jonah John"`},
		{`(\w+) (?P<last>\w+)`, `${last}, $1`, `"Ann Lee\nBo Day"`, `"Lee, Ann\nDay, Bo"`},
		{`"`, `\`, `"say \"x\""`, `"say \\x\\"`},
		{`\n`, ` `, `"one\ntwo\u000athree"`, `"one two three"`},
		{`😀`, `é`, `"\ud83d\uDE00 😀"`, `"é é"`},
		{`.`, `-`, "\"a\xffb\\ud800c\\udc00\"", "\"-\xff-\\ud800-\\udc00\""},
		{`a.*c`, `x`, "\"a b c\xffa c\"", "\"x\xffx\""},
		{`b`, `x`, "\"\xed\xa0\x80b\"", "\"\xed\xa0\x80x\""},
		{`nowhere`, `x`, `"\u0061"`, `"\u0061"`},
		{`^`, `> `, `"a"`, `"> a"`},
		{`$`, `.`, `"a"`, `"a."`},
		{`é`, `x`, "\"é \xc3 é\xa9 \\\\é\"", "\"x \xc3 x\xa9 \\\\x\""},
		{`да`, `нет`, `"да, еда \n да"`, `"нет, енет \n нет"`},
		{`H(i)`, `Hel$1`, `"Hi Ho"`, `"Heli Ho"`},
		{`nb`, `x`, `"a\nb \\nb nb"`, `"a\nb \\x x"`},
		{`aa`, `${0}b`, `"aaa \"aa\""`, `"aaba \"aab\""`},
		{`^$`, `-`, `""`, `"-"`},
		{`x*`, `-`, `"\u00e9"`, `"-\u00e9-"`},
	} {
		s := Substitution{regexp.MustCompile(c.match), c.with}
		if got := string(s.in([]byte(c.raw))); got != c.want {
			t.Errorf("%s=%s in %q: %q, want %q", c.match, c.with, c.raw, got, c.want)
		}
	}
	s := Substitution{regexp.MustCompile(`b`), "c"}
	if got := string(s.in([]byte(`5`))); got != "5" {
		t.Errorf("in a number: %s", got)
	}
}

// What is text to begin with becomes what regexp makes of it.
func FuzzSubstitution(f *testing.F) {
	f.Add("a+", "x$0", `one \u0061aé 😀`)
	f.Add("$", "<&>", "a\xff")
	f.Fuzz(func(t *testing.T, match, with, body string) {
		re, err := regexp.Compile(match)
		raw := []byte(`"` + body + `"`)
		text, ok := rawjson.Unquote(raw)
		if err != nil || !ok || !utf8.ValidString(with) || len(body) > 1000 || strings.ContainsAny(body, "\x00\x01\x1f\n\r\t") {
			return
		}
		got := (&Substitution{re, with}).in(raw)
		decoded, ok := rawjson.Unquote(got)
		if !ok {
			t.Fatalf("%q=%q in %q: %q is no text", match, with, raw, got)
		}
		if decode([]byte(body)).size < len(body) {
			return
		}
		if want := re.ReplaceAllString(text, with); rawQuoted(decoded) != rawQuoted(want) {
			t.Fatalf("%q=%q in %q: %q, want %q", match, with, raw, decoded, want)
		}
	})
}

func rawQuoted(s string) string { return string(rawjson.Quote(s)) }
