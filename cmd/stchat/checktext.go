package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stchat/internal/grid"
	"stchat/internal/plural"
	"stchat/internal/report"
	"stchat/internal/rules"
	"stchat/internal/visible"
)

// filesShown is how many files with a rule's findings the text lists without
// --verbose.
const filesShown = 10

// writeFindings writes the findings for a person: a paragraph for each file with its
// findings by severity, then for each rule its effect and its fix, then the commands
// that fix. Repeated findings are counted: only a rule's first finding in a file is
// shown, and files in which every rule was shown often enough are left out. verbose
// shows all.
func writeFindings(c *console, rep *report.Check, paths []string, verbose bool) {
	w := c.w
	files, left := 0, 0
	seen := map[rules.ID]int{} // files shown with the rule
	for list := rep.Findings; len(list) > 0; files++ {
		n := 1
		for n < len(list) && list[n].Path == list[0].Path {
			n++
		}
		if verbose || !shownEnough(list[:n], seen) {
			fmt.Fprintln(w, paint(c.outColor, bold, visible.Text(list[0].Path)))
			for _, severity := range [...]rules.Severity{rules.Error, rules.Warning, rules.Info} {
				writeSeverity(c, list[:n], severity, verbose)
			}
			fmt.Fprintln(w)
		} else {
			left++
		}
		list = list[n:]
	}
	if left > 0 {
		fmt.Fprintf(w, "%s\n\n", c.prose(fmt.Sprintf("%s and %s with findings of the same rules; --verbose shows all", c.sign("…"), plural.S(left, "file")), 0))
	}
	counts := explainRules(c, rep.Findings, paths)
	if c.shown && len(counts.Rows) > 0 {
		fmt.Fprintln(w)
		c.table(counts)
	}
	if len(rep.Chats) > 0 || len(rep.Findings) > 0 || len(rep.Errs) == 0 { // else the errors say it all
		fmt.Fprintln(w, c.prose(summaryLine(rep, files), 0))
	}
}

// shownEnough reports whether every rule with a finding in the list was already shown
// in filesShown files. If not, it counts this file for each of them.
func shownEnough(list []rules.Finding, seen map[rules.ID]int) bool {
	here := map[rules.ID]bool{}
	enough := true
	for i := range list {
		here[list[i].Rule] = true
		enough = enough && seen[list[i].Rule] >= filesShown
	}
	if !enough {
		for id := range here {
			seen[id]++
		}
	}
	return enough
}

// writeSeverity writes the findings of one file with one severity, grouped by rule in
// the order in which the rules first appear.
func writeSeverity(c *console, list []rules.Finding, severity rules.Severity, verbose bool) {
	w := c.w
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
		all := 0
		for _, f := range byRule[id] {
			all += f.Count()
		}
		times := ""
		if all > 1 {
			times = fmt.Sprintf(", %d times", all)
		}
		fmt.Fprintf(w, "  %s %s%s\n", paint(c.outColor, severityColor(severity), severity.String()), id, times)
		for i, f := range byRule[id] {
			if i > 0 && !verbose {
				break
			}
			if f.More > 0 { // it stands for findings that were only counted
				fmt.Fprintf(w, "      %s and %d more\n", c.sign("…"), f.More)
				continue
			}
			text := c.prose(placeOf(f)+visible.Text(f.Message), 6)
			fmt.Fprintf(w, "      %s\n", strings.ReplaceAll(text, "\n", "\n      "))
		}
	}
}

// repairsShown is how many effects and how many fixes are shown for one rule, as some
// name files, and how many paths the repair commands repeat.
const repairsShown = 3

// explainRules writes the effects and fixes of each rule once, and then the repair commands. It
// returns a table of how often each rule found something.
func explainRules(c *console, list []rules.Finding, paths []string) *grid.Table {
	type texts struct {
		effects, repairs []string
		findings, files  int
		last             string // file
		severity         rules.Severity
	}
	byRule := map[rules.ID]*texts{}
	var order []rules.ID
	var onOrder []string
	repaired := false
	for i := range list {
		f := &list[i]
		t := byRule[f.Rule]
		if t == nil {
			t = &texts{severity: f.Severity}
			byRule[f.Rule] = t
			order = append(order, f.Rule)
		}
		t.findings += f.Count()
		if t.files == 0 || t.last != f.Path {
			t.files++
			t.last = f.Path
		}
		if s := f.Effect(); !slices.Contains(t.effects, s) && len(t.effects) < repairsShown {
			t.effects = append(t.effects, s)
		}
		if s := repairText(f); !slices.Contains(t.repairs, s) && len(t.repairs) < repairsShown {
			t.repairs = append(t.repairs, s)
		}
		switch {
		case f.ByHand():
		case f.Rule.Rule().Repairing == rules.Repaired:
			repaired = true
		case !slices.Contains(onOrder, f.Rule.String()):
			onOrder = append(onOrder, f.Rule.String())
		}
	}
	counts := &grid.Table{Columns: []grid.Column{{Title: "rule", Name: true}, {Title: "severity"}, {Title: "findings", Right: true, Code: green}, {Title: "files", Right: true, Code: green}}}
	for _, id := range order {
		title, t := paint(c.outColor, bold, id.String()), byRule[id]
		counts.Rows = append(counts.Rows, grid.Row{
			Cells: []string{id.String(), t.severity.String(), strconv.Itoa(t.findings), strconv.Itoa(t.files)}, Codes: []string{"", severityColor(t.severity)},
		})
		if t.findings > 1 && !c.shown {
			title += fmt.Sprintf(": %d findings in %s", t.findings, plural.S(t.files, "file"))
		}
		fmt.Fprintln(c.w, title)
		for _, s := range t.effects {
			explain(c, "effect: ", s)
		}
		for _, s := range t.repairs {
			explain(c, "fix:    ", s)
		}
	}
	if len(order) > 0 {
		fmt.Fprintln(c.w)
	}
	all := "the same paths"
	if len(paths) <= repairsShown {
		all = visible.Args(paths...)
	}
	suggest := func(what, command string) {
		between := " "
		if c.shown && visible.Width(what+between+command) > cmp.Or(c.Width, unknownWidth) {
			between = "\n  " // whole, to be copied
		}
		fmt.Fprintln(c.w, what+between+command)
	}
	if repaired {
		suggest("to see what repair would change:", "stchat repair "+all)
	}
	for _, rule := range onOrder {
		suggest("only when asked for:", "stchat repair --rule "+rule+" "+all)
	}
	return counts
}

// explain writes what is said about a rule, for a person wrapped.
func explain(c *console, label, text string) {
	for line := range strings.SplitSeq(label+c.prose(visible.Text(text), 2+len(label)), "\n") {
		fmt.Fprintf(c.w, "  %s\n", paint(c.outColor, dim, line))
	}
}

// repairText returns how a finding is fixed, with the command unless it is repair, which
// explainRules shows once for all.
func repairText(f *rules.Finding) string {
	if command := repairCommand(f); command != "" && f.ByHand() {
		return f.Repair() + ": " + command
	}
	return f.Repair()
}

// repairCommand returns the command that fixes a finding, "" if there is none.
func repairCommand(f *rules.Finding) string {
	switch {
	case !f.ByHand():
		return fmt.Sprintf("stchat repair --write --rule %s %s", f.Rule, visible.Args(f.Path))
	case f.Rule == rules.LorebookSharedState:
		return fmt.Sprintf("stchat clone-lorebook --rebind %s %s", visible.Quote(f.Path), visible.Args(f.Path))
	}
	return ""
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

// placeOf returns where in its file a finding is, as the start of a line.
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

// summaryLine returns the counts of what was checked and found.
func summaryLine(rep *report.Check, files int) string {
	s := report.Sum(len(rep.Chats), rep.Findings)
	chats := plural.S(s.Chats, "chat") + " checked"
	switch {
	case s.Findings == 0 && rep.Known > 0:
		return chats + ", nothing new; " + plural.S(rep.Known, "known finding")
	case s.Findings == 0 && len(rep.Errs) > 0:
		return chats
	case s.Findings == 0:
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
	sum := fmt.Sprintf("%s: %s in %s", chats, strings.Join(parts, ", "), plural.S(files, "file"))
	if rep.Known > 0 {
		sum += "; " + plural.S(rep.Known, "known finding")
	}
	return sum
}
