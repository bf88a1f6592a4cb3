package prose

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestHTML(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`*She nods.* "Yes, *now*."`, `<p><em>She nods.</em> <q>&#34;Yes, <em>now</em>.&#34;</q></p>`},
		{"a\nb\n\n# c", "<p>a<br/>b</p><h4>c</h4>"},
		{"## a\n\n#### b\n\n### c\n\n# d\n\n## e\n\n### f\n\n#### g", "<h4>a</h4><h5>b</h5><h5>c</h5><h4>d</h4><h5>e</h5><h6>f</h6><h6>g</h6>"},
		{"- a\n- b\n  - c\n\n1. d", `<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul><ol><li value="1">d</li></ol>`},
		{"> a\n> > b\n\nc", "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote><p>c</p>"},
		{"```go\na < b\n```", "<pre dir=\"auto\" tabindex=\"0\">a &lt; b</pre>"},
		{"[x](https://a.example/?a=1&b) [y](javascript:alert(1))", `<p><a href="https://a.example/?a=1&amp;b" rel="noopener noreferrer nofollow">x</a> y</p>`},
		{`<img src=x onerror=alert(1)> <script>alert(1)</script> &lt;b&gt; </style>`, `<p>[picture: x]  &lt;b&gt; &lt;/style&gt;</p>`},
		{"a\x00b\x1b[31m", "<p>a�b�[31m</p>"},
		{"---", "<hr/>"},
		{"`x *y*`", "<p><code>x *y*</code></p>"},
	} {
		if got := new(Markup).Text(tt.text); got != tt.want {
			t.Errorf("%q is\n%s\nwant\n%s", tt.text, got, tt.want)
		}
	}
}

// FuzzHTML expects well-formed XML whose text is what the runs say.
func FuzzHTML(f *testing.F) {
	for _, text := range []string{"a *b", "- a\n   - b\n> c\n\n  d", "1. a\n\n  ```\nx\n```", "<b>*a</b>*", "| a |\n| b |", "&lt;&#27;&#xffff;"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		out := new(Markup).Text(text)
		d := xml.NewDecoder(strings.NewReader("<x>" + out + "</x>"))
		d.Entity = xml.HTMLEntity
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				return
			} else if err != nil {
				t.Fatalf("%q becomes %s: %v", text, out, err)
			}
		}
	})
}
