package main

import (
	"bufio"
	"fmt"
	"strings"

	"stchat/internal/plural"
	"stchat/internal/report"
	"stchat/internal/rules"
	"stchat/internal/visible"
)

// perRuleShown is how many findings of one rule the text lists of one file.
const perRuleShown = 5

// writeFindings writes the findings for a person: a paragraph a file, in it the
// rules by severity, and with each what it leads to and how it is mended.
func writeFindings(w *bufio.Writer, c *console, rep *report.Check) error {
	list := rep.Findings
	files := 0
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Path == list[0].Path {
			n++
		}
		if files++; files > 1 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, paint(c.outColor, bold, visible.Text(list[0].Path)))
		for _, severity := range [...]rules.Severity{rules.Error, rules.Warning, rules.Info} {
			writeSeverity(w, c, list[:n], severity)
		}
		list = list[n:]
	}
	if files > 0 {
		fmt.Fprintln(w)
	}
	_, err := fmt.Fprintln(w, summaryLine(rep, files))
	return err
}

// writeSeverity writes the findings of one file that have one severity, those
// of one rule together, in the order of the first of each.
func writeSeverity(w *bufio.Writer, c *console, list []rules.Finding, severity rules.Severity) {
	byRule := map[rules.ID][]*rules.Finding{}
	var order []rules.ID
	for i := range list {
		f := &list[i]
		if f.Severity != severity {
			continue
		}
		if byRule[f.Rule] == nil {
			order = append(order, f.Rule)
		}
		byRule[f.Rule] = append(byRule[f.Rule], f)
	}
	for _, id := range order {
		of := byRule[id]
		fmt.Fprintf(w, "  %s %s\n", paint(c.outColor, severityColor(severity), severity.String()), id)
		for i, f := range of {
			if i == perRuleShown {
				fmt.Fprintf(w, "      … and %d more (--format json lists them)\n", len(of)-i)
				break
			}
			fmt.Fprintf(w, "      %s%s\n", placeOf(f), visible.Text(f.Message))
		}
		for _, text := range explanations(of) {
			fmt.Fprintf(w, "    %s\n", paint(c.outColor, dim, text))
		}
	}
}

// explanations gives what the findings of one rule lead to and how they are
// mended, each text once.
func explanations(of []*rules.Finding) []string {
	var out []string
	seen := map[string]bool{}
	for _, text := range []func(*rules.Finding) string{
		func(f *rules.Finding) string { return "effect: " + f.Effect() },
		func(f *rules.Finding) string { return "mend:   " + f.Mend() },
	} {
		for _, f := range of[:min(len(of), perRuleShown)] {
			if s := text(f); !seen[s] {
				seen[s] = true
				out = append(out, s)
			}
		}
	}
	return out
}

func severityColor(s rules.Severity) string {
	switch s {
	case rules.Error:
		return red
	case rules.Warning:
		return yellow
	default:
		return cyan
	}
}

// placeOf tells where in its file a finding is.
func placeOf(f *rules.Finding) string {
	var parts []string
	if f.Index >= 0 {
		parts = append(parts, fmt.Sprintf("message %d", f.Index))
	}
	if f.Line > 0 {
		at := fmt.Sprintf("line %d", f.Line)
		if f.Column > 0 {
			at += fmt.Sprintf(":%d", f.Column)
		}
		parts = append(parts, at)
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + ": "
}

// summaryLine counts what was found.
func summaryLine(rep *report.Check, files int) string {
	s := report.Sum(len(rep.Chats), rep.Findings)
	chats := plural.S(s.Chats, "chat") + " checked"
	if s.Findings == 0 {
		return chats + ", nothing found"
	}
	var parts []string
	for _, count := range []struct {
		n    int
		word string
	}{{s.Errors, "error"}, {s.Warnings, "warning"}, {s.Infos, "info"}} {
		if count.n > 0 {
			parts = append(parts, plural.S(count.n, count.word))
		}
	}
	return fmt.Sprintf("%s: %s in %s", chats, strings.Join(parts, ", "), plural.S(files, "file"))
}
