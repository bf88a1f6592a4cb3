package report

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"stchat/internal/jsondoc"
	"stchat/internal/rules"
	"stchat/internal/visible"
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

// gitlabIssue is an entry of a GitLab Code Quality report (docs.gitlab.com, "Code Quality
// report format").
type gitlabIssue struct {
	Description string `json:"description"`
	Check       string `json:"check_name"`
	Fingerprint string `json:"fingerprint"`
	Severity    string `json:"severity"`
	Location    struct {
		Path  string `json:"path"`
		Lines struct {
			Begin int `json:"begin"`
		} `json:"lines"`
	} `json:"location"`
}

// WriteGitLab writes a Code Quality report: one list. Of findings with the same fingerprint
// GitLab shows only the first, so those that are alike are numbered; a line number is not part
// of it, or a moved line would be a new finding.
func (c *Check) WriteGitLab(w io.Writer) error {
	list := make([]gitlabIssue, len(c.Findings))
	prints := fingerprints{}
	severities := [...]string{rules.Info: "info", rules.Warning: "minor", rules.Error: "major"}
	for i := range c.Findings {
		f, issue := &c.Findings[i], &list[i]
		issue.Location.Path, issue.Location.Lines.Begin = c.inTree(f.Path), max(1, f.Line)
		issue.Description, issue.Check, issue.Severity = c.explain(f), "stchat/"+f.Rule.String(), severities[f.Severity]
		issue.Fingerprint = prints.next(f, issue.Location.Path)
	}
	return jsondoc.Write(w, list, "  ")
}
