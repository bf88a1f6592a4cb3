package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/choose"
	"stchat/internal/inspect"
	"stchat/internal/ops"
	"stchat/internal/ops/cut"
	"stchat/internal/visible"
)

const completionDoc = `Print the script that lets a shell complete stchat's commands, flags, values
and chats when you press Tab. To load it in every new shell:

  bash         add to ~/.bashrc:  source <(stchat completion bash)
  zsh          stchat completion zsh > "${fpath[1]}/_stchat"
  fish         stchat completion fish > ~/.config/fish/completions/stchat.fish
  PowerShell   stchat completion powershell >> $PROFILE

bash needs the package bash-completion; zsh needs compinit. Packages of stchat
install these scripts for you.
`

func newCompletionCmd(a *app) *cobra.Command {
	shells := []string{"bash", "fish", "powershell", "zsh"}
	return &cobra.Command{
		Use:               "completion SHELL",
		Short:             "Print the script that completes commands in a shell",
		Long:              completionDoc + exitStatus(""),
		Example:           "  stchat completion fish > ~/.config/fish/completions/stchat.fish",
		ValidArgsFunction: cobra.FixedCompletions(shells, cobra.ShellCompDirectiveNoFileComp),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("name your shell: %s or %s", strings.Join(shells[:len(shells)-1], ", "), shells[len(shells)-1])
			}
			if !slices.Contains(shells, args[0]) {
				return usagef("the shell %v", unknownWord(args[0], shells, ""))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return map[string]func(io.Writer) error{
				"bash":       func(w io.Writer) error { return cmd.Root().GenBashCompletionV2(w, true) },
				"fish":       func(w io.Writer) error { return writeFish(w, cmd.Root()) },
				"powershell": cmd.Root().GenPowerShellCompletionWithDesc,
				"zsh":        cmd.Root().GenZshCompletion,
			}[args[0]](a.Out)
		},
	}
}

// writeFish writes the script for fish. Cobra's own evaluates the words before the cursor
// after fish has taken their quotes away: a chat called (CMD) would run CMD.
func writeFish(w io.Writer, root *cobra.Command) error {
	var script strings.Builder
	if err := root.GenFishCompletion(&script, true); err != nil {
		return err
	}
	const bare, quoted = "set -l args (commandline -opc)\n", "set -l args (string escape -- (commandline -opc))\n"
	if n := strings.Count(script.String(), bare); n != 1 {
		return fmt.Errorf("the script for fish reads the command line %d times, not once", n)
	}
	_, err := io.WriteString(w, strings.Replace(script.String(), bare, quoted, 1))
	return err
}

// completeFlags lets shells complete the values of the flags of cmd and of all
// commands below it.
func completeFlags(cmd *cobra.Command) {
	add := func(f *pflag.Flag) {
		if complete := completionOf(f); complete != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, complete) // it fails only where a flag is registered twice
		}
	}
	cmd.Flags().VisitAll(add)
	cmd.PersistentFlags().VisitAll(add)
	for _, cmd := range cmd.Commands() {
		completeFlags(cmd)
	}
}

// completionOf returns what completes a flag's value, by the kind of the value
// or by the name that the flag has in every command; nil leaves it to the shell,
// which offers files.
func completionOf(f *pflag.Flag) cobra.CompletionFunc {
	if v, ok := f.Value.(flagValue); ok && v.complete != nil {
		return v.complete
	}
	switch f.Name {
	case "data":
		return completeDirs
	case "role":
		return completeList(choose.Roles())
	case "integrity":
		return cobra.FixedCompletions([]string{cut.IntegrityNew, cut.IntegrityKeep, cut.IntegrityNone}, cobra.ShellCompDirectiveNoFileComp)
	}
	return nil
}

// completeList completes the last of several words with commas between them.
func completeList(words []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) (list []string, _ cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		for _, word := range words {
			if !slices.Contains(strings.Split(before, ","), word) {
				list = append(list, before+word)
			}
		}
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

// completePlace offers the checkpoints and branches that messages of the first chat on
// the command line link to.
func completePlace(cmd *cobra.Command, args []string, _ string) (list []string, _ cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	opt := ops.InspectOptions{List: ops.List{Paths: args[:1]}, Each: func(r *inspect.Report, err error) error {
		if err != nil {
			return nil // completion shows no errors
		}
		for _, links := range [][]inspect.Link{r.Checkpoints, r.Branches} {
			for _, l := range links {
				list = append(list, cobra.CompletionWithDesc(visible.Text(l.Name), fmt.Sprintf("message %d", l.At)))
			}
		}
		return nil
	}}
	if _, err := ops.Inspect(cmd.Context(), opt); err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// completeChats offers chat files.
func completeChats(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"jsonl"}, cobra.ShellCompDirectiveFilterFileExt
}

// completeDirs offers folders.
func completeDirs(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}
