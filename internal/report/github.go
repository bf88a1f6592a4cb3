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
		place := "file=" + githubProperty(slashed(f.Path))
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
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(shown(s))
}

// githubProperty escapes a command's property.
func githubProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(githubText(s))
}

// shown returns a stranger's text as it may be shown.
func shown(s string) string { return visible.Text(s) }

// explain returns the full text of a finding: what is wrong, its effect, and how it is repaired.
func (c *Check) explain(f *rules.Finding) string {
	return sentence(shown(f.Text())) + " " + sentence(f.Effect()) + " " + sentence(c.repair(f))
}

// repair returns how a finding is repaired, with the command if there is one.
func (c *Check) repair(f *rules.Finding) string {
	if c.Command == nil {
		return f.Repair()
	}
	command := c.Command(f)
	if command == "" {
		return f.Repair()
	}
	return f.Repair() + ": " + command
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

// gitlabIssue is an entry of a GitLab Code Quality report (docs.gitlab.com, "Code Quality
// report format").
type gitlabIssue struct {
	Description string         `json:"description"`
	Check       string         `json:"check_name"`
	Fingerprint string         `json:"fingerprint"`
	Severity    string         `json:"severity"`
	Location    gitlabLocation `json:"location"`
}

type gitlabLocation struct {
	Path  string      `json:"path"`
	Lines gitlabLines `json:"lines"`
}

type gitlabLines struct {
	Begin int `json:"begin"`
}

// WriteGitLab writes a Code Quality report: one list. Of findings with the same fingerprint
// GitLab shows only the first, so those that are alike are numbered; a line number is not part
// of it, or a moved line would be a new finding. inTree returns a path from the work tree.
func (c *Check) WriteGitLab(w io.Writer, inTree func(path string) string) error {
	list := make([]gitlabIssue, 0, len(c.Findings))
	prints := newFingerprints()
	for i := range c.Findings {
		f := &c.Findings[i]
		path := strings.TrimPrefix(slashed(inTree(f.Path)), "./")
		list = append(list, gitlabIssue{
			Description: c.explain(f), Check: "stchat/" + f.Rule.String(), Fingerprint: prints.next(f, text(path)), Severity: gitlabSeverity(f.Severity),
			Location: gitlabLocation{path, gitlabLines{max(1, f.Line)}},
		})
	}
	return jsondoc.Write(w, list, "  ")
}

func gitlabSeverity(s rules.Severity) string {
	switch s {
	case rules.Error:
		return "major"
	case rules.Warning:
		return "minor"
	default:
		return "info"
	}
}
