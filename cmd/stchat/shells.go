package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/sillytavern/choose"
)

func newCompletion() verb {
	shells := []string{"bash", "fish", "powershell", "zsh"}
	return verb{
		use: "completion SHELL", short: "Print the script that completes commands in a shell",
		doc: `Print the script that lets a shell complete stchat's commands, flags, values
and chats when you press Tab. The examples load it in every new shell; in bash
this line goes into ~/.bashrc: source <(stchat completion bash). bash needs the
package bash-completion; zsh needs compinit. Packages of stchat install these
scripts for you.
`,
		example: `  stchat completion zsh > "${fpath[1]}/_stchat"
  stchat completion fish > ~/.config/fish/completions/stchat.fish
  stchat completion powershell >> $PROFILE`,
		also:   "help",
		offers: cobra.FixedCompletions(shells, cobra.ShellCompDirectiveNoFileComp),
		plain:  true,
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
//
// They are there because names of chats and characters have spaces. As Cobra 1.10.2 makes them, bash puts
// a common beginning into the line with its space as it is (`show Mar` becomes `show Maren Holm/`, two
// words), fish offers nothing behind an escaped space, and neither it nor zsh anything within quotes (tried
// in bash 5.2, fish 3.6 and zsh 5.9).
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
