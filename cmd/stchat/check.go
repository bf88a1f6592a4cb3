package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/grid"
	"stchat/internal/ops"
	"stchat/internal/ops/repair"
	"stchat/internal/plural"
	"stchat/internal/report"
	"stchat/internal/rules"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

func newCheck() verb {
	o := &checkOptions{}
	return verb{
		use: "check [PATH...]", short: "Find problems in chats and explain the fix",
		doc: `Find problems in chats, and explain what SillyTavern or an extension does
because of them and how to fix them. Nothing is written.

PATH is a chat, a folder (every *.jsonl below it), a SillyTavern user folder,
whose groups and lorebooks are checked too, or SillyTavern's own folder, for all
its users. Without PATH it is the user folder around the working folder, or else
the one that STCHAT_DATA names.

In SillyTavern's chats folders each chat is judged together with its neighbours,
even if you name only one: a missing parent, a slug that two chats share, a
checkpoint that no longer agrees with its parent. Anywhere else a .jsonl file
that does not look like a chat is skipped, or refused if you named it;
--skip-other skips it then too.

--severity sets from which severity on the exit code is 1; all findings are
reported. The text has one line per rule and file, with a count where findings
repeat; --verbose shows every finding. A baseline is the JSON output of an
earlier check: its findings are not reported again, so that only new ones count.
A finding is recognised by its rule, file and message, not by its line, and the
file by its place in the user folder. What the baseline has and is no longer
found is counted; --verbose lists it.

Formats: text for people, json lines, sarif (2.1.0), github (workflow commands),
gitlab (Code Quality), junit, and markdown for the summary of a job. 'stchat
check --list-rules' lists the rules.

Settings are read from .stchatrc in the working folder, else at the top of the
git work tree: one argument per line; # begins a comment. It may have --rule,
--ignore, --severity, --report, --baseline, --skip-other, --format, and paths
below it. Flags of the command line win, lists add up, paths replace the file's.
`, no: "a finding reaches --severity",
		example: `  stchat check SillyTavern/data/default-user
  stchat check "chats/Mira/Harbour.jsonl" --severity warning
  stchat check chats --rule torn-tail --rule invalid-json
  stchat check chats --json > known.jsonl
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
	format, config, baseline string
	severity, report         string // the least that fails, and that is reported
	choose, ignore           []rules.ID
	skipOther, listRules     bool
}

func (o *checkOptions) addFlags(fs *pflag.FlagSet) {
	o.listFlags.addFlags(fs)
	fs.Var(oneOf(&o.format, "text", "text", "json", "sarif", "github", "gitlab", "junit", "markdown"), "format", "`FORMAT` of the report: text, json, sarif, github, gitlab, junit or markdown")
	fs.Var(ruleWords(&o.choose), "rule", "report only the findings of `RULE` (repeatable)")
	fs.Var(ruleWords(&o.ignore), "ignore", "leave the findings of `RULE` out (repeatable)")
	fs.Var(oneOf(&o.severity, "error", "error", "warning", "info"), "severity", "exit 1 from this `SEVERITY` on: error, warning or info")
	fs.Var(oneOf(&o.report, "info", "error", "warning", "info"), "report", "leave findings below this `SEVERITY` out of every format; --severity may not be lower")
	fs.Var(filled(&o.config), "config", "take settings from `FILE` instead of "+checkConfig+", or none")
	fs.Var(filled(&o.baseline), "baseline", "report only what `FILE`, the JSON output of an earlier check, does not have")
	fs.BoolVar(&o.skipOther, "skip-other", false, "leave a file alone that is not a chat, even if it is named: for lists of changed files")
	fs.BoolVar(&o.listRules, "list-rules", false, "list the rules and what they find")
}

func (o *checkOptions) run(ctx context.Context, c *console, fs *pflag.FlagSet, args []string) (err error) {
	if !o.listRules {
		if args, err = o.configured(c, fs, args); err != nil {
			return err
		}
	}
	if c.json {
		o.format = "json"
	}
	if o.listRules {
		return o.runList(c)
	}
	fail, _ := rules.ParseSeverity(o.severity) // the flags take no other words
	least, _ := rules.ParseSeverity(o.report)
	if fail < least {
		return usagef("--severity %s is lower than --report %s: what is not reported cannot fail", fail, least)
	}
	opt := repair.CheckOptions{SkipOther: o.skipOther, Now: c.Now()}
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
	res.Findings = slices.DeleteFunc(res.Findings, func(f rules.Finding) bool { return f.Severity < least })
	rep.Findings = res.Findings
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
		c.note("%s left alone", otherFiles(n, o.skipOther))
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

// otherFiles counts files that are not chats; any may have any name.
func otherFiles(n int, any bool) string {
	return either(any, plural.Of(n, "file that is not a chat", "files that are not chats"), plural.Of(n, ".jsonl file that is not a chat", ".jsonl files that are not chats"))
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
		err := add(list)
		*ids = nil
		for _, name := range given {
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
	case "gitlab":
		return rep.WriteGitLab(c.w)
	case "markdown":
		return rep.WriteMarkdown(c.w)
	case "junit":
		return rep.WriteJUnit(c.w)
	}
	writeFindings(c, rep, paths, c.verbose)
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
		mark := when(r.Repairing != rules.ByHand, "+")
		if r.Family != family {
			family = r.Family
			t.Rows = append(t.Rows, grid.Row{Heading: family})
		}
		t.Rows = append(t.Rows, grid.Row{Lead: "  ", Cells: []string{mark, r.Severity.String(), r.ID, r.Summary}, Codes: []string{"", severityColor(r.Severity)}})
	}
	if c.shown {
		c.table(t)
	}
	for i, r := range t.Rows {
		switch {
		case c.shown:
		case r.Heading != "":
			fmt.Fprintln(c.w, when(i > 0, "\n")+r.Heading)
		default:
			fmt.Fprintf(c.w, "  %-1s %-7s %-21s %s\n", r.Cells[0], r.Cells[1], r.Cells[2], r.Cells[3])
		}
	}
	if o.format == "text" {
		c.row("\n" + c.prose("+ stchat repair fixes it", ""))
	}
	return nil
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

// checkConfig is the name of a file with arguments of check.
const checkConfig = ".stchatrc"

// configFlags are the flags that it may have: it may be a stranger's, so none that writes, reads
// another list or takes more of the machine.
func configFlags() []string {
	return []string{"rule", "ignore", "severity", "report", "baseline", "skip-other", "format"}
}

// configured applies the settings of --config, else those of the working folder or of the top
// of the git work tree around it, to flags that were not given, and returns args, or where
// there are none the paths of the settings. Flags that are lists get both.
func (o *checkOptions) configured(c *console, fs *pflag.FlagSet, args []string) ([]string, error) {
	path, err := o.configPath()
	if path == "" || err != nil {
		return args, err
	}
	data, _, err := safefile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", ops.PathError(err))
	}
	if bytes.IndexByte(data, 0) >= 0 { // as PowerShell writes it
		return nil, usagef("%s: this is not UTF-8; save it as UTF-8", path)
	}
	c.note("settings from %s", path)
	var paths []string
	var name string // of the flag whose value is on the next line
	line := 0
	set := func(name, value string) error {
		switch f := fs.Lookup(name); {
		case f.Changed && name != "rule" && name != "ignore", name == "format" && c.json:
			return nil
		case name == "baseline" && value != "":
			if value, err = below(path, value); err != nil {
				return err
			}
		}
		err := fs.Lookup(name).Value.Set(value) // not fs.Set, which notes that it was given
		if isA[*strconv.NumError](err) {
			err = refusal(fmt.Sprintf("is true or false, not %q", value))
		}
		if err != nil {
			err = fmt.Errorf("--%s %w", name, err)
		}
		return err
	}
	for text := range bytes.Lines(bytes.TrimPrefix(data, []byte("\ufeff"))) {
		line++
		arg := strings.TrimSpace(string(text))
		var err error
		flag, value, valued := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		switch {
		case name != "":
			err, name = set(name, arg), ""
		case arg == "" || strings.HasPrefix(arg, "#"):
		case !strings.HasPrefix(arg, "-"):
			if arg, err = below(path, arg); err == nil {
				paths = append(paths, arg)
			}
		case !strings.HasPrefix(arg, "--") || !slices.Contains(configFlags(), flag):
			err = fmt.Errorf("%s is not for this file; it may have --%s, and paths; a value stands behind = or on the next line", arg, strings.Join(configFlags(), ", --"))
		case valued:
			err = set(flag, value)
		case fs.Lookup(flag).NoOptDefVal != "":
			err = set(flag, fs.Lookup(flag).NoOptDefVal)
		default:
			name = flag
		}
		if err != nil {
			return nil, usagef("%s:%d: %v", path, line, err)
		}
	}
	if name != "" {
		return nil, usagef("%s:%d: --%s needs a value", path, line, name)
	}
	if len(args) == 0 && o.filesFrom == "" {
		args = paths
	}
	return args, nil
}

// configPath returns the file with the settings, "" for none.
func (o *checkOptions) configPath() (string, error) {
	switch o.config {
	case "":
	case "none":
		return "", nil
	default:
		return o.config, nil
	}
	for _, dir := range []string{".", workTree()} {
		path := filepath.Join(dir, checkConfig)
		if _, err := os.Stat(path); err == nil && dir != "" {
			if _, err := below(path, checkConfig); err != nil { // errors would print the lines of any file
				return "", fmt.Errorf("%s: a link that leads out of its folder; --config %s takes it all the same", userdir.Near(path), checkConfig)
			}
			return userdir.Near(path), nil
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", ops.PathError(err)
		}
	}
	return "", nil
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

// below returns the path that settings name, from the folder of their file. It must not lead
// out of that, nor may what it is a pattern for.
func below(config, path string) (string, error) {
	full := filepath.Join(filepath.Dir(config), filepath.FromSlash(path))
	for _, found := range expand([]string{full}) {
		rel, err := filepath.Rel(userdir.RealPath(filepath.Dir(config)), userdir.RealPath(found))
		if err != nil || !filepath.IsLocal(filepath.FromSlash(path)) || !filepath.IsLocal(rel) {
			return "", fmt.Errorf("%s leads out of the folder of this file", path)
		}
	}
	return full, nil
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
