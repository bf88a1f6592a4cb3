//go:build man

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// forPackagers returns the commands that only a build with -tags man has (scripts/release/man).
func forPackagers() []named { return []named{{"man", "", newMan}} }

func newMan() verb {
	return verb{
		use: "man DIR", short: "Write the manual pages into a folder",
		doc: `Write the manual pages of all commands into the folder DIR, for packages. Their
date is that of SOURCE_DATE_EPOCH, else today's.
`, hidden: true, // packagers run it; users have the pages
		example: "  stchat man /usr/local/share/man/man1",
		args:    cobra.ExactArgs(1),
		plain:   true,
		options: flagless(func(c *console, args []string) error {
			date := c.Now()
			if epoch, err := strconv.ParseInt(c.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
				date = time.Unix(epoch, 0)
			}
			return writeMan(args[0], newRoot(&console{env: c.env}), date.UTC().Format(time.DateOnly))
		}),
	}
}

// pagesBelow returns the commands below cmd that have pages of their own.
func pagesBelow(cmd *cobra.Command) (list []*cobra.Command) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			list = append(list, c)
		}
	}
	return list
}

// writeMan writes the page of a command, and of those below it, into dir.
func writeMan(dir string, cmd *cobra.Command, date string) error {
	var page bytes.Buffer
	writeManPage(&page, cmd, date)
	if err := os.WriteFile(filepath.Join(dir, manName(cmd)+".1"), page.Bytes(), 0o644); err != nil {
		return err
	}
	for _, c := range pagesBelow(cmd) {
		if err := writeMan(dir, c, date); err != nil {
			return err
		}
	}
	return nil
}

// manName returns the name of a command's page, such as stchat-message-get.
func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// writeManPage writes a page in the man(7) format.
func writeManPage(w io.Writer, cmd *cobra.Command, date string) {
	name := manName(cmd)
	fmt.Fprintf(w, ".TH %s 1 %s \"stchat\" \"stchat manual\"\n", roff(strings.ToUpper(name)), date)
	fmt.Fprintf(w, ".SH NAME\n%s \\- %s\n", roff(name), roff(strings.ToLower(cmd.Short[:1])+cmd.Short[1:]))
	fmt.Fprintf(w, ".SH SYNOPSIS\n\\fB%s\\fR\n.SH DESCRIPTION\n", roff(cmd.UseLine()))
	text, exit, _ := strings.Cut(cmd.Long, "\nEXIT STATUS\n")
	writeManText(w, text)
	fmt.Fprint(w, ".SH OPTIONS\n")
	for _, t := range topicsOf(cmd) {
		writeManFlags(w, t)
	}
	writeManSection(w, "EXIT STATUS", exit)
	writeManSection(w, "EXAMPLES", cmd.Example)
	var see []string
	if cmd.HasParent() {
		see = append(see, manName(cmd.Parent()))
	}
	for _, c := range pagesBelow(cmd) {
		see = append(see, manName(c))
	}
	fmt.Fprint(w, ".SH SEE ALSO\n")
	for i, name := range see {
		line := ".BR " + roff(name) + " (1)"
		if i < len(see)-1 {
			line += ","
		}
		fmt.Fprintln(w, line)
	}
}

// writeManSection writes text as it stands, with its line breaks.
func writeManSection(w io.Writer, title, text string) {
	if text = strings.Trim(text, "\n"); text != "" {
		fmt.Fprintf(w, ".SH %s\n.EX\n%s\n.EE\n", title, roff(text))
	}
}

// writeManText writes paragraphs; indented lines stay as they stand.
func writeManText(w io.Writer, text string) {
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			fmt.Fprintln(w, ".PP")
		}
		asItStands := false
		for line := range strings.SplitSeq(paragraph, "\n") {
			if indented := strings.HasPrefix(line, "  "); indented != asItStands {
				asItStands = indented
				fmt.Fprintln(w, map[bool]string{true: ".EX", false: ".EE"}[indented])
			}
			if asItStands {
				fmt.Fprintln(w, roff(line))
			} else {
				writeFilled(w, line)
			}
		}

		if asItStands {
			fmt.Fprintln(w, ".EE")
		}
	}
}

// writeManFlags writes flags below their title. A command's own flags need none: they
// follow the heading OPTIONS.
func writeManFlags(w io.Writer, t topic) {
	if t.title != ownFlags {
		fmt.Fprintf(w, ".SS %s\n", roff(t.title))
	}
	for _, f := range t.flags {
		value, usage := pflag.UnquoteUsage(f)
		fmt.Fprint(w, ".TP\n")
		if f.Shorthand != "" {
			fmt.Fprintf(w, `\fB\-%s\fR, `, f.Shorthand)
		}
		fmt.Fprintf(w, `\fB\-\-%s\fR`, roff(f.Name))
		if value != "" {
			fmt.Fprintf(w, ` \fI%s\fR`, roff(value))
		}
		fmt.Fprintln(w)
		writeFilled(w, usage+shownDefault(f))
	}
}

// writeFilled writes text that man fills, in lines of at most 80 bytes.
func writeFilled(w io.Writer, text string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if longer := line + " " + word; line != "" && len(roff(longer)) > 80 {
			fmt.Fprintln(w, roff(line))
			line = word
		} else {
			line = strings.TrimPrefix(longer, " ")
		}
	}
	fmt.Fprintln(w, roff(line))
}

// roff escapes text so that man prints every character of it.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "^", `\(ha`, "~", `\(ti`, "`", `\(ga`, "…", "...").Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
