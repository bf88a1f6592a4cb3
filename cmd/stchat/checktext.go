package main

import (
	"fmt"
	"slices"
	"strings"

	"stchat/internal/folder/rules"
	"stchat/internal/show/report"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

// filesShown is how many files with a rule's findings the text lists without
// --verbose.
const filesShown = 10

// writeFindings writes the findings as text for a pipe or a file: a paragraph for each file with its
// findings by severity, then for each rule its effect and its fix, then the commands
// that fix. Files of which there is but the same to say as a whole have a line each in
// one paragraph. Repeated findings are counted: only a rule's first finding in a file is
// shown, and files in which every rule was shown often enough are left out. verbose
// shows all.
func writeFindings(c *console, rep *report.Check, paths []string, verbose bool) {
	w := c.w
	files, left := 0, 0
	seen := map[rules.ID]int{} // files shown with the rule
	for list := rep.Findings; len(list) > 0; {
		n := countAlike(list)
		if n > 1 {
			var shown []rules.Finding
			for i := range n {
				if verbose || !shownEnough(list[i:i+1], seen) {
					shown = append(shown, list[i])
				}
			}
			writeAlike(c, shown, n)
			files += n
			left += n - len(shown)
			list = list[n:]
			continue
		}

		n = countOfFile(list)
		if verbose || !shownEnough(list[:n], seen) {
			fmt.Fprintln(w, paint(c.outColor, bold, visible.Text(list[0].Path)))
			for _, severity := range [...]rules.Severity{rules.Error, rules.Warning, rules.Info} {
				writeSeverity(c, list[:n], severity, verbose)
			}
			fmt.Fprintln(w)
		} else {
			left++
		}
		files++
		list = list[n:]
	}
	if left > 0 {
		fmt.Fprintf(w, "%s\n\n", c.prose(fmt.Sprintf("%s and %s with findings of the same rules; --verbose shows all", c.sign("…"), c.many(left, "file")), ""))
	}
	if verbose && len(rep.Gone) > 0 {
		writeGone(c, rep.Gone)
		fmt.Fprintln(w)
	}
	explainRules(c, rep.Findings, paths)
	if saysVerdict(c, rep) {
		fmt.Fprintln(w, c.prose(summaryLine(c, rep, files), ""))
	}
}

// saysVerdict reports whether the counts are worth a line: not where errors say it all, nor where nothing
// was found and --quiet asks for silence.
func saysVerdict(c *console, rep *report.Check) bool {
	if len(rep.Findings) > 0 {
		return true
	}
	errorsSayAll := len(rep.Chats) == 0 && len(rep.Errs) > 0
	return !errorsSayAll && !c.quiet
}

// countOfFile returns the number of findings at the beginning of the list that are about one file.
func countOfFile(list []rules.Finding) int {
	n := slices.IndexFunc(list, func(f rules.Finding) bool { return f.Path != list[0].Path })
	if n < 0 {
		return len(list)
	}
	return n
}

// countAlike returns the number of findings at the beginning of the list that are of one rule and
// severity, each about another file or folder as a whole, of which there is nothing else to say.
func countAlike(list []rules.Finding) int {
	n := 0
	for n < len(list) && countOfFile(list[n:]) == 1 {
		f, first := &list[n], &list[0]
		isWhole := f.Line == 0 && f.More == 0
		if !isWhole || f.Rule != first.Rule || f.Severity != first.Severity {
			break
		}
		n++
	}
	return n
}

// writeAlike writes some of n findings of one rule, each in a line with its file or folder.
func writeAlike(c *console, list []rules.Finding, n int) {
	if len(list) == 0 {
		return
	}
	writeRule(c, list[0].Rule, list[0].Severity, n)
	for i := range list {
		fmt.Fprintln(c.w, c.prose(visible.Text(list[i].Path)+": "+c.excerpt(list[i].Message), "      "))
	}
	fmt.Fprintln(c.w)
}

// writeRule writes the head of findings of one rule.
func writeRule(c *console, id rules.ID, severity rules.Severity, n int) {
	about := c.prose(severity.String()+" "+id.String()+when(n > 1, fmt.Sprintf(", %d times", n)), "  ")
	fmt.Fprintln(c.w, strings.Replace(about, severity.String(), paint(c.outColor, severityColor(severity), severity.String()), 1))
}

// shownEnough reports whether every rule with a finding in the list was already shown
// in filesShown files. If not, it counts this file for each of them.
func shownEnough(list []rules.Finding, seen map[rules.ID]int) bool {
	if !slices.ContainsFunc(list, func(f rules.Finding) bool { return seen[f.Rule] < filesShown }) {
		return true
	}
	here := map[rules.ID]bool{}
	for _, f := range list {
		if !here[f.Rule] {
			here[f.Rule] = true
			seen[f.Rule]++
		}
	}
	return false
}

// writeSeverity writes the findings of one file with one severity, grouped by rule in
// the order in which the rules first appear.
func writeSeverity(c *console, list []rules.Finding, severity rules.Severity, verbose bool) {
	w := c.w
	var byRule groups[rules.ID, *rules.Finding]
	for i := range list {
		if f := &list[i]; f.Severity == severity {
			byRule.add(f.Rule, f)
		}
	}
	for _, id := range byRule.keys {
		all := 0
		for _, f := range byRule.of[id] {
			all += f.Count()
		}
		writeRule(c, id, severity, all)
		for i, f := range byRule.of[id] {
			if i > 0 && !verbose {
				break
			}
			if f.More > 0 { // it stands for findings that were only counted
				fmt.Fprintf(w, "      %s and %d more\n", c.sign("…"), f.More)
				continue
			}
			fmt.Fprintln(w, c.prose(whereText(f)+c.excerpt(f.Message), "      "))
		}
	}
}

// repairsShown is how many effects and how many fixes are shown for one rule, as some
// name files, and how many paths the repair commands repeat.
const repairsShown = 3

// foundRules is what a list of findings says of their rules.
type foundRules struct {
	findings  groups[rules.ID, *rules.Finding]
	repaired  bool     // repair mends one of the findings without being asked for its rule
	onRequest []string // the rules that repair mends only when asked for them
}

func rulesOf(list []rules.Finding) foundRules {
	var found foundRules
	for i := range list {
		f := &list[i]
		found.findings.add(f.Rule, f)
		switch {
		case f.ByHand():
		case f.Rule.Rule().Repairing == rules.Repaired:
			found.repaired = true
		case !slices.Contains(found.onRequest, f.Rule.String()):
			found.onRequest = append(found.onRequest, f.Rule.String())
		}
	}
	return found
}

// explainRules writes the effects and fixes of each rule once, and then the repair commands.
func explainRules(c *console, list []rules.Finding, paths []string) {
	found := rulesOf(list)
	for _, id := range found.findings.keys {
		var effects, repairs []string
		findings := 0
		files := 0
		last := ""
		for i, f := range found.findings.of[id] {
			findings += f.Count()
			if i == 0 || last != f.Path {
				files, last = files+1, f.Path
			}
			if s := f.Effect(); len(effects) < repairsShown && !slices.Contains(effects, s) {
				effects = append(effects, s)
			}
			s, command := f.Repair(), repairCommand(f)
			if s += when(command != "" && f.ByHand(), ": "+command); len(repairs) < repairsShown && !slices.Contains(repairs, s) {
				repairs = append(repairs, s) // the command repair is shown once for all
			}
		}
		fmt.Fprintln(c.w, paint(c.outColor, bold, id.String())+when(findings > 1, fmt.Sprintf(": %d findings in %s", findings, plural.S(files, either(id == rules.FolderWithoutCard, "folder", "file")))))
		for _, s := range effects {
			explain(c, "effect: ", s)
		}
		for _, s := range repairs {
			explain(c, "fix:    ", s)
		}
	}
	if len(list) > 0 {
		fmt.Fprintln(c.w)
	}
	all := either(len(paths) <= repairsShown, visible.Args(paths...), "the same paths")
	if found.repaired {
		c.whole("to see what repair would change:", "stchat repair "+all)
	}
	for _, rule := range found.onRequest {
		c.whole("on request:", "stchat repair --rule "+rule+" "+all)
	}
}

// explain writes what is said about a rule, for a person wrapped.
func explain(c *console, label, text string) {
	before := strings.ReplaceAll(label, " ", "\u00a0") // no line breaks there
	text = strings.Replace(c.prose(before+c.excerpt(text), "  "), before, label, 1)
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintln(c.w, paint(c.outColor, dim, line))
	}
}

// repairCommand returns the command that fixes a finding, "" if there is none.
func repairCommand(f *rules.Finding) string {
	switch {
	case !f.ByHand():
		return fmt.Sprintf("stchat repair --rule %s %s", f.Rule, visible.Args(f.Path))
	case f.Rule == rules.LorebookSharedState:
		return "stchat clone-lorebook --rebind " + visible.Args(f.Path)
	}
	return ""
}

func severityColor(s rules.Severity) string {
	return map[rules.Severity]string{rules.Error: red, rules.Warning: yellow, rules.Info: cyan}[s]
}

// whereText returns where in its file a finding is, as the start of a line.
func whereText(f *rules.Finding) string {
	line := fmt.Sprintf("line %d", f.Line) + when(f.Column > 0, fmt.Sprintf(":%d", f.Column))
	place := joined(", ", when(f.Index >= 0, fmt.Sprintf("message %d", f.Index)), when(f.Line > 0, line))
	return place + when(place != "", ": ")
}

// summaryLine returns the counts of what was checked and found.
func summaryLine(c *console, rep *report.Check, files int) string {
	gone := when(len(rep.Gone) > 0, "; "+goneLine(c, rep.Gone))
	s := report.Sum(len(rep.Chats), rep.Findings)
	chats := c.many(s.Chats, "chat") + " checked"
	switch {
	case s.Findings == 0 && rep.Known > 0:
		return chats + ", nothing new; " + c.many(rep.Known, "known finding") + gone
	case s.Findings == 0 && len(rep.Errs) > 0:
		return chats + gone
	case s.Findings == 0:
		return chats + ", nothing found" + gone
	}
	counts := joined(", ", c.some(s.Errors, "error"), c.some(s.Warnings, "warning"), c.some(s.Infos, "info"))
	return fmt.Sprintf("%s: %s in %s", chats, counts, c.many(files, "file")) + when(rep.Known > 0, "; "+c.many(rep.Known, "known finding")) + gone
}

// goneLine counts what a baseline has and was not found.
func goneLine(c *console, list []report.Gone) string {
	n := 0
	for _, g := range list {
		n += g.Count
	}
	return c.many(n, "finding") + " in the baseline no longer found"
}

// writeGone writes what a baseline has and was not found.
func writeGone(c *console, list []report.Gone) {
	fmt.Fprintln(c.w, c.prose("in the baseline, no longer found:", ""))
	for _, g := range list {
		fmt.Fprintln(c.w, c.prose(goneText(c, g), "  "))
	}
}

// goneText tells a finding of a baseline that was not found.
func goneText(c *console, g report.Gone) string {
	text := visible.Text(g.Place) + ": " + visible.Text(g.Rule) + ": " + c.excerpt(g.Message)
	if g.Count > 1 {
		text += fmt.Sprintf(", %d times", g.Count)
	}
	return text
}
