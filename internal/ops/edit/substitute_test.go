package edit

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
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
		{`^OK$`, `Fine`, `"not OK, and OKAY"`, `"not OK, and OKAY"`},
		{`^OK$`, `Fine`, `"OK"`, `"Fine"`},
		{`\AOK`, `Fine`, `"OK OK"`, `"Fine OK"`},
		{`(?s)OK\z`, `Fine`, `"OK OK"`, `"OK Fine"`},
		{`\bOK\b`, `Fine`, `"OKAY OK"`, `"OKAY Fine"`},
		{`nb`, `x`, `"a\nb \\nb nb"`, `"a\nb \\x x"`},
		{`aa`, `${0}b`, `"aaa \"aa\""`, `"aaba \"aab\""`},
		{`^$`, `-`, `""`, `"-"`},
		{`x*`, `-`, `"\u00e9"`, `"-\u00e9-"`},
	} {
		subs := prepared([]Substitution{{Match: regexp.MustCompile(c.match), With: c.with}})
		if got, _ := substituted([]byte(c.raw), subs); string(got) != c.want {
			t.Errorf("%s=%s in %q: %q, want %q", c.match, c.with, c.raw, got, c.want)
		}
	}
	if got, _ := substituted([]byte(`5`), prepared([]Substitution{{Match: regexp.MustCompile(`5`), With: "6"}})); string(got) != "5" {
		t.Errorf("in a number: %s", got)
	}
}

// A group that the expression lacks would be nothing in the text, unsaid.
func TestNewSubstitution(t *testing.T) {
	for _, c := range []struct{ match, with, lacks string }{
		{`five dollars`, `$5`, "5"},
		{`five dollars`, `$$5`, ""},
		{`(a)(b)`, `$2${1}$0`, ""},
		{`(a)(b)`, `$3`, "3"},
		{`(a)`, `$1st`, "1st"},
		{`(a)`, `${1}st`, ""},
		{`(a)`, `$01`, "01"},
		{`(?P<last>a)`, `$last ${last}`, ""},
		{`(?P<last>a)`, `$lastly`, "lastly"},
		{`(?P<last>a)`, `$первый`, "первый"},
		{`a`, `$, 5$ $- ${ ${} ${a-b} $`, ""},
		{`a`, `$$$1`, "1"},
		{`a`, `$99999999999999999999`, "99999999999999999999"},
	} {
		_, err := NewSubstitution(regexp.MustCompile(c.match), c.with)
		var lacks *GroupError
		switch {
		case c.lacks == "" && err != nil:
			t.Errorf("%s=%s: %v", c.match, c.with, err)
		case c.lacks != "" && (!errors.As(err, &lacks) || lacks.Group != c.lacks):
			t.Errorf("%s=%s: %v, want a lack of %q", c.match, c.with, err, c.lacks)
		}
	}
}

// FuzzGroups compares which groups a text names with what regexp puts in their place.
func FuzzGroups(f *testing.F) {
	f.Add("$1 ${2}x$$3 $ ${")
	f.Fuzz(func(t *testing.T, with string) {
		match := regexp.MustCompile(`(a)(?P<b>b)`)
		s, err := NewSubstitution(match, with)
		if err != nil || len(groupsIn(with)) > 0 {
			return
		}
		got := match.ReplaceAllString("ab", s.With)
		if want := strings.ReplaceAll(with, "$$", "$"); got != want {
			t.Errorf("%q becomes %q, want %q", with, got, want)
		}
	})
}

// What is text to begin with becomes what regexp makes of it.
func FuzzSubstitution(f *testing.F) {
	f.Add("a+", "x$0", `one \u0061aé 😀`)
	f.Add("$", "<&>", "a\xff")
	f.Add("^OK$", "Fine", "not OK, and OKAY")
	f.Fuzz(func(t *testing.T, match, with, body string) {
		re, err := regexp.Compile(match)
		raw := []byte(`"` + body + `"`)
		text, ok := rawjson.Unquote(raw)
		if err != nil || !ok || !utf8.ValidString(with) || len(body) > 1000 || strings.ContainsAny(body, "\x00\x01\x1f\n\r\t") {
			return
		}
		got, _ := substituted(raw, prepared([]Substitution{{Match: re, With: with, Everywhere: true}}))
		decoded, ok := rawjson.Unquote(got)
		if !ok {
			t.Fatalf("%q=%q in %q: %q is no text", match, with, raw, got)
		}
		if damage := jsonl.Check(got); damage != nil && jsonl.Valid(raw) {
			t.Fatalf("%q=%q in %q: %q: %v", match, with, raw, got, damage)
		}
		if _, _, size := decode([]byte(body)); size < len(body) {
			return
		}
		if want := re.ReplaceAllString(text, with); rawQuoted(decoded) != rawQuoted(want) {
			t.Fatalf("%q=%q in %q: %q, want %q", match, with, raw, decoded, want)
		}
	})
}

// Where the text changes, so does the chosen swipe, and the message stays valid.
func TestReworded(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	text := func() (raw string) {
		for range r.IntN(6) {
			raw += pick("harbour", "b", " ", `\n`, `\"`, `\\`, `\u0062`, "\xff", `\ud800`, "é", "harb")
		}
		return `"` + raw + `"`
	}
	changed := 0
	for range 5_000 {
		mes, other := text(), pick(text(), "5", "null")
		swipes := pick(`"swipes":[`+mes+`,`+other+`]`, `"swipes":[ `+other+` , `+mes+` ]`, `"swipes":[]`, `"none":0`)
		members := []string{`"mes":` + pick(mes, mes, "5"), swipes, `"swipe_id":` + pick("0", "1", "7")}
		r.Shuffle(3, func(i, k int) { members[i], members[k] = members[k], members[i] })
		line := []byte("{" + strings.Join(members, ",") + "}")
		list := []Substitution{{Match: regexp.MustCompile(pick("harbour", "b", "h(.)", "$", "", `"`, "é|b", "(?i)B", `\\`, "\n")), With: pick("", "b", `"\`, "haven", "$0", "${1}r", "\n")}}
		if r.IntN(4) == 0 {
			list = append(list, Substitution{Match: regexp.MustCompile(pick("b", "haven", "^")), With: pick("harbour", "x")})
		}
		subs := prepared(list)
		old := rawjson.Value(line, "mes")
		text, _ := substituted(old, subs)
		got, _, err := new(SetOptions).line(line, subs)
		if err != nil {
			t.Fatal(err)
		}
		want := slices.Collect(rawjson.Elements(rawjson.Value(line, "swipes")))
		if chosen, _ := rawjson.Int(rawjson.Value(line, "swipe_id")); !bytes.Equal(text, old) {
			changed++
			if chosen < len(want) {
				want[chosen] = text
			}
		} else if !bytes.Equal(got, line) {
			t.Fatalf("%v in %s: %s", list, line, got)
		}
		all := slices.Collect(rawjson.Elements(rawjson.Value(got, "swipes")))
		if !bytes.Equal(rawjson.Value(got, "mes"), text) || !slices.EqualFunc(all, want, bytes.Equal) {
			t.Fatalf("%v in %s: %s, want %s, %s", list, line, got, text, want)
		}
		if damage := jsonl.Check(got); damage != nil {
			t.Fatalf("%v in %s: %s: %v", list, line, got, damage)
		}
	}
	if changed < 1000 {
		t.Errorf("only %d changed", changed)
	}
}

func rawQuoted(s string) string { return string(rawjson.Quote(s)) }
