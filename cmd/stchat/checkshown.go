package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/folder/rules"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/show/grid"
	"stchat/internal/show/report"
	"stchat/internal/text/lazyregexp"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

// findingLines is how many lines of findings a person sees without --verbose.
const findingLines = 40

// showFindings tells a person what was found: the verdict, a line a finding by owner and chat, those of
// a chat with the worst first, what each rule means once, and one command.
func showFindings(c *console, rep *report.Check, paths []string) {
	files := map[string]bool{}
	for _, f := range rep.Findings {
		files[f.Path] = true
	}
	if saysVerdict(c, rep) {
		c.title(verdict(c, rep, files))
	}
	if c.verbose && len(rep.Gone) > 0 {
		writeGone(c, rep.Gone)
	}
	if len(rep.Findings) == 0 {
		return
	}

	list := slices.Clone(rep.Findings)
	slices.SortStableFunc(list, func(a, b rules.Finding) int {
		return cmp.Or(cmp.Compare(filepath.Dir(a.Path), filepath.Dir(b.Path)), cmp.Compare(a.Path, b.Path), cmp.Compare(b.Severity, a.Severity))
	})
	sc := newScreen(c, 0)
	t := findingTable(c, list)
	left := 0
	if !c.verbose {
		left = cutTable(&sc, t, list)
	}

	fmt.Fprintln(c.w)
	sc.table(t)
	if left > 0 {
		fmt.Fprintln(c.w, paint(c.outColor, dim, "and "+plural.Grouped(left)+" more (-v)"))
	}
	fmt.Fprintln(c.w)
	showRules(c, list, paths)
}

// findingTable returns a row for each finding, below the name of its owner.
func findingTable(c *console, list []rules.Finding) *grid.Table {
	t := &grid.Table{Columns: []grid.Column{{Name: true, Code: cyan}, {}, {Wrap: true}}}
	nameWidth := max(min(cmp.Or(c.Width, unknownWidth)/3, 32), 8)
	dir, owner := "", ""
	file := ""
	for _, f := range list {
		if in := filepath.Dir(f.Path); in != dir {
			dir = in
			owner = filepath.Base(absolute(dir))
			t.Rows = append(t.Rows, grid.Row{Heading: visible.Text(owner)})
		}
		name := ""
		if f.Path != file {
			file = f.Path
			name = findingName(f.Path)
		}
		text := f.Rule.String() + ": " + whereText(&f) + shortQuoted(owner, f.Message)
		if f.More > 0 {
			text = f.Rule.String() + ": " + plural.Grouped(f.More) + " more"
		}
		name = visible.CutLeft(visible.Text(name), nameWidth, c.sign("…"))
		t.Rows = append(t.Rows, grid.Row{Cells: []string{name, f.Severity.String(), c.excerpt(text)}, Codes: []string{"", severityColor(f.Severity)}})
	}
	return t
}

// cutTable takes the last rows from a table of findings until it has no more lines than a person sees, and
// returns how many findings these are.
func cutTable(s *screen, t *grid.Table, list []rules.Finding) (left int) {
	rows := t.Rows
	if len(rows) > findingLines {
		t.Rows = rows[:findingLines]
	}
	for len(t.Rows) > 1 && len(s.tableLines(t)) > findingLines {
		t.Rows = t.Rows[:len(t.Rows)-1]
	}

	cut := rows[len(t.Rows):]
	isHeading := func(r grid.Row) bool { return r.Heading != "" }
	findings := len(cut)
	for _, r := range cut {
		if isHeading(r) {
			findings--
		}
	}
	for _, f := range list[len(list)-findings:] {
		left += f.Count()
	}
	if last := len(t.Rows) - 1; isHeading(t.Rows[last]) { // of which nothing is left
		t.Rows = t.Rows[:last]
	}
	return left
}

// quotedName finds a name in the message of a finding.
var quotedName = lazyregexp.New(`"[^"]+"`)

// shortQuoted returns a message with the chats that it names called as tables call them.
func shortQuoted(owner, message string) string {
	return quotedName().ReplaceAllStringFunc(message, func(quoted string) string {
		name := strings.Trim(quoted, `"`)
		return `"` + names.Short(owner, name) + `"`
	})
}

// verdict says what was found in how many of the chats.
func verdict(c *console, rep *report.Check, files map[string]bool) string {
	if len(rep.Findings) == 0 {
		return summaryLine(c, rep, 0)
	}
	s := report.Sum(len(rep.Chats), rep.Findings)
	counts := severityCounts(c, s)
	onlyChats := true
	for path := range files {
		onlyChats = onlyChats && userdir.HasExtension(path)
	}
	where := fmt.Sprintf("%s in %s, %s checked", counts, c.many(len(files), "file"), c.many(s.Chats, "chat"))
	if onlyChats && len(files) <= s.Chats {
		where = fmt.Sprintf("%s in %s of %s", counts, c.number(len(files)), c.many(s.Chats, "chat"))
	}
	if rep.Known > 0 {
		where += "; " + c.many(rep.Known, "known finding")
	}
	if len(rep.Gone) > 0 {
		where += "; " + goneLine(c, rep.Gone)
	}
	return where
}

// findingName is how a person knows a file.
func findingName(path string) string {
	if userdir.HasExtension(path) {
		return nameOf(path)
	}
	return filepath.Base(path)
}

// showRules tells once what each rule that found something means, and names the command that fixes.
func showRules(c *console, list []rules.Finding, paths []string) {
	found := rulesOf(list)
	byHand := "" // a command for what repair leaves alone
	for _, id := range found.findings.keys {
		f := found.findings.of[id][0]
		explain(c, "", id.String()+": "+f.Effect())
		if f.ByHand() {
			explain(c, "  ", f.Repair())
		}
		command := repairCommand(f)
		if !f.ByHand() || command == "" {
			continue
		}
		byHand = cmp.Or(byHand, command)
		if c.verbose {
			c.whole("  as here:", command)
		}
	}

	where := ""
	if len(paths) > 0 && len(paths) <= repairsShown {
		where = " " + visible.Args(paths...)
	}
	fmt.Fprintln(c.w)
	switch {
	case found.repaired:
		c.whole("to fix what can be fixed:", "stchat repair"+where)
	case len(found.onRequest) > 0:
		c.whole("on request:", "stchat repair --rule "+found.onRequest[0]+where)
	case byHand != "":
		c.whole("for the first of them:", byHand)
	default:
		c.line(c.prose("no command fixes these; 'stchat check --list-rules' says more", ""))
	}
}
