package main

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"stchat/internal/plural"
	"stchat/internal/report"
	"stchat/internal/rules"
	"stchat/internal/visible"
)

// filesShown is how many files with a rule's findings the text lists, unless it
// is to be verbose.
const filesShown = 10

// writeFindings writes the findings for a person: a paragraph a file with its
// findings by severity, then once for each rule what it leads to and how it is
// mended, then the command that mends. What repeats is counted: of a rule the
// first finding in a file is shown, and files in which every rule was shown often
// enough are left out. verbose shows all.
func writeFindings(w *bufio.Writer, c *console, rep *report.Check, paths []string, verbose bool) error {
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
				writeSeverity(w, c, list[:n], severity, verbose)
			}
			fmt.Fprintln(w)
		} else {
			left++
		}
		list = list[n:]
	}
	if left > 0 {
		fmt.Fprintf(w, "… and %s with findings of the same rules; --verbose shows all\n\n", plural.S(left, "file"))
	}
	explainRules(w, c, rep.Findings, paths)
	_, err := fmt.Fprintln(w, summaryLine(rep, files))
	return err
}

// shownEnough reports whether every rule with a finding in the list was seen in
// filesShown files before, and counts them where not.
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

// writeSeverity writes the findings of one file that have one severity, those
// of one rule together, in the order of the first of each.
func writeSeverity(w *bufio.Writer, c *console, list []rules.Finding, severity rules.Severity, verbose bool) {
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
			if f.More > 0 { // it stands for findings that nobody kept
				fmt.Fprintf(w, "      … and %d more\n", f.More)
				continue
			}
			fmt.Fprintf(w, "      %s%s\n", placeOf(f), visible.Text(f.Message))
		}
	}
}

// mendsShown is how many ways of mending one rule are told: some name files.
const mendsShown = 3

// explainRules tells once for each rule what its findings lead to and how they
// are mended, and at the end how repair is called.
func explainRules(w *bufio.Writer, c *console, list []rules.Finding, paths []string) {
	type texts struct {
		effects, mends  []string
		findings, files int
		last            string // file
	}
	byRule := map[rules.ID]*texts{}
	var order []rules.ID
	var onOrder []string
	mended := false
	for i := range list {
		f := &list[i]
		t := byRule[f.Rule]
		if t == nil {
			t = &texts{}
			byRule[f.Rule] = t
			order = append(order, f.Rule)
		}
		t.findings += f.Count()
		if t.files == 0 || t.last != f.Path {
			t.files++
			t.last = f.Path
		}
		if s := f.Effect(); !slices.Contains(t.effects, s) && len(t.effects) < mendsShown {
			t.effects = append(t.effects, s)
		}
		if s := mendText(f); !slices.Contains(t.mends, s) && len(t.mends) < mendsShown {
			t.mends = append(t.mends, s)
		}
		switch {
		case f.ByHand():
		case f.Rule.Rule().Mending == rules.Mended:
			mended = true
		case !slices.Contains(onOrder, f.Rule.String()):
			onOrder = append(onOrder, f.Rule.String())
		}
	}
	for _, id := range order {
		title := paint(c.outColor, bold, id.String())
		if t := byRule[id]; t.findings > 1 {
			title += fmt.Sprintf(": %d findings in %s", t.findings, plural.S(t.files, "file"))
		}
		fmt.Fprintln(w, title)
		for _, s := range byRule[id].effects {
			fmt.Fprintf(w, "  %s\n", paint(c.outColor, dim, "effect: "+visible.Text(s)))
		}
		for _, s := range byRule[id].mends {
			fmt.Fprintf(w, "  %s\n", paint(c.outColor, dim, "fix:    "+visible.Text(s)))
		}
	}
	if len(order) > 0 {
		fmt.Fprintln(w)
	}
	all := "the same paths"
	if len(paths) <= mendsShown {
		all = visible.Args(paths...)
	}
	if mended {
		fmt.Fprintf(w, "to see what repair would change: stchat repair %s\n", all)
	}
	for _, rule := range onOrder {
		fmt.Fprintf(w, "only when asked for: stchat repair --rule %s %s\n", rule, all)
	}
}

// mendText tells how a finding is mended; how repair is called is told once, for all.
func mendText(f *rules.Finding) string {
	if command := mendCommand(f); command != "" && f.ByHand() {
		return f.Mend() + ": " + command
	}
	return f.Mend()
}

// mendCommand is the command that mends a finding; "" where none does.
func mendCommand(f *rules.Finding) string {
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
