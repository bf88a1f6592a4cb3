package prose

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/text/visible"
)

// told writes blocks as one line each: what they are, and runs as [styles:text].
func told(blocks []Block) []string {
	var list []string
	for _, b := range blocks {
		var s strings.Builder
		s.WriteString([]string{"p", "h", "rule", "item", "rows", "fence"}[b.Kind])
		if b.Level > 0 {
			fmt.Fprint(&s, b.Level)
		}
		s.WriteString(strings.Repeat(">", b.Quote) + " ")
		for _, r := range b.Runs {
			if r.Mark {
				continue
			}
			styles := ""
			for i, c := range "biusqcap" {
				if r.Style&(1<<i) != 0 {
					styles += string(c)
				}
			}
			if styles != "" {
				fmt.Fprintf(&s, "[%s:%s]", styles, r.Text)
			} else {
				s.WriteString(r.Text)
			}
		}
		list = append(list, s.String())
	}
	return list
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{" \n\t\n", nil},
		{"*Maren writes* one panel*, and gives it back.*", []string{"p [i:Maren writes] one panel[i:, and gives it back.]"}},
		{"**「灯台」**です", []string{"p [bq:「灯台」]です"}},
		{`*"I *know*," she said.*`, []string{`p *[q:"I *know][iq:,"][i: she said.]`}},
		{"***a*** __b__ _c_ ~~d~~ snake_case_x", []string{"p [bi:a] [u:b] [i:c] [s:d] snake_case_x"}},
		{"2 * 3 * 4 and ** x **", []string{"p 2 * 3 * 4 and ** x **"}},
		{`\*not\* \_this\_`, []string{"p *not* _this_"}},
		{"one\r\ntwo\n\nthree", []string{"p one\ntwo", "p three"}},
		{"# Head #\n## Two\n---\n* * *", []string{"h1 Head", "h2 Two", "rule ", "rule "}},
		{"- a\n  - b\n1. c\nmore", []string{"item1 a", "item2 b", "item1 c\nmore"}},
		{"> said\n>> twice\nlazily\n\nout", []string{"p> said", "p>> twice\nlazily", "p out"}},
		{"|a|b|\n|-|-|\nno", []string{"rows |a|b|\n|-|-|", "p no"}},
		{"```js\n*x* <b>\n```\nafter `*y*` and ``a`b``", []string{"fence [c:*x* <b>]", "p after [c:*y*] and [c:a`b]"}},
		{"1. a\n\n```\nx\n```\n- b\n```\ny\n```\n- c\n  ```\nz\n```", []string{"item1 a", "fence [c:x]", "item1 b", "fence [c:y]", "item1 c", "fence1 [c:z]"}},
		{"```\nnever closed *x*", []string{"p ```\nnever closed [i:x]"}},
		{"a `tick\n\nb` c", []string{"p a `tick", "p b` c"}},
		{"a<!-- pic prompt=\"x\" -->b <!-- open", []string{"p ab <!-- open"}},
		{"<script>alert(1)</script>x <style>a *b*", []string{"p x <style>a [i:b]"}},
		{"x <3 y <b and c> a <foo>b</foo> <foo bar=1>c", []string{"p x <3 y <b and c> a b c"}},
		{"<p>a</p><div class=\"q\">b</div>c<br>d", []string{"p a\nb\nc\nd"}},
		{"<b>one\n\ntwo</b> <i>x</i> <u>y <s>z</s></u> <q>w</q>", []string{"p [b:one]", "p [b:two] [i:x] [u:y ][us:z] [q:w]"}},
		{`<img src="a/b.png"> <img src="x" alt="lamp &amp; oil">`, []string{"p [p:b.png] [p:lamp & oil]"}},
		{"`a`<script>`b`</SCRIPT>c <!-- `d` -->e", []string{"p [c:a]c e"}},
		{"[a *b*](https://x.y/z_(1)) [no](javascript:alert(1)) ![pic](u/v.png)", []string{"p [a:a ][ia:b] no [p:pic]"}},
		{"&lt;b&gt; &#27;]52; &#x202E;", []string{"p <b> \x1b]52; \u202e"}},
		{`"open and “closed” «x» 「y」 "both" `, []string{`p [q:"open and “closed” «x» 「y」 "]both"`}},
		{"a\xffb\x00c", []string{"p a\ufffdb\x00c"}},
	} {
		if diff := cmp.Diff(c.want, told(Read(c.text))); diff != "" {
			t.Errorf("%q:\n%s", c.text, diff)
		}
	}
}

func TestPlain(t *testing.T) {
	if got, want := Plain("*She* <!-- x --> said\n\n- `yes` ![p](q)"), "She  said\n\nyes "; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// FuzzRead: nothing panics; every letter that is no markup comes out, in order; laid out, no line
// is too wide or holds anything that a terminal obeys.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"*a* **b** `c` [d](e) <b>f</b>", "- x\n > y\n```\nz\n```", "“a” &lt; <img src=x>", "![[a](b)](c)", "\xff\xfe**\xff", "<a x='", "| 日本 |"} {
		f.Add(s, 20)
	}
	f.Fuzz(func(t *testing.T, s string, cells int) {
		blocks := Read(s)
		if !strings.ContainsAny(s, "<&[!`~") {
			var in, out strings.Builder
			letters := func(to *strings.Builder, s string) {
				for _, c := range s {
					if c >= 'a' && c <= 'z' || c > 0x2fff && c != 0xfffd {
						to.WriteRune(c)
					}
				}
			}
			letters(&in, strings.ToValidUTF8(s, "\ufffd"))
			for _, b := range blocks {
				for _, r := range b.Runs {
					letters(&out, r.Text)
				}
			}
			if in.String() != out.String() {
				t.Errorf("%q: %q", s, out.String())
			}
		}
		cells = min(max(cells, 1), 100)
		for _, marks := range []bool{false, true} {
			for _, line := range (Layout{Cells: cells, Marks: marks}).Lines(blocks) {
				var text strings.Builder
				for _, r := range line {
					text.WriteString(r.Text)
				}
				if visible.Text(text.String()) != text.String() {
					t.Errorf("%q: %q", s, text.String())
				}
				if cells > 40 && visible.Width(text.String()) > cells {
					t.Errorf("%q in %d: %q", s, cells, text.String())
				}
			}
		}
	})
}
