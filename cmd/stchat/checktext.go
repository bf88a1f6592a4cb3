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
	text := severity.String() + " " + id.String()
	if n > 1 {
		text += fmt.Sprintf(", %d times", n)
	}
	text = c.prose(text, "  ")
	fmt.Fprintln(c.w, strings.Replace(text, severity.String(), paint(c.outColor, severityColor(severity), severity.String()), 1))
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
		explainRule(c, id, found.findings.of[id])
	}
	if len(list) > 0 {
		fmt.Fprintln(c.w)
	}

	all := "the same paths"
	if len(paths) <= repairsShown {
		all = visible.Args(paths...)
	}
	if found.repaired {
		c.whole("to see what repair would change:", "stchat repair "+all)
	}
	for _, rule := range found.onRequest {
		c.whole("on request:", "stchat repair --rule "+rule+" "+all)
	}
}

// explainRule writes how often a rule found something, what that does, and how to fix it.
func explainRule(c *console, id rules.ID, findings []*rules.Finding) {
	fmt.Fprintln(c.w, paint(c.outColor, bold, id.String())+findingCount(id, findings))
	var effects, repairs []string
	for _, f := range findings {
		effects = addNew(effects, f.Effect())
		repairs = addNew(repairs, fixText(f))
	}

	for _, s := range effects {
		explain(c, "effect: ", s)
	}
	for _, s := range repairs {
		explain(c, "fix:    ", s)
	}
}

// findingCount returns how many findings of a rule are in how many files, "" for a single one.
func findingCount(id rules.ID, findings []*rules.Finding) string {
	n := 0
	files := 0
	last := ""
	for i, f := range findings {
		n += f.Count()
		if i == 0 || last != f.Path {
			files++
			last = f.Path
		}
	}

	if n <= 1 {
		return ""
	}
	noun := "file"
	if id == rules.FolderWithoutCard {
		noun = "folder"
	}
	return fmt.Sprintf(": %d findings in %s", n, plural.S(files, noun))
}

// addNew adds a text that the list does not have yet, unless enough are shown.
func addNew(list []string, text string) []string {
	if len(list) >= repairsShown || slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// fixText returns how a finding is fixed, with the command for it unless that is repair, which is shown
// once for all.
func fixText(f *rules.Finding) string {
	text := f.Repair()
	if command := repairCommand(f); f.ByHand() && command != "" {
		text += ": " + command
	}
	return text
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
	var place []string
	if f.Index >= 0 {
		place = append(place, fmt.Sprintf("message %d", f.Index))
	}
	if f.Line > 0 {
		line := fmt.Sprintf("line %d", f.Line)
		if f.Column > 0 {
			line += fmt.Sprintf(":%d", f.Column)
		}
		place = append(place, line)
	}

	if len(place) == 0 {
		return ""
	}
	return strings.Join(place, ", ") + ": "
}

// summaryLine returns the counts of what was checked and found.
func summaryLine(c *console, rep *report.Check, files int) string {
	s := report.Sum(len(rep.Chats), rep.Findings)
	text := c.many(s.Chats, "chat") + " checked"
	switch {
	case s.Findings > 0:
		text += fmt.Sprintf(": %s in %s", severityCounts(c, s), c.many(files, "file"))
	case rep.Known > 0:
		text += ", nothing new"
	case len(rep.Errs) == 0:
		text += ", nothing found"
	}

	if rep.Known > 0 {
		text += "; " + c.many(rep.Known, "known finding")
	}
	if len(rep.Gone) > 0 {
		text += "; " + goneLine(c, rep.Gone)
	}
	return text
}

// severityCounts counts the findings of each severity that there are any of.
func severityCounts(c *console, s report.Summary) string {
	var counts []string
	if s.Errors > 0 {
		counts = append(counts, c.many(s.Errors, "error"))
	}
	if s.Warnings > 0 {
		counts = append(counts, c.many(s.Warnings, "warning"))
	}
	if s.Infos > 0 {
		counts = append(counts, c.many(s.Infos, "info"))
	}
	return strings.Join(counts, ", ")
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
