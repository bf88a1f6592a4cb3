package report

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"stchat/internal/folder/rules"
	"stchat/internal/text/visible"
)

// WriteGitHub writes one workflow command per finding, which GitHub shows on the
// line of the file.
func (c *Check) WriteGitHub(w io.Writer) error {
	for _, err := range c.Errs {
		if _, err := fmt.Fprintf(w, "::error title=stchat::%s\n", githubText(err.Error())); err != nil {
			return err
		}
	}

	for i := range c.Findings {
		f := &c.Findings[i]
		place := "file=" + githubProperty(c.inTree(f.Path))
		if f.Line > 0 {
			place += fmt.Sprintf(",line=%d", f.Line)
		}
		_, err := fmt.Fprintf(w, "::%s %s,title=%s::%s\n", level(f.Severity, "notice"), place, githubProperty(f.Rule.String()), githubText(c.explain(f)))
		if err != nil {
			return err
		}
	}
	return nil
}

// githubText escapes a command's message as the runner unescapes it.
func githubText(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(visible.Text(s))
}

// githubProperty escapes a command's property.
func githubProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(githubText(s))
}

// explain returns the full text of a finding: what is wrong, its effect, and how it is repaired.
func (c *Check) explain(f *rules.Finding) string {
	return sentence(visible.Text(f.Text())) + " " + sentence(f.Effect()) + " " + sentence(c.repair(f))
}

// repair returns how a finding is repaired, with the command if there is one.
func (c *Check) repair(f *rules.Finding) string {
	if c.Command != nil {
		if command := c.Command(f); command != "" {
			return f.Repair() + ": " + command
		}
	}
	return f.Repair()
}

// sentence turns a phrase into a sentence.
func sentence(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if first, _, _ := strings.Cut(s, " "); !strings.ContainsAny(first, "_.") {
		s = string(unicode.ToUpper(r)) + s[size:]
	}
	return strings.TrimSuffix(s, ".") + "."
}
