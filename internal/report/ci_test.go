package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/report"
	"stchat/internal/rules"
	"stchat/internal/visible"
)

// gitlabIssue is an entry as docs.gitlab.com describes it.
type gitlabIssue struct {
	Description string `json:"description"`
	CheckName   string `json:"check_name"`
	Fingerprint string `json:"fingerprint"`
	Severity    string `json:"severity"`
	Location    struct {
		Path  string `json:"path"`
		Lines struct {
			Begin int `json:"begin"`
		} `json:"lines"`
	} `json:"location"`
}

func gitlab(t *testing.T, c *report.Check) (list []gitlabIssue) {
	t.Helper()
	out := write(t, func(w io.Writer) error { return c.WriteGitLab(w) })
	dec := json.NewDecoder(bytes.NewReader(out))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&list); err != nil {
		t.Fatal(err)
	}
	return list
}

// Equal findings have different fingerprints, and a finding whose line moved keeps its own.
func TestGitLab(t *testing.T) {
	moved := sample()
	for i := range moved.Findings {
		moved.Findings[i].Line += 7
	}
	seen := map[string]bool{}
	after := gitlab(t, moved)
	for i, issue := range gitlab(t, sample()) {
		if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(issue.Fingerprint) || seen[issue.Fingerprint] || after[i].Fingerprint != issue.Fingerprint {
			t.Errorf("finding %d: fingerprint %q, moved %q", i, issue.Fingerprint, after[i].Fingerprint)
		}
		seen[issue.Fingerprint] = true
		f := sample().Findings[i]
		if issue.Location.Lines.Begin != max(1, f.Line) || issue.CheckName != "stchat/"+f.Rule.String() || issue.Description == "" {
			t.Errorf("finding %d: %+v", i, issue)
		}
		if want := map[rules.Severity]string{rules.Error: "major", rules.Warning: "minor", rules.Info: "info"}[f.Severity]; issue.Severity != want {
			t.Errorf("finding %d: severity %q", i, issue.Severity)
		}
	}
	if out := write(t, func(w io.Writer) error { return new(report.Check).WriteGitLab(w) }); string(out) != "[]\n" {
		t.Errorf("nothing is %s", out)
	}
}

// cells reads the rows of GitHub's tables: cells are split at each | that no \ escapes, and \
// before punctuation stands for it (GFM 4.10, CommonMark 2.4).
func cells(line string) (list []string) {
	var cell strings.Builder
	escaped := false
	for _, r := range line {
		switch {
		case escaped:
			if !strings.ContainsRune("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", r) {
				cell.WriteByte('\\')
			}
			cell.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped = true
		case r == '|':
			list = append(list, strings.TrimSpace(cell.String()))
			cell.Reset()
		default:
			cell.WriteRune(r)
		}
	}
	return list[1:]
}

// A stranger's text is a cell of the table, and means nothing in it.
func TestMarkdown(t *testing.T) {
	c := sample()
	nasty := "a|b\\|c `code` **x** <b>&amp; [l](u) ![i](j) #1 @you www.x.y http://z ~~s~~ $m$ \n| new | row |"
	c.Findings = append(c.Findings, rules.Finding{Rule: rules.EmptyFile, Severity: rules.Error, Path: "chats/a|b/*.jsonl", Index: -1, Line: 3, Message: nasty})
	lines := strings.Split(strings.TrimSpace(string(write(t, c.WriteMarkdown))), "\n")
	want := []string{"chats/a|b/*.jsonl", "3", "empty-file", visible.Text(nasty)}
	if diff := cmp.Diff(want, cells(lines[len(lines)-1])); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, line := range lines {
		if strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "|---") && len(cells(line)) != 4 {
			t.Errorf("%d cells: %s", len(cells(line)), line)
		}
		if strings.HasPrefix(line, "| chats") && regexp.MustCompile(`(^|[^\\])[<*\[]`).MatchString(line) {
			t.Errorf("not escaped: %s", line)
		}
	}
}

// The summary has an end, however much there is, and says how much more there is.
func TestMarkdownEnds(t *testing.T) {
	c := new(report.Check)
	for i := range 1000 {
		c.Findings = append(c.Findings, rules.Finding{Rule: rules.EmptyFile, Severity: rules.Error, Path: fmt.Sprint(i), Index: -1, Message: strings.Repeat("*", 5000)})
	}
	out := write(t, c.WriteMarkdown)
	if len(out) > 64<<10 || strings.Count(string(out), "| empty-file |") != 51 || !strings.HasSuffix(string(out), "\n… and 950 more\n") {
		t.Errorf("%d bytes, %d rows, ends in %q", len(out), strings.Count(string(out), "| empty-file |"), out[len(out)-40:])
	}
}
