package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/pflag"

	"stchat/internal/chat"
	"stchat/internal/choose"
	"stchat/internal/library"
	"stchat/internal/ops"
	"stchat/internal/ops/address"
	"stchat/internal/ops/keep"
	"stchat/internal/ops/state"
	"stchat/internal/patch"
	"stchat/internal/userdir"
)

// subjects says which arguments of a command name chats, and how freely.
type subjects struct {
	most   int  // how many arguments do, from the first; 0: all
	others int  // how many at the end do not
	chats  bool // only chats: no OWNER, no OWNER/*
	writes bool // the command says what it found by a part of a name, and takes no bare OWNER
	whole  bool // it takes no parts of names
	all    bool // it does nothing unless it finds all of them
	// deletes means that it deletes whole chats, where somebody may have meant messages
	deletes bool
}

// reads are the subjects of a command that reads.
func reads() *subjects { return &subjects{} }

// edits are the subjects of a command that writes, and takes all chats of an owner as OWNER/*.
func edits() *subjects { return &subjects{writes: true} }

// single are the subjects of a command that writes, and takes only chats.
func single() *subjects { return &subjects{chats: true, writes: true} }

// finder returns what finds names in the user folder of --data, else the one around the working
// folder, else that of STCHAT_DATA.
func (c *console) finder(data string) *address.Finder {
	return &address.Finder{Lib: new(library.Library), Data: data, Else: c.Getenv(dataVariable)}
}

// resolve replaces the arguments that name chats as OWNER/NAME by their paths.
func (c *console) resolve(fset *pflag.FlagSet, s *subjects, args []string) (paths []string, err error) {
	end := len(args) - s.others
	if s.most > 0 {
		end = min(end, s.most)
	}
	end = max(end, 0)

	paths, err = c.findAll(fset, s, args[:end])
	if err != nil {
		return nil, err
	}
	return append(paths, args[end:]...), nil
}

// findAll returns the paths of what arguments name. A command that writes needs all of them before it
// does anything; one that reads shows the others, and fails where the path of one that is not there
// would be opened.
func (c *console) findAll(fset *pflag.FlagSet, s *subjects, args []string) (paths []string, err error) {
	f := c.finder(flagText(fset, "data"))
	f.Whole = s.whole
	writes := s.writes || isGiven(fset, "output")
	for _, arg := range args {
		found, err := c.find(f, s, arg, writes)
		if isA[*address.NoneError](err) && !writes && !s.all && len(args) > 1 {
			c.unknown[arg] = withHint(err, nil)
			paths = append(paths, arg)
			continue
		}
		if err != nil {
			return nil, withHint(err, nil)
		}
		paths = append(paths, found...)
	}
	return paths, nil
}

// find returns the paths of what one argument names, which for a command that writes must exist.
func (c *console) find(f *address.Finder, s *subjects, arg string, writes bool) (paths []string, err error) {
	found, err := f.Find(arg)
	if err == nil {
		err = s.judge(arg, found)
	}
	if err != nil {
		return nil, s.numbered(arg, err)
	}
	if found.Passed {
		c.note("%s: the chats of this name are meant, and not the path ./%s", arg, arg)
	}
	if len(found.Paths) > 0 {
		if found.Guess && s.writes {
			c.note("%s is %s", arg, found.Paths[0])
		}
		return found.Paths, nil
	}
	if !writes {
		return []string{arg}, nil
	}

	paths = expand([]string{arg})
	for _, path := range paths {
		_, err := os.Stat(path)
		if path == chat.Stdin || !errors.Is(err, fs.ErrNotExist) {
			continue // what else is wrong shows where it is opened
		}
		if address.IsPath(path) {
			return nil, ops.PathError(err)
		}
		return nil, s.numbered(arg, &address.NoneError{Arg: path, Known: f.Owners()})
	}
	return paths, nil
}

// numbered is the error of a CHAT that is not there, which may have been meant as a message's number.
func (s *subjects) numbered(arg string, err error) error {
	none, ok := errors.AsType[*address.NoneError](err)
	if !ok || none.Empty || strings.Trim(arg, "-.,0123456789") != "" {
		return err
	}
	if s.deletes {
		return usagef("%s: no chat is called so; messages are deleted with `stchat delete CHAT --at %s`", arg, arg)
	}
	return usagef("%s: no chat is called so; messages are named with --at", arg)
}

// judge refuses what a command does not take.
func (s *subjects) judge(arg string, found address.Found) error {
	arg = strings.TrimRight(arg, `/`)
	switch {
	case s.chats && found.Owner:
		return usagef("%s is a character or group; name one of its chats, or %s/@, the one that is open", arg, arg)
	case s.chats && found.All && len(found.Paths) > 0, s.most == 1 && len(found.Paths) > 1:
		return usagef("%s are several chats; name one of them", arg)
	case s.writes && found.Owner:
		return usagef("%s is a character or group; %s/* means all of its chats, %s/@ the one that is open", arg, arg, arg)
	}
	return nil
}

// amongWords returns those arguments that name chats, as paths, and the others. A command that
// writes also takes cards, and says what it found by a part of a name. Where --files-from names none
// either, it is an error that the first is no chat.
func (c *console) amongWords(list *listFlags, data string, args []string, writes bool) (paths, others []string, err error) {
	for _, arg := range args {
		found, err := c.isSubject(data, arg)
		if err == nil && writes {
			err = edits().judge(arg, found)
		}
		switch {
		case err != nil:
			return nil, nil, err
		case len(found.Paths) > 0:
			if found.Guess && writes {
				c.note("%s is %s", arg, found.Paths[0])
			}
			paths = append(paths, found.Paths...)
		case writes && state.IsCard(arg):
			paths = append(paths, arg)
		default:
			others = append(others, arg)
		}
	}
	if len(paths) == 0 && len(others) > 0 && list.filesFrom == "" { // a chat is meant: say which there are
		found, err := c.finder(data).Find(others[0])
		if err = cmp.Or(err, edits().judge(others[0], found)); err != nil {
			return nil, nil, withHint(err, nil)
		}
	}
	return paths, others, nil
}

// isSubject reports whether an argument among words is a path that exists, or the OWNER/NAME of
// a chat, and returns what it found. It is an error if it fits several chats.
func (c *console) isSubject(data, arg string) (found address.Found, err error) {
	if _, err := os.Stat(arg); err == nil || chat.CheckName(arg) == nil {
		return address.Found{Paths: []string{arg}}, nil
	}
	if !strings.Contains(strings.TrimRight(filepath.ToSlash(arg), "/"), "/") || strings.Contains(arg, `"`) {
		return found, nil
	}
	found, err = c.finder(data).Find(arg)
	if isA[*address.NoneError](err) {
		err = nil
	}
	return found, err
}

// folderOf returns the folder of chats of a character that is named as a bare OWNER, else the
// argument: histories know chats that are gone, and find those themselves.
func (c *console) folderOf(data, arg string) string {
	found, err := c.finder(data).Find(arg)
	if err != nil || !found.Owner || !userdir.IsDir(found.Paths[0]) {
		return arg
	}
	return found.Paths[0]
}

// chats is [listFlags.sources] for a command that takes folders, too: one is all its chats.
func (l *listFlags) chats(ctx context.Context, c *console, args []string, example string) (paths []string, err error) {
	list, err := l.list(ctx, c, args, example)
	if err != nil {
		return nil, err
	}
	for _, path := range list.Paths {
		if userdir.IsDir(path) && chat.CheckName(path) != nil {
			walked := ops.Walk(ops.List{Paths: []string{path}, Shard: list.Shard, AllowEmpty: list.AllowEmpty})
			for _, e := range walked.Errs {
				return nil, e
			}
			for _, t := range walked.Chats {
				paths = append(paths, t.Path)
			}
		} else if list.Shard.Has(path) {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// choiceDoc explains the flags of choiceFlags in a command's help.
const choiceDoc = `
CHOOSING MESSAGES
Messages count from 0. RANGES are 7, -1 (the last), 3..9 or 3-9, 40.., ..9,
-5..-1, and lists of these with commas; both ends are included. A message must
meet all the flags given; --first and --last then take some of those messages.
They come in the chat's order, each once.
`

// choiceFlags choose messages of a chat (CONTENT.md 1.1).
type choiceFlags struct {
	chosenBy     choose.Choice // but for what follows
	hidden, seen bool
}

func (f *choiceFlags) addFlags(fs *pflag.FlagSet) {
	addTopic(fs, "Flags that choose messages", func(fs *pflag.FlagSet) {
		fs.VarP(parsed(choose.ParseRanges, func(r []choose.Range) { f.chosenBy.Ranges = append(f.chosenBy.Ranges, r...) }), "at", "a", "these `RANGES`, such as 7, 3..9 or -5..-1")
		fs.Var(number(&f.chosenBy.First, 1, "a number of messages, from 1"), "first", "the first `N` of what is chosen")
		fs.Var(number(&f.chosenBy.Last, 1, "a number of messages, from 1"), "last", "the last `N` of what is chosen")
		f.addFilters(fs)
	})
}

// addFilters adds those that do not count messages.
func (f *choiceFlags) addFilters(fs *pflag.FlagSet) {
	by := &f.chosenBy.Filter
	fs.Var(parsed(roles, func(list []string) { by.Roles = append(by.Roles, list...) }), "role", "any role in `LIST`: "+strings.Join(choose.Roles(), ", ")+"; may be repeated")
	fs.StringArrayVar(&by.Names, "name", nil, "said by exactly `NAME`; may be repeated")
	fs.BoolVar(&f.hidden, "hidden", false, "only hidden messages")
	fs.BoolVar(&f.seen, "no-hidden", false, "no hidden messages")
	fs.Var(parsed(patch.ParseKey, func(p patch.Path) { by.Has = append(by.Has, p) }), "has", "has this `KEY`; one that begins with / is a JSON pointer, such as /extra/model")
	fs.Var(parsed(regexp.Compile, func(re *regexp.Regexp) { by.Match = append(by.Match, re) }).notEmpty(), "match", "the text matches the regular expression `RE` (RE2; (?i) for any letter case); all that are given must match")
	fs.Var(since(&by.Since).notEmpty(), "since", "sent at `TIME` or later: a local date such as 2026-03-01, an age such as 3d, or RFC 3339")
	fs.Var(until(&by.Until).notEmpty(), "until", "sent at `TIME` or earlier; a date means all of that day")
}

// choice returns what the flags choose.
func (f *choiceFlags) choice() choose.Choice {
	c := f.chosenBy
	if f.hidden || f.seen {
		c.Filter.Hidden = &f.hidden
	}
	return c
}

// roles reads a list of roles.
func roles(list string) ([]string, error) {
	if list == "" {
		return nil, refusal("is empty")
	}
	return choose.ParseRoles(list)
}

// storeVariable is the environment variable that names the store unless --store does.
const storeVariable = "STCHAT_STORE"

// storeFlag is --store.
type storeFlag struct{ path string }

func (f *storeFlag) addFlags(fs *pflag.FlagSet) {
	fs.Var(filled(&f.path), "store", "`FILE` of the history; default: $"+storeVariable+", else .stchat/history.db in the user folder")
}

// of returns the store that --store or STCHAT_STORE names, "" for the user folder's own.
func (f *storeFlag) of(c *console) string { return cmp.Or(f.path, c.Getenv(storeVariable)) }

// where returns which chat is meant, and in which store.
func (f *storeFlag) where(c *console, args []string, data string) (keep.Where, error) {
	if len(args) == 0 {
		return keep.Where{}, usagef("name a chat, e.g. `stchat %s \"chats/Mira/Harbour.jsonl\"` or Mira/Harbour", strings.TrimPrefix(c.started, "stchat "))
	}
	return keep.Where{Chat: args[0], Store: f.of(c), Data: cmp.Or(data, c.Getenv(dataVariable)), Now: c.Now()}, nil
}
