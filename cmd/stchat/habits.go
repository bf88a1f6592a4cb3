package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/text/visible"
)

// habit is a word that is no command here, but one elsewhere, or what a person would call it.
type habit struct {
	words string // separated by spaces
	// runs is the command that runs in its place, since it only reads; ARGS stands for the arguments.
	runs string
	// line is what does it, to be copied; ARGS stands for the arguments.
	line string
	// also says what else the word may have meant.
	also string
}

// habits returns the words that are no commands.
func habits() []habit {
	return []habit{
		{words: "ls dir chats recent characters", runs: "list ARGS"},
		{words: "cat read view less get", runs: "show ARGS"},
		{words: "head", runs: "show ARGS ..19"},
		{words: "tail", runs: "show ARGS --last 20"},
		{words: "count", runs: "show --count ARGS"},
		{words: "words wc", runs: "stats ARGS"},
		{words: "find grep rg", runs: "search ARGS"},
		{words: "info status du", runs: "inspect ARGS"},
		{words: "compare cmp", runs: "diff ARGS"},
		{words: "history versions", runs: "log ARGS"},
		{words: "branches checkpoints", runs: "tree ARGS"},
		{words: "snapshots", runs: "log --snapshots ARGS"},
		{words: "swipes", runs: "swipe ARGS"},
		{words: "recover undelete", runs: "lost ARGS"},
		{words: "doctor health validate lint", runs: "check ARGS"},

		{words: "mv", line: "stchat move ARGS"},
		{words: "cp clone convert", line: "stchat copy ARGS"},
		{words: "del remove", line: "stchat rm ARGS"},
		{words: "change modify text", line: "stchat edit ARGS"},
		{words: "sed", line: "stchat replace OLD NEW CHAT"},
		{words: "fork rewind", line: "stchat branch ARGS"},
		{words: "bookmark", line: "stchat checkpoint ARGS"},
		{words: "append concat", line: "stchat join ARGS", also: "a message is added with `stchat add CHAT --role user --text TEXT`"},
		{words: "insert write", line: "stchat add CHAT --role user --text TEXT"},
		{words: "fix mend", line: "stchat repair ARGS"},
		{words: "compact clean shrink strip", line: "stchat slim CHAT --drop swipes,reasoning,images"},
		{
			words: "prune", line: "stchat slim CHAT --drop swipes,reasoning,images",
			also: "old chats go with `stchat rm PATH --older-than 1y`, old versions with `stchat store --prune`",
		},
		{words: "forget", line: "stchat store --prune --keep-daily 30", also: "all that is kept of a chat goes with `stchat store --forget CHAT`"},
		{words: "verify fsck", line: "stchat store --verify", also: "chats are checked with `stchat check`"},
		{words: "gc vacuum", line: "stchat store --compact", also: "old versions go with `stchat store --prune`"},
		{words: "checkout revert reset", line: "stchat restore ARGS", also: "what stchat itself did is taken back by `stchat undo`"},
		{words: "sync transfer", line: "stchat merge INTO FROM", also: "what FROM has more comes into INTO"},
		{words: "dedupe duplicates", line: "stchat tree --all --by content"},
		{words: "init", line: "stchat snapshot", also: "nothing has to be set up before"},
		{words: "commit", line: "stchat snapshot ARGS"},
		{words: "backup save", line: "stchat snapshot", also: "all in one file: `tar -czf chats.tar.gz chats`"},
		{words: "note author", line: "stchat meta set CHAT note=\"Be brief.\""},
		{words: "set", line: "stchat meta set CHAT KEY=VALUE"},
		{words: "persona", line: "stchat meta set CHAT persona=VALUE"},
		{words: "scenario", line: "stchat meta set CHAT scenario=VALUE"},
		{
			words: "lorebook lore world lorebooks worlds", line: "stchat list --where lorebook=NAME",
			also: "what is in it: `stchat inspect worlds/NAME.json`; a chat gets one: `stchat meta set CHAT lorebook=NAME`",
		},
		{words: "rename-user anonymize", line: "stchat replace OLD NEW CHAT --names", also: "it changes the chats themselves, so work on a copy"},
		{words: "epub pdf html md txt", line: "stchat export ARGS"},
	}
}

// habitOf returns the habit that a word belongs to, nil if it is none.
func habitOf(word string) *habit {
	for _, h := range habits() {
		if slices.Contains(strings.Fields(h.words), word) {
			return &h
		}
	}
	return nil
}

// accustomed returns the arguments of the program with a word of other programs for what only reads
// replaced by the command that does it, and the name of that command, "" if nothing is replaced.
func accustomed(args []string) (replaced []string, command string) {
	if len(args) == 0 {
		return args, ""
	}
	h := habitOf(args[0])
	if h == nil || h.runs == "" {
		return args, ""
	}
	rest := args[1:]
	runs := strings.Fields(h.runs)
	if args[0] == "head" || args[0] == "tail" {
		n, others := numbered(rest)
		rest = others
		switch {
		case n > 0 && args[0] == "head":
			runs = []string{"show", "ARGS", ".." + strconv.Itoa(n-1)}
		case n > 0:
			runs = []string{"show", "ARGS", "--last", strconv.Itoa(n)}
		}
	}

	if args[0] == "swipes" && len(rest) > 2 { // it would choose one
		return args, ""
	}
	at := slices.Index(runs, "ARGS")
	return slices.Concat(runs[:at], rest, runs[at+1:]), runs[0]
}

// numbered takes -n N, or -nN, from arguments; n is 0 if there is none.
func numbered(args []string) (n int, others []string) {
	for i := 0; i < len(args); i++ {
		value, is := strings.CutPrefix(args[i], "-n")
		if is && value == "" && i+1 < len(args) {
			i++
			value = args[i]
		}
		if count, err := strconv.Atoi(value); is && err == nil && count > 0 {
			n = count
			continue
		}
		others = append(others, args[i])
	}
	return n, others
}

// noCommand is the error of a word that is no command, or none below cmd; args are those behind it.
func noCommand(cmd *cobra.Command, word string, args []string) error {
	if cmd.HasParent() {
		return noSubcommand(cmd, word, args)
	}
	if (word == "message" || word == "chat") && len(args) > 0 {
		return noMessageCommand(word, args, commandNames(cmd))
	}
	if h := habitOf(word); h != nil {
		also := ""
		if h.also != "" {
			also = "; " + h.also
		}
		return usagef("there is no command %q; here it is `%s`%s", word, h.copied(word, args), also)
	}
	if slices.Contains(commandNames(cmd), word) { // behind --
		return usagef("%q is behind --, where nothing is a command: `%s`", word, commandLine("stchat "+word, args))
	}
	return usagef("there is no command %q%s", word, didYouMean(word, commandNames(cmd), ""))
}

// noMessageCommand is noCommand for message and chat, below which the commands were that are commands now;
// what else stands behind them is a chat.
func noMessageCommand(word string, args, commands []string) error {
	noWord := fmt.Sprintf("there is no command %q", word)
	command := formerly(args[0])
	name, _, _ := strings.Cut(command, " ")
	if slices.Contains(commands, name) {
		return usagef("%s; here it is `%s`", noWord, commandLine("stchat "+command, args[1:]))
	}
	shown := args[:1]
	if len(args) > 1 && looksLikeMessages(args[1]) {
		shown = args[:2]
	}
	return usagef("%s; here it is `%s`; a message is added with `stchat add CHAT --role user --text TEXT`", noWord, commandLine("stchat show", shown))
}

// noSubcommand is noCommand for a word behind meta or state.
func noSubcommand(cmd *cobra.Command, word string, args []string) error {
	noWord := fmt.Sprintf("there is no command %q", cmd.Name()+" "+word)
	line := ""
	switch word {
	case "list", "show", "print", "cat":
		line = commandLine(cmd.CommandPath()+" get", args)
	case "log":
		line = commandLine(cmd.CommandPath()+" get", args) + " --log"
	case "delete", "remove", "unset":
		line = cmd.CommandPath() + " set PATH --unset KEY"
		if cmd.Name() == "state" {
			line = cmd.CommandPath() + " set PATH NS --delete"
		}
	case "prune":
		line = "stchat repair --rule RULE"
	}

	if line == "" && strings.ContainsAny(word, `/\`) { // it is a chat
		line = commandLine(cmd.CommandPath()+" get", append([]string{word}, args...))
	}
	if line != "" {
		return usagef("%s; here it is `%s`", noWord, line)
	}
	return usagef("%s%s", noWord, didYouMean(word, commandNames(cmd), ""))
}

// formerly returns the command that does what a command below message did.
func formerly(word string) string {
	switch word {
	case "get":
		return "show"
	case "count":
		return "show --count"
	case "set", "apply":
		return "edit"
	}
	return word
}

// copied returns the line that does it.
func (h *habit) copied(word string, args []string) string {
	line := h.line
	if line == "" {
		line = "stchat " + h.runs
	}
	messages := len(args) > 1 && looksLikeMessages(args[1])
	if messages && (word == "del" || word == "remove") {
		line = "stchat delete ARGS"
	}
	if line := metadataLine(word, args); line != "" {
		return line
	}
	command, isWhole := strings.CutSuffix(line, " ARGS")
	if !isWhole {
		return line
	}
	return commandLine(command, args)
}

// metadataLine returns the line that reads or sets what a word stands for in the metadata of a chat, "" if the
// word is another or not enough is typed.
func metadataLine(word string, args []string) string {
	key := noteKey(word)
	isFlag := func(arg string) bool { return strings.HasPrefix(arg, "-") }
	switch {
	case slices.ContainsFunc(args, isFlag):
		return ""
	case key != "" && len(args) == 1: // it may be meant to be read
		return commandLine("stchat meta get", args) + " " + key
	case key != "" && len(args) > 1:
		value := strings.Join(args[1:], " ")
		return commandLine("stchat meta set", []string{args[0], key + "=" + value})
	case word == "set" && len(args) > 1 && strings.Contains(args[1], "="):
		return commandLine("stchat meta set", args)
	}
	return ""
}

// noteKey returns the key of the metadata that a word stands for, "" for any other word.
func noteKey(word string) string {
	switch word {
	case "note", "author":
		return "note"
	case "persona", "scenario":
		return word
	}
	return ""
}

// commandLine returns a command with arguments as a shell takes them.
func commandLine(command string, args []string) string {
	for _, arg := range args {
		command += " " + visible.Quote(arg)
	}
	return command
}

// strange is a flag of other programs.
type strange struct {
	flags string // separated by spaces, without dashes
	// where says which commands it is about: a flag that they have, or the name of one; "" means all.
	where string
	says  string // what does it here; =X stands for the value that was typed
}

// strangers returns the flags of other programs of which it is known what does the same here. The first that fits counts.
func strangers() []strange {
	return []strange{
		{flags: "date on before after", where: "since", says: "by time: --since, --until"},
		{flags: "date on before", where: "as-of", says: "as of a time: --as-of"},
		{flags: "preview n simulate", where: "dry-run", says: "--dry-run shows what would be done"},
		{flags: "n tail", where: "last", says: "the last N: --last N"},
		{flags: "n", where: "limit", says: "--limit N"},
		{flags: "first", where: "last", says: "the first ten: ..9, behind the chat"},
		{flags: "E", where: "search", says: "for a regular expression: stchat show . --match RE"},
		{flags: "i ignore-case", where: "search", says: "letter case makes no difference"},
		{flags: "name", where: "speaker", says: "who speaks is --speaker"},
		{flags: "lorebook", where: "meta set", says: "lorebook=X"},
		{flags: "note", where: "meta set", says: "note=X"},
		{flags: "lorebook", where: "where", says: "--where lorebook=X"},
		{flags: "note", where: "where", says: "--where note=X"},
		{flags: "lorebook", where: "set", says: "--set lorebook=X"},
		{flags: "note", where: "set", says: "--set note=X"},
		{flags: "lorebook", where: "new", says: "once it is made: stchat meta set CHAT lorebook=X"},
		{flags: "lorebook", says: "the chats of a lorebook: stchat list --where lorebook=X"},
		{flags: "deleted gone", where: "list", says: "what is gone: stchat lost"},
		{flags: "l list", where: "undo", says: "what it can take back: stchat log --commands"},
		{flags: "older-than", where: "store", says: "versions go by --prune with --keep-last N, --keep-daily N and the like"},
		{flags: "exit-code porcelain", where: "check", says: "the exit code says it: stchat help exit"},
		{flags: "0 z null print0", where: "files-from", says: "--files-from takes a list ended by NUL as it is"},
		{flags: "r recursive", where: "files-from", says: "of a folder all is taken"},
		{flags: "all", where: "hide", says: "whatever they are: stchat edit CHAT MESSAGES --set is_system=true"},
		{flags: "all", where: "unhide", says: "all that are hidden: stchat unhide CHAT"},
		{flags: "all", where: "files-from", says: "of a folder all is taken, such as ."},
		{flags: "output-dir out-dir", where: "output", says: "into a folder: -o DIR/"},
		{flags: "V", where: "stchat", says: "stchat version"},
		{flags: "user", says: "whose chats is said by the path, or by --data with the folder of that user"},
	}
}

// strangeFlag says what does here what a flag of other programs does, "" if that is not known. value is what
// was typed for it, "" for nothing.
func strangeFlag(cmd *cobra.Command, name, value string) string {
	isNumber := strings.Trim(name, "0123456789") == ""
	if isNumber && name != "0" && cmd.Flags().Lookup("limit") != nil {
		return "; --limit N"
	}
	for _, s := range strangers() {
		isNamed := "stchat "+s.where == cmd.CommandPath() || s.where == cmd.Name()
		isMeant := s.where == "" || isNamed || cmd.Flags().Lookup(s.where) != nil
		if !isMeant || !slices.Contains(strings.Fields(s.flags), name) {
			continue
		}
		says := s.says
		before, valued := strings.CutSuffix(says, "=X")
		if valued && value != "" {
			says = before + "=" + visible.Quote(value)
		}
		return "; " + says
	}
	return ""
}

// valueBehind returns what is typed as the value of a flag, which may be unknown: the argument behind it, or
// what follows an equals sign; "" for nothing.
func valueBehind(args []string, flag string) string {
	for i, arg := range args {
		if value, valued := strings.CutPrefix(arg, flag+"="); valued {
			return value
		}
		if arg == flag && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			return args[i+1]
		}
	}
	return ""
}

// flagNames returns the names of all flags of a command.
func flagNames(cmd *cobra.Command) (names []string) {
	add := func(f *pflag.Flag) { names = append(names, f.Name) }
	cmd.Flags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	return names
}
