package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"stchat/internal/plural"
	"stchat/internal/rules"
	"stchat/internal/visible"
)

const (
	markdownFindings = 50       // are listed at most
	markdownBytes    = 64 << 10 // GitHub takes 1 MiB of a step's summary, of all commands together
	markdownCell     = 300      // characters of a stranger's text
)

// WriteMarkdown writes a summary for GitHub's $GITHUB_STEP_SUMMARY: the counts, a table of the
// rules, and the first findings. No text from a file has a meaning in it.
func (c *Check) WriteMarkdown(w io.Writer) error {
	var out bytes.Buffer
	sum := Sum(len(c.Chats), c.Findings)
	fmt.Fprintf(&out, "## stchat check\n\n%s checked: %s, %s, %d info\n", plural.S(sum.Chats, "chat"), plural.S(sum.Errors, "error"), plural.S(sum.Warnings, "warning"), sum.Infos)
	if c.Known > 0 {
		fmt.Fprintf(&out, "\n%s in the baseline left out\n", plural.S(c.Known, "finding"))
	}
	if len(c.Errs) > 0 {
		fmt.Fprintf(&out, "\n%s could not be read\n", plural.S(len(c.Errs), "file"))
	}
	if len(c.Findings) > 0 {
		out.WriteString("\n| rule | severity | findings | effect |\n|---|---|---|---|\n")
		counts := map[rules.ID]int{}
		for i := range c.Findings {
			counts[c.Findings[i].Rule] += c.Findings[i].Count()
		}
		for _, id := range rules.All() {
			if counts[id] > 0 {
				fmt.Fprintf(&out, "| %s | %s | %d | %s |\n", markdown(id.String()), id.Rule().Severity, counts[id], markdown(sentence(id.Rule().Effect)))
			}
		}
		out.WriteString("\n| file | line | rule | finding |\n|---|---|---|---|\n")
	}
	left := sum.Findings
	for i := range c.Findings[:min(len(c.Findings), markdownFindings)] {
		f := &c.Findings[i]
		line := ""
		if f.Line > 0 {
			line = fmt.Sprint(f.Line)
		}
		row := fmt.Sprintf("| %s | %s | %s | %s |\n", markdown(slashed(f.Path)), line, markdown(f.Rule.String()), markdown(f.Text()))
		if out.Len()+len(row) > markdownBytes-100 {
			break
		}
		out.WriteString(row)
		left -= f.Count()
	}
	if left > 0 {
		fmt.Fprintf(&out, "\n… and %d more\n", left)
	}
	_, err := w.Write(out.Bytes())
	return err
}

// markdown returns a text as a cell of a table: on one line, and nothing in it means anything.
func markdown(s string) string {
	var b strings.Builder
	for _, r := range visible.Clip(visible.Text(s), markdownCell) {
		if strings.ContainsRune("\\`*_{}[]<>()#+.!|~&:@$\"^", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
