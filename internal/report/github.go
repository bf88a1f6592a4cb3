package report

import (
	"fmt"
	"io"
	"strings"

	"stchat/internal/rules"
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
		place := "file=" + githubProperty(slashed(f.Path))
		if f.Line > 0 {
			place += fmt.Sprintf(",line=%d", f.Line)
		}
		_, err := fmt.Fprintf(w, "::%s %s,title=%s::%s\n", githubLevel(f.Severity), place, githubProperty(f.Rule.String()), githubText(c.explain(f)))
		if err != nil {
			return err
		}
	}
	return nil
}

func githubLevel(s rules.Severity) string {
	switch s {
	case rules.Error:
		return "error"
	case rules.Warning:
		return "warning"
	default:
		return "notice"
	}
}

// githubText escapes a command's message as the runner unescapes it.
func githubText(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(shown(s))
}

// githubProperty escapes a command's property.
func githubProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(githubText(s))
}
