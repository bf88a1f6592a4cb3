package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"stchat/internal/chat"
	"stchat/internal/library"
	"stchat/internal/ops"
	"stchat/internal/ops/address"
)

// subjects says which arguments of a command name chats, and how freely.
type subjects struct {
	most   int  // how many arguments do, from the first; 0: all
	others int  // how many at the end do not
	chats  bool // only chats: no OWNER, no OWNER/*
	writes bool // the command says what it found by a part of a name, and takes no bare OWNER
	whole  bool // it takes no parts of names
	all    bool // it does nothing unless it finds all of them
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
func (c *console) resolve(fs *pflag.FlagSet, s *subjects, args []string) (paths []string, err error) {
	data := ""
	if f := fs.Lookup("data"); f != nil {
		data = f.Value.String()
	}
	f := c.finder(data)
	f.Whole = s.whole
	end := len(args) - s.others
	if s.most > 0 {
		end = min(end, s.most)
	}
	for i, arg := range args {
		if i >= end {
			paths = append(paths, arg)
			continue
		}
		found, err := f.Find(arg)
		if err == nil {
			err = s.judge(arg, found)
		}
		if isA[*address.NoneError](err) && end > 1 && !s.all { // it fails as a path, and the others are done
			if c.unknown == nil {
				c.unknown = map[string]error{}
			}
			c.unknown[arg] = nearest(err)
			found, err = address.Found{}, nil
		}
		if err != nil {
			return nil, nearest(err)
		}
		if len(found.Paths) == 0 {
			paths = append(paths, arg)
			continue
		}
		if found.Passed {
			c.note("%s: the chats of this name are meant, and not the path ./%s", arg, arg)
		}
		if found.Guess && s.writes {
			c.note("%s is %s", arg, found.Paths[0])
		}
		paths = append(paths, found.Paths...)
	}
	return paths, nil
}

// judge refuses what a command does not take.
func (s *subjects) judge(arg string, found address.Found) error {
	arg = strings.TrimRight(arg, `/`)
	_, name, _ := address.Split(arg)
	switch {
	case s.chats && found.Owner:
		return usagef("%s is an owner of chats; name one of them, or %s/@, the one that is open", arg, arg)
	case s.chats && name == "*" && len(found.Paths) > 0, s.most == 1 && len(found.Paths) > 1:
		return usagef("%s are several chats; name one of them", arg)
	case s.writes && found.Owner:
		return usagef("%s is an owner of chats; %s/* means all of them, %s/@ the one that is open", arg, arg, arg)
	}
	return nil
}

// nearest adds the nearest name to the error of one that nothing has.
func nearest(err error) error {
	if none, ok := errors.AsType[*address.NoneError](err); ok {
		return fmt.Errorf("%w%s", err, didYouMean(none.Arg, none.Known, ""))
	}
	return withHint(err, nil)
}

// isSubject reports whether an argument among words is a path that exists, or the OWNER/NAME of
// a chat, and returns its paths. It is an error if it fits several chats.
func (c *console) isSubject(data, arg string) (paths []string, err error) {
	if _, err := os.Stat(arg); err == nil || chat.CheckName(arg) == nil {
		return []string{arg}, nil
	}
	if _, _, named := address.Split(arg); !named || strings.Contains(arg, `"`) {
		return nil, nil
	}
	found, err := c.finder(data).Find(arg)
	if isA[*address.NoneError](err) {
		err = nil
	}
	return found.Paths, err
}

// folderOf returns the folder of chats of a character that is named as a bare OWNER, else the
// argument: histories know chats that are gone, and find those themselves.
func (c *console) folderOf(data, arg string) string {
	found, err := c.finder(data).Find(arg)
	if err != nil || !found.Owner {
		return arg
	}
	if info, err := os.Stat(found.Paths[0]); err != nil || !info.IsDir() {
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
		if info, err := os.Stat(path); err != nil || !info.IsDir() || chat.CheckName(path) == nil {
			if list.Shard.Has(path) {
				paths = append(paths, path)
			}
			continue
		}
		walked := ops.Walk(ops.List{Paths: []string{path}, Shard: list.Shard, AllowEmpty: list.AllowEmpty})
		for _, e := range walked.Errs {
			return nil, e
		}
		for _, t := range walked.Chats {
			paths = append(paths, t.Path)
		}
	}
	return paths, nil
}
