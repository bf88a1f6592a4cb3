package merge

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"stchat/internal/changeset"
	"stchat/internal/extension"
	"stchat/internal/extension/all"
	"stchat/internal/isolate"
	"stchat/internal/jsonl"
	"stchat/internal/lorebook"
	"stchat/internal/ops"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// references are the lorebooks and attachments of FROM, and those of INTO that stand for them.
// They are applied to what comes from FROM, and to nothing else.
type references struct {
	into, from userdir.Dir
	wanted     func(path string) bool
	books      map[string]*book       // by FROM's name
	files      map[string]*attachment // by the place in FROM's user folder
	stems      map[string]string      // the cards of FROM, without extension, and those of INTO that they are
	jobs       []*job

	needs   []string // of the chat that is looked through
	planned bool     // everything that comes is known
	renames bool     // some attachment or card comes under another name
}

// book is a lorebook of FROM and the one of INTO that has its entries.
type book struct {
	from, to *lorebook.Book
	job      *job
}

// attachment is a file that a message, a header or a card names.
type attachment struct {
	place string // in FROM's user folder, with slashes
	mark  string // what its name gets in INTO before the extension
	path  string // where it comes; "": INTO has it
}

// carried are the folders whose files come along if they are named.
func carried(place string) bool {
	return slices.ContainsFunc([]string{"user/images/", "user/files/", "backgrounds/", "User Avatars/"}, func(folder string) bool { return strings.HasPrefix(place, folder) })
}

// inURL is how a background's address is written.
var inURL = regexp.MustCompile(`^url\(["']?(.*?)["']?\)$`)

// now returns an address as it is in INTO.
func (r *references) now(address string) string {
	place := address
	if m := inURL.FindStringSubmatch(address); m != nil {
		place = m[1]
	}
	place, exists, _ := r.from.Served(place)
	if !exists || !carried(place) || !filepath.IsLocal(filepath.FromSlash(place)) || !r.wanted(place) {
		return address
	}
	if r.files[place] == nil && !r.planned {
		r.files[place] = r.attach(place)
		r.renames = r.renames || r.files[place].mark != ""
	}
	a := r.files[place]
	if a == nil {
		return address
	}
	r.need(a.path)
	return a.renamed(address)
}

// need notes that a file comes for the chat that is looked through.
func (r *references) need(path string) {
	if path != "" && !r.planned {
		r.needs = append(r.needs, path)
	}
}

// attach decides how a file comes along.
func (r *references) attach(place string) *attachment {
	a := &attachment{place: place}
	from, ext := filepath.Join(r.from.Root, filepath.FromSlash(place)), path.Ext(place)
	j := newJob(AttachmentKind, from, "")
	row := j.row
	compare := func() (bool, error) {
		row.Path = filepath.Join(r.into.Root, filepath.FromSlash(strings.TrimSuffix(place, ext)+a.mark+ext))
		return sameFile(from, row.Path)
	}
	row.Sign = New
	same, err := compare()
	if err == nil && !same {
		var sum string
		if sum, err = hashOf(from); err == nil {
			a.mark = "-" + sum[:8]
			same, err = compare()
			row.Sign, row.Renamed = Other, append(row.Renamed, Rename{path.Base(place), filepath.Base(row.Path)})
		}
	}
	to := row.Path
	switch {
	case err == nil && same:
		return a
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		row.refuse(err)
	default:
		row.To = &to
	}
	a.path, j.path = to, to
	j.draft = func(_ context.Context, s *changeset.Set) error { return copyFile(s, from, to, "an attachment") }
	r.jobs = append(r.jobs, j)
	return a
}

// sameFile reports whether two files have the same content; that the second is missing is an
// error that wraps [fs.ErrNotExist].
func sameFile(from, into string) (bool, error) {
	a, err := os.Stat(from)
	if err != nil {
		return false, err
	}
	b, err := os.Lstat(into)
	if err != nil || a.Size() != b.Size() || !b.Mode().IsRegular() {
		return false, err
	}
	return equalFiles(from, into)
}

func hashOf(path string) (string, error) {
	f, err := safefile.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}

// copyFile drafts a copy of a file of FROM.
func copyFile(s *changeset.Set, from, to, about string) error {
	f, err := safefile.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	was, err := safefile.StampOf(f)
	if err != nil {
		return err
	}
	d, err := s.Create(to, about, changeset.Like(was), changeset.InFolder())
	if err != nil {
		return err
	}
	if _, err = io.CopyBuffer(struct{ io.Writer }{d}, struct{ io.Reader }{f}, make([]byte, 256<<10)); err != nil {
		return err
	}
	if now, err := safefile.StampOf(f); err != nil || !now.Same(was) {
		return errors.Join(err, fmt.Errorf("%s: %w", from, jsonl.ErrChanged))
	}
	return nil
}

// renamed returns the text of an address with the file's name in INTO.
func (a *attachment) renamed(address string) string {
	end := len(address)
	if i := strings.IndexAny(address, "?#"); i >= 0 {
		end = i
	}
	dot := strings.LastIndex(address[:end], path.Ext(a.place))
	if dot < 0 {
		return address
	}
	return address[:dot] + a.mark + address[dot:]
}

// follow returns a JSON value in which the addresses of attachments are those in INTO; raw itself
// if none changes.
func (r *references) follow(raw []byte) []byte {
	if r == nil || !bytes.ContainsAny(raw, "/") {
		return raw
	}
	switch rawjson.KindOf(raw) {
	case rawjson.String:
		if text, ok := rawjson.Unquote(raw); ok && len(text) <= 4<<10 {
			if to := r.now(text); to != text {
				return rawjson.Quote(to)
			}
		}
	case rawjson.Array:
		return rawjson.EditList(raw, func(_ int, value []byte) ([]byte, bool) { return r.follow(value), true })
	case rawjson.ObjectKind:
		var keys []string // may be addresses themselves
		raw = rawjson.Edit(raw, func(o *rawjson.Object) {
			keys = o.Keys()
			r.values(o, keys...)
		})
		for _, key := range keys {
			if strings.Contains(key, "/") {
				if to := r.now(key); to != key {
					raw = rawjson.RenameKey(raw, key, to)
				}
			}
		}
	}
	return raw
}

// values follows the addresses in the values of some keys.
func (r *references) values(o *rawjson.Object, keys ...string) {
	for _, key := range keys {
		value := o.Value(key)
		if now := r.follow(value); !bytes.Equal(now, value) {
			o.Set(key, now)
		}
	}
}

// message returns a message with the addresses in what it holds besides its text.
func (r *references) message(line []byte) []byte {
	if r == nil || !r.renames {
		return line
	}
	return rawjson.Edit(line, func(o *rawjson.Object) {
		r.values(o, "extra", "swipe_info", "force_avatar")
		for _, key := range []string{"original_avatar", "force_avatar"} { // who speaks in a group
			if text, ok := rawjson.Unquote(o.Value(key)); ok {
				if now := r.avatar(text); now != text {
					o.Set(key, rawjson.Quote(now))
				}
			}
		}
	})
}

// avatar returns the name of a card's picture, or the address of its thumbnail, in INTO.
func (r *references) avatar(text string) string {
	address, file, ok := strings.Cut(text, "&file=")
	if !ok {
		address, file = "", text
	}
	name, err := url.QueryUnescape(file)
	stem, isCard := strings.CutSuffix(name, userdir.CardExtension)
	to := r.stems[stem]
	switch {
	case err != nil || !isCard || to == "" || to == stem:
		return text
	case ok:
		return address + "&file=" + url.PathEscape(to+userdir.CardExtension)
	}
	return to + userdir.CardExtension
}

// metadata gives a header the names of INTO's lorebooks and attachments.
func (r *references) metadata(md *rawjson.Object) {
	if r == nil {
		return
	}
	for _, name := range all.Names().Books(md) {
		b := r.books[name]
		if b == nil {
			continue
		}
		if b.to.Name != b.from.Name {
			isolate.Rename(&extension.Renaming{Metadata: md, From: b.from, Plain: b.from, To: b.to})
		}
		if b.job != nil && b.job.draft != nil {
			r.need(b.job.path)
		}
	}
	r.values(md, md.Keys()...)
}

// collect notes what comes for a chat that is written.
func (w *work) collect(ctx context.Context) error {
	r := w.references
	if r == nil || !w.writes() {
		return nil
	}
	md, err := rawjson.ParseObject(w.c.metadata)
	if err != nil {
		return nil // it is no header
	}
	r.needs = nil
	r.metadata(md)
	c, err := w.c.open(ctx, w.theirs.lib)
	if err != nil {
		return ops.PathError(err)
	}
	defer c.Close()
	err = jsonl.Each(ctx, c.Source, jsonl.MapOptions{From: c.Body, Line: c.BodyLine, Limit: -1, Keys: jsonl.NewKeys("extra", "swipe_info", "force_avatar")}, func(l *jsonl.Line, _ jsonl.Base) error {
		for k := range 3 {
			raw, _ := l.Value(k)
			r.follow(raw)
		}
		return nil
	})
	slices.Sort(r.needs)
	w.needs = slices.Compact(r.needs)
	return err
}
