package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/folder/inspect"
	"stchat/internal/folder/library"
	"stchat/internal/folder/rules"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/ops/address"
	"stchat/internal/ops/bring/convert"
	"stchat/internal/ops/keep"
	"stchat/internal/ops/look"
	"stchat/internal/ops/past"
	"stchat/internal/ops/state"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/text/plural"
	"stchat/internal/text/progress"
	"stchat/internal/text/visible"
)

// Completion offers so many words at most, and none if it takes longer.
const (
	mostOffers  = 200
	offersAfter = 250 * time.Millisecond
)

// tab is where the key was pressed: what is offered collects here. It only reads.
type tab struct {
	c      *console
	ctx    context.Context
	cmd    *cobra.Command
	args   []string // before the word
	typed  string   // of the word
	offers []string
	how    cobra.ShellCompDirective
}

// offering returns what completes a word with what find offers, in time.
func (c *console) offering(find func(t *tab)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), offersAfter)
		defer cancel()
		t, err := progress.Until(ctx, func() (*tab, error) {
			t := &tab{c: c, ctx: ctx, cmd: cmd, args: args, typed: typed, how: cobra.ShellCompDirectiveNoFileComp}
			find(t)
			return t, nil
		})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return t.offers, t.how
	}
}

// offer offers a word once if it begins as typed and is shown as it is. Cobra takes away the
// space that a word begins with.
func (t *tab) offer(word, about string) {
	if !t.wants(word) || word == "" || word[0] == '-' || visible.Text(word) != word || strings.TrimLeftFunc(word, unicode.IsSpace) != word {
		return
	}
	if word += "\t"; !slices.ContainsFunc(t.offers, func(o string) bool { return strings.HasPrefix(o, word) }) {
		t.offers = append(t.offers, word+visible.Text(about))
	}
}

// wants reports whether a word begins as typed, and is not one too many.
func (t *tab) wants(word string) bool {
	return len(t.offers) < mostOffers && strings.HasPrefix(word, t.typed)
}

// chat returns the path of the first argument, a chat, "" if there is none.
func (t *tab) chat() string {
	if len(t.args) == 0 {
		return ""
	}
	if found, err := t.c.finder().Find(t.args[0]); err == nil && len(found.Paths) == 1 {
		return found.Paths[0]
	}
	return t.args[0]
}

// store returns the file of the history, "" if there is none or if reading it would end what a
// killed run began.
func (t *tab) store(root string) string {
	path := keep.StoreOf(root, t.c.store())
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	for _, suffix := range []string{"-journal", "-wal"} { // of what SQLite leaves beside it if a run is killed
		if _, err := os.Lstat(path + suffix); err == nil {
			return ""
		}
	}
	return path
}

// chats offers owners, and the chats of one: as OWNER/NAME, unless what is typed begins no
// owner's name; then the shell offers files.
func (t *tab) chats() {
	f := t.c.finder()
	forGone := t.cmd.Name() == "lost" || len(t.args) == 0 && slices.Contains([]string{"log", "restore", "diff"}, t.cmd.Name())
	owner, _, named := strings.Cut(t.typed, "/")
	if !named {
		t.owners(f, "/", func(_ *address.Owner, chats int) bool { return chats > 0 || forGone })
		if len(t.offers) > 0 {
			t.how |= cobra.ShellCompDirectiveNoSpace
		}
	} else {
		t.named(f, owner, forGone)
	}

	if len(t.offers) == 0 {
		t.offers, t.how = []string{"jsonl"}, cobra.ShellCompDirectiveFilterFileExt
		if slices.Contains([]string{"clone-lorebook", "rm", "rename"}, t.cmd.Name()) {
			t.offers = append(t.offers, "json")
		}
	}
}

// named offers the chats of an owner: those that are there, and those that are gone for a command that
// takes them.
func (t *tab) named(f *address.Finder, owner string, withGone bool) {
	gone := t.gone(f.Root(), withGone)
	if gone != nil {
		defer gone.Close()
		f.Past = gone.Names
		f.PastOf = func(groupFile string) []string { return gone.NamesOf(t.ctx, groupFile) }
	}
	for _, chat := range f.Chats(owner) {
		word := owner + "/" + chat.Name
		if !t.wants(word) {
			continue
		}
		if chat.Gone {
			if last, ok := gone.Chat(t.ctx, chat.Path); ok {
				t.offer(word, "gone, "+plural.Many(last.Messages, "message")+" on "+localTime(last.At))
			}
			continue
		}
		if info, err := os.Stat(chat.Path); err == nil && !address.IsPath(word) {
			t.offer(word, info.ModTime().Local().Format(minute)+", "+formatBytes(info.Size()))
		}
	}
}

// gone returns what only the history has, nil if nothing is wanted of it, or known.
func (t *tab) gone(root string, wanted bool) *keep.Gone {
	if !wanted || root == "" || address.IsPath(t.typed) {
		return nil
	}
	store := t.store(root)
	if store == "" {
		return nil
	}
	gone, err := keep.OpenGone(t.ctx, keep.Where{Chat: root, Store: store, Now: t.c.Now()})
	if err != nil {
		return nil // completion shows no errors
	}
	return gone
}

// owners offers the names of owners that fit, with what follows them.
func (t *tab) owners(f *address.Finder, after string, fits func(o *address.Owner, chats int) bool) {
	list := f.Owners()
	slices.Sort(list)
	for _, name := range list {
		if t.wants(name + after) {
			t.owner(f, name, after, fits)
		}
	}

	if len(t.offers) > 0 {
		return
	}
	for _, name := range list { // shells that match more than beginnings show these, too
		if wordBeginsWith(name, t.typed) {
			typed := t.typed
			t.typed = ""
			t.owner(f, name, after, fits)
			t.typed = typed
		}
	}
}

// owner offers the name of an owner that fits.
func (t *tab) owner(f *address.Finder, name, after string, fits func(o *address.Owner, chats int) bool) {
	if strings.ContainsAny(name, `/\`) || address.IsPath(name+after) {
		return
	}
	o, _, _, err := f.Split(name)
	if err != nil || o == nil {
		return
	}
	chats := len(o.Names(f.Lib))
	if !fits(o, chats) {
		return
	}
	about := plural.Many(chats, "chat")
	if o.Group != nil {
		about = "group, " + about
	}
	t.offer(name+after, about)
}

// wordBeginsWith reports whether a word of a name begins with what was typed, in any letter case.
func wordBeginsWith(name, typed string) bool {
	for word := range strings.FieldsSeq(names.FoldNFC(name)) {
		if typed != "" && strings.HasPrefix(word, names.FoldNFC(typed)) {
			return true
		}
	}
	return false
}

// revs offers the versions of a chat.
func (t *tab) revs() {
	path := t.chat()
	root := t.c.finder().Root()
	if dir, ok := userdir.Enclosing(path); ok {
		root = dir.Root
	}
	store := t.store(root)
	if path == "" || store == "" {
		return
	}
	list, _ := keep.Revs(t.ctx, keep.Where{Chat: path, Store: store, Data: t.c.dataFolder(), Now: t.c.Now()})
	for _, v := range list {
		t.offer(fmt.Sprint(v.Rev), v.At.Local().Format(minute)+", "+plural.Many(v.Messages, "message"))
	}
}

// records offers what undo takes.
func (t *tab) records() {
	root, err := undoRoot(t.c)
	if err != nil || len(t.args) > 0 {
		return
	}
	list, _, _ := past.List(root)
	for _, rec := range list {
		if !rec.Undone {
			t.offer(rec.ID, rec.At.Local().Format(minute)+"  "+commandText(relativeTo(root, rec.Command)))
		}
	}
}

// links offers the checkpoints and branches that messages of the chat link to, each if it is one
// message that does, and those that stchat named for it.
func (t *tab) links() {
	if len(t.args) == 0 {
		return
	}
	path := t.chat()
	_, _ = ops.Inspect(t.ctx, ops.InspectOptions{List: ops.List{Paths: []string{path}}, Each: func(r *inspect.Report, err error) error {
		if err != nil {
			return nil // completion shows no errors
		}
		links := slices.Concat(r.Checkpoints, r.Branches)
		for _, l := range links {
			if slices.ContainsFunc(links, func(other inspect.Link) bool { return other.Name == l.Name && other.At != l.At }) {
				continue
			}
			word := l.Name
			at := 0
			name := ""
			if messageOrName(&at, &name).set(word) != nil || name != word { // it is read as a number
				word = "name:" + word
			}
			t.offer(word, fmt.Sprintf("message %d", l.At))
		}

		for _, name := range new(library.Library).Folder(filepath.Dir(path)).Chats {
			if strings.HasPrefix(name, userdir.ChatName(path)+"__") && !slices.ContainsFunc(links, func(l inspect.Link) bool { return l.Name == name }) {
				t.offer(name, "no message links to it")
			}
		}
		return nil
	}})
}

// namespaces offers what extensions keep of the first argument, but for the kinds that the command refuses.
func (t *tab) namespaces() {
	l, err := state.ListOf(t.ctx, new(library.Library), state.ReadOptions{Path: t.chat(), Data: userFolder(t.c, t.args[:1])})
	if err != nil {
		return
	}
	var refused []string
	if t.cmd.Name() == "set" {
		refused = []string{"chat_sync", "orphans", "recap:", "illustrator:"}
	}
	for _, n := range l.Namespaces {
		if !slices.Contains(t.args, n.Name) && !slices.Contains(refused, n.Kind) {
			t.offer(n.Name, n.Kind+", "+formatBytes(n.Bytes))
		}
	}
}

// keys offers the metadata keys of the chat, with what follows them.
func (t *tab) keys(after string) {
	path := t.chat()
	if path == "" {
		return
	}
	m, err := look.MetadataOf(t.ctx, path, chat.Options{Data: userFolder(t.c, t.args[:1])}, nil)
	if err != nil {
		return
	}
	for raw, value := range rawjson.Members(m.Metadata) {
		key, ok := rawjson.Unquote(raw)
		misread := strings.HasPrefix(key, "/") || after != "" && strings.Contains(key, after)
		if ok && !misread && !slices.Contains(t.args, key) {
			t.offer(key+after, visible.Brief(string(value)))
		}
	}

	if after != "" {
		t.how |= cobra.ShellCompDirectiveNoSpace
	}
}

// arguments offers what a command takes as its next argument.
func (t *tab) arguments(v *verb) {
	n := len(t.args)
	if v.means != nil && v.means.messages && n > v.means.first && slices.ContainsFunc(t.args[v.means.first:], looksLikeMessages) {
		return // a text, a name or a swipe may follow, and no chat
	}
	next := strings.Join(v.next(n), " ")
	is := func(kind string) bool { return strings.Contains(next, kind) }
	switch {
	case is("OWNER|NAME"):
		t.owners(t.c.finder(), "", func(*address.Owner, int) bool { return true })
		return
	case next == "", is("NAME"), next == "[N...]":
		return
	case is("FILE") && is("OWNER") && n > 0 && !strings.Contains(t.typed, "/"):
		t.anyOwner()
		return
	case is("FILE"), is("OPS"), is("FROM") && v.means == nil:
		t.how = cobra.ShellCompDirectiveDefault
		return
	case is("DIR"):
		t.how = cobra.ShellCompDirectiveFilterDirs
		return
	case is("ID"):
		t.records()
		return
	case is("OWNER") && !strings.Contains(t.typed, "/"):
		t.newOwners()
		return
	case is("KEY"):
		t.keys("")
	case is("NS"):
		t.namespaces()
	case is("SOURCE") && !strings.Contains(t.typed, "/"), (is("SOURCE") || is("LOREBOOK")) && strings.HasPrefix(t.typed, "worlds/"):
		t.lorebooks()
	}

	if len(t.offers) == 0 && (!is("NS") || is("PATH")) {
		t.chats()
	}
}

// anyOwner offers all characters and groups, or else files.
func (t *tab) anyOwner() {
	t.owners(t.c.finder(), "", func(*address.Owner, int) bool { return true })
	if len(t.offers) == 0 {
		t.how = cobra.ShellCompDirectiveDefault
	}
}

// newOwners offers those who may own a new chat, or one that moves: from a group to another, or from
// a character.
func (t *tab) newOwners() {
	f := t.c.finder()
	from := t.chat()
	folder := userdir.RealPath(filepath.Dir(from))
	t.owners(f, "", func(o *address.Owner, _ int) bool {
		same := userdir.RealPath(o.Folder) == folder
		return from == "" || same && o.Group != nil && !slices.Contains(o.Group.Chats, userdir.ChatName(from)) ||
			!same && o.Group == nil && filepath.Base(folder) != filepath.Base(o.Dir.GroupChats())
	})
	if len(t.offers) == 0 {
		t.how = cobra.ShellCompDirectiveDefault
	}
}

// lorebooks offers the lorebooks of the user folder.
func (t *tab) lorebooks() {
	root := t.c.finder().Root()
	if root == "" {
		return
	}
	dir := filepath.Join(userdir.Near(root), "worlds")
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".json" {
			t.offer(filepath.Join(dir, e.Name()), "lorebook")
		}
	}
}

// flagOffers returns what completes a flag of a command with what is in the user folder, nil for
// any other.
func (c *console) flagOffers(cmd *cobra.Command, f *pflag.Flag) cobra.CompletionFunc {
	metadata := slices.Contains([]string{"branch", "checkpoint", "diff-meta"}, cmd.Name()) || cmd.HasParent() && cmd.Parent().Name() == "meta"
	_, words := f.Value.(flagValue)
	switch {
	case f.Name == "rev":
		return c.offering((*tab).revs)
	case f.Name == "at" && takesLinks(cmd.Name()):
		return c.offering((*tab).links)
	case metadata && f.Name == "set":
		return c.offering(func(t *tab) { t.keys("=") })
	case metadata && f.Name == "unset":
		return c.offering(func(t *tab) { t.keys("") })
	case metadata && slices.Contains([]string{"only", "ignore"}, f.Name) && !words:
		return c.offering(func(t *tab) { t.keys("") })
	case f.Name == "rebind":
		return c.offering((*tab).chats)
	}
	return nil
}

// takesLinks reports whether --at of a command takes the name of a checkpoint or branch for its message.
func takesLinks(command string) bool {
	return slices.Contains([]string{"branch", "checkpoint", "add", "edit", "show", "split", "swipe"}, command)
}

// aboutWord describes a word that a flag takes: a rule or a format. What import reads is described where
// it is read.
func aboutWord(word string) string {
	for _, id := range rules.All() {
		if id.String() == word {
			return id.Rule().Summary
		}
	}

	written := map[string]string{
		"fields": "values of keys", "github": "notes on a pull request", "html": "a page", "json": "documents for scripts",
		"junit": "a test report", "markdown": "Markdown", "merge-patch": "RFC 7386", "patch": "RFC 6902",
		"raw": "the stored lines", "read": "as a person reads it", "rows": "a table of messages",
		"sarif": "for code scanning", "text": "plain text", "txt": "as SillyTavern exports it",
	}
	return cmp.Or(written[word], maps.Collect(convert.Described())[word])
}
