package report

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"stchat/internal/rules"
	"stchat/internal/visible"
)

// shown returns a stranger's text as it may be shown.
func shown(s string) string { return visible.Text(s) }

// explain returns the full text of a finding: what is wrong, its effect, and how it is mended.
func (c *Check) explain(f *rules.Finding) string {
	return sentence(shown(f.Text())) + " " + sentence(f.Effect()) + " " + sentence(c.mend(f))
}

// mend returns how a finding is mended, with the command if there is one.
func (c *Check) mend(f *rules.Finding) string {
	if c.Command == nil {
		return f.Mend()
	}
	command := c.Command(f)
	if command == "" {
		return f.Mend()
	}
	return f.Mend() + ": " + command
}

// sentence turns a phrase into a sentence.
func sentence(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if first, _, _ := strings.Cut(s, " "); !strings.ContainsAny(first, "_.") {
		s = string(unicode.ToUpper(r)) + s[size:]
	}
	if strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}
