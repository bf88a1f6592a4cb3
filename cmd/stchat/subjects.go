package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/folder/library"
	"stchat/internal/ops"
	"stchat/internal/ops/address"
	"stchat/internal/ops/book"
	"stchat/internal/ops/keep"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/text/visible"
)

// subjects says what the arguments of a command mean: how many stand before the first CHAT, which
// are CHATs and how freely they may be named, and what may follow them.
type subjects struct {
	first  int  // how many arguments stand before the first CHAT
	most   int  // how many CHATs there are at most; 0: any number
	others int  // how many arguments at the end are no CHATs
	chats  bool // only chats: no OWNER, no OWNER/*
	writes bool // nothing is done before every CHAT is found, and a bare OWNER is not all its chats
	whole  bool // a part of a name is not enough
	// wholeOwner is what writes means for OWNER/*, where names of chats that are gone are taken, too.
	wholeOwner bool
	toFile     bool   // it has an -o: OWNER/* is as in a command that writes
	all        bool   // as writes, for a command that only reads
	messages   bool   // MESSAGES may follow the CHATs
	listed     bool   // --files-from names CHATs
	what       string // what may follow MESSAGES, as the synopsis calls it; "" for nothing
	goesWith   string // the flag that this goes with where --at says MESSAGES; "": it is none of that
	books      bool   // a lorebook may be named, worlds/X.json
	cards      bool   // a card may be named
	pages      bool   // it writes a page, whose name goes with -o
	lost       bool   // a lorebook may be named that is gone
	deletes    string // the command that deletes messages, where a number is no CHAT
	owners     string // the command, where a bare OWNER is refused although it only reads
	owner      string // what to do with a bare OWNER, where naming one of its chats is not what is wanted
	// reorder returns the line that was meant if a CHAT stands where it does not belong, else "".
	reorder func(c *console, args []string) string
}

// reads are the subjects of a command that reads.
func reads() *subjects { return &subjects{} }

// edits are the subjects of a command that writes, and takes all chats of an owner as OWNER/*.
func edits() *subjects { return &subjects{writes: true} }

// single are the subjects of a command that writes, and takes only chats.
func single() *subjects { return &subjects{chats: true, writes: true} }

// finder returns what finds names in the user folder of --data, else the one around the working
// folder, else that of STCHAT_DATA.
func (c *console) finder() *address.Finder {
	_, command, _ := strings.Cut(c.started, " ")
	return &address.Finder{Lib: new(library.Library), Data: c.data, Else: c.Getenv(dataVariable), Command: command}
}

// resolve replaces the arguments that name chats as OWNER/NAME by their paths. The lines of --files-from
// will mean the same.
func (c *console) resolve(s *subjects, args []string) (paths []string, err error) {
	c.means = s
	end := len(args) - s.others
	if s.most > 0 {
		end = min(end, s.first+s.most)
	}
	end = max(end, s.first)
	if len(args) < end {
		return args, nil // too few, which the command itself says
	}

	named, err := c.findAll(s, args[s.first:end])
	if err != nil && s.reorder != nil {
		if meant := s.reorder(c, args); meant != "" {
			return nil, usagef("the chat comes last: `%s`", meant)
		}
	}
	if err != nil {
		return nil, err
	}
	return slices.Concat(args[:s.first], named, args[end:]), nil
}

// findAll returns the paths of what arguments name. A command that writes needs all of them; one that
// reads shows the others, and fails where the path of one that is not there would be opened.
func (c *console) findAll(s *subjects, args []string) (paths []string, err error) {
	f := c.finder()
	f.Whole = s.whole
	f.WholeOwner = s.writes || s.wholeOwner || s.toFile
	needsAll := s.writes || s.all || len(args) == 1
	for i, arg := range args {
		if arg == "" {
			return nil, usagef("the name of a chat is empty")
		}
		arg = unquoted(arg)
		found, err := c.find(f, s, arg)
		if err != nil && isA[*address.NoneError](err) && !needsAll {
			c.unknown[arg] = withHint(err, nil)
			paths = append(paths, arg)
			continue
		}
		if err != nil {
			err = withHint(err, nil)
			if i > 0 && s.goesWith != "" {
				err = &hinted{err, fmt.Sprintf("; with --at, %s goes with %s", s.what, s.goesWith)}
			}
			return nil, err
		}
		paths = append(paths, found...)
	}
	return paths, nil
}

// find returns the paths of what one argument names.
func (c *console) find(f *address.Finder, s *subjects, arg string) (paths []string, err error) {
	if s.pages && isNewPage(arg) {
		return nil, usagef("%s: there is no such file; to write it: -o %s", visible.Quote(arg), visible.Quote(arg))
	}
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
		if found.Guess && (s.writes || s.wholeOwner) {
			c.note("%s is %s", visible.Quote(arg), shortName(found.Paths[0]))
		}
		return found.Paths, nil
	}

	if isNameOutside(f, arg) {
		return nil, s.numbered(arg, &address.NoneError{Arg: arg, Outside: true})
	}
	if !s.writes && !s.all {
		return []string{arg}, nil
	}

	paths = expand([]string{arg})
	for _, path := range paths {
		info, err := os.Stat(path)
		if err == nil && s.writes && info.Mode().IsRegular() && !s.takes(path) {
			return nil, s.notTaken(path)
		}
		isLost := s.lost && isBook(path)
		if path == chat.Stdin || isLost || !errors.Is(err, fs.ErrNotExist) {
			continue // what else is wrong shows where it is opened
		}
		if address.IsPath(path) {
			return nil, ops.PathError(err)
		}
		return nil, s.numbered(arg, &address.NoneError{Arg: path, Known: f.Owners()})
	}
	return paths, nil
}

// isNewPage reports whether an argument is the name of a page that is not there yet.
func isNewPage(arg string) bool {
	if !slices.Contains([]string{".html", ".htm", ".md", ".markdown", ".txt"}, strings.ToLower(filepath.Ext(arg))) {
		return false
	}
	_, err := os.Lstat(arg)
	return errors.Is(err, fs.ErrNotExist)
}

// takes reports whether a command takes a file by what its name says that it is.
func (s *subjects) takes(path string) bool {
	extension := strings.ToLower(filepath.Ext(path))
	isCard := extension == ".png" || extension == ".json"
	return chat.CheckName(path) == nil || s.books && isBook(path) || s.cards && isCard
}

// notTaken is the error of a file that the command does not take.
func (s *subjects) notTaken(path string) error {
	if s.books {
		return book.NeitherError(path)
	}
	return chat.CheckName(path)
}

// isNameOutside reports whether an argument can only be the name of a chat or an owner, and there is no user
// folder in which it could be one.
func isNameOutside(f *address.Finder, arg string) bool {
	if f.Root() != "" || address.IsPath(arg) || userdir.HasExtension(arg) || strings.ContainsAny(arg, "*?[") {
		return false
	}
	_, err := os.Stat(arg)
	return errors.Is(err, fs.ErrNotExist)
}

// refuseSeveral refuses OWNER/* where chats are named one by one.
func refuseSeveral(arg string) error {
	if !strings.HasSuffix(arg, "/*") {
		return nil
	}
	return usagef("%s are several chats; name one of them", arg)
}

// shortName returns the name of a chat as tables show it.
func shortName(path string) string {
	return names.Short(filepath.Base(filepath.Dir(absolute(path))), userdir.ChatName(path))
}

// numbered is the error of a CHAT that is not there, which may have been meant as MESSAGES.
func (s *subjects) numbered(arg string, err error) error {
	none, ok := errors.AsType[*address.NoneError](err)
	if !ok || none.Empty || !looksLikeMessages(arg) {
		return err
	}
	if s.deletes != "" {
		return usagef("%s: no chat is called so; messages are deleted with `%s CHAT %s`", arg, s.deletes, arg)
	}
	if s.messages && s.listed {
		return usagef("%s: no chat is called so; messages of listed chats go with --at %s", arg, arg)
	}
	return usagef("%s: no chat is called so", arg)
}

// judge refuses what a command does not take.
func (s *subjects) judge(arg string, found address.Found) error {
	arg = strings.TrimRight(arg, `/`)
	kind := "character"
	if found.Of != nil && found.Of.Group != nil {
		kind = "group"
	}
	switch {
	case s.owner != "" && found.Owner:
		return usagef("%s is a %s; %s", arg, kind, s.owner)
	case s.chats && found.Owner:
		return usagef("%s is a %s; name one of its chats, or %s, the one that is open", arg, kind, visible.Quote(arg+"/@"))
	case s.chats && found.All && len(found.Paths) > 0, s.most == 1 && len(found.Paths) > 1:
		return usagef("%s are several chats; name one of them", arg)
	case (s.writes || s.owners != "") && found.Owner:
		return usagef("%s is a %s; \"%s/*\" means all of its chats, %s the one that is open", arg, kind, arg, visible.Quote(arg+"/@"))
	}
	return nil
}

// amongWords returns those arguments that name chats, as paths, and the others. Where --files-from
// names none either, it is an error that the first is no chat.
func (c *console) amongWords(list *listFlags, args []string) (paths, others []string, err error) {
	for _, arg := range args {
		found, err := c.isSubject(arg)
		if err != nil {
			return nil, nil, err
		}
		if len(found.Paths) == 0 {
			others = append(others, arg)
			continue
		}
		paths = append(paths, found.Paths...)
	}

	if len(paths) == 0 && len(others) > 0 && list.filesFrom == "" { // a chat is meant: say which there are
		found, err := c.finder().Find(others[0])
		if err = cmp.Or(err, edits().judge(others[0], found)); err != nil {
			return nil, nil, withHint(err, nil)
		}
	}
	return paths, others, nil
}

// isSubject reports whether an argument among words is a path that exists, or the OWNER/NAME of
// a chat, and returns what it found. It is an error if it fits several chats.
func (c *console) isSubject(arg string) (found address.Found, err error) {
	if _, err := os.Stat(arg); err == nil || chat.CheckName(arg) == nil {
		return address.Found{Paths: []string{arg}}, nil
	}
	if !strings.Contains(strings.TrimRight(filepath.ToSlash(arg), "/"), "/") || strings.Contains(arg, `"`) {
		return found, nil
	}
	found, err = c.finder().Find(arg)
	if isA[*address.NoneError](err) {
		err = nil
	}
	return found, err
}

// folderOf returns the folder of chats of a character that is named as a bare OWNER, else the
// argument: histories know chats that are gone, and find those themselves.
func (c *console) folderOf(arg string) string {
	found, err := c.finder().Find(arg)
	if err != nil || !found.Owner || !userdir.IsDir(found.Paths[0]) {
		return arg
	}
	return found.Paths[0]
}

// groupOf returns the group that is named as a bare OWNER, nil for anything else.
func (c *console) groupOf(arg string) *address.Owner {
	found, err := c.finder().Find(arg)
	isGroup := err == nil && found.Owner && found.Of.Group != nil
	if !isGroup {
		return nil
	}
	return found.Of
}

// chats is [listFlags.sources] for a command that takes folders, too: one is all its chats.
func (l *listFlags) chats(ctx context.Context, c *console, args []string, example string) (paths []string, err error) {
	list, err := l.list(ctx, c, args, example)
	if err != nil {
		return nil, err
	}
	for _, path := range list.Paths {
		if userdir.IsDir(path) && chat.CheckName(path) != nil {
			walked := ops.Walk(ops.List{Paths: []string{path}, AllowEmpty: list.AllowEmpty})
			for _, e := range walked.Errs {
				return nil, e
			}
			for _, t := range walked.Chats {
				paths = append(paths, t.Path)
			}
		} else {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// storeVariable is the environment variable that names the file of the history.
const storeVariable = "STCHAT_STORE"

// store returns the file that STCHAT_STORE names, "" for the user folder's own.
func (c *console) store() string { return c.Getenv(storeVariable) }

// withStore puts before a command what names the same history from any folder.
func (c *console) withStore(command string) string {
	if c.store() == "" {
		return command
	}
	return storeVariable + "=" + visible.Quote(absolute(c.store())) + " " + command
}

// dataFolder returns the user folder that --data names, or where none is around the working folder
// STCHAT_DATA; "" means the one around.
func (c *console) dataFolder() string {
	if c.data != "" {
		return c.data
	}
	if around, _ := userdir.UserAround(); around != "" {
		return ""
	}
	return c.Getenv(dataVariable)
}

// where returns which chat is meant, and in which store.
func (c *console) where(args []string) (keep.Where, error) {
	if len(args) == 0 {
		return keep.Where{}, usagef("name a chat, e.g. `stchat %s \"chats/Mira/Harbour.jsonl\"` or Mira/Harbour", strings.TrimPrefix(c.started, "stchat "))
	}
	return keep.Where{Chat: args[0], Store: c.store(), Data: c.dataFolder(), Now: c.Now()}, nil
}

// addressOf returns how a chat is named in a command: OWNER/NAME, or its path where no user folder is
// around, or in a group.
func (c *console) addressOf(path string) string {
	dir, ok := userdir.Enclosing(path)
	kind, _ := userdir.KindOf(path)
	root := c.finder().Root()
	if !ok || kind != userdir.Solo || root == "" || userdir.RealPath(root) != userdir.RealPath(dir.Root) {
		return path
	}
	return filepath.Base(filepath.Dir(absolute(path))) + "/" + userdir.ChatName(path)
}
