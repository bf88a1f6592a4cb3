package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/change/safefile"
	"stchat/internal/folder/rules"
	"stchat/internal/ops"
	"stchat/internal/ops/repair"
	"stchat/internal/place/userdir"
	"stchat/internal/show/grid"
	"stchat/internal/show/report"
	"stchat/internal/text/plural"
)

func newCheck() verb {
	o := &checkOptions{}
	return verb{
		use: "check [PATH...]", short: "Find problems in chats and explain the fix",
		doc: `Find problems in chats, and explain what SillyTavern or an extension does
because of them and how to fix them. Nothing is written. Each chat is judged
with its neighbours. A baseline is the JSON of an earlier check: what it has is
left out, so that only new findings count. A .jsonl file that is no chat is left
alone.
`, no: "a finding reaches --severity",
		also: "repair, inspect",
		example: `  stchat check Mira/Harbour
  stchat check SillyTavern/data/default-user --severity warning
  stchat check chats --baseline known.jsonl --format github`,
		args: func(cmd *cobra.Command, args []string) error {
			if o.listRules {
				return cobra.NoArgs(cmd, args)
			}
			return nil
		},
		rules:   []string{"format excludes json"},
		means:   reads(),
		pages:   everything,
		options: o,
	}
}

type checkOptions struct {
	listFlags
	format, baseline string
	severity         string // the least that fails
	choose, ignore   []rules.ID
	listRules        bool
}

func (o *checkOptions) addFlags(fs *pflag.FlagSet) {
	o.listFlags.addFlags(fs)
	fs.Var(oneOf(&o.format, "text", "text", "json", "sarif", "github", "junit"), "format", "`FORMAT` of the report: text, json, sarif (2.1.0), github (annotations) or junit")
	fs.Var(ruleWords(&o.choose), "rule", "report only the findings of `RULE` (repeatable)")
	fs.Var(ruleWords(&o.ignore), "ignore", "leave the findings of `RULE` out (repeatable)")
	fs.Var(oneOf(&o.severity, "error", "error", "warning", "info"), "severity", "exit 1 from this `SEVERITY` on: error, warning or info")
	fs.Var(notEmptyText(&o.baseline), "baseline", "report only what `FILE`, the JSON output of an earlier check, does not have")
	fs.BoolVar(&o.listRules, "list-rules", false, "list the rules and what they find")
}

func (o *checkOptions) run(ctx context.Context, c *console, _ *pflag.FlagSet, args []string) (err error) {
	if c.json {
		o.format = "json"
	}
	if o.listRules {
		return o.runList(c)
	}
	fail, _ := rules.ParseSeverity(o.severity) // the flags take no other words
	opt := repair.CheckOptions{Now: c.Now()}
	if opt.List, err = o.folders(ctx, c, args, nameFolder("check")); err != nil {
		return err
	}
	opt.Select, opt.Ignore = o.choose, o.ignore
	var baseline *report.Baseline
	if o.baseline != "" {
		data, _, err := safefile.Read(o.baseline)
		if err != nil {
			return fmt.Errorf("--baseline: %w", ops.PathError(err))
		}
		if baseline, err = report.ReadBaseline(data); err != nil {
			return fmt.Errorf("%s:%w; a baseline is what 'stchat check --json' wrote", o.baseline, err)
		}
	}

	end := c.meter("checking", false, &opt.Meter)
	res, err := repair.Check(ctx, opt)
	end()
	if err != nil {
		c.work.count(opt.Meter)
		return err
	}
	v := readVersion()
	rep := &report.Check{Chats: res.Chats, Findings: res.Findings, Fail: fail, Version: v.Version, Home: v.home, Command: repairCommand, InTree: inWorkTree()}
	if baseline != nil {
		rep.Gone = baseline.Gone(res.Findings, report.Scope{Chats: res.Chats, Folders: res.Folders, Whole: res.Whole, LeftOut: opt.LeftOut})
	}
	for _, err := range res.Errs {
		rep.Errs = append(rep.Errs, err)
		if o.format == "json" {
			c.document(c.documentOf(err.Path, err))
		}
	}

	if baseline != nil {
		rep.Findings, rep.Known = baseline.New(res.Findings)
	}
	paths := slices.DeleteFunc(slices.Clone(opt.List.Paths), func(path string) bool { // repair refuses them
		return slices.Contains(res.Others, path) || slices.ContainsFunc(res.Errs, func(e *ops.SourceError) bool { return e.Path == path })
	})
	if err := o.write(c, rep, paths); err != nil {
		return err
	}
	c.flush()
	for _, err := range res.Errs {
		c.fail(err)
	}
	if n := len(res.Others); n > 0 {
		c.note("%s left alone", otherFiles(n))
	}
	if rep.Known > 0 && o.format != "text" {
		c.note("%s in the baseline left out", c.many(rep.Known, "finding"))
	}
	if len(rep.Gone) > 0 && o.format != "text" {
		c.note("%s", goneLine(c, rep.Gone))
		if c.verbose {
			for _, g := range rep.Gone {
				c.note("%s", goneText(c, g))
			}
		}
	}

	failing := slices.ContainsFunc(rep.Findings, func(f rules.Finding) bool { return f.Severity >= fail })
	return outcome(len(res.Errs) > 0, failing)
}

// otherFiles counts files that are not chats.
func otherFiles(n int) string {
	return plural.Of(n, ".jsonl file that is not a chat", ".jsonl files that are not chats")
}

// ruleWords returns the value of a flag that takes rules.
func ruleWords(ids *[]rules.ID) flagValue {
	var words, given []string
	for _, id := range rules.All() {
		words = append(words, id.String())
	}
	v := someOf(&given, "'stchat check --list-rules' lists the rules", words...)
	add := v.set
	v.set = func(list string) error {
		before := len(given)
		err := add(list)
		for _, name := range given[before:] {
			*ids = append(*ids, rules.Named(name))
		}
		return err
	}
	return v
}

func (o *checkOptions) write(c *console, rep *report.Check, paths []string) error {
	switch o.format {
	case "json":
		return rep.Documents(c.document)
	case "sarif":
		return rep.WriteSARIF(c.w)
	case "github":
		return rep.WriteGitHub(c.w)
	case "junit":
		return rep.WriteJUnit(c.w)
	}

	if c.shown {
		showFindings(c, rep, paths)
	} else {
		writeFindings(c, rep, paths, c.verbose)
	}
	return nil
}

// runList lists the rules.
func (o *checkOptions) runList(c *console) error {
	if o.format != "text" && o.format != "json" {
		return usagef("--list-rules knows --format text and json, not %s", o.format)
	}
	t := &grid.Table{Columns: []grid.Column{{}, {}, {Name: true}, {Wrap: true}}}
	family := ""
	for _, id := range rules.All() {
		r := id.Rule()
		if o.format == "json" {
			by := map[rules.Repairing]string{rules.Repaired: "yes", rules.OnOrder: "asked", rules.ByHand: "no"}[r.Repairing]
			c.document(listedRule{1, r.ID, r.Severity.String(), r.Family, r.Summary, r.Effect, r.Repair, by})
			continue
		}

		mark := ""
		if r.Repairing != rules.ByHand {
			mark = "+"
		}
		if r.Family != family {
			family = r.Family
			t.Rows = append(t.Rows, grid.Row{Heading: family})
		}
		t.Rows = append(t.Rows, grid.Row{Lead: "  ", Cells: []string{mark, r.Severity.String(), r.ID, r.Summary}, Codes: []string{"", severityColor(r.Severity)}})
	}

	if c.shown {
		c.table(t)
	} else {
		writeRules(c, t.Rows)
	}

	if o.format == "text" {
		c.row("\n" + c.prose("+ stchat repair fixes it", ""))
	}
	return nil
}

// writeRules writes the rows of the rules for a pipe.
func writeRules(c *console, rows []grid.Row) {
	for i, r := range rows {
		if r.Heading == "" {
			fmt.Fprintf(c.w, "  %-1s %-7s %-21s %s\n", r.Cells[0], r.Cells[1], r.Cells[2], r.Cells[3])
			continue
		}
		if i > 0 {
			fmt.Fprintln(c.w)
		}
		fmt.Fprintln(c.w, r.Heading)
	}
}

// listedRule is a rule as --list-rules --json prints it.
type listedRule struct {
	Schema   int    `json:"schema"`
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Family   string `json:"family"`
	Summary  string `json:"summary"`
	Effect   string `json:"effect"`
	Repair   string `json:"mend"`
	By       string `json:"repair"` // yes, asked or no
}

// workTree returns the top of the git work tree around the working folder, "" if there is none.
func workTree() string {
	dir, err := filepath.Abs(".")
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return ""
}

// inWorkTree returns a function that returns a path from the top of the git work tree; one outside
// of it, or without one, as it is.
func inWorkTree() func(path string) string {
	top := workTree()
	if top == "" {
		return func(path string) string { return path }
	}
	top = userdir.RealPath(top)
	return func(path string) string {
		rel, err := filepath.Rel(top, userdir.RealPath(path))
		if err != nil || !filepath.IsLocal(rel) {
			return path
		}
		return rel
	}
}
