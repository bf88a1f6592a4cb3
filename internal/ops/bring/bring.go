// Package bring holds import: chats of other programs become chats of a character or a group.
// Each file is gone through twice, one conversation at a time: first to see what there is, what
// the owner has already and how each chat is to be named, then to write them.
package bring

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl"
	"stchat/internal/ops"
	"stchat/internal/ops/address"
	"stchat/internal/ops/bring/convert"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/text/plural"
	"stchat/internal/text/progress"
)

// Options says what to import, and how.
type Options struct {
	Files           []string // "-" is Stdin
	Stdin           io.Reader
	Owner, Data     string
	As              string // the format; "": found out
	User, Character string // their names; "": the source's, else those of SillyTavern
	Name            string // of the only chat, as it is given; "": by title or time
	Branches        bool   // the other leaves of a tree become chats, too
	Greeting        string // GreetingCard, GreetingNone, or "" for what fits the format
	Open            bool   // the owner opens with the only chat
	Grown           bool   // what has grown since it was imported is imported beside
	Changes         changeset.Options
	Meter           *progress.Meter
}

// What becomes of a greeting that the source does not store.
const (
	GreetingCard = "card"
	GreetingNone = "none"
)

// Document describes a chat that was imported.
type Document struct {
	Schema    int               `json:"schema"`
	Source    string            `json:"source" is:"path"`
	Format    string            `json:"format"`
	ID        string            `json:"id"` // by which it is recognised
	Path      string            `json:"path" is:"path"`
	Name      string            `json:"name"`
	Existed   bool              `json:"existed"`
	Messages  int               `json:"messages"`
	Swipes    int               `json:"swipes"`   // in messages that have several
	Branches  int               `json:"branches"` // leaves that are not imported
	FirstDate *string           `json:"first_date"`
	LastDate  *string           `json:"last_date"`
	Undated   int               `json:"undated"`
	Dropped   []convert.Dropped `json:"dropped"`
	MainChat  *string           `json:"main_chat"`
	Group     *string           `json:"group" is:"path"`
	ops.Warned
	ops.Written
}

// Result is what became of a conversation, or why a FILE could not be read.
type Result struct {
	ops.Result[Document]
	More []Document // the chats of its other leaves
}

var (
	// ErrOne means that something was asked for that only one conversation can have.
	ErrOne = error(&ops.Kind{Code: "usage", Text: "--name and --open take one conversation"})
	// errLayout is of a chat that becomes lines first.
	errLayout = error(&ops.Kind{Code: "refused", Text: "this is a chat of SillyTavern's own, but not with a message a line", Hint: "layout"})
	// ErrTavern is of a chat that is merged instead.
	ErrTavern = error(&ops.Kind{Code: "refused", Text: "this is a SillyTavern chat already", Hint: "merge"})
)

// errFolder means that a FILE is a folder.
var errFolder = error(&ops.Kind{Code: "refused", Text: "this is a folder; name the files in it"})

// errKind is of a chat that cannot be merged into the owner's either.
var errKind = error(&ops.Kind{Code: "refused", Text: "this is a chat of SillyTavern's own, and one of a character does not become a group's, nor the other way round"})

// call is one import.
type call struct {
	*Options
	lib       *library.Library
	owner     *address.Owner
	folder    *library.Folder   // of its chats
	name      string            // of the only chat, made safe
	user      string            // SillyTavern's own name of the user; "": it has none
	chatUser  func() string     // the user's name in the owner's chats, which are read once
	greetings func() []string   // of the owner's card, which is read once
	faces     map[string]string // of a group: the avatars of its members, by name
	seen      map[string]bool   // chats that were looked at, or are of this call
	taken     map[string]bool   // folded names of chats
	next      map[string]int    // by folded name, the number to try
	known     map[string][]imported
	seed      maphash.Seed
	found     int       // conversations
	results   []*Result // that were not told yet
	jobs      []*job    // those of them that are to be written
	tell      func(list []*Result)
	ended     []changeset.Ended
	notes     []string
}

// together is how many conversations are written and told at a time.
const together = 2048

// job is a conversation that is written.
type job struct {
	*Result
	source   *source
	found    convert.Found
	name     string
	branches []string // the names of its branches' chats
	tried    bool
}

// key is what a conversation is recognised by.
func (j *job) key() string { return j.found.Format + "\x00" + j.Doc.ID }

// Run imports. It calls tell for many results at a time, in the order of the conversations, those of
// FILEs that cannot be read in their places; notes are about those that have none. Where no
// conversation has a message, tell is not called, and ended is what killed runs had begun; otherwise
// the first result has that. The error is that of the options: an owner or a FILE that is not there, for
// one, and then nothing is written.
func Run(ctx context.Context, opt Options, tell func(list []*Result)) (ended []changeset.Ended, notes []string, err error) {
	opt.Changes.Call = new(changeset.Call) // one record
	c := &call{
		Options: &opt, seed: maphash.MakeSeed(), tell: tell,
		seen: map[string]bool{}, taken: map[string]bool{}, next: map[string]int{}, known: map[string][]imported{},
	}
	c.greetings = sync.OnceValue(c.readGreetings)
	c.chatUser = sync.OnceValue(func() string { return c.readChatUser(ctx) })
	err = c.run(ctx)
	return c.ended, c.notes, err
}

func (c *call) run(ctx context.Context) error {
	if err := c.setName(); err != nil {
		return err
	}
	if err := c.lookAround(ctx); err != nil {
		return err
	}
	var sources []*source
	defer func() {
		for _, s := range sources {
			s.close()
		}
	}()

	for _, path := range c.Files {
		more, err := c.sources(ctx, path)
		sources = append(sources, more...)
		for _, s := range more {
			if err := c.scan(ctx, s); err != nil {
				c.fail(s.label, err)
			}
			if s.label == path { // opened again when it is written: there may be more FILEs than can be open
				s.close()
				s.file = nil
			}
		}
		if err != nil {
			c.fail(chat.Label(path), err)
		}
	}

	if c.found > 1 && c.single() {
		return ErrOne
	}
	c.write(ctx)
	return nil
}

// findFiles makes sure that each FILE is there: before it is, nothing is written.
func (c *call) findFiles() error {
	for _, path := range c.Files {
		if path == chat.Stdin {
			continue
		}
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return ops.PathError(err)
		case info.IsDir():
			return fmt.Errorf("%s: %w", path, errFolder)
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s: %w", path, chat.ErrNotRegular)
		}
	}
	return nil
}

// single reports whether only one conversation can be imported.
func (c *call) single() bool { return c.Name != "" || c.Open }

// write writes the conversations that were found, and tells what became of them.
func (c *call) write(ctx context.Context) {
	for _, r := range ops.Each(ctx, c.Changes, c.jobs, c.unit) {
		for k := range r.More { // part of the same operation
			r.More[k].Operation, r.More[k].DryRun = r.Doc.Operation, c.Changes.DryRun
		}
	}
	if len(c.results) > 0 {
		first := c.results[0]
		first.Ended, c.ended = append(c.ended, first.Ended...), nil
		c.tell(c.results)
	}
	c.results, c.jobs = nil, nil
}

// otherFormat returns the error of a file that is not in the format that was named, or in none that is known.
func (c *call) otherFormat() error {
	if c.As != "" {
		return &ops.Kind{Code: "damaged", Text: "this is not in the format " + c.As}
	}
	return fmt.Errorf("%w; the formats are %s", &ops.Kind{Code: "damaged", Text: "this is in no format that is known"}, strings.Join(convert.Formats(), ", "))
}

// fail notes why something could not be imported.
func (c *call) fail(path string, err error) {
	r := &Result{}
	r.Doc = Document{Schema: 1, Source: path}
	place, placed := errors.AsType[*jsonl.Damage](err)
	switch {
	case placed:
		err = &jsonl.LineError{Path: path, Damage: *place}
	case errors.Is(err, convert.ErrTavern):
		err = fmt.Errorf("%s: %w", path, c.notImported(path))
	case errors.Is(err, convert.ErrLayout):
		err = fmt.Errorf("%s: %w", path, errLayout)
	case errors.Is(err, convert.ErrUnknown):
		err = fmt.Errorf("%s: %w; the formats are %s", path, &ops.Kind{Code: "damaged", Text: err.Error()}, strings.Join(convert.Formats(), ", "))
	case errors.Is(err, convert.ErrFormat):
		err = fmt.Errorf("%s: %w", path, c.otherFormat())
	default:
		if err = ops.PathError(err); !strings.HasPrefix(err.Error(), path) {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}

	r.Err = err
	c.results = append(c.results, r)
}

// notImported returns why a chat of SillyTavern's own is not imported.
func (c *call) notImported(path string) error {
	dir, ok := userdir.Enclosing(path)
	if !ok {
		return ErrTavern
	}
	folder := filepath.Dir(userdir.RealPath(path))
	isGroups := folder == userdir.RealPath(dir.GroupChats())
	isCharacters := filepath.Dir(folder) == userdir.RealPath(dir.Chats())
	toGroup := c.owner.Group != nil
	if toGroup && isCharacters || !toGroup && isGroups {
		return errKind
	}
	return ErrTavern
}

// scan finds the conversations of a source, and decides about each.
func (c *call) scan(ctx context.Context, s *source) error {
	c.Meter.Expect(1, s.stamp.Size())
	defer c.Meter.Done()
	as, err := c.formatOf(s)
	if err != nil {
		return err
	}
	return convert.Scan(s.file, s.stamp.Size(), as, func(f convert.Found, raw string) error {
		c.Meter.Read(f.Len)
		if err := ctx.Err(); err != nil {
			return err
		}
		conversation, err := (*convert.Conversation)(nil), f.Err
		if err == nil {
			conversation, err = c.read(f, raw)
		}
		switch {
		case err != nil:
			c.fail(s.label, err)
		case len(conversation.Messages) == 0:
			c.notes = append(c.notes, empty(s, conversation))
		default:
			c.decide(s, f, conversation)
		}
		if err == nil && conversation.Damage != nil {
			c.fail(s.label, lineDamage(conversation))
		}
		if len(c.results) >= together && !c.single() {
			c.write(ctx)
		}
		return nil
	})
}

// formatOf returns the format that a source is known to have before it is read: a text has none that can be
// found out. JSON that was saved under the name of a text is looked at all the same.
func (c *call) formatOf(s *source) (string, error) {
	isText := strings.EqualFold(filepath.Ext(s.label), ".txt")
	if c.As != "" || !isText {
		return c.As, nil
	}
	isJSON, err := convert.LooksLikeJSON(s.file)
	if err != nil || isJSON {
		return "", err
	}
	return formatText, nil
}

// empty says of a conversation that there is no message in it.
func empty(s *source, conversation *convert.Conversation) string {
	note := s.label + ": a conversation without messages is not written"
	if conversation.Title != "" {
		note += fmt.Sprintf(": %q", conversation.Title)
	}
	if len(conversation.Dropped) > 0 {
		note += "; left out: " + convert.Counts(conversation.Dropped)
	}
	return note
}

// lineDamage says that lines of a conversation cannot be read, and where the first of them is.
func lineDamage(conversation *convert.Conversation) *jsonl.Damage {
	damage := *conversation.Damage
	for _, d := range conversation.Dropped {
		if d.What == convert.DamagedLines {
			damage.Reason += fmt.Sprintf("; %s left out, the others are read", plural.Of(d.Count, "damaged line is", "damaged lines are"))
		}
	}
	return &damage
}

// read reads a conversation.
func (c *call) read(f convert.Found, raw string) (*convert.Conversation, error) {
	opt := convert.Options{Characters: []string{c.owner.Name}}
	if c.Character != "" {
		opt.Characters = append(opt.Characters, c.Character)
	}
	opt.Users = []string{c.userIn(f.Format)}
	for name := range c.faces {
		opt.Characters = append(opt.Characters, name)
	}
	conversation, err := convert.Read(f.Format, raw, opt)
	if err == nil && !utf8.ValidString(raw) && f.Format != "chub" { // whose lines stay as they are
		conversation.Notes = append(conversation.Notes, "what is not UTF-8 in its source is U+FFFD now")
	}
	return conversation, err
}

// userIn returns whom a conversation may call its user. A text says of nobody that he is the user, so there
// the owner's chats are asked too.
func (c *call) userIn(format string) string {
	name := cmp.Or(c.User, c.user)
	if name == "" && format == formatText {
		name = c.chatUser()
	}
	return cmp.Or(name, unnamedUser)
}

// formatText is the format of texts.
const formatText = "txt"

// unnamedUser is the user's name where nothing says it.
const unnamedUser = "User"

// decide notes what becomes of a conversation.
func (c *call) decide(s *source, f convert.Found, conversation *convert.Conversation) {
	j := &job{Result: &Result{}, source: s, found: f}
	j.Doc.ID = conversation.ID
	if j.Doc.ID == "" {
		j.Doc.ID = hashOf(conversation.Messages)
	}
	c.results = append(c.results, j.Result)
	c.found++

	c.judge(j, c.completed(conversation, s.mtime))
	if !j.Doc.Existed || c.Open {
		c.jobs = append(c.jobs, j)
	}
}

// judge finds out whether the owner has a conversation already, and otherwise takes names for it.
func (c *call) judge(j *job, full *complete) {
	j.Warnings = nil
	j.Facts = nil
	j.More = nil

	d := &j.Doc
	*d = Document{
		Schema:   1,
		Source:   j.source.label,
		Format:   full.Format,
		ID:       d.ID,
		Dropped:  full.Dropped,
		Branches: len(full.Branches),
	}

	if c.owner.Group != nil {
		d.Group = &c.owner.Group.Path
	}

	own := full.Messages[len(full.all(nil)):]
	isOther := func(k imported) bool { return k.isNew && k.begins != c.hash(own[0].Text) } // exports number from 0 each
	known := slices.DeleteFunc(slices.Clone(c.known[j.key()]), isOther)
	wants := func(k imported) int { // how many messages it has if it has all
		beginsAlike := k.first == c.hash(own[0].Text)
		if !beginsAlike && (full.greeting != nil || c.isGreeting(full, k.first)) {
			return len(own) + 1
		}
		return len(own)
	}

	as := slices.IndexFunc(known, func(k imported) bool { return k.messages >= wants(k) })
	hasGrown := as < 0 // if it is known: no import has all its messages
	if len(known) > 0 && (!hasGrown || !c.Grown) {
		k := known[max(as, 0)]
		j.name = k.name
		d.Path = c.folder.File(k.name)
		d.Name = k.name
		d.Existed = true
		d.Messages = k.messages
		d.DryRun = c.Changes.DryRun
		if hasGrown {
			grown := ops.Fact{Kind: ops.FactGrown, Path: d.Path, Count: wants(k), Of: k.messages}
			j.WarnOf(grown, "%s: its source has %s, here are %d; --grown imports it again, beside", d.Path, plural.S(grown.Count, "message"), grown.Of)
		}
		c.warnOfReading(j, full)              // another source may have the same messages, and more around them
		d.Warnings = slices.Clone(j.Warnings) // nothing will be written
		return
	}

	c.setNames(j, full)
	now := imported{name: j.name, messages: len(full.Messages), first: c.hash(full.Messages[0].Text), isNew: true, begins: c.hash(own[0].Text)}
	c.known[j.key()] = append(c.known[j.key()], now)
}

// unit writes a conversation.
func (c *call) unit(j *job) (*Result, changeset.Unit) {
	u := changeset.Unit{
		Root:  changeset.RootOf(c.path(j.name)),
		Again: ops.ChangedMeanwhile,
		Draft: func(ctx context.Context, s *changeset.Set) error { return c.draft(ctx, j, s) },
	}
	if c.owner.Group != nil {
		u.Shares = []string{c.owner.Group.Path}
	}
	return j.Result, u
}

func (c *call) draft(ctx context.Context, j *job, s *changeset.Set) error {
	if j.Doc.Existed {
		return c.open(s, j.name)
	}
	file := j.source.file
	if file == nil {
		var err error
		if file, err = chat.OpenRegular(j.source.label); err != nil {
			return err
		}
		defer file.Close()
	}

	raw, err := convert.ReadAt(file, j.found)
	if err != nil {
		return fmt.Errorf("%s: %w", j.source.label, err)
	}
	if stamp, err := safefile.StampOf(file); err != nil || !stamp.Same(j.source.stamp) {
		return fmt.Errorf("%s: the file changed while it was read", j.source.label)
	}
	conversation, err := c.read(j.found, raw)
	if err != nil {
		return fmt.Errorf("%s: %w", j.source.label, err)
	}
	full := c.completed(conversation, j.source.mtime)
	if j.tried { // somebody took its name, maybe for the same conversation
		if err := c.lookAgain(ctx, j); err != nil {
			return err
		}
		c.judge(j, full)
		if j.Doc.Existed {
			return c.open(s, j.name)
		}
	}

	j.tried = true
	return c.compose(j, full, s)
}

// source is a file with conversations.
type source struct {
	label string
	file  *os.File // nil: label is its path
	mtime time.Time
	stamp safefile.Stamp
	close func()
}

// sources opens a FILE: itself, or the conversations in a zip.
func (c *call) sources(ctx context.Context, path string) ([]*source, error) {
	s := &source{label: chat.Label(path), mtime: c.Changes.Now}
	var err error
	if path == chat.Stdin {
		s.file, s.close, err = safefile.Spool(c.Stdin, "")
	} else if s.file, err = chat.OpenRegular(path); err == nil {
		s.close = func() { _ = s.file.Close() }
	}
	if err != nil {
		return nil, err
	}
	if s.stamp, err = safefile.StampOf(s.file); err != nil {
		s.close()
		return nil, err
	}
	if path != chat.Stdin {
		s.mtime = s.stamp.ModTime()
	}
	var front [4]byte
	if _, err := s.file.ReadAt(front[:], 0); err == nil && slices.Contains([]string{"PK\x03\x04", "PK\x05\x06"}, string(front[:])) { // the second is an empty one
		defer s.close()
		return c.unzip(ctx, s)
	}
	return []*source{s}, nil
}
