package merge

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/extension"
	"stchat/internal/extension/all"
	"stchat/internal/extension/isolate"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/lorebook"
	"stchat/internal/place/userdir"
	"stchat/internal/text/lazyregexp"
)

// book is a lorebook of FROM and the one of INTO that has its entries.
type book struct {
	from, to *lorebook.Book
	job      *job
}

// attachment is a file that a message, a header or a card names.
type attachment struct {
	place string // in FROM's user folder, with slashes
	was   string // what its name has before the extension that it has not in INTO: an earlier mark
	mark  string // what its name gets in INTO there
	path  string // where it comes; "": INTO has it
}

// carried are the folders whose files come along if they are named.
func carried(place string) bool {
	return slices.ContainsFunc([]string{"user/images/", "user/files/", "backgrounds/", "User Avatars/"}, func(folder string) bool { return strings.HasPrefix(place, folder) })
}

// inURL is how a background's address is written.
var inURL = lazyregexp.New(`^url\(["']?(.*?)["']?\)$`)

// persona is how the address of a user's picture begins (SillyTavern 1.19, getThumbnailUrl).
const persona = "/thumbnail?type=persona&file="

// plain returns the address of a file that an address of a background, or of a user's picture, means.
func plain(address string) string {
	if m := inURL().FindStringSubmatch(address); m != nil {
		return m[1]
	}
	if file, ok := strings.CutPrefix(address, persona); ok {
		return "User Avatars/" + file
	}
	return address
}

// addressHere returns an address as it is in INTO.
func (u *user) addressHere(address string) string {
	place, exists, _ := u.from.Served(plain(address))
	if !exists || !carried(place) || !filepath.IsLocal(filepath.FromSlash(place)) {
		return address
	}
	if u.files[place] == nil && !u.planned {
		u.files[place] = u.attach(place)
		u.renames = u.renames || u.files[place].was+u.files[place].mark != ""
	}
	a := u.files[place]
	if a == nil {
		return address
	}
	u.need(a.path)
	return a.renamed(address)
}

// marked is a name that an earlier merge may have given to a file.
var marked = lazyregexp.New(`-[0-9a-f]{8}\.[^.]*$`)

// need notes that a file comes for the chat that is looked through.
func (u *user) need(path string) {
	if path != "" && !u.planned {
		u.needs = append(u.needs, path)
	}
}

// attach decides how a file comes along. INTO may have it, under its name or without the mark that an earlier merge gave it.
// Else it comes; if INTO has another file of its name, with a mark.
func (u *user) attach(place string) *attachment {
	from := filepath.Join(u.from.Root, filepath.FromSlash(place))
	a := &attachment{place: place}
	j := newJob(AttachmentKind, from, u.pathHere(a))
	row := j.row
	if err := followedBelow(u.from.Root, place); err != nil {
		row.refuse(err)
		u.carried = append(u.carried, j)
		return a
	}

	row.Sign = New
	isHere, err := u.isHere(from, a)
	isTaken := err == nil && !isHere
	if isTaken || !isHere && marked().MatchString(place) {
		raw, _, _ := safefile.Read(from) // read again where it is copied
		mark := fmt.Sprintf("-%.4x", sha256.Sum256(raw))
		if strings.HasSuffix(place, mark+path.Ext(place)) {
			original := &attachment{place: place, was: mark}
			if has, _ := u.isHere(from, original); has {
				return original
			}
		}
		if isTaken {
			a.mark = mark
			isHere, err = u.isHere(from, a)
			row.Sign = Other
			row.rename(path.Base(place), filepath.Base(u.pathHere(a)))
		}
	}

	if isHere {
		return a
	}

	a.path = u.pathHere(a)
	j.creates(a.path, func(_ context.Context, s *changeset.Set) error { return copyFile(s, from, a.path, "an attachment") })
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		row.refuse(err)
	}
	u.carried = append(u.carried, j)
	return a
}

// pathHere returns the path of a file in INTO.
func (u *user) pathHere(a *attachment) string {
	ext := path.Ext(a.place)
	place := strings.TrimSuffix(a.place, a.was+ext) + a.mark + ext
	return filepath.Join(u.into.Root, filepath.FromSlash(place))
}

// isHere reports whether INTO has a file of FROM, and returns an error if it has none of that name.
func (u *user) isHere(from string, a *attachment) (same bool, err error) {
	here := u.pathHere(a)
	info, err := os.Lstat(here)
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	_, same, err = compare(from, here)
	return same, err
}

// renamed returns the text of an address with the file's name in INTO.
func (a *attachment) renamed(address string) string {
	from := len(address) - len(strings.TrimPrefix(address, persona))
	file, _, _ := strings.Cut(address[from:], "?")
	file, _, _ = strings.Cut(file, "#")
	dot := strings.LastIndex(file, a.was+path.Ext(a.place))
	if dot < 0 {
		return address
	}
	return address[:from+dot] + a.mark + address[from+dot+len(a.was):]
}

// readdress returns a JSON value in which the addresses of attachments are those in INTO; raw itself
// if none changes.
func (u *user) readdress(raw []byte) []byte {
	if u == nil {
		return raw
	}
	return readdressed(raw, u.addressHere)
}

// longestAddress is the length from which on a text is no address.
const longestAddress = 4 << 10

// readdressed returns a JSON value with other addresses in it; raw itself if none changes.
func readdressed(raw []byte, here func(address string) string) []byte {
	if !bytes.ContainsAny(raw, "/") {
		return raw
	}
	switch rawjson.KindOf(raw) {
	case rawjson.String:
		text, ok := rawjson.Unquote(raw)
		if !ok || len(text) > longestAddress {
			return raw
		}
		if to := here(text); to != text {
			return rawjson.Quote(to)
		}
	case rawjson.Array:
		return rawjson.EditList(raw, func(_ int, value []byte) ([]byte, bool) { return readdressed(value, here), true })
	case rawjson.ObjectKind:
		var keys []string // may be addresses themselves
		raw = rawjson.Edit(raw, func(o *rawjson.Object) {
			keys = o.Keys()
			for _, key := range keys {
				value := o.Value(key)
				if to := readdressed(value, here); !bytes.Equal(to, value) {
					o.Set(key, to)
				}
			}
		})
		for _, key := range keys {
			if strings.Contains(key, "/") {
				if to := here(key); to != key {
					raw = rawjson.RenameKey(raw, key, to)
				}
			}
		}
	}
	return raw
}

// values follows the addresses in the values of some keys.
func (u *user) values(o *rawjson.Object, keys ...string) {
	for _, key := range keys {
		value := o.Value(key)
		if to := u.readdress(value); !bytes.Equal(to, value) {
			o.Set(key, to)
		}
	}
}

// message returns a message with the addresses in what it holds besides its text.
func (u *user) message(line []byte) []byte {
	if u == nil || !u.renames {
		return line
	}
	return rawjson.Edit(line, func(o *rawjson.Object) {
		u.values(o, attachmentKeys[:]...)
		for _, key := range []string{"original_avatar", "force_avatar"} { // who speaks in a group
			if text, ok := rawjson.Unquote(o.Value(key)); ok {
				if to := u.avatar(text); to != text {
					o.Set(key, rawjson.Quote(to))
				}
			}
		}
	})
}

// avatar returns the name of a card's picture, or the address of its thumbnail, in INTO.
func (u *user) avatar(text string) string {
	address, file, isAddress := strings.Cut(text, "?type=avatar&file=")
	name, err := url.QueryUnescape(file)
	if !isAddress || err != nil {
		name = text
	}
	stem, isCard := strings.CutSuffix(name, userdir.CardExtension)
	to := u.stems[stem]
	switch {
	case !isCard || to == "" || to == stem:
		return text
	case isAddress:
		return address + "?type=avatar&file=" + userdir.Component(to+userdir.CardExtension)
	}
	return to + userdir.CardExtension
}

// metadata gives a header the names of INTO's lorebooks and attachments. Two names may be exchanged:
// each is put aside before one takes its place.
func (u *user) metadata(md *rawjson.Object) {
	if u == nil {
		return
	}
	var aside [][2]*lorebook.Book
	for _, name := range all.Table().Books(md) {
		b := u.books[name]
		if b == nil {
			continue
		}
		if b.to.Name != b.from.Name {
			copied := *b.from
			copied.Name = "\x00" + name
			isolate.Rename(&extension.Renaming{Metadata: md, From: b.from, Plain: b.from, To: &copied})
			aside = append(aside, [2]*lorebook.Book{&copied, b.to})
		}
		if b.job.draft != nil {
			u.need(b.to.Path)
		}
	}

	for _, pair := range aside {
		isolate.Rename(&extension.Renaming{Metadata: md, From: pair[0], Plain: pair[0], To: pair[1]})
	}
	u.values(md, md.Keys()...)
}

// collect notes what comes for a chat that is written.
func (w *work) collect(ctx context.Context) error {
	u := w.user
	if w.writes() {
		u.metadata(w.from.metadata())
	}
	return w.eachAttachmentValue(ctx, func(raw []byte) { u.readdress(raw) })
}

// eachAttachmentValue calls do with each value in the messages of FROM's chat that come which may name attachments.
func (w *work) eachAttachmentValue(ctx context.Context, do func(raw []byte)) error {
	comesWhole := w.writes()
	onlyFuller := w.row.Sign == Ahead && !w.takesLines()
	if !comesWhole && !onlyFuller {
		return nil
	}

	fuller := map[int]bool{}
	for _, pair := range w.fullerFrom {
		fuller[pair.A] = true
	}
	return w.from.lines(ctx, func(at int, l *jsonl.Line, _ bool) error {
		if !comesWhole && !fuller[at] {
			return nil
		}
		for key := range attachmentKeys { // lines scans its keys in this order
			raw, _ := l.Value(key)
			do(raw)
		}
		return nil
	})
}

// tellLeft tells, where only one side lies in a user folder, which lorebooks and attachments of the chats that come are not
// there afterwards: those that INTO's has not, or those that stay in FROM's.
func (o *owner) tellLeft(ctx context.Context, into, from *library.Folder) error {
	if into.HasDir == from.HasDir {
		return nil
	}
	dir, about := into.Dir, "it names what is not here: "
	if from.HasDir {
		dir, about = from.Dir, "it names what stays in FROM, since INTO is in no user folder: "
	}
	for _, w := range o.works {
		if w.row.Sign == Refused {
			continue
		}
		var left []string
		note := func(name string, exists bool) {
			if exists == from.HasDir && !slices.Contains(left, name) {
				left = append(left, name)
			}
		}

		if w.writes() {
			for _, name := range all.Table().Books(w.from.metadata()) {
				_, err := o.ours.lib.Book(dir, name)
				note(name, err == nil)
			}
		}

		see := func(address string) string {
			if _, exists, isOurs := dir.Served(plain(address)); isOurs {
				note(plain(address), exists)
			}
			return address
		}

		look := func(raw []byte) { readdressed(raw, see) }
		if w.writes() {
			look(w.from.metadata().Bytes())
		}
		if err := w.eachAttachmentValue(ctx, look); err != nil {
			w.row.refuse(err)
		}
		if len(left) > 0 {
			w.row.tell(about + keysTold(left))
		}
	}
	return ctx.Err()
}
