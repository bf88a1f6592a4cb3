package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/visible"
)

// helpWidth is how many columns help fills: every terminal has them.
const helpWidth = 80

// environment lists what the program itself reads.
const environment = `
Environment:
  ` + dataVariable + `       the user folder, where no path leads to one
  ` + storeVariable + `      the file of the history
  ` + undoVariable + `   how much undo may keep, such as 500M; 0 keeps nothing
  STCHAT_PAGER, PAGER   what shows long output on a terminal; empty: nothing
  NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, TERM   whether there is colour
  LC_ALL, LC_CTYPE, LANG   whether the terminal shows more than ASCII
`

// commandGroup names commands that are listed together.
type commandGroup struct {
	title string
	names []string
}

// commandGroups returns the groups in the order of the help. Commands in none of them
// are listed last.
func commandGroups() []commandGroup {
	return []commandGroup{
		{"Make", []string{"branch", "checkpoint", "clone-lorebook", "export", "import", "merge", "new", "split"}},
		{"Look", []string{"check", "diff", "diff-meta", "inspect", "log", "lost", "search", "stats", "tree"}},
		{"Edit", []string{"delete", "message", "meta", "move", "open", "rename", "repair", "slim", "state"}},
		{"Keep", []string{"history", "restore", "snapshot", "undo"}},
	}
}

// writeHelp writes the help page of a command: a sentence, how it is called, examples, the text,
// flags, exit status.
func writeHelp(w io.Writer, cmd *cobra.Command) {
	text, exit, _ := strings.Cut(cmd.Long, "\nEXIT STATUS\n")
	fmt.Fprintf(w, "%s.\n\nUsage:\n", cmd.Short)
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "  %s COMMAND\n", cmd.CommandPath())
	} else {
		fmt.Fprintf(w, "  %s\n", cmd.UseLine())
	}
	if cmd.Example != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(text))
	if cmd.HasAvailableSubCommands() {
		writeCommands(w, cmd)
	}
	for _, t := range topicsOf(cmd) {
		writeFlags(w, t.title, t.flags)
	}
	writeFlags(w, everyCommand, cmd.Root().PersistentFlags())
	if exit != "" {
		fmt.Fprintf(w, "\nExit status:\n%s\n", strings.TrimRight(exit, "\n"))
	}
	if !cmd.HasParent() {
		fmt.Fprint(w, environment)
		fmt.Fprintf(w, "\n'%s COMMAND --help' shows more about a command; docs/ and the manual\npages tell of whole jobs.\n", cmd.Name())
	}
}

// writeCommands lists the commands below cmd.
func writeCommands(w io.Writer, cmd *cobra.Command) {
	left := map[string]*cobra.Command{}
	width := 0
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			left[c.Name()] = c
			width = max(width, len(c.Name()))
		}
	}
	write := func(title string, list []*cobra.Command) {
		if len(list) == 0 {
			return
		}
		fmt.Fprintf(w, "\n%s:\n", title)
		for _, c := range list {
			writeEntry(w, "  "+c.Name(), width+4, c.Short)
		}
	}
	title := "Commands"
	if !cmd.HasParent() {
		for _, g := range commandGroups() {
			var list []*cobra.Command
			for _, name := range g.names {
				if c := left[name]; c != nil {
					list = append(list, c)
					delete(left, name)
				}
			}
			write(g.title, list)
		}
		title = "More"
	}
	var rest []*cobra.Command
	for _, c := range cmd.Commands() { // sorted
		if left[c.Name()] != nil {
			rest = append(rest, c)
		}
	}
	write(title, rest)
}

// flagTopic is the annotation with the title below which help lists a flag.
const flagTopic = "topic"

// The titles below which help lists flags of many commands.
const (
	ownFlags     = "Flags"
	writing      = "Flags for writing"
	manyFiles    = "Flags for many files"
	everyCommand = "Flags of every command"
)

// addTopic adds flags to fs that help lists together, below a title.
func addTopic(fs *pflag.FlagSet, title string, add func(fs *pflag.FlagSet)) {
	topic := pflag.NewFlagSet("", pflag.ContinueOnError)
	topic.SortFlags = false
	add(topic)
	topic.VisitAll(func(f *pflag.Flag) {
		if f.Annotations == nil { // a topic within this one keeps its title
			f.Annotations = map[string][]string{flagTopic: {title}}
		}
		fs.AddFlag(f)
	})
}

// topic is a title with the flags listed below it.
type topic struct {
	title string
	flags *pflag.FlagSet
}

// topicsOf returns the flags of a command in the order in which they were added:
// first those of no topic, last those for many files.
func topicsOf(cmd *cobra.Command) []topic {
	titles := []string{ownFlags}
	byTitle := map[string]*pflag.FlagSet{}
	cmd.Flags().SortFlags = false
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || f.Hidden || cmd.Root().PersistentFlags().Lookup(f.Name) != nil {
			return
		}
		title := titles[0]
		if t := f.Annotations[flagTopic]; len(t) > 0 {
			title = t[0]
		}
		if byTitle[title] == nil {
			byTitle[title] = pflag.NewFlagSet("", pflag.ContinueOnError)
			byTitle[title].SortFlags = false
			if title != titles[0] && title != manyFiles {
				titles = append(titles, title)
			}
		}
		byTitle[title].AddFlag(f)
	})
	var list []topic
	for _, title := range append(titles, manyFiles) {
		if fs := byTitle[title]; fs != nil {
			list = append(list, topic{title, fs})
		}
	}
	return list
}

// writeFlags lists flags in the order in which they were added.
func writeFlags(w io.Writer, title string, fs *pflag.FlagSet) {
	if !fs.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(w, "\n%s:\n", title)
	const column = 26
	fs.VisitAll(func(f *pflag.Flag) {
		what, usage := pflag.UnquoteUsage(f)
		name := "      --" + f.Name
		if f.Shorthand != "" {
			name = "  -" + f.Shorthand + ", --" + f.Name
		}
		if what != "" {
			name += " " + what
		}
		writeEntry(w, name, column, usage+shownDefault(f))
	})
}

// shownDefault returns the end of a flag's text: its default, if that is worth showing.
func shownDefault(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "false", "[]", "0":
		return ""
	}
	return fmt.Sprintf(" (default %s)", f.DefValue)
}

// writeEntry writes a name and, from a column on, the text about it. After a long name
// the text starts on the next line.
func writeEntry(w io.Writer, name string, column int, text string) {
	line := visible.Pad(name, column)
	if len(name) > column-2 {
		fmt.Fprintln(w, name)
		line = strings.Repeat(" ", column)
	}
	empty := true
	for word := range strings.FieldsSeq(text) {
		if !empty && visible.Width(line)+1+visible.Width(word) > helpWidth {
			fmt.Fprintln(w, line)
			line, empty = strings.Repeat(" ", column), true
		}
		if !empty {
			line += " "
		}
		line += word
		empty = false
	}
	fmt.Fprintln(w, line)
}
