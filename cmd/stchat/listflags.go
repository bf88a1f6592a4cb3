package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"stchat/internal/chat"
	"stchat/internal/ops"
	"stchat/internal/userdir"
)

// dataVariable is the environment variable that names the default user folder.
const dataVariable = "STCHAT_DATA"

// listFlags are the flags of every command that takes many files.
type listFlags struct {
	filesFrom  string
	null       bool
	jobs       int
	shard      string
	allowEmpty bool
}

func (l *listFlags) addFlags(fs *pflag.FlagSet) {
	addTopic(fs, manyFiles, func(fs *pflag.FlagSet) {
		fs.StringVar(&l.filesFrom, "files-from", "", "also take the paths in `FILE`, one per line; - is stdin")
		fs.BoolVarP(&l.null, "null", "0", false, "with --files-from: paths end in NUL, as find -print0 writes them")
		fs.Var(number(&l.jobs, 1, "a number of at least 1"), "jobs", "work on at most `N` files at once; default: one per processor")
		fs.StringVar(&l.shard, "shard", "", "take only part `K/N` of the files, such as 2/8: one of N calls that share the work")
		fs.BoolVar(&l.allowEmpty, "allow-empty", false, "accept that no chat is found")
	})
}

// list returns the paths to work on: those of args, with patterns expanded, then those
// of --files-from. example is the error where nothing is named.
func (l *listFlags) list(ctx context.Context, a *app, args []string, example string) (ops.List, error) {
	list := ops.List{AllowEmpty: l.allowEmpty}
	var err error
	if l.shard != "" {
		if list.Shard, err = ops.ParseShard(l.shard); err != nil {
			return list, usagef("--shard: %v", err)
		}
	}
	if l.jobs > 0 {
		runtime.GOMAXPROCS(l.jobs) // all parallel work goes by it
	}
	if l.null && l.filesFrom == "" {
		return list, usagef("--null goes with --files-from")
	}
	if slices.Contains(args, "") {
		return list, usagef("a path is empty")
	}
	list.Paths = expand(args)
	if l.filesFrom == "" {
		if len(args) == 0 {
			return list, usagef("%s", example)
		}
		return list, nil
	}
	if l.filesFrom == chat.Stdin && slices.Contains(args, chat.Stdin) {
		return list, usagef("stdin is a chat already; --files-from needs a file")
	}
	more, err := l.readList(ctx, a)
	if err != nil {
		return list, fmt.Errorf("--files-from: %w", err)
	}
	list.Paths = append(list.Paths, more...)
	if len(list.Paths) == 0 && !l.allowEmpty {
		return list, fmt.Errorf("%s: this list has no paths; %w", l.filesFrom, errAllowEmpty)
	}
	return list, nil
}

// sources is [listFlags.list] for a command whose arguments are files; it returns
// only those of the shard.
func (l *listFlags) sources(ctx context.Context, a *app, args []string, example string) ([]string, error) {
	list, err := l.list(ctx, a, args, example)
	return slices.DeleteFunc(list.Paths, func(path string) bool { return !list.Shard.Has(path) }), err
}

// folders is [listFlags.list] for a command that reads folders: the default is the
// user folder around the working folder, else STCHAT_DATA.
func (l *listFlags) folders(ctx context.Context, a *app, args []string, example string) (ops.List, error) {
	if len(args) == 0 && l.filesFrom == "" {
		if around, ok := userdir.Around("."); ok {
			args = []string{userdir.Near(around)}
		} else if data := a.Getenv(dataVariable); data != "" {
			args = []string{data}
		}
	}
	return l.list(ctx, a, args, example)
}

// userFolder returns --data, or if that is empty and no path lies in a user folder,
// STCHAT_DATA. "" means that the paths decide.
func userFolder(a *app, data string, paths []string) string {
	tells := func(path string) bool {
		_, ok := userdir.Find(path)
		return ok
	}
	if data == "" && !slices.ContainsFunc(paths, tells) {
		return a.Getenv(dataVariable)
	}
	return data
}

// errAllowEmpty ends an error about finding nothing.
var errAllowEmpty = errors.New("if that is right, say --allow-empty")

// readList reads the paths of --files-from; empty ones are skipped.
func (l *listFlags) readList(ctx context.Context, a *app) ([]string, error) {
	data, err := readAll(ctx, func() ([]byte, error) {
		if l.filesFrom == chat.Stdin {
			return io.ReadAll(a.In)
		}
		return os.ReadFile(l.filesFrom)
	})
	if err != nil {
		return nil, err
	}
	end := byte('\n')
	if l.null {
		end = 0
	}
	var paths []string
	for r := bufio.NewReader(bytes.NewReader(data)); ; {
		path, err := r.ReadString(end)
		path = strings.TrimSuffix(path, string(end))
		if !l.null {
			path = strings.TrimSuffix(path, "\r")
		}
		switch path {
		case "":
		case chat.Stdin:
			paths = append(paths, "./"+path) // a file named -, not stdin
		default:
			paths = append(paths, path)
		}
		if err != nil {
			return paths, nil
		}
	}
}

// expand replaces each pattern that no shell expanded, as on Windows, with the files
// that it matches. An existing file with a * in its name is no pattern.
func expand(args []string) (paths []string) {
	for _, arg := range args {
		if !strings.Contains(arg, "*") {
			paths = append(paths, arg)
			continue
		}
		if _, err := os.Lstat(arg); err == nil {
			paths = append(paths, arg)
			continue
		}
		escape := strings.NewReplacer("[", "[[]")
		if runtime.GOOS != "windows" {
			escape = strings.NewReplacer("[", "[[]", `\`, `\\`)
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
