package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/ops"
	"stchat/internal/plural"
	"stchat/internal/report"
	"stchat/internal/rules"
)

const checkDoc = `Say what is wrong in chats, what SillyTavern or an extension will do because of
it, and how it is mended. PATH is a chat, a folder (every *.jsonl below it), or
a SillyTavern user folder, whose groups and lorebooks are judged too. Nothing
is written.

A chat is judged together with its folder: a parent that is not there, a slug
that two chats share, a checkpoint that has parted from its parent. So a single
chat can be checked, say before a commit.

All findings are printed; --severity says which of them make the exit code 1.
A baseline is the JSON output of an earlier check: what it has is not reported
again, so that only new findings count. A finding is known by its rule, file
and message, not by its line.

Formats: text for people, json lines, sarif (2.1.0), github (workflow commands)
and junit. 'stchat check --list-rules' lists the rules.
`

const checkExample = `  stchat check SillyTavern/data/default-user
  stchat check "chats/Mira/Harbour.jsonl" --severity warning
  stchat check chats --select torn-tail --select invalid-json
  stchat check chats --format json > known.jsonl
  stchat check chats --baseline known.jsonl --format github`

func newCheckCmd(a *app) *cobra.Command {
	o := &checkOptions{}
	cmd := &cobra.Command{
		Use:     "check PATH...",
		Short:   "Say what is wrong in chats, and how it is mended",
		Long:    checkDoc + exitStatus("a finding reaches --severity"),
		Example: checkExample,
		Args: func(cmd *cobra.Command, args []string) error {
			if o.listRules {
				return cobra.NoArgs(cmd, args)
			}
			return cobra.MinimumNArgs(1)(cmd, args)
		},
		ValidArgsFunction: completeChats,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), a, args)
		},
	}
	o.addFlags(cmd.Flags())
	return cmd
}

type checkOptions struct {
	format    string
	choose    []string
	ignore    []string
	severity  string
	baseline  string
	listRules bool
}

func checkFormats() []string { return []string{"text", "json", "sarif", "github", "junit"} }

func (o *checkOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.format, "format", "text", "`FORMAT` of the report: text, json, sarif, github or junit")
	fs.StringSliceVar(&o.choose, "select", nil, "only the findings of `RULE`")
	fs.StringSliceVar(&o.ignore, "ignore", nil, "leave the findings of `RULE` out")
	fs.StringVar(&o.severity, "severity", "error", "exit 1 from this `SEVERITY` on: error, warning or info")
	fs.StringVar(&o.baseline, "baseline", "", "report only what `FILE`, the JSON output of an earlier check, does not have")
	fs.BoolVar(&o.listRules, "list-rules", false, "list the rules and what they find")
}

func (o *checkOptions) run(ctx context.Context, a *app, args []string) error {
	if !slices.Contains(checkFormats(), o.format) {
		return usagef("--format is text, json, sarif, github or junit, not %q", o.format)
	}
	if o.listRules {
		return o.runList(a)
	}
	fail, err := rules.ParseSeverity(o.severity)
	if err != nil {
		return usagef("--severity: %v", err)
	}
	opt := ops.CheckOptions{Paths: args, Now: a.Now()}
	if opt.Select, err = findRules(o.choose); err != nil {
		return usagef("--select: %v", err)
	}
	if opt.Ignore, err = findRules(o.ignore); err != nil {
		return usagef("--ignore: %v", err)
	}
	var baseline *report.Baseline
	if o.baseline != "" {
		data, err := readAll(ctx, func() ([]byte, error) { return os.ReadFile(o.baseline) })
		if err != nil {
			return fmt.Errorf("--baseline: %w", err)
		}
		if baseline, err = report.ReadBaseline(data); err != nil {
			return fmt.Errorf("%s:%w; a baseline is what 'stchat check --format json' wrote", o.baseline, err)
		}
	}
	c := a.console()
	meter, end := c.meter("checking", false)
	opt.Meter = meter
	res, err := ops.Check(ctx, opt)
	end()
	if err != nil {
		return err
	}
	found := res.Findings
	if baseline != nil {
		found = baseline.New(found)
	}
	rep := &report.Check{Chats: res.Chats, Findings: found, Errs: res.Errs, Fail: fail, Version: readVersion().Version}
	if err := o.write(c, rep); err != nil {
		return err
	}
	for _, err := range res.Errs {
		c.fail(err)
	}
	if n := len(res.Findings) - len(found); n > 0 {
		c.note("%s in the baseline left out", plural.S(n, "finding"))
	}
	failing := slices.ContainsFunc(found, func(f rules.Finding) bool { return f.Severity >= fail })
	switch {
	case len(res.Errs) > 0:
		return errReported
	case failing:
		return errNo
	}
	return nil
}

// findRules gives the rules with the given names.
func findRules(names []string) (ids []rules.ID, err error) {
	for _, name := range names {
		id, err := rules.Find(name)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func (o *checkOptions) write(c *console, rep *report.Check) error {
	w := bufio.NewWriter(c.Out)
	var err error
	switch o.format {
	case "json":
		err = rep.WriteJSON(w)
	case "sarif":
		err = rep.WriteSARIF(w)
	case "github":
		err = rep.WriteGitHub(w)
	case "junit":
		err = rep.WriteJUnit(w)
	default:
		err = writeFindings(w, c, rep)
	}
	if err != nil {
		return err
	}
	return w.Flush()
}
