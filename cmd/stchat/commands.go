package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// named is a command that may not be made yet.
type named struct {
	name string
	make func(a *app) *cobra.Command
}

// addCommands adds the command that args begin with to cmd, and no other: making all
// of them with their flags takes longer than everything else at start. Where args begin
// with none of them it adds all, for help, completion, or an error that names what there is.
func (a *app) addCommands(cmd *cobra.Command, args []string, commands []named) {
	if i := slices.IndexFunc(commands, func(c named) bool { return len(args) > 0 && c.name == args[0] }); i >= 0 {
		commands = commands[i : i+1]
	}
	for _, c := range commands {
		cmd.AddCommand(c.make(a))
	}
}

// group makes cmd the parent of commands, which does nothing by itself.
func (a *app) group(cmd *cobra.Command, commands []named) *cobra.Command {
	cmd.Args, cmd.ValidArgsFunction = onlyCommands, cobra.NoFileCompletions
	cmd.RunE = func(*cobra.Command, []string) error {
		names, last := commandNames(cmd), len(commands)-1
		return usagef("a command is needed: %s or %s", strings.Join(names[:last], ", "), names[last])
	}
	var args []string
	if len(a.args) > 0 && a.args[0] == cmd.Name() {
		args = a.args[1:]
	}
	a.addCommands(cmd, args, commands)
	return cmd
}

// commandNames returns the names of the commands below cmd.
func commandNames(cmd *cobra.Command) (names []string) {
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return names
}

// onlyCommands is the Args of a parent of commands: an argument left over is a
// mistyped command.
func onlyCommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if name := habit(args[0]); name != "" && (!cmd.HasParent() || name == "undo") {
		return usagef("there is no command %q; did you mean %q?", args[0], "stchat "+name)
	}
	return usagef("there is no command %q%s", args[0], didYouMean(args[0], commandNames(cmd), ""))
}

// habit returns the command that does what a word of other programs means, "" for none.
func habit(word string) string {
	return map[string]string{
		"ls": "inspect", "list": "inspect", "stats": "inspect", "status": "check", "info": "inspect",
		"grep": "search", "find": "search", "cat": "message get", "show": "message get", "export": "message get",
		"mv": "rename", "rm": "delete", "remove": "delete", "cp": "branch", "copy": "branch",
		"backup": "snapshot", "replace": "message set", "undo": "undo",
	}[word]
}
