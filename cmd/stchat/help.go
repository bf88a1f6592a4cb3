package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/text/lazyregexp"
	"stchat/internal/text/visible"
)

// helpWidth is how many columns help fills in a pipe, and its texts as they are written.
const helpWidth = 80

// helpPage writes help, for a person as wide as the terminal.
type helpPage struct {
	w     io.Writer
	width int
	color bool
	ascii bool
	whole bool // with what is usually left out
}

func newHelpPage(c *console) *helpPage {
	h := &helpPage{w: c.w, width: helpWidth, color: c.coloured(c.OutTTY), ascii: c.ascii(), whole: c.verbose}
	if c.OutTTY {
		h.width = c.proseWidth()
	}
	return h
}

// environment lists what the program itself reads.
const environment = `  ` + dataVariable + `       the user folder, where no path leads to one
  ` + storeVariable + `      the file of the history
  ` + undoVariable + `   how much undo may keep, such as 500M; 0 keeps nothing
  ` + newSlugVariable + `   1: edits give a chat a new integrity, against open tabs
  ` + noSyncVariable + `    1: do not wait for the disk; for bulk work on copies
  VISUAL, EDITOR    what edit opens a message in; else notepad, nano or vi
  STCHAT_PAGER, PAGER   what shows long output on a terminal; empty: nothing
  LESS              the options of less; where it is not set, FRX
  NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, TERM   whether there is colour
  LC_ALL, LC_CTYPE, LANG   whether the terminal shows more than ASCII
  SOURCE_DATE_EPOCH   the date of manual pages`

// write writes the help of a command: a sentence, how it is called, examples, the text, its own flags, and
// by name those that it shares with others.
func (h *helpPage) write(cmd *cobra.Command) {
	text, _, _ := strings.Cut(cmd.Long, "\nEXIT STATUS\n")
	if more := strings.TrimSpace(cmd.Annotations[leftOut]); more != "" && !h.whole {
		text, _, _ = strings.Cut(text, more)
	}
	h.text(cmd.Short + ".")
	h.title("Usage")
	fmt.Fprintln(h.w, "  "+synopsis(cmd))
	if cmd.Example != "" {
		h.title("Examples")
		fmt.Fprintln(h.w, cmd.Example)
	}
	h.text("\n" + strings.TrimSpace(text))
	if cmd.HasAvailableSubCommands() {
		h.commands(cmd)
	}
	var shared []string
	for _, t := range topicsOf(cmd) {
		if isShared(t.title) {
			shared = append(shared, t.title)
		} else {
			h.flags(t)
		}
	}

	h.foot(cmd, shared)
}

// synopsis returns how a command is called.
func synopsis(cmd *cobra.Command) string {
	if cmd.HasAvailableSubCommands() {
		return cmd.CommandPath() + " COMMAND"
	}
	return cmd.UseLine()
}

// foot writes the last lines of a page: where to read about the flags that the command shares with others,
// its exit codes, and what else there is to read.
func (h *helpPage) foot(cmd *cobra.Command, shared []string) {
	fmt.Fprintln(h.w)
	if len(shared) > 0 {
		h.entry("More flags", endColumn, strings.Join(shared, ", ")+" ('stchat help flags')")
	}
	if no, ends := cmd.Annotations[exitMeans]; ends {
		codes := "0 done; "
		if no != "" {
			codes += "1 " + no + "; "
		}
		h.entry("Exit", endColumn, codes+"2 error ('stchat help exit')")
	}

	if cmd.Annotations[leftOut] != "" && !h.whole {
		_, name, _ := strings.Cut(cmd.CommandPath(), " ")
		h.entry("Details", endColumn, "stchat help "+name+" -v")
	}
	if also := cmd.Annotations[seeAlso]; also != "" {
		h.entry("See also", endColumn, also)
	}
	if !cmd.HasParent() {
		h.entry("Topics", endColumn, "stchat help "+strings.Join(topicNames(), " | "))
		h.title("Environment")
		h.text(environment)
	}
}

// endColumn is where the texts of the last lines of a page begin.
const endColumn = 12

// The annotations of a command for its help.
const (
	exitMeans = "no"   // what exit code 1 means; empty: it is never returned
	seeAlso   = "also" // other commands
	leftOut   = "more" // what its help says only with --verbose
)

func (h *helpPage) title(text string) {
	fmt.Fprintf(h.w, "\n%s\n", paint(h.color, bold, prosed(text+":", h.width, "")))
}

// entryLine is an indented line of a name and, two spaces or more behind it, the text about it.
var entryLine = lazyregexp.New(`^( +\S+(?: \S+)*  +)(\S.*)$`)

// text writes a text that was written for [helpWidth] columns: paragraphs, headings in capitals,
// and lists of names, whose texts go on below where they begin. Other indented lines are to be
// copied, and stay.
func (h *helpPage) text(text string) {
	if h.ascii {
		text = visible.ASCII(text)
	}
	name := ""
	open := ""
	column := 0 // of the paragraph or entry that may go on
	end := func() {
		if open != "" {
			h.entry(name, column, open)
		}
		name = ""
		open = ""
		column = 0
	}

	before := ""
	for line := range strings.SplitSeq(text, "\n") {
		heads := before == "" && line != "" && line == strings.ToUpper(line)
		before = line
		words := strings.TrimLeft(line, " ")
		entry := entryLine().FindStringSubmatch(line)
		switch indent := len(line) - len(words); {
		case heads:
			end()
			fmt.Fprintln(h.w, paint(h.color, bold, line))
		case h.width == helpWidth, line == "":
			end()
			fmt.Fprintln(h.w, line)
		case open != "" && indent == column:
			open += " " + words
		case indent == 0:
			end()
			open = line
		case entry != nil:
			end()
			name = strings.TrimRight(entry[1], " ")
			open = entry[2]
			column = visible.Width(entry[1])
		default:
			end()
			fmt.Fprintln(h.w, line)
		}
	}

	end()
}

// commands lists the commands below cmd, those of a group together.
func (h *helpPage) commands(cmd *cobra.Command) {
	byGroup, width := map[string][]*cobra.Command{}, 0
	for _, c := range cmd.Commands() { // sorted
		if c.IsAvailableCommand() || c.Name() == "help" {
			byGroup[c.GroupID] = append(byGroup[c.GroupID], c)
			width = max(width, len(c.Name()))
		}
	}

	rest := &cobra.Group{Title: "More"}
	if cmd.HasParent() {
		rest.Title = "Commands"
	}
	for _, group := range append(slices.Clone(cmd.Groups()), rest) {
		if len(byGroup[group.ID]) > 0 {
			h.title(group.Title)
		}
		for _, c := range byGroup[group.ID] {
			h.entry("  "+c.Name(), width+4, c.Short)
		}
	}
}

// flagTopic is the annotation with the title below which help lists a flag.
const flagTopic = "topic"

// The sets of flags that commands share, as help names them, beside a command's own.
const (
	ownFlags     = "Flags"
	choosing     = "messages"
	values       = "values"
	editTerms    = "edits"
	manyFiles    = "lists"
	writing      = "writing"
	everyCommand = "every command"
)

// isShared reports whether a title is that of flags which commands share.
func isShared(title string) bool {
	return slices.Contains([]string{choosing, values, editTerms, manyFiles, writing, everyCommand}, title)
}

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
	flags []*pflag.Flag
}

// topicsOf returns the flags of a command in the order in which they were added: first those of
// no topic, last those for many files and those of every command.
func topicsOf(cmd *cobra.Command) (list []topic) {
	var byTitle groups[string, *pflag.Flag]
	cmd.Flags().SortFlags = false
	every := cmd.Root().PersistentFlags()
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && !f.Hidden && every.Lookup(f.Name) == nil {
			byTitle.add(slices.Concat(f.Annotations[flagTopic], []string{ownFlags})[0], f)
		}
	})

	every.VisitAll(func(f *pflag.Flag) { byTitle.add(everyCommand, f) })
	rank := map[string]int{ownFlags: -1, choosing: 1, values: 2, editTerms: 3, manyFiles: 4, writing: 5, everyCommand: 6}
	slices.SortStableFunc(byTitle.keys, func(a, b string) int { return rank[a] - rank[b] })
	for _, title := range byTitle.keys {
		list = append(list, topic{title, byTitle.of[title]})
	}
	return list
}

// flags lists the flags of a topic.
func (h *helpPage) flags(t topic) {
	h.title(t.title)
	h.list(t.flags)
}

// list lists flags.
func (h *helpPage) list(flags []*pflag.Flag) {
	const column = 26
	for _, f := range flags {
		name := "      --" + f.Name
		if f.Shorthand != "" {
			name = "  -" + f.Shorthand + ", --" + f.Name
		}
		what, usage := pflag.UnquoteUsage(f)
		if what != "" {
			name += " " + what
		}
		h.entry(name, column, usage+shownDefault(f))
	}
}

// shownDefault returns the end of a flag's text: its default, if that is worth showing.
func shownDefault(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "false", "[]", "0":
		return ""
	}
	return fmt.Sprintf(" (default %s)", f.DefValue)
}

// entry writes a name and, from a column on, the text about it. After a long name the text starts
// on the next line.
func (h *helpPage) entry(name string, column int, text string) {
	if h.ascii {
		text = visible.ASCII(text)
	}
	column = min(column, h.width/3)
	lead := visible.Pad(name, column)
	if name != "" && visible.Width(name) > column-2 {
		h.longName(name)
		lead = strings.Repeat(" ", column)
	}
	for part := range strings.SplitSeq(prosed(text, h.width-column, ""), "\n") {
		fmt.Fprintln(h.w, lead+part)
		lead = strings.Repeat(" ", column)
	}
}

// longName writes a name on lines of its own, those after the first indented.
func (h *helpPage) longName(name string) {
	width := h.width
	if visible.Width(name) > h.width {
		width -= 4
	}
	for i, at := range visible.Wrap(name, width) {
		line := name[at[0]:at[1]]
		if i > 0 {
			line = "    " + line
		}
		fmt.Fprintln(h.w, line)
	}
}
