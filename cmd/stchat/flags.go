package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/sendate"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/text/plain"
	"stchat/internal/text/progress"
)

// flagValue is the value of a flag that does not take any text.
type flagValue struct {
	set      func(text string) error // a [refusal] follows the flag's name
	shown    func() string
	complete cobra.CompletionFunc // nil: shells offer files

	read func(now time.Time) error // reads what depends on the time of the call; nil: nothing does
}

// String implements pflag.Value.
func (v flagValue) String() string { return v.shown() }

func (v flagValue) Type() string { return "string" }

// Set implements pflag.Value.
func (v flagValue) Set(text string) error { return v.set(text) }

// refusal is why a flag does not take a value, in words that follow the flag's name.
type refusal string

func (r refusal) Error() string { return string(r) }

// notEmptyText returns the value of a flag that must not be empty: an empty one mostly comes from a
// variable that is not set, and without the flag the command would do something else.
func notEmptyText(to *string) flagValue {
	return parsed(asItIs, func(text string) { *to = text }).notEmpty()
}

func asItIs(text string) (string, error) { return text, nil }

// notEmpty is a flag's value that must not be empty.
func (v flagValue) notEmpty() flagValue {
	set := v.set
	v.set = func(text string) error {
		if text == "" {
			return refusal("is empty")
		}
		return set(text)
	}
	return v
}

// output returns the value of a flag that names a file, or stdout by - as without the flag.
func output(to *string) flagValue {
	return parsed(asItIs, func(name string) {
		if name == "-" {
			name = ""
		}
		*to = name
	}).notEmpty()
}

// number returns the value of a flag that takes a whole number from least on, written in
// digits: 010 is ten, and 0x1 or 1_0 are not numbers. takes says what it is. A number below
// the least means that the flag was not given and has no default.
func number(to *int, least int, takes string) flagValue {
	return flagValue{
		shown: func() string {
			if *to < least {
				return ""
			}
			return strconv.Itoa(*to)
		},
		set: func(text string) error {
			n, err := strconv.Atoi(text)
			if err != nil || n < least {
				return refusal(fmt.Sprintf("takes %s, not %q", takes, text))
			}
			*to = n
			return nil
		},
	}
}

// oneOf returns the value of a flag that takes one of a few words, and sets its default.
func oneOf[T ~string](to *T, standard T, choice ...T) flagValue {
	*to = standard
	words := make([]string, len(choice))
	for i, word := range choice {
		words[i] = string(word)
	}
	return flagValue{
		shown: func() string { return string(*to) },
		set: func(word string) error {
			*to = T(word)
			if !slices.Contains(words, word) {
				return unknownWord(word, words, "")
			}
			return nil
		},
		complete: completeOne(words),
	}
}

// someOf returns the value of a flag that takes several of a few words, repeated or with commas
// between them. An empty list adds no word; the command may refuse it. hint says where the
// words are listed, if they are many.
func someOf(to *[]string, hint string, words ...string) flagValue {
	return flagValue{
		shown: func() string { return strings.Join(*to, ",") },
		set: func(list string) error {
			if list == "" {
				return nil
			}
			for word := range strings.SplitSeq(list, ",") {
				if word = strings.TrimSpace(word); !slices.Contains(words, word) {
					return unknownWord(word, words, hint)
				}
				*to = append(*to, word)
			}
			return nil
		},
		complete: completeList(words),
	}
}

// each returns the value of a flag that adds a text each time it is given.
func each(to *[]string, check func(text string) error) flagValue {
	return parsed(func(text string) (string, error) { return text, check(text) }, func(text string) { *to = append(*to, text) })
}

// parsed returns the value of a flag that is read by parse, each time it is given, for store.
func parsed[T any](parse func(text string) (T, error), store func(T)) flagValue {
	given := ""
	return flagValue{shown: func() string { return given }, set: func(text string) error {
		value, err := parse(text)
		if err == nil {
			given = text
			store(value)
		}
		return err
	}}
}

// chatName returns the value of a flag with a chat's name, which can be made safe.
func chatName(to *string) flagValue {
	judged := func(name string) (string, error) {
		name = strings.TrimSuffix(name, names.Extension)
		_, err := names.New(name, names.MaxBytes)
		return name, err
	}
	return parsed(judged, func(name string) { *to = name }).notEmpty()
}

// timed returns the value of a flag that takes a point in time, which may count back from now.
func timed(to *time.Time, takes string, parse func(text string, now time.Time) (time.Time, bool)) flagValue {
	given := ""
	return flagValue{
		shown: func() string { return given },
		set: func(text string) error {
			given = text
			return nil
		},
		read: func(now time.Time) error {
			t, ok := parse(given, now)
			*to = t
			if !ok {
				return refusal(fmt.Sprintf("takes %s, not %q", takes, given))
			}
			return nil
		},
	}
}

// aTime is what flags take that choose by time.
const aTime = `a time such as 2026-03-01, "2026-03-01 18:42", 2026-03-01T18:42:00Z, yesterday, 3d or "3 days ago"`

// until returns the value of a flag that takes a point in time: a date means its end, and "" is
// no time.
func until(to *time.Time) flagValue {
	return timed(to, aTime, func(text string, now time.Time) (time.Time, bool) {
		t, ok := sendate.ParseMoment(text, now)
		return t, ok || text == ""
	})
}

// since is [until] where a date means its beginning.
func since(to *time.Time) flagValue {
	return timed(to, aTime, func(text string, now time.Time) (time.Time, bool) {
		t, ok := sendate.ParseStart(text, now)
		return t, ok || text == ""
	})
}

// asOf returns the value of an --as-of.
func asOf(to *time.Time) flagValue {
	return timed(to, `a date (2026-03-01), a time ("2026-03-01 18:42", RFC 3339), yesterday, or an age (3d, "3 days ago")`, sendate.ParseMoment)
}

// readTimes reads the flags that depend on the time of the call.
func readTimes(fs *pflag.FlagSet, now time.Time) (err error) {
	fs.Visit(func(f *pflag.Flag) {
		if v, ok := f.Value.(flagValue); ok && v.read != nil && err == nil {
			if e := v.read(now); e != nil {
				err = usagef("--%s %v", f.Name, e)
			}
		}
	})
	return err
}

// unknownWord refuses a word, and lists those that are known unless a hint says where they are.
func unknownWord(word string, words []string, hint string) refusal {
	mean := didYouMean(word, words, "")
	if hint != "" {
		return refusal(fmt.Sprintf("does not know %q%s; %s", word, mean, hint))
	}
	last := len(words) - 1
	return refusal(fmt.Sprintf("is %s or %s, not %q%s", strings.Join(words[:last], ", "), words[last], word, mean))
}

// flagText returns the text of a flag's value, "" if there is no such flag.
func flagText(fs *pflag.FlagSet, name string) string {
	if f := fs.Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

// isGiven reports whether a flag was given, other than as --name=false.
func isGiven(fs *pflag.FlagSet, name string) bool {
	return fs.Changed(name) && flagText(fs, name) != "false"
}

// given returns the value of a flag, nil if it was not given.
func given[T any](fs *pflag.FlagSet, flag string, value *T) *T {
	if !fs.Changed(flag) {
		return nil
	}
	return value
}

// addWriting adds the flags of every command that writes.
func (c *console) addWriting(fs *pflag.FlagSet) {
	addTopic(fs, writing, func(fs *pflag.FlagSet) {
		fs.BoolVar(&c.dryRun, "dry-run", false, "do everything but write, and show what would change")
		fs.BoolVarP(&c.yes, "yes", "y", false, "do not ask")
	})
}

// messageOrName returns the value of an --at that takes a message number, or a name. It refuses a name
// that looks like a number in another notation.
func messageOrName(at *int, name *string) flagValue {
	return flagValue{
		shown: func() string { return strconv.Itoa(*at) },
		set: func(text string) error {
			var named bool
			if *name, named = strings.CutPrefix(text, "name:"); named && *name != "" {
				return nil
			}
			*name = ""
			if n, err := strconv.Atoi(text); err == nil {
				*at = n
				return nil
			}
			digits := strings.TrimLeft(text, "+-")
			if digits == "" || digits[0] >= '0' && digits[0] <= '9' && strings.Trim(digits, "0123456789abcdefABCDEFxXoO_.,") == "" {
				return refusal(fmt.Sprintf("takes a message number such as 23 or -1, or a name, not %q", text))
			}
			*name = text
			return nil
		},
	}
}

// agree refuses flags that do not go together, by rules such as "up excludes down" and "force
// needs output". Either side may be several flags with | between them, of which any counts. What
// follows a colon ends the error; what follows an equals sign is all of it. ARG is any argument,
// ARGS more than one.
func agree(fs *pflag.FlagSet, rules []string) error {
	given := func(names string) string {
		for name := range strings.SplitSeq(names, "|") {
			if name == "ARG" && fs.NArg() > 0 || name == "ARGS" && fs.NArg() > 1 || isGiven(fs, name) {
				return name
			}
		}
		return ""
	}

	for _, rule := range append(rules, "null needs files-from", "hidden excludes no-hidden") {
		rule, text, whole := strings.Cut(rule, " = ")
		rule, why, reasoned := strings.Cut(rule, ":")
		words := strings.Fields(rule)
		a, b := given(words[0]), given(words[2])
		excludes := words[1] == "excludes"
		if a == "" || excludes == (b == "") {
			continue
		}
		if !whole && excludes {
			text = fmt.Sprintf("--%s and --%s exclude each other", a, b)
		} else if !whole {
			first, _, _ := strings.Cut(words[2], "|")
			text = fmt.Sprintf("--%s goes with --%s", a, first)
		}

		if reasoned {
			text += ":" + why
		}
		return usagef("%s", text)
	}
	return nil
}

// flagError turns pflag's errors into those that users see.
func (c *console) flagError(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() != "" {
			return usagef("there is no flag -%s%s", name, strangeFlag(cmd, name, ""))
		}
		if meant := strangeFlag(cmd, name, valueBehind(c.args, "--"+name)); meant != "" {
			return usagef("there is no flag --%s%s", name, meant)
		}
		return usagef("there is no flag --%s%s", name, didYouMean(name, flagNames(cmd), "--"))
	}

	if empty, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return usagef("--%s needs a value", empty.GetFlag().Name)
	}
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return usagef("%v", err)
	}
	name := "--" + invalid.GetFlag().Name
	cause := errors.Unwrap(invalid)
	switch {
	case isA[refusal](err):
		return usagef("%s %v", name, cause)
	case isA[*strconv.NumError](err) && invalid.GetFlag().Value.Type() == "bool":
		return usagef("%s is true or false, not %q", name, invalid.GetValue())
	case isA[*strconv.NumError](err):
		return usagef("%s takes a number, not %q", name, invalid.GetValue())
	}
	return usagef("%s: %v", name, cause)
}

// dataVariable is the environment variable that names the default user folder.
const dataVariable = "STCHAT_DATA"

// listFlags are the flags of every command that takes many files.
type listFlags struct {
	filesFrom string
	noFolders bool // a folder is not all its chats
}

func (l *listFlags) addFlags(fs *pflag.FlagSet) {
	addTopic(fs, manyFiles, func(fs *pflag.FlagSet) {
		fs.Var(notEmptyText(&l.filesFrom), "files-from", "also take the paths in `FILE`, one per line up to a tab, or ended by NUL; - is stdin")
	})
}

// list returns the paths to work on: those of args, with patterns expanded, then those
// of --files-from. example is the error where nothing is named.
func (l *listFlags) list(ctx context.Context, c *console, args []string, example string) (ops.List, error) {
	var list ops.List
	list.Paths = expand(args)
	switch {
	case l.filesFrom == "" && len(args) == 0:
		return list, usagef("%s", example)
	case l.filesFrom == chat.Stdin && slices.Contains(args, chat.Stdin):
		return list, usagef("stdin is a chat already; --files-from needs a file")
	case l.filesFrom != "":
		more, err := l.readList(ctx, c)
		if err != nil {
			return list, err
		}
		if c.means != nil {
			if more, err = c.findAll(c.means, more); err != nil {
				return list, err
			}
		}
		list.Paths = append(list.Paths, more...)
	}

	if len(list.Paths) == 0 {
		return list, c.emptyList(l.filesFrom)
	}
	list.AllowEmpty = !slices.ContainsFunc(list.Paths, func(path string) bool { return !userdir.IsUserDir(path) })
	if i := slices.IndexFunc(list.Paths, userdir.IsDir); l.noFolders && i >= 0 {
		return list, usagef("%s is a folder of chats; name those that are meant", list.Paths[i])
	}
	return list, nil
}

// withLines returns args and behind them the lines of --files-from, which from then on are arguments as
// any other.
func (l *listFlags) withLines(ctx context.Context, c *console, args []string) ([]string, error) {
	if l.filesFrom == "" {
		return args, nil
	}
	lines, err := l.readList(ctx, c)
	if err != nil {
		return nil, err
	}
	args = slices.Concat(args, lines)
	if len(args) == 0 {
		return nil, c.emptyList(l.filesFrom)
	}
	l.filesFrom = ""
	return args, nil
}

// emptyList says that a list has no paths, and ends the command.
func (c *console) emptyList(name string) error {
	c.note("%s: this list has no paths", name)
	return errNothing
}

// errNothing ends a command that was given an empty list: there is nothing to do, which is no error.
var errNothing = errors.New("nothing to do")

// sources is [listFlags.list] for a command whose arguments are files.
func (l *listFlags) sources(ctx context.Context, c *console, args []string, example string) ([]string, error) {
	list, err := l.list(ctx, c, args, example)
	return list.Paths, err
}

// folders is [listFlags.list] for a command that reads folders: the default is that of --data, else the user folder around the working folder, else STCHAT_DATA.
func (l *listFlags) folders(ctx context.Context, c *console, args []string, example string) (ops.List, error) {
	if len(args) == 0 && l.filesFrom == "" {
		folder := cmp.Or(c.data, folderAround(), c.Getenv(dataVariable))
		if folder != "" {
			args = []string{folder}
		}
	}
	return l.list(ctx, c, args, example)
}

// folderAround returns the folder of a user or of SillyTavern that the working folder is or lies in, "" if
// there is none. For SillyTavern's data folder that is the working folder itself, so that paths stay short.
func folderAround() string {
	if len(userdir.UsersIn(".")) > 0 {
		return "."
	}
	around, ok := userdir.Around(".")
	if !ok {
		return ""
	}
	return userdir.Near(around)
}

// userFolder returns --data, or if that is empty and no path lies in a user folder,
// STCHAT_DATA. "" means that the paths decide.
func userFolder(c *console, paths []string) string {
	tells := func(path string) bool {
		_, ok := userdir.Find(path)
		return ok
	}
	if c.data == "" && !slices.ContainsFunc(paths, tells) {
		return c.Getenv(dataVariable)
	}
	return c.data
}

// readList reads the paths of --files-from; empty ones are skipped.
func (l *listFlags) readList(ctx context.Context, c *console) ([]string, error) {
	data, err := progress.Until(ctx, func() ([]byte, error) {
		if l.filesFrom == chat.Stdin {
			return io.ReadAll(c.In)
		}
		return os.ReadFile(l.filesFrom)
	})
	if err != nil {
		return nil, fmt.Errorf("--files-from: %w", ops.PathError(err))
	}

	data = plain.UTF8(data)
	end := "\n"
	if bytes.IndexByte(data, 0) >= 0 { // as find -print0 writes it
		end = "\x00"
	}
	var paths []string
	for path := range strings.SplitSeq(string(data), end) {
		if end == "\n" {
			path, _, _ = strings.Cut(path, "\t") // what list prints begins with the path
			path = strings.TrimSuffix(path, "\r")
		}
		if path == chat.Stdin { // a file may be named so; it is not stdin here
			path = "./" + path
		}
		isBlank := strings.TrimSpace(path) == ""
		if !isBlank {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// unquoted returns a path without the quotation marks that a list or a shell has left around it, unless
// something is called so. On Windows, where no name has one, "C:\chats\" comes as C:\chats", since the last
// backslash takes away the meaning of the mark behind it.
func unquoted(path string) string {
	inside, begins := strings.CutPrefix(path, `"`)
	inside, ends := strings.CutSuffix(inside, `"`)
	isQuoted := ends && (begins || runtime.GOOS == "windows")
	if !isQuoted {
		return path
	}
	if _, err := os.Lstat(path); err == nil {
		return path
	}
	return inside
}

// expand replaces each pattern that no shell expanded, as on Windows, with the files
// that it matches. An existing file with a * in its name is no pattern.
func expand(args []string) (paths []string) {
	escapes := []string{"[", "[[]"}
	if runtime.GOOS != "windows" { // there \ stands between folders
		escapes = append(escapes, `\`, `\\`)
	}
	escape := strings.NewReplacer(escapes...)
	for _, arg := range args {
		arg = unquoted(arg)
		if _, err := os.Lstat(arg); err == nil || !strings.Contains(arg, "*") {
			paths = append(paths, arg)
			continue
		}
		found, err := filepath.Glob(escape.Replace(arg))
		if err != nil || len(found) == 0 {
			found = []string{arg} // opening it reports that it does not exist
		}
		paths = append(paths, found...)
	}
	return paths
}

// nameFolder returns the error of a command that reads folders and was given no path.
func nameFolder(command string) string {
	return fmt.Sprintf("name a chat, a folder or your user folder, e.g. `stchat %s SillyTavern/data/default-user`, or set %s to that folder", command, dataVariable)
}
