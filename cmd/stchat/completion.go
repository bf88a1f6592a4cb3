package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stchat/internal/chat"
	"stchat/internal/inspect"
	"stchat/internal/library"
	"stchat/internal/names"
	"stchat/internal/ops"
	"stchat/internal/ops/address"
	"stchat/internal/ops/keep"
	"stchat/internal/ops/look"
	"stchat/internal/ops/past"
	"stchat/internal/ops/state"
	"stchat/internal/plural"
	"stchat/internal/progress"
	"stchat/internal/rawjson"
	"stchat/internal/rules"
	"stchat/internal/userdir"
	"stchat/internal/visible"
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

// offer offers a word if it begins as typed and is shown as it is.
func (t *tab) offer(word, about string) {
	if len(t.offers) < mostOffers && strings.HasPrefix(word, t.typed) && !strings.HasPrefix(word, "-") && word != "" && visible.Text(word) == word {
		t.offers = append(t.offers, cobra.CompletionWithDesc(word, visible.Text(about)))
	}
}

// data returns the value of --data.
func (t *tab) data() string { return flagText(t.cmd.Flags(), "data") }

// chat returns the path of the first argument, a chat, "" if there is none.
func (t *tab) chat() string {
	if len(t.args) == 0 {
		return ""
	}
	if found, err := t.c.finder(t.data()).Find(t.args[0]); err == nil && len(found.Paths) == 1 {
		return found.Paths[0]
	}
	return t.args[0]
}

// store returns the file of the history, "" if there is none or if reading it would end what a
// killed run began.
func (t *tab) store(root string) string {
	path := keep.StoreOf(root, cmp.Or(flagText(t.cmd.Flags(), "store"), t.c.Getenv(storeVariable)))
	_, journal := os.Lstat(path + "-journal")
	_, wal := os.Lstat(path + "-wal")
	_, missing := os.Stat(path)
	return when(journal != nil && wal != nil && missing == nil, path)
}

// chats offers owners, and the chats of one: as OWNER/NAME, unless what is typed begins no
// owner's name; then the shell offers files.
func (t *tab) chats() {
	f := t.c.finder(t.data())
	owner, _, named := strings.Cut(t.typed, "/")
	if !named {
		if t.owners(f, "/"); len(t.offers) > 0 {
			t.how |= cobra.ShellCompDirectiveNoSpace
		}
	} else if found, err := f.Find(owner + "/*"); err == nil {
		for _, path := range found.Paths {
			about := ""
			if info, err := os.Stat(path); err == nil {
				about = info.ModTime().Local().Format(minute) + ", " + formatBytes(info.Size())
			}
			t.offer(owner+"/"+strings.TrimSuffix(filepath.Base(path), names.Extension), about)
		}
	}
	if named && slices.Contains([]string{"log", "restore", "lost", "diff"}, t.cmd.Name()) {
		t.gone(f.Root(), owner)
	}
	if len(t.offers) == 0 {
		t.offers, t.how = []string{"jsonl"}, cobra.ShellCompDirectiveFilterFileExt
		if t.cmd.Name() == "clone-lorebook" {
			t.offers = append(t.offers, "json")
		}
	}
}

// owners offers the names of owners, with what follows them.
func (t *tab) owners(f *address.Finder, after string) {
	list := f.Owners()
	slices.Sort(list)
	for _, name := range slices.Compact(list) {
		about := "group"
		if found, err := f.Find(name + "/*"); err == nil && (len(found.Paths) == 0 || filepath.Base(filepath.Dir(found.Paths[0])) != "group chats") {
			about = plural.S(len(found.Paths), "chat")
		}
		if !strings.ContainsAny(name, `/\`) {
			t.offer(name+after, about)
		}
	}
}

// gone offers chats of an owner that only the history has.
func (t *tab) gone(root, owner string) {
	if root == "" || t.store(root) == "" {
		return
	}
	gone, _ := keep.GoneChats(t.ctx, keep.Where{Chat: root, Store: t.store(root), Now: t.c.Now()})
	for _, g := range gone {
		if filepath.Base(filepath.Dir(g.Path)) == owner {
			t.offer(owner+"/"+strings.TrimSuffix(filepath.Base(g.Path), names.Extension), "gone, "+plural.S(g.Messages, "message")+" on "+localTime(g.At))
		}
	}
}

// revs offers the versions of a chat.
func (t *tab) revs() {
	path := t.chat()
	root := t.c.finder(t.data()).Root()
	if dir, ok := userdir.Enclosing(path); ok {
		root = dir.Root
	}
	store := t.store(root)
	if path == "" || store == "" {
		return
	}
	_, _ = keep.Log(t.ctx, keep.Where{Chat: path, Store: store, Data: cmp.Or(t.data(), t.c.Getenv(dataVariable)), Now: t.c.Now()}, mostOffers, func(d keep.Logged) error {
		if d.Rev != nil && !d.Other {
			t.offer(fmt.Sprint(*d.Rev), localTime(d.At)+", "+plural.S(d.Messages, "message"))
		}
		return nil
	})
}

// records offers what undo takes.
func (t *tab) records() {
	root, err := undoRoot(t.c, t.data())
	if err != nil || len(t.args) > 0 {
		return
	}
	list, _, _ := past.List(root)
	for _, rec := range list {
		t.offer(rec.ID, rec.At.Local().Format(minute)+"  "+commandText(relativeTo(root, rec.Command)))
	}
}

// links offers the checkpoints and branches that messages of the chat link to.
func (t *tab) links() {
	if len(t.args) == 0 {
		return
	}
	_, _ = ops.Inspect(t.ctx, ops.InspectOptions{List: ops.List{Paths: []string{t.chat()}}, Each: func(r *inspect.Report, err error) error {
		if err != nil {
			return nil // completion shows no errors
		}
		for _, links := range [][]inspect.Link{r.Checkpoints, r.Branches} {
			for _, l := range links {
				t.offer(l.Name, fmt.Sprintf("message %d", l.At))
			}
		}
		return nil
	}})
}

// namespaces offers what extensions keep of the first argument.
func (t *tab) namespaces() {
	l, err := state.ListOf(t.ctx, new(library.Library), state.ReadOptions{Path: t.chat(), Data: userFolder(t.c, t.data(), t.args[:1])})
	if err != nil {
		return
	}
	for _, n := range l.Namespaces {
		if !slices.Contains(t.args, n.Name) {
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
	m, err := look.MetadataOf(t.ctx, path, chat.Options{Data: userFolder(t.c, t.data(), t.args[:1])}, nil)
	if err != nil {
		return
	}
	for raw, value := range rawjson.Members(m.Metadata) {
		if key, ok := rawjson.Unquote(raw); ok && !slices.Contains(t.args, key) {
			t.offer(key+after, visible.Brief(string(value)))
		}
	}
	if after != "" {
		t.how |= cobra.ShellCompDirectiveNoSpace
	}
}

// arguments offers what a command takes as its next argument.
func (t *tab) arguments(v *verb) {
	first, _, _ := strings.Cut(v.use, " ")
	switch n := len(t.args); {
	case first == "undo":
		t.records()
	case first == "new", first == "move" && n > 0 && !strings.Contains(t.typed, "/"):
		if t.owners(t.c.finder(t.data()), ""); len(t.offers) == 0 {
			t.how = cobra.ShellCompDirectiveDefault
		}
	case n > 0 && strings.Contains(v.use, "[KEY...]"):
		t.keys("")
	case n > 0 && strings.Contains(v.use, " NS"):
		t.namespaces()
	case first == "clone-lorebook" && n == 0 && !strings.Contains(t.typed, "/"), strings.HasPrefix(t.typed, "worlds/"):
		if t.lorebooks(); len(t.offers) == 0 {
			t.chats()
		}
	default:
		t.chats()
	}
}

// lorebooks offers the lorebooks of the user folder.
func (t *tab) lorebooks() {
	root := t.c.finder(t.data()).Root()
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
	case f.Name == "at" && (cmd.Name() == "branch" || cmd.Name() == "checkpoint"):
		return c.offering((*tab).links)
	case metadata && f.Name == "set":
		return c.offering(func(t *tab) { t.keys("=") })
	case metadata && slices.Contains([]string{"unset", "only", "ignore", "value"}, f.Name) && !words:
		return c.offering(func(t *tab) { t.keys("") })
	case f.Name == "rebind", f.Name == "like":
		return c.offering((*tab).chats)
	}
	return nil
}

// aboutWord describes a word that a flag takes: a rule or a format.
func aboutWord(word string) string {
	for _, id := range rules.All() {
		if id.String() == word {
			return id.Rule().Summary
		}
	}
	return map[string]string{
		"dot": "for Graphviz", "fields": "values of keys", "github": "notes on a pull request", "gitlab": "for its Code Quality", "html": "a page",
		"junit": "a test report", "mermaid": "a diagram in Markdown", "merge-patch": "RFC 7386", "openai": "training data", "patch": "RFC 6902",
		"raw": "the stored lines", "read": "as a person reads it", "rows": "a table of messages", "sarif": "for code scanning",
		"sharegpt": "training data", "svg": "a picture", "txt": "as SillyTavern exports it",
	}[word]
}
