package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/sillytavern/choose"
)

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
		fmt.Fprintf(w, ".BR %s (1)%s\n", roff(name), when(i < len(see)-1, ","))
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

func newCompletion() verb {
	shells := []string{"bash", "fish", "powershell", "zsh"}
	return verb{
		use: "completion SHELL", short: "Print the script that completes commands in a shell",
		doc: `Print the script that lets a shell complete stchat's commands, flags, values
and chats when you press Tab. To load it in every new shell:

  bash         add to ~/.bashrc:  source <(stchat completion bash)
  zsh          stchat completion zsh > "${fpath[1]}/_stchat"
  fish         stchat completion fish > ~/.config/fish/completions/stchat.fish
  PowerShell   stchat completion powershell >> $PROFILE

bash needs the package bash-completion; zsh needs compinit. Packages of stchat
install these scripts for you.
`,
		example: "  stchat completion fish > ~/.config/fish/completions/stchat.fish",
		offers:  cobra.FixedCompletions(shells, cobra.ShellCompDirectiveNoFileComp),
		plain:   true,
		options: flagless(func(c *console, args []string) error {
			if len(args) != 1 {
				return usagef("name your shell: %s or %s", strings.Join(shells[:len(shells)-1], ", "), shells[len(shells)-1])
			}
			root := newRoot(&console{env: c.env})
			switch args[0] {
			case "bash":
				return writeScript(c.Out, root.GenBashCompletionV2, bashChanges()...)
			case "fish":
				return writeScript(c.Out, root.GenFishCompletion, fishChanges()...)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(c.Out)
			case "zsh":
				return writeScript(c.Out, func(w io.Writer, _ bool) error { return root.GenZshCompletion(w) }, zshChanges()...)
			}
			return usagef("the shell %v", unknownWord(args[0], shells, ""))
		}),
	}
}

// writeScript writes a completion script of Cobra's with changes, each of which must fit in one place.
func writeScript(w io.Writer, generate func(w io.Writer, descriptions bool) error, changes ...[2]string) error {
	var b strings.Builder
	if err := generate(&b, true); err != nil {
		return err
	}
	script := b.String()
	for _, change := range changes {
		if n := strings.Count(script, change[0]); n != 1 {
			return fmt.Errorf("the completion script has %q %d times, not once", change[0], n)
		}
		script = strings.Replace(script, change[0], change[1], 1)
	}
	_, err := io.WriteString(w, script)
	return err
}

// bashChanges escapes also words of which there are several: what they have in common is put into
// the command line, where a name's space would end it. A quote that is still open is closed before the
// shell reads the words, and stays before what is offered. A comma is escaped only where there are
// braces: nobody types it so, and what is offered must begin as what is typed.
func bashChanges() [][2]string {
	return [][2]string{
		{`COMPREPLY+=("$compline")`, `COMPREPLY+=("${comp#"$quote"}${compline#"${compline%%$tab*}"}")`},
		{"        comp=${compline%%$tab*}\n", ""},
		{`COMPREPLY[0]=$(printf "%q" "${COMPREPLY[0]%%$tab*}")`, `COMPREPLY[0]=${COMPREPLY[0]%%$tab*}`},
		{`"${completions[*]}" != *$tab*`, `-z $quote && "${completions[*]}" != *$tab*`},
		{`printf -v comp "%q" "${compline%%$tab*}" &>/dev/null || comp=$(printf "%q" "${compline%%$tab*}")`, `__stchat_quote "${compline%%$tab*}"`},
		{"    local out directive\n", "    local out directive quote=\n"},
		{"    # Use eval to handle", `    case $cur in
    \"*|\'*) [[ ${cur:1} == *"${cur:0:1}"* ]] || quote=${cur:0:1} ;;
    esac
    requestComp+=$quote

    # Use eval to handle`},
		{"__stchat_process_completion_results() {\n", `# Sets comp to a word as it stands behind the quote that is open.
__stchat_quote() {
    local char
    case $quote in
    \') comp=\'${1//\'/"'\\''"} ;;
    \")
        comp=$1
        for char in '\' '"' '$' $'\x60'; do
            comp=${comp//"$char"/"\\$char"}
        done
        comp=\"${comp//!/'"\!"'}
        ;;
    *)
        printf -v comp %q "$1"
        [[ $1 == *{* ]] || comp=${comp//\\,/,}
        ;;
    esac
}

__stchat_process_completion_results() {
`},
	}
}

// zshChanges leaves the words' spaces as they are, closes a quote that is still open before the
// shell reads them, and keeps the backslashes of names, which _describe takes for signs of its own.
func zshChanges() [][2]string {
	return [][2]string{
		{`"${=words[1,CURRENT]}"`, `"${(@)words[1,CURRENT]}"`},
		{"$(eval ${requestComp} 2>/dev/null)", "$(eval ${requestComp} 2>/dev/null || eval ${requestComp}$compstate[quote] 2>/dev/null)"},
		{`comp=${comp//:/\\:}`, `comp=${${comp//\\/\\\\}//:/\\:}`},
	}
}

// fishChanges keeps fish from evaluating the words before the cursor after it has taken their quotes
// away: a chat called (CMD) would run CMD. What is typed of the last word is asked for and compared
// without its quotes, too: names have spaces. It may begin with a hyphen: --set=KEY=.
func fishChanges() [][2]string {
	return [][2]string{
		{"set -l args (commandline -opc)\n", "set -l args (string escape -- (commandline -opc))\n"},
		{"(string escape -- (commandline -ct))\n", "(string escape -- (string unescape -- (commandline -ct); or commandline -ct))\n"},
		{"(commandline -t | string escape --style=regex)", "(string escape --style=regex -- (string unescape -- (commandline -t); or commandline -t))"},
		{`string split --max 1 \t`, `string split --max 1 -- \t`},
	}
}

// completeFlags lets shells complete the values of the flags of cmd and of all
// commands below it.
func (c *console) completeFlags(cmd *cobra.Command) {
	add := func(f *pflag.Flag) {
		if complete := c.completionOf(cmd, f); complete != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, complete) // it fails only where a flag is registered twice
		}
	}
	cmd.Flags().VisitAll(add)
	cmd.PersistentFlags().VisitAll(add)
	for _, cmd := range cmd.Commands() {
		c.completeFlags(cmd)
	}
}

// completionOf returns what completes a flag's value, by the kind of the value
// or by the name that the flag has in every command; nil leaves it to the shell,
// which offers files.
func (c *console) completionOf(cmd *cobra.Command, f *pflag.Flag) cobra.CompletionFunc {
	if complete := c.flagOffers(cmd, f); complete != nil {
		return complete
	}
	if v, ok := f.Value.(flagValue); ok && v.complete != nil {
		return v.complete
	}
	switch f.Name {
	case "data":
		return completeDirs
	case "role":
		return completeList(choose.Roles())
	}
	return nil
}

// completeList completes the last of several words with commas between them.
func completeList(words []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) (list []string, _ cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		for _, word := range words {
			if !slices.Contains(strings.Split(before, ","), word) {
				list = append(list, cobra.CompletionWithDesc(before+word, aboutWord(word)))
			}
		}
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeOne completes one of several words.
func completeOne(words []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		return completeList(words)(cmd, args, "")
	}
}

// completeDirs offers folders.
func completeDirs(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// These are set by a release build: -ldflags "-X main.version=v1.2.3 -X main.homepage=https://…".
var version, homepage string

// versionInfo is what version --json prints.
type versionInfo struct {
	Schema   int      `json:"schema"`
	Version  string   `json:"version"`
	Commit   *string  `json:"commit"`
	Modified bool     `json:"modified"`
	Go       string   `json:"go"`
	Platform string   `json:"platform"`
	Formats  []string `json:"formats"`

	home string // the address of the program's page, "" if it has none
}

// formats returns the programs whose files stchat was written for and tested against.
func formats() []string {
	return []string{
		"SillyTavern 1.12.0 to 1.19.0 (chats, groups, lorebooks)",
		"Luker 2.8.0 (sidecars in files)",
		"ST-Auto-Recap 5083d00",
		"Auto-Illustrator c32b9b5",
	}
}

func readVersion() versionInfo {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	v := versionInfo{
		Schema: 1, Version: cmp.Or(version, info.Main.Version, "(devel)"), Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Formats: formats(), home: homeOf(info.Main.Path),
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = &s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

// homeOf returns the address of the program's page: that of a release build, else that of the
// module's path, "" where that has no host.
func homeOf(module string) string {
	host, _, _ := strings.Cut(module, "/")
	if homepage == "" && strings.Contains(host, ".") {
		return "https://" + module
	}
	return homepage
}

func newVersion() verb {
	return verb{
		use: "version", short: "Print version, commit, Go version and known formats",
		doc: `Print the version of stchat, the commit it was built from, the Go version and
platform, and the formats it knows.
`,
		example: "  stchat version\n  stchat version --json",
		args:    cobra.NoArgs,
		options: versionOptions{},
	}
}

type versionOptions struct{}

func (versionOptions) addFlags(*pflag.FlagSet) {}

func (versionOptions) run(_ context.Context, c *console, _ *pflag.FlagSet, _ []string) error {
	return c.version()
}

// version prints what version prints.
func (c *console) version() error {
	v := readVersion()
	if c.json {
		return c.document(v)
	}
	commit := cmp.Or(deref(v.Commit), "unknown") + when(v.Modified, " (modified)")
	fmt.Fprintf(c.w, "stchat %s\ncommit  %s\ngo      %s %s\n", v.Version, commit, v.Go, v.Platform)
	for i, f := range v.Formats {
		fmt.Fprintln(c.w, either(i == 0, "formats ", "        ")+f)
	}
	return c.printed()
}
