package bring

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/meta"
	"stchat/internal/ops"
	"stchat/internal/ops/address"
	"stchat/internal/ops/bring/convert"
	"stchat/internal/place/names"
	"stchat/internal/sillytavern/card"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/sillytavern/message"
)

// imported is a chat that was imported before.
type imported struct {
	name     string
	messages int
	first    uint64 // the hash of its first text
	isNew    bool   // it comes in this call
	begins   uint64 // likewise; the hash of the first text of its source
}

// findOwner finds the owner, and its chats as they are now.
func (c *call) findOwner() (err error) {
	c.lib = new(library.Library)
	if c.owner, err = address.OwnerOf(c.lib, c.Owner, c.Data); err == nil {
		c.folder, err = c.owner.Chats(c.lib)
	}
	return err
}

// lookAround finds what the owner has, and who speaks there.
func (c *call) lookAround(ctx context.Context) error {
	if err := c.findOwner(); err != nil {
		return err
	}
	if err := c.findFiles(); err != nil {
		return err
	}
	if !c.Changes.DryRun { // nothing is half done then, neither by a killed run nor by one at work
		root := changeset.RootOf(filepath.Join(c.owner.Folder, "x"))
		c.ended = changeset.Settle(ctx, root, c.Changes)
		unlock, _, err := safefile.Lock(ctx, root)
		if err != nil {
			return fmt.Errorf("%s: %w", root, err)
		}
		err = c.findOwner()
		unlock()
		if err != nil {
			return err
		}
	}
	if err := ops.InFiles(c.lib, c.owner.Dir, c.Owner); err != nil {
		return err
	}
	if raw, _, err := safefile.Read(filepath.Join(c.owner.Dir.Root, "settings.json")); err == nil {
		c.user, _ = rawjson.Unquote(rawjson.Value(raw, "username"))
	}
	if c.owner.Group != nil {
		c.faces = map[string]string{}
		for avatar := range rawjson.Texts(rawjson.Value(c.owner.Group.Raw(), "members")) {
			if filepath.Base(avatar) != avatar {
				continue
			}
			if known, err := card.Open(filepath.Join(c.owner.Dir.Characters(), avatar)); err == nil {
				c.faces[known.Name] = avatar
			}
		}
	}
	return c.lookForChats(ctx)
}

// lookForChats finds the owner's chats that are not known yet.
func (c *call) lookForChats(ctx context.Context) error {
	for _, name := range c.folder.Chats {
		c.taken[names.Fold(name)] = true
		if !c.seen[name] && (c.owner.Group == nil || c.owner.Group.Lists(name)) {
			c.seen[name] = true
			if err := c.look(ctx, name); err != nil {
				return err
			}
		}
	}

	if c.owner.Group != nil {
		for _, name := range c.owner.Group.Chats {
			c.taken[names.Fold(name)] = true
		}
	}
	return nil
}

// readChatUser returns the name that the user has in all messages of the owner's chats, "" if there are
// several or none. Chats that cannot be read do not count.
func (c *call) readChatUser(ctx context.Context) (name string) {
	errSeveral := errors.New("several names")
	ofUser := choose.Choice{Filter: choose.Filter{Roles: []string{string(message.User)}}}
	for _, known := range c.folder.Chats {
		if c.owner.Group != nil && !c.owner.Group.Lists(known) {
			continue
		}
		opened, err := chat.Open(ctx, c.folder.File(known), chat.Options{Any: true, Groups: c.lib})
		if err != nil {
			continue
		}
		_, err = ofUser.Scan(ctx, choose.SourceOf(opened), func(at choose.Place) error {
			line, err := opened.Source.ReadSection(nil, at.Off, at.Len)
			if err != nil {
				return err
			}
			speaker, _ := rawjson.Unquote(rawjson.Value(line, "name"))
			name = cmp.Or(name, speaker)
			if speaker != name {
				return errSeveral
			}
			return nil
		})
		opened.Close()
		if errors.Is(err, errSeveral) {
			return ""
		}
	}
	return name
}

// lookAgain gives up the names of a conversation, and finds what the owner has since.
func (c *call) lookAgain(ctx context.Context, j *job) error {
	for _, name := range slices.Concat(j.branches, []string{j.name}) {
		delete(c.taken, names.Fold(name))
		delete(c.seen, name)
	}
	clear(c.next)
	c.known[j.key()] = slices.DeleteFunc(c.known[j.key()], func(k imported) bool { return k.name == j.name })
	if err := c.findOwner(); err != nil {
		return err
	}
	return c.lookForChats(ctx)
}

// look notes a chat that was imported. What cannot be read was not.
func (c *call) look(ctx context.Context, name string) error {
	opened, err := chat.Open(ctx, c.folder.File(name), chat.Options{Any: true, Groups: c.lib})
	if err != nil {
		return ctx.Err()
	}
	defer opened.Close()
	from := opened.Metadata().Value(meta.KeyImport)
	format, _ := rawjson.Unquote(rawjson.Value(from, "format"))
	id, ok := rawjson.Unquote(rawjson.Value(from, "id"))
	if !ok || opened.Metadata().Has("main_chat") {
		return nil // its own checkpoints and branches have the key, too
	}
	var first string
	all := choose.Choice{Whole: true}
	scanned, err := all.Scan(ctx, choose.SourceOf(opened), func(at choose.Place) error {
		if at.Index > 0 {
			return nil
		}
		line, err := opened.Source.ReadSection(nil, at.Off, at.Len)
		first, _ = rawjson.Unquote(rawjson.Value(line, "mes"))
		return err
	})
	if err != nil {
		return err
	}
	key := format + "\x00" + id
	c.known[key] = append(c.known[key], imported{name: name, messages: scanned.Messages, first: c.hash(first)})
	return nil
}

func (c *call) hash(text string) uint64 { return maphash.String(c.seed, text) }

// hashOf identifies messages that have no id of their own.
func hashOf(list []convert.Message) string {
	h := sha256.New()
	for _, m := range list {
		for _, s := range []string{strconv.Itoa(int(m.Role)), m.Name, m.Text, string(m.Line)} {
			fmt.Fprintf(h, "%d:%s", len(s), s)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// setName makes the name that was given for the only chat safe.
func (c *call) setName() (err error) {
	if c.Name == "" {
		return nil
	}
	c.name, err = names.New(c.Name, names.MaxBytes)
	return err
}

// setNames names the chats of a conversation.
func (c *call) setNames(j *job, full *complete) {
	wanted := cmp.Or(c.name, full.Title)
	title, err := names.New(wanted, names.MaxBytes)
	if wanted == "" || err != nil {
		when := names.Humanized(full.dates[0].Local()) + " imported"
		if title, err = names.New(full.character+" - "+when, names.MaxBytes); err != nil { // nul.txt - …
			title = when
		}
	}

	j.name = c.free(title)
	j.branches = nil
	if !c.Branches {
		return
	}
	for i, b := range full.Branches {
		name, err := names.Make(names.Request{
			Kind: names.Branch, Style: names.Suffix, Chat: j.name, At: full.at(b), Now: c.Changes.Now.Add(time.Duration(i) * time.Millisecond),
			Taken: func(name string) bool { return c.taken[names.Fold(name)] },
		})
		if err != nil || full.at(b) < 0 { // it has nothing in common with the chat
			name.File = c.free(j.name)
		}
		c.reserve(name.File)
		j.branches = append(j.branches, name.File)
	}
}

// free returns a name that no chat has, and takes it: the one that is wanted, else with a
// number.
func (c *call) free(wanted string) string {
	folded := names.Fold(wanted)
	for n := max(1, c.next[folded]); ; n++ {
		name := wanted
		if n > 1 {
			end := fmt.Sprintf(" (%d)", n)
			name = strings.TrimRight(names.Shorten(wanted, names.MaxBytes-len(end)), " ") + end
		}
		isFree := !c.taken[names.Fold(name)] && len(c.folder.Sidecars(name)) == 0
		if !isFree {
			continue
		}
		c.reserve(name)
		if n > 1 {
			c.next[folded] = n + 1
		}
		return name
	}
}

// reserve notes that a chat of this call has a name.
func (c *call) reserve(name string) {
	c.taken[names.Fold(name)] = true
	c.seen[name] = true
}

func (c *call) path(name string) string {
	return filepath.Join(c.owner.Folder, name+names.Extension)
}

// dates gives every message a date. One without takes that of the message before and a millisecond more.
// Those before the first dated message count back from it by a millisecond. If none is dated, they lie a
// second apart and end when the file was written. undated counts the messages without a date.
func dates(list []convert.Message, written time.Time) (all []time.Time, undated int) {
	all = make([]time.Time, len(list))
	for i, m := range list {
		all[i] = m.Date.Truncate(time.Millisecond)
		if m.Date.IsZero() {
			undated++
		}
	}

	firstDated := slices.IndexFunc(list, func(m convert.Message) bool { return !m.Date.IsZero() })
	for i := range all {
		switch {
		case !list[i].Date.IsZero():
		case firstDated < 0:
			all[i] = written.Truncate(time.Millisecond).Add(-time.Duration(len(all)-1-i) * time.Second)
		case i < firstDated:
			all[i] = all[firstDated].Add(-time.Duration(firstDated-i) * time.Millisecond)
		default:
			all[i] = all[i-1].Add(time.Millisecond)
		}
	}
	return all, undated
}
