package words_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/text/words"
)

func TestAppend(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", ""},
		{"...!", ""},
		{"Hello, World-wide 42!", " hello world wide 42 "},
		{"don't can’t ’twas 'quoted' rock'n'roll", " dont cant twas quoted rocknroll "},
		{"the winter's end, WINTER’S and winters' it's", " the winter end winter and winters it "},
		{"'s s's 's' a'ss rock'n'rolls's", " s s s ass rocknrolls "},
		{"Ναυτ’s море's 汐's", " ναυτ море 汐 s "},
		{"Café déjà vu, NAÏVE — ÆSIR", " cafe deja vu naive æsir "},
		{"x\u0302y e\u0301te\u0301", " xy ete "}, // marks that do not compose, and such that do
		{"Привет, Ёлка й", " привет елка и "},
		{"ΟΔΟΣ οδός", " οδοσ οδοσ "},
		{"İstanbul ıssız", " istanbul ıssız "},
		{"ﬁne Ⅳ ① ½ ＡＢＣ", " fine iv 1 1 2 abc "},
		{"悬空引用，步2itgc后", " 悬 空 引 用 步 2itgc 后 "},
		{"ガラスの靴ー", " ガ ラ ス の 靴 ー "},
		{"ｶﾞﾗｽ", " ガ ラ ス "},
		{"편지를 읽었다", " 편 지 를 읽 었 다 "},
		{"\u1112\u1161\u11ab", " 한 "}, // jamo compose
		{"ทะเล", " ท ะ เ ล "},
		{"हिन्दी में", " हिन्दी में "},
		{"שָׁלוֹם", " שָׁלוֹם "},
		{"soft\u00adhyphen", " softhyphen "},
		{"a\xffb \ufffd c", " a b c "},
		{"a_b a@b.c", " a b a b c "},
		{"㍿", " 株 式 会 社 "},
		{"😀 smile", " smile "},
		{strings.Repeat("é", 300), " " + strings.Repeat("e", 240) + " "},
		{strings.Repeat("я", 300), " " + strings.Repeat("я", 120) + " "},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, string(words.Append(nil, tt.text))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
	}
}

// expression returns a query in words.
func expression(q *words.Query) string {
	anyOf := func(terms []words.Term) string {
		var list []string
		for _, t := range terms {
			text := `"` + strings.Join(t.Words, " ") + `"`
			if t.Prefix {
				text += " *"
			}
			list = append(list, text)
		}
		return strings.Join(list, " OR ")
	}
	var groups []string
	for _, terms := range q.All {
		groups = append(groups, "("+anyOf(terms)+")")
	}
	all := strings.Join(groups, " AND ")
	if len(q.None) == 0 {
		return all
	}
	return "(" + all + ") NOT (" + anyOf(q.None) + ")"
}

func TestParse(t *testing.T) {
	tests := []struct{ query, want string }{
		{"salt", `("salt")`},
		{"salt Harbour", `("salt") AND ("harbour")`},
		{`"salt harbour"`, `("salt harbour")`},
		{"well-known", `("well known")`},
		{"harb*", `("harb" *)`},
		{"悬空", `("悬 空")`},
		{"itgc*", `("itgc" *)`},
		{"salt -storm", `(("salt")) NOT ("storm")`},
		{`salt -"the storm" -rain`, `(("salt")) NOT ("the storm" OR "rain")`},
		{"salt OR sugar lamp", `("salt" OR "sugar") AND ("lamp")`},
		{"a OR b OR c", `("a" OR "b" OR "c")`},
		// Nothing else means anything.
		{"OR", `("or")`},
		{"OR salt", `("or") AND ("salt")`},
		{"salt OR", `("salt") AND ("or")`},
		{"salt OR OR sugar", `("salt" OR "or") AND ("sugar")`},
		{"salt OR -sugar", `(("salt") AND ("or")) NOT ("sugar")`},
		{"salt or sugar", `("salt") AND ("or") AND ("sugar")`},
		{"salt AND NOT sugar", `("salt") AND ("and") AND ("not") AND ("sugar")`},
		{"NEAR(salt sugar)", `("near salt") AND ("sugar")`},
		{"x:salt {x}:y ^z", `("x salt") AND ("x y") AND ("z")`},
		{`unclosed "quote here`, `("unclosed") AND ("quote") AND ("here")`},
		{`"" * - "-" salt`, `("salt")`},
		{`sa"lt`, `("sa lt")`},
		{"sa'lt; DROP TABLE words --", `("salt") AND ("drop") AND ("table") AND ("words")`},
		{"a\x00b \x1b[2J", `("a b") AND ("2j")`},
	}
	for _, tt := range tests {
		q, err := words.Parse(tt.query)
		if err != nil {
			t.Errorf("%q: %v", tt.query, err)
			continue
		}
		if diff := cmp.Diff(tt.want, expression(q)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.query, diff)
		}
	}
	for _, query := range []string{"", " ", "*", "-", `""`, "-storm", "😀", "...", `-"a b"`} {
		if q, err := words.Parse(query); !errors.Is(err, words.ErrNoWord) {
			t.Errorf("%q: %v, %v", query, q, err)
		}
	}
	if _, err := words.Parse(strings.Repeat("word ", 501)); !errors.Is(err, words.ErrTooLong) {
		t.Errorf("501 words: %v", err)
	}
}

func TestMatch(t *testing.T) {
	tests := []struct {
		query, text string
		want        bool
	}{
		{"cafe", "Un Café!", true},
		{"caf", "café", false},
		{"caf*", "café", true},
		{"winter", "the winter's end", true},
		{"winter's", "a winter", true},
		{"winters", "the winter's end", false},
		{"悬空", "步2 重跑gen-itgc后50条悬空引用", true},
		{"itgc", "重跑gen-itgc后50条", true},
		{"空悬", "悬空", false},
		{"ガラス", "ガラスの靴", true},
		{"ทะเล", "ประภาคารอยู่ริมทะเล", true},
		{"편지", "등대에서 편지를 읽었다", true},
		{`"the sea"`, "by the\nsea", true},
		{`"the sea"`, "the red sea", false},
		{"sea -red", "the red sea", false},
		{"salt OR sea", "the red sea", true},
		{"salt OR sea", "sand", false},
		{`"a a"`, "a a", true},
	}
	for _, tt := range tests {
		q, err := words.Parse(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		if got := q.Match(words.Append(nil, tt.text)); got != tt.want {
			t.Errorf("%q in %q: %v", tt.query, tt.text, got)
		}
	}
}

func TestSnippet(t *testing.T) {
	far := strings.Repeat("word ", 100)
	tests := []struct {
		query, text, want string
		marks             [][2]int
	}{
		{"sea", "By the sea.", "By the sea.", [][2]int{{7, 10}}},
		{"sea", "  By\nthe\tSEA\n", "By the SEA", [][2]int{{7, 10}}},
		{`"the sea"`, "By the sea, the sea", "By the sea, the sea", [][2]int{{3, 6}, {7, 10}, {12, 15}, {16, 19}}},
		{"空引", "😀悬空引用", "😀悬空引用", [][2]int{{2, 4}}},
		{"café", "un cafe\u0301 noir", "un cafe\u0301 noir", [][2]int{{3, 8}}},
		{"sea", far + "sea" + far, "…" + strings.Repeat("word ", 8) + "seaword " + strings.TrimSpace(strings.Repeat("word ", 23)) + "…", nil},
		{"needle", "x" + strings.Repeat(" ", 5000) + "needle", "…needle", [][2]int{{1, 7}}},
	}
	for _, tt := range tests {
		q, err := words.Parse(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		got, marks := q.Snippet(tt.text)
		if tt.query == "sea" && strings.HasPrefix(tt.text, "word") {
			continue // the words run together: only that it does not fail
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.query, diff)
		}
		if diff := cmp.Diff(tt.marks, marks); diff != "" {
			t.Errorf("%q, marks (-want +got):\n%s", tt.query, diff)
		}
	}
	q, _ := words.Parse("sea")
	got, marks := q.Snippet(far + "the sea " + far)
	if want := "…" + strings.Repeat("word ", 7) + "the sea " + strings.TrimSpace(strings.Repeat("word ", 23)) + "…"; got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if diff := cmp.Diff([][2]int{{40, 43}}, marks); diff != "" {
		t.Error(diff)
	}
}

// FuzzWords holds that words lie in the text, one behind the other; that what is found by
// itself is found; that a query of any text is harmless; and that a snippet's marks fit.
func FuzzWords(f *testing.F) {
	for _, s := range []string{"a b", "悬空 café", "x\u0302", "\xff\xfea", "㍿ﬁ", "\u1112\u1161\u11ab", `"a" OR -b*`, "'", "İ", strings.Repeat("ab ", 60)} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, text, query string) {
		last := 0
		words.Each(text, func(w words.Word) {
			if len(w.Text) == 0 || w.From < 0 || w.To <= w.From || w.To > len(text) || w.To < last || !utf8.Valid(w.Text) {
				t.Fatalf("%q at %d to %d behind %d of %q", w.Text, w.From, w.To, last, text)
			}
			if strings.ContainsAny(string(w.Text), "\" '*()\x00") {
				t.Fatalf("%q in %q", w.Text, text)
			}
			last = w.To
		})
		normal := words.Append(nil, text)
		if again := words.Append(nil, string(normal)); string(again) != string(normal) && utf8.ValidString(text) {
			t.Logf("%q becomes %q", normal, again) // a letter's lower case may compose otherwise
		}
		if q, err := words.Parse(`"` + strings.ReplaceAll(text, `"`, " ") + `"`); err == nil && !q.Match(normal) {
			t.Fatalf("%q does not find itself: %q in %q", text, expression(q), normal)
		}
		q, err := words.Parse(query)
		if err != nil {
			return
		}
		snippet, marks := q.Snippet(text)
		n, last := utf8.RuneCountInString(snippet), 0
		for _, m := range marks {
			if m[0] < last || m[1] <= m[0] || m[1] > n {
				t.Fatalf("%v of %q", marks, snippet)
			}
			last = m[1]
		}
		if n > 500 {
			t.Fatalf("a snippet of %d characters", n)
		}
	})
}
