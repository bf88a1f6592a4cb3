package report

import (
	"io"
	"strings"

	"stchat/internal/jsondoc"
	"stchat/internal/rules"
)

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
