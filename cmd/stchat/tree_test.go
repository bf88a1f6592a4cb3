package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/text/visible"
)

// commands returns every command that is our own.
func commands() []*cobra.Command {
	root := newRoot(&console{env: env{}})
	return append([]*cobra.Command{root}, root.Commands()...)
}

func TestCommandsExplainThemselves(t *testing.T) {
	names := map[string]bool{}
	for _, cmd := range commands() {
		name := cmd.Name()
		if names[name] {
			t.Errorf("%s: there are two of them", name)
		}
		names[name] = true
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: Short is %q", name, cmd.Short)
		}
		if cmd.RunE == nil || cmd.Run != nil {
			t.Errorf("%s: RunE gives errors to run, Run does not", name)
		}
		if !cmd.HasParent() {
			continue
		}
		if !strings.Contains(cmd.Long, "\nEXIT STATUS\n  0 ") {
			t.Errorf("%s: no EXIT STATUS in its help", name)
		}
		if !strings.Contains(cmd.Example, "  stchat "+name) {
			t.Errorf("%s: no example of it", name)
		}
		for line := range strings.Lines(cmd.Long + "\n" + cmd.Example) {
			if len(strings.TrimSuffix(line, "\n")) > 100 || strings.Contains(line, "\t") {
				t.Errorf("%s: a line of its help is too long or has a tab: %q", name, line)
			}
		}
		if cmd.ValidArgsFunction == nil {
			t.Errorf("%s: shells are told nothing of its arguments", name)
		}
	}
	for _, name := range []string{"checkpoint", "branch"} {
		if !names[name] {
			t.Errorf("%s is not there", name)
		}
	}
}

func TestCommandsAreSorted(t *testing.T) {
	last := ""
	for _, cmd := range commands()[1:] {
		if cmd.Name() < last {
			t.Errorf("%s comes after %s", cmd.Name(), last)
		}
		last = cmd.Name()
	}
}

// TestOneCommandIsMade: a call makes the command that its first arguments name and no
// other, and that command is the one of the whole tree.
func TestOneCommandIsMade(t *testing.T) {
	help := func(cmd *cobra.Command) string {
		var b strings.Builder
		(&helpPage{w: &b, width: helpWidth}).write(cmd)
		return b.String()
	}
	var see func(cmd *cobra.Command)
	see = func(cmd *cobra.Command) {
		path := strings.Fields(cmd.CommandPath())[1:]
		one := newRoot(&console{args: append(path, "chat.jsonl")})
		for range path {
			if list := one.Commands(); len(list) != 1 {
				t.Fatalf("%s: %d commands were made", cmd.CommandPath(), len(list))
			}
			one = one.Commands()[0]
		}
		if diff := cmp.Diff(help(cmd), help(one)); diff != "" {
			t.Errorf("%s (-all made +only this):\n%s", cmd.CommandPath(), diff)
		}
		for _, c := range cmd.Commands() {
			see(c)
		}
	}
	see(newRoot(&console{}))
	if list := newRoot(&console{args: []string{"--version"}}).Commands(); len(list) != 1 || list[0].Name() != "version" {
		t.Errorf("--version: %d commands were made", len(list))
	}
}

// TestAllCommandsAreMade: help, completion and a mistyped name see every command.
func TestAllCommandsAreMade(t *testing.T) {
	for _, args := range [][]string{nil, {"--help"}, {"help", "meta"}, {"--quiet", "meta"}, {"__complete", "meta", ""}, {"mesage", "get"}} {
		root := newRoot(&console{args: args})
		if got, want := len(root.Commands()), len(commands())-1; got != want {
			t.Errorf("%q: %d of %d commands were made", args, got, want)
		}
		if meta, _, err := root.Find([]string{"meta"}); err != nil || len(meta.Commands()) != 2 {
			t.Errorf("%q: not all commands of meta were made", args)
		}
	}
}

func TestFlagsExplainThemselves(t *testing.T) {
	for _, cmd := range commands() {
		short := map[string]string{}
		see := func(f *pflag.Flag) {
			if f.Usage == "" || f.Usage[0] >= 'A' && f.Usage[0] <= 'Z' || strings.HasSuffix(f.Usage, ".") {
				t.Errorf("%s --%s: usage is %q", cmd.Name(), f.Name, f.Usage)
			}
			if _, what := pflag.UnquoteUsage(f); f.Value.Type() != "bool" && !strings.Contains(f.Usage, "`") {
				t.Errorf("%s --%s: nothing tells what its value is: %q", cmd.Name(), f.Name, what)
			}
			if f.Shorthand == "" {
				return
			}
			if other, ok := short[f.Shorthand]; ok && other != f.Name {
				t.Errorf("%s -%s is both --%s and --%s", cmd.Name(), f.Shorthand, f.Name, other)
			}
			short[f.Shorthand] = f.Name
		}
		cmd.Flags().VisitAll(see)
		cmd.InheritedFlags().VisitAll(see)
	}
}

func TestEveryCommandHasColorAndQuiet(t *testing.T) {
	for _, cmd := range commands() {
		if cmd.Flag("color") == nil || cmd.Flag("quiet") == nil {
			t.Errorf("%s lacks --color or --quiet", cmd.Name())
		}
	}
}

// TestHelpFits: help takes 80 columns in a pipe, and a person's terminal up to 100. It says the same
// in all widths; what is to be copied stays whole.
func TestHelpFits(t *testing.T) {
	show := func(cmd *cobra.Command, e env) string {
		var b strings.Builder
		e.Out, e.Getenv = &b, func(string) string { return "" }
		c := newConsole(e, nil)
		newHelpPage(c).write(cmd)
		c.flush()
		return b.String()
	}
	var see func(cmd *cobra.Command)
	see = func(cmd *cobra.Command) {
		piped := show(cmd, env{Width: 40})
		for _, width := range []int{0, 40, 60, 90, 200} {
			help := piped
			if width > 0 {
				help = show(cmd, env{OutTTY: true, Width: width})
				if !strings.Contains(help, "\n\x1b[1mUsage:\x1b[0m\n") {
					t.Errorf("%s: its headings are not bold", cmd.CommandPath())
				}
				if inText := regexp.MustCompile("[^\n]\n\x1b\\[1m.*").FindString(help); inText != "" {
					t.Errorf("%s at %d: no heading: %q", cmd.CommandPath(), width, inText)
				}
				help = ownColor.ReplaceAllString(help, "")
			}
			joined := strings.NewReplacer(" ", "", "\n", "")
			if diff := cmp.Diff(joined.Replace(piped), joined.Replace(help)); diff != "" {
				t.Errorf("%s at %d says something else (-want +got):\n%s", cmd.CommandPath(), width, diff)
			}
			_, text, _ := strings.Cut(help, cmd.Example+"\n\n")
			for line := range strings.Lines(text) {
				line = strings.TrimSuffix(line, "\n")
				limit := min(width, 100)
				if width == 0 {
					limit = helpWidth
				}
				copied := strings.HasPrefix(line, "  ") && !entryLine().MatchString(line) && strings.Contains(piped, "\n"+line) || strings.Contains(line, "~/.config")
				if visible.Width(line) > limit && !copied {
					t.Errorf("%s at %d: too long a line: %s", cmd.CommandPath(), width, line)
				}
			}
		}
		for _, c := range cmd.Commands() {
			see(c)
		}
	}
	see(newRoot(&console{env: env{}}))
}

// TestHelpEntry: a line breaks between words only.
func TestHelpEntry(t *testing.T) {
	var b strings.Builder
	h := &helpPage{w: &b, width: helpWidth}
	h.entry("  --flag", 12, strings.Repeat("words ", 14)+strings.Repeat("x", 60))
	h.entry("  --longer-flag", 12, "text")
	want := "  --flag    words words words words words words words words words words words\n" +
		"            words words words\n" +
		"            " + strings.Repeat("x", 60) + "\n" +
		"  --longer-flag\n" +
		"            text\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRulesNameFlags: a rule about flags is of a known form, and names flags that the command has.
func TestRulesNameFlags(t *testing.T) {
	form := regexp.MustCompile(`^[a-z|-]*(ARG)? (excludes|needs) [a-z|-]*(ARGS?)?(: .+)?( = .+)?$`)
	var walk func(list []named)
	walk = func(list []named) {
		for _, c := range list {
			v := c.make()
			walk(v.below)
			fs := pflag.NewFlagSet("", pflag.ContinueOnError)
			if v.options != nil {
				v.addFlags(fs)
			}
			new(globals).addFlags(fs)
			if v.writes {
				new(console).addWriting(fs)
			}
			for _, rule := range v.rules {
				if !form.MatchString(rule) {
					t.Errorf("%s: %q is no rule", v.use, rule)
					continue
				}
				words := strings.Fields(rule)
				for name := range strings.SplitSeq(words[0]+"|"+strings.TrimSuffix(words[2], ":"), "|") {
					if fs.Lookup(name) == nil && name != "ARG" && name != "ARGS" {
						t.Errorf("%s: %q names a flag that is not there", v.use, rule)
					}
				}
			}
		}
	}
	walk(verbs())
}
