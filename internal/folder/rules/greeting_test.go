package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestResolves(t *testing.T) {
	for _, tt := range []struct {
		greeting, text string
		want           bool
	}{
		{"Hello, {{user}}.", "Hello, Tom.", true},
		{"Hello, {{user}}.", "Hello, .", true},
		{"Hello, {{user}}.", "Hello, Tom!", false},
		{"Hello, {{user}}.", "hello, Tom.", false},
		{"Hello, <USER> and <bot>.", "Hello, Tom and Mira.", true},
		{"Hello, <USERS>.", "Hello, Tom.", false},
		{"{{user}}", "", true},
		{"a {{user}} b {{user}} c", "a b b b c", true},
		{"a {{user}} b {{user}} c", "a c b c", false}, // what stands before the last c is not "b "
		{"ab{{user}}ba", "aba", false},                // begin and end do not share a letter
		{"a\n\n{{trim}}\nb", "ab", true},
		{"a\n\n{{trim}}\nb", "a b", true},
		{"a\nb{{trim}}", "ab", false}, // a line break that is not beside the macro
		{"{{random::{{user}}::you}}!", "Tom!", true},
		{"{{#if x}}one {{user}}{{else}}two{{/if}}.", "three.", true},
		{"a {{if x}}one{{/if}}.{{/if}}", "a .", true},
		{`\{\{user\}\}`, "{{user}}", true},
		{"{{{user}}}", "{Tom}", true},
		{"{{ never ended {{user}}", "{{ never ended Tom", true},
		{"{{ never ended", "other", false},
		{"}} {{user}}", "}} Tom", true},
		{"no macro", "no macro", true},
		{"no macro", "none", false},
	} {
		if got := resolves(tt.greeting, tt.text); got != tt.want {
			t.Errorf("%q and %q: %v", tt.greeting, tt.text, got)
		}
	}
}

// What holds many beginnings and ends of macros is read once.
func TestResolvesMuch(t *testing.T) {
	const n = 200_000
	for _, part := range []string{"{{", "}}", "{{/x}}", "{{x}}", "<", "{{x}}{{/y}}", `\{`} {
		greeting := strings.Repeat(part, n)
		begun := time.Now()
		resolves(greeting, strings.Repeat("a", n))
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("%s took %v", part, took)
		}
	}
}

// Only message 0, and only of the character, may differ from its swipe like a greeting.
func TestGreeting(t *testing.T) {
	const greeting = `"mes":"Hello, Tom.","swipes":["Hello, {{user}}."],"swipe_id":0,"swipe_info":[]`
	line := func(user bool) string { return fmt.Sprintf(`{"name":"a","is_user":%v,%s}`, user, greeting) }
	const header, plain = `{"chat_metadata":{"integrity":"x"}}`, `{"name":"a","is_user":true,"mes":"x"}`
	// a header that fills the first of the parts in which a long chat is read, and more lines that are long
	wide := fmt.Sprintf(`{"chat_metadata":{"integrity":"x","a":"%s"}}`, strings.Repeat("a", smallChat))
	long := fmt.Sprintf(`{"name":"a","is_user":true,"mes":"%s"}`, strings.Repeat("a", smallChat))
	both := []string{"swipe-info", "swipe-text"}
	for name, tt := range map[string]struct {
		lines []string
		want  []string
	}{
		"greeting":           {[]string{header, line(false)}, nil},
		"no header":          {[]string{line(false)}, nil},
		"after blank lines":  {[]string{"", header, "", line(false)}, nil},
		"the user's":         {[]string{header, line(true)}, both},
		"message 1":          {[]string{header, plain, line(false)}, both},
		"two":                {[]string{header, line(false), line(false)}, both},
		"after a header":     {[]string{header, header, line(false)}, append([]string{"misplaced-header"}, both...)},
		"long header":        {[]string{wide, line(false), plain}, nil},
		"in a later part":    {[]string{header, long, line(false), long, line(false)}, slices.Concat(both, both)},
		"header in the rear": {[]string{header, long, header, line(false)}, append([]string{"misplaced-header"}, both...)},
	} {
		path := filepath.Join(t.TempDir(), "a.jsonl")
		if err := os.WriteFile(path, []byte(strings.Join(tt.lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := New(time.Now()).Scan(t.Context(), path, ScanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range c.Findings() {
			if f.Rule != NoHeader {
				got = append(got, f.Rule.String())
			}
		}
		slices.Sort(got)
		slices.Sort(tt.want)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if c.Repairable().HasAny(OnSwipes()) != (len(tt.want) > 0) {
			t.Errorf("%s: repairable %+v", name, c.Repairable())
		}
	}
}

// FuzzResolves never takes a text for a greeting in which a letter outside of the macros differs.
func FuzzResolves(f *testing.F) {
	f.Add("Hello, ", "{{user}}", ".", "Tom")
	f.Add("a\n", "{{trim}}", "\nb", "")
	f.Fuzz(func(t *testing.T, before, macro, after, value string) {
		const marks = `{}<>\`
		if strings.ContainsAny(before+after, marks) || strings.ContainsAny(macro, marks) {
			return
		}
		greeting := before + "{{" + macro + "}}" + after
		if !resolves(greeting, before+value+after) {
			t.Errorf("%q is not taken for the greeting of %q", before+value+after, greeting)
		}
		if resolves(greeting, "x"+before+value+after) && before != "" && before[0] != 'x' && strings.Trim(before, "\r\n") != "" {
			t.Errorf("one letter more is taken for the greeting of %q", greeting)
		}
	})
}
