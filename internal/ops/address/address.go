// Package address finds the chats and owners that people name as they see them: OWNER/NAME
// instead of the path of a file. OWNER is a folder in chats/, else the card of that name, else
// the group, by its name or id; NAME is a chat's name, a part of it that no other chat of the
// owner has, the time in it, @ for the chat that is open, or * for all. What is written exactly
// so comes before what differs in letter case, and that before a part. It reads folders; cards
// only where no folder fits. Chats that are gone are found, too, where a history gives their names.
package address

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"stchat/internal/folder/library"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/card"
	"stchat/internal/sillytavern/group"
	"stchat/internal/text/plural"
	"stchat/internal/text/visible"
)

// ErrSeveral means that an argument may mean several chats or owners.
var ErrSeveral = error(&ops.Kind{Code: "usage", Text: "fits several"})

// ErrWhole means that a part of a name is not enough.
var ErrWhole = error(&ops.Kind{Code: "usage", Text: "needs the whole name"})

// ErrNoFolder means that SillyTavern has several users, of which one must be named.
var ErrNoFolder = error(&ops.Kind{Code: "usage", Text: "SillyTavern has several users here", Hint: "data"})

// NoneError means that nothing has the name.
type NoneError struct {
	Arg   string
	Known []string // what there is instead, to name the nearest
	Named []string // of a name without an owner, the addresses of the chats that it may mean
	Owner bool     // an owner is meant, not a chat
	Empty bool     // there is such an owner, without chats
	// Outside means that there is no user folder to look in.
	Outside bool
}

func (e *NoneError) Error() string {
	switch {
	case e.Owner:
		return e.Arg + ": " + ErrOwner.Error()
	case e.Outside:
		return e.Arg + ": no such file, and no user folder around to look for a chat of this name in"
	case e.Empty:
		return e.Arg + ": this owner has no chats"
	case len(e.Named) == 1:
		return e.Arg + ": there is no such file, and chats are named with their owner; did you mean " + visible.Quote(e.Named[0]) + "?"
	case len(e.Named) > 1:
		return e.Arg + ": there is no such file, and chats are named with their owner; did you mean one of these: " + several("", e.Named)
	}
	return e.Arg + ": there is no such file, and no chat or owner of this name"
}

// Finder finds what arguments name in a user folder.
type Finder struct {
	Lib   *library.Library
	Data  string // the user folder; "": the one around the working folder, else Else
	Else  string
	Whole bool // a part of a name is not enough
	// Command is the name of the command that is called, for errors; "": this command.
	Command string
	// WholeOwner means that a part of an owner's name is not enough for all its chats.
	WholeOwner bool
	// Past returns the names of the chats that were in a folder once, which is named relative to
	// Data, with slashes. With it chats are found that are gone, too; nil: no history is asked.
	Past func(folder string) []string
	// PastOf returns, of the chats that were in the folder of all groups once, the names of those that
	// a group's file lists, or is the last that did; nil: each may be any group's.
	PastOf func(groupFile string) []string

	all   *[4][]candidate // what candidates returned; nil: not yet asked
	named []candidate     // what readCards returned; nil: not yet read
}

// Found is what an argument names.
type Found struct {
	Paths  []string // of the chats; for a bare OWNER those of the group, or the character's folder
	Of     *Owner   // whose they are; nil: nobody is called so
	Name   string   // NAME, as it was written; "": there is none
	Owner  bool     // it is a bare OWNER
	All    bool     // it is OWNER/*
	Gone   bool     // it has no file, and is found in the past
	Guess  bool     // found by a part of its name, or by what is open
	Passed bool     // there is a path of this name, which is not meant
}

// Find returns what an argument names. A path is not looked for, unless it is OWNER/NAME.jsonl and the
// past is asked: then there are no Paths. The error is a [*NoneError] if nothing has the name, or wraps
// [ErrSeveral] or [ErrWhole].
func (f *Finder) Find(arg string) (Found, error) {
	if f.Past == nil {
		return f.findPresent(arg)
	}
	return f.findEver(arg)
}

// findPresent is [Finder.Find] among what is there.
func (f *Finder) findPresent(arg string) (found Found, err error) {
	if IsPath(arg) {
		return found, nil
	}
	if _, err := os.Stat(arg); err == nil {
		if isOurs(arg) {
			return found, nil
		}
		found.Passed = true
	}

	o, owner, name, err := f.Split(arg)
	named := name != ""
	found.Of = o
	found.Name = name
	switch {
	case strings.Contains(name, "/"):
		return found, nil
	case found.Passed && (o == nil || err != nil):
		return Found{}, nil // as a path
	case err != nil:
		return found, err
	case o == nil && f.Root() == "":
		return found, nil
	case o == nil:
		return found, f.none(arg, name)
	case !named && o.Group == nil && !errors.Is(f.Lib.Folder(o.Folder).Err, fs.ErrNotExist):
		found.Owner = true
		found.Guess = o.Part
		found.Paths = []string{o.Folder}
		return found, nil
	}

	if _, err := o.Chats(f.Lib); err != nil {
		return found, ops.PathError(err)
	}
	found.Guess = o.Part
	if o.Part && name == "*" && f.WholeOwner {
		return found, f.partError(arg, fmt.Sprintf("%q", o.Name+"/*"))
	}

	list := o.Names(f.Lib)
	var chosen []string
	switch {
	case slices.Contains(list, name):
		chosen = []string{name}
	case !named:
		found.Owner = true
		chosen = list
	case name == "*":
		found.All = true
		chosen = list
	case name == "@":
		open, err := o.open()
		if err != nil {
			return found, err
		}
		chat, ok := f.Lib.Folder(o.Folder).Target(open)
		found.Guess = true
		if !ok {
			return found, fmt.Errorf("%s: %w", arg, &ops.Kind{Code: "not-found", Text: "no chat is open there"})
		}
		chosen = []string{chat}
	default:
		var part bool
		chosen, part = Match(list, name)
		found.Guess = part || o.Part
		if part && f.Whole && len(chosen) > 0 {
			return found, f.partError(arg, several(owner, chosen))
		}
		if len(chosen) > 1 {
			return found, &severalError{arg, "chat", owner, chosen}
		}
	}

	for _, chat := range chosen {
		found.Paths = append(found.Paths, f.Lib.Folder(o.Folder).File(chat))
	}
	if len(chosen) == 0 && !found.Passed {
		known := make([]string, len(list))
		for i, chat := range list {
			known[i] = owner + "/" + chat
		}
		return found, &NoneError{Arg: arg, Known: known, Empty: !named || name == "*"}
	}
	return found, nil
}

// Split splits OWNER/NAME. A group's name may have slashes, a chat's has none: OWNER is what stands
// before the last one, or all of it. If neither is an owner in the user folder, o is nil, and the
// first slash divides.
func (f *Finder) Split(arg string) (o *Owner, owner, name string, err error) {
	arg = strings.TrimRight(filepath.ToSlash(arg), "/")
	last := strings.LastIndex(arg, "/")
	for _, find := range []func(string) (*Owner, error){f.owner, f.ownerByPart} {
		if last > 0 {
			if o, err = find(arg[:last]); o != nil || err != nil {
				return o, arg[:last], arg[last+1:], err
			}
		}
		if o, err = find(arg); o != nil || err != nil {
			return o, arg, "", err
		}
	}

	owner, name, _ = strings.Cut(arg, "/")
	return nil, owner, name, nil
}

// Match returns the names in a list that a name means: the one that is written so, else those
// that differ in letter case, else those with that time, else those that contain it. part
// reports the last.
func Match(list []string, name string) (found []string, part bool) {
	folded := names.FoldNFC(name)
	time := timeIn(name)
	for i, fits := range []func(string) bool{
		func(s string) bool { return s == name },
		func(s string) bool { return names.FoldNFC(s) == folded },
		func(s string) bool { return time != nil && time.MatchString(s) },
		func(s string) bool { return strings.Contains(names.FoldNFC(s), folded) },
	} {
		for _, s := range list {
			if fits(s) {
				found = append(found, s)
			}
		}
		if len(found) > 0 {
			return found, i == 3
		}
	}
	return nil, false
}

// timeIn returns what matches names with a time that is written as tables show it, and what is
// behind it there, nil if a text does not begin with one.
func timeIn(text string) *regexp.Regexp {
	shown := regexp.MustCompile(`^(\d{4}-\d\d-\d\d) (\d\d):(\d\d)(?::(\d\d)(?:\.(\d{3}))?)?(.*)$`)
	m := shown.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	for i := range 6 {
		if m[i] == "" {
			m[i] = `\d+`
		}
	}
	return regexp.MustCompile(fmt.Sprintf(`(^| - )%s@%sh%sm%ss%sms%s( imported)?$`, m[1], m[2], m[3], m[4], m[5], regexp.QuoteMeta(m[6])))
}

// maxShown is how many names an error lists.
const maxShown = 10

// severalError is the error of an argument that fits several things of a kind.
type severalError struct {
	arg, kind string
	owner     string // of chats
	fits      []string
}

func (e *severalError) Error() string {
	return fmt.Sprintf("%s fits %s: %s", visible.Quote(e.arg), plural.S(len(e.fits), e.kind), several(e.owner, e.fits))
}

func (e *severalError) Unwrap() error { return ErrSeveral }

// partError returns the error of an argument that is only a part of a name, where that is not enough.
func (f *Finder) partError(arg, whole string) error {
	return fmt.Errorf("%s: %s %w: %s", arg, cmp.Or(f.Command, "this command"), ErrWhole, whole)
}

// several lists names after their owner, quoted for a shell, ten at most.
func several(owner string, list []string) string {
	shown := make([]string, 0, maxShown+1)
	for _, name := range list[:min(len(list), maxShown)] {
		shown = append(shown, visible.Quote(strings.TrimPrefix(owner+"/"+name, "/")))
	}
	if more := len(list) - maxShown; more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(shown, ", ")
}

// Root returns the user folder in which names are looked for, "" if there is none.
func (f *Finder) Root() string {
	root := f.Data
	if root == "" {
		root, _ = userdir.UserAround()
	}
	if root == "" {
		root = f.Else
	}
	if !userdir.IsUserDir(root) {
		return ""
	}
	return root
}

func (f *Finder) dir() userdir.Dir { return userdir.Dir{Root: f.Root()} }

// none returns the error of an argument that names nothing, with what it may have meant: owners and
// their chats. name is the chat in it; "": it has no slash, and may be the name of a chat whose owner
// was left out.
func (f *Finder) none(arg, name string) *NoneError {
	none := &NoneError{Arg: arg, Known: f.Owners()}
	var parts []string
	for _, called := range slices.Clone(none.Known) {
		o, err := f.owner(called)
		if err != nil || o == nil || o.Name != called {
			continue
		}
		chats := o.Names(f.Lib)
		for _, chat := range chats {
			none.Known = append(none.Known, called+"/"+chat)
		}
		if name != "" {
			continue
		}
		fits, part := Match(chats, arg)
		if isTime := !part && timeIn(arg) != nil; isTime && len(fits) == 1 {
			fits[0] = arg // the time as it is shown is enough, and easier to read
		}
		for _, chat := range fits {
			if part {
				parts = append(parts, called+"/"+chat)
				continue
			}
			none.Named = append(none.Named, called+"/"+chat)
		}
	}

	if len(none.Named) == 0 {
		none.Named = parts
	}
	return none
}

// Owners returns the names of the owners in the user folder.
func (f *Finder) Owners() (list []string) {
	ranks, _ := f.candidates() // without groups if they cannot be read
	for _, c := range slices.Concat(ranks[0], ranks[2]) {
		list = append(list, c.called)
	}
	return list
}

// candidate is what a name may mean as an owner.
type candidate struct {
	called string
	folded string // called, as names are compared
	path   string // a character's folder, or a group's file
	group  *group.File
}

// candidates are those in the user folder, ranked: characters by their folders; those by what
// their cards say, which are not read here; groups by their names; groups by their ids.
func (f *Finder) candidates() (ranks [4][]candidate, err error) {
	if f.all != nil {
		return *f.all, nil
	}
	dir := f.dir()
	all := folders(dir)
	for _, file := range cards(dir) {
		all = append(all, userdir.CharacterFolder(file))
	}
	slices.Sort(all)
	for _, folder := range slices.Compact(all) {
		ranks[0] = append(ranks[0], newCandidate(folder, folder, nil))
	}
	set, err := f.Lib.Groups(dir)
	if err != nil {
		return ranks, ops.PathError(err)
	}
	for _, g := range set.Files {
		ranks[2] = append(ranks[2], newCandidate(g.Name, g.Path, g))
		ranks[3] = append(ranks[3], newCandidate(strings.TrimSuffix(filepath.Base(g.Path), ".json"), g.Path, g))
	}

	f.all = &ranks
	return ranks, nil
}

func newCandidate(called, path string, g *group.File) candidate {
	return candidate{called, names.FoldNFC(called), path, g}
}

// owner finds the owner of a whole name, nil if there is none.
func (f *Finder) owner(name string) (*Owner, error) {
	dir := f.dir()
	if dir.Root == "" {
		if _, users := userdir.UserAround(); users > 1 {
			return nil, fmt.Errorf("%s: %w", name, ErrNoFolder)
		}
		return nil, nil
	}

	ranks, err := f.candidates()
	same := func(c candidate) bool { return c.called == name }
	if name == "" || err != nil && !slices.ContainsFunc(ranks[0], same) {
		return nil, err
	}
	fold := names.FoldNFC(name)
	folded := func(c candidate) bool { return c.folded == fold }
	if !slices.ContainsFunc(ranks[0], folded) {
		ranks[1] = f.readCards(dir)
	}
	for _, fits := range []func(candidate) bool{same, folded} {
		for _, rank := range ranks {
			found := fitting(rank, fits)
			if len(found) > 1 {
				return nil, &severalError{name, "owner", "", placesOf(found)}
			}
			if len(found) == 1 {
				return found[0].owner(dir)
			}
		}
	}
	return nil, nil
}

// ownerByPart finds the only owner of whose name a word begins so, nil if there is none.
func (f *Finder) ownerByPart(name string) (*Owner, error) {
	dir := f.dir()
	ranks, err := f.candidates()
	fold := names.FoldNFC(name)
	if dir.Root == "" || fold == "" || err != nil {
		return nil, nil //nolint:nilerr // owner has said what is wrong
	}
	begins := func(c candidate) bool { return wordBegins(c.folded, fold) }
	found := fitting(slices.Concat(ranks[0], ranks[2]), begins)
	if len(found) == 0 {
		return nil, nil
	}
	called := make([]string, len(found))
	for i, c := range found {
		called[i] = c.called
	}
	if len(found) > 1 {
		return nil, &severalError{name, "owner", "", called}
	}
	if f.Whole {
		return nil, f.partError(name, fmt.Sprintf("%q", called[0]))
	}
	o, err := found[0].owner(dir)
	if o != nil {
		o.Part = true
	}
	return o, err
}

// wordBegins reports whether a word of a name begins so; both are folded.
func wordBegins(name, begin string) bool {
	for at := 0; at < len(name); {
		i := strings.Index(name[at:], begin)
		if i < 0 {
			return false
		}
		at += i
		before, _ := utf8.DecodeLastRuneInString(name[:at])
		if at == 0 || !unicode.IsLetter(before) && !unicode.IsDigit(before) {
			return true
		}
		at++
	}
	return false
}

// fitting returns the candidates that fit.
func fitting(rank []candidate, fits func(candidate) bool) (found []candidate) {
	for _, c := range rank {
		if fits(c) {
			found = append(found, c)
		}
	}
	return found
}

func placesOf(list []candidate) []string {
	places := make([]string, len(list))
	for i, c := range list {
		places[i] = c.path
	}
	return places
}

// owner returns the owner that a candidate is.
func (c candidate) owner(dir userdir.Dir) (*Owner, error) {
	if c.group != nil {
		return ofGroup(dir, c.group), nil
	}
	return character(dir, c.path)
}

// readCards returns the characters by what their cards say, which are read only once.
func (f *Finder) readCards(dir userdir.Dir) []candidate {
	if f.named == nil {
		f.named = []candidate{}
		for _, file := range cards(dir) {
			if c, err := card.Open(filepath.Join(dir.Characters(), file)); err == nil && c.Name != "" {
				f.named = append(f.named, newCandidate(c.Name, userdir.CharacterFolder(file), nil))
			}
		}
	}
	return f.named
}

// folders lists the folders of characters.
func folders(dir userdir.Dir) (list []string) {
	entries, _ := os.ReadDir(dir.Chats()) // without them there are no folders
	for _, e := range entries {
		if e.IsDir() || !e.Type().IsRegular() && userdir.IsDir(filepath.Join(dir.Chats(), e.Name())) { // links and junctions
			list = append(list, e.Name())
		}
	}
	return list
}

// cards lists the file names of cards.
func cards(dir userdir.Dir) (list []string) {
	entries, _ := os.ReadDir(dir.Characters()) // without them there are no cards
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); !e.IsDir() && (ext == userdir.CardExtension || ext == ".json" && !strings.Contains(e.Name(), ".state.")) {
			list = append(list, e.Name())
		}
	}
	return list
}

// IsPath reports whether an argument is a path whatever there is: it begins like one, or ends
// like a file.
func IsPath(arg string) bool {
	s := filepath.ToSlash(arg)
	switch s {
	case "", "-", ".", "..":
		return true
	}

	if filepath.IsAbs(arg) || filepath.VolumeName(arg) != "" {
		return true
	}
	for _, begin := range []string{"/", "./", "../"} {
		if strings.HasPrefix(s, begin) {
			return true
		}
	}
	return slices.Contains([]string{names.Extension, ".json", ".png", ".zip"}, strings.ToLower(filepath.Ext(s)))
}

// isOurs reports whether an existing path is one that chats are looked for in: a file, an
// owner's folder, a user folder or a part of one.
func isOurs(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return errors.Is(err, os.ErrPermission) || err == nil && userdir.HasExtension(path)
	}
	_, kind, _ := userdir.Place(filepath.Join(path, "x"+names.Extension))
	return kind != userdir.File || userdir.IsPart(path) || userdir.IsUserDir(path) || len(userdir.Users(path)) > 0
}
