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

	planned bool // everything that comes is known
	renames bool // some attachment or card comes under another name
}

// book is a lorebook of FROM and the one of INTO that has its entries.
type book struct {
	from, to *lorebook.Book
	job      *job
}

// attachment is a file that a message, a header or a card names.
type attachment struct {
	place, to string // in FROM's and in INTO's user folder, with slashes
	job       *job   // nil: INTO has it
}

// carried are the folders whose files come along if they are named.
func carried(place string) bool {
	return slices.ContainsFunc([]string{"user/images/", "user/files/", "backgrounds/", "User Avatars/"}, func(folder string) bool { return strings.HasPrefix(place, folder) })
}

// inURL is how a background's address is written.
var inURL = regexp.MustCompile(`^url\(["']?(.*?)["']?\)$`)

// find returns the attachment that a text is the address of, nil if it is none that is there.
func (r *references) find(address string) *attachment {
	if m := inURL.FindStringSubmatch(address); m != nil {
		address = m[1]
	}
	place, exists, _ := r.from.Served(address)
	if !exists || !carried(place) || !filepath.IsLocal(filepath.FromSlash(place)) || !r.wanted(place) {
		return nil
	}
	if r.files[place] == nil && !r.planned {
		r.files[place] = r.attach(place)
		r.renames = r.renames || r.files[place].to != place
	}
	return r.files[place]
}

// attach decides how a file comes along.
func (r *references) attach(place string) *attachment {
	a := &attachment{place: place, to: place}
	from := filepath.Join(r.from.Root, filepath.FromSlash(place))
	row := &Row{Schema: 1, Kind: AttachmentKind, Sign: New, From: from, Renamed: []Rename{}, Told: []string{}}
	at := func() string { return filepath.Join(r.into.Root, filepath.FromSlash(a.to)) }
	same, err := sameFile(from, at())
	if err == nil && !same {
		var sum string
		if sum, err = hashOf(from); err == nil {
			ext := path.Ext(place)
			a.to = strings.TrimSuffix(place, ext) + "-" + sum[:8] + ext
			row.Sign, row.Renamed = Other, append(row.Renamed, Rename{path.Base(place), path.Base(a.to)})
			same, err = sameFile(from, at())
		}
	}
	row.Path = at()
	switch to := at(); {
	case err == nil && same:
		return a
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		row.refuse(err)
	default:
		row.To = &to
	}
	a.job = &job{row: row, path: at(), draft: func(_ context.Context, s *changeset.Set) error { return copyFile(s, from, at(), "an attachment") }}
	r.jobs = append(r.jobs, a.job)
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

// renamed returns the text of an address where its file comes under another name.
func (a *attachment) renamed(address string) string {
	if a.to == a.place {
		return address
	}
	end := len(address)
	if i := strings.IndexAny(address, "?#"); i >= 0 {
		end = i
	}
	dot := strings.LastIndex(address[:end], path.Ext(a.place))
	if dot < 0 {
		return address
	}
	mark := strings.TrimSuffix(strings.TrimPrefix(a.to, strings.TrimSuffix(a.place, path.Ext(a.place))), path.Ext(a.place))
	return address[:dot] + mark + address[dot:]
}

// follow returns a JSON value in which the addresses of attachments are those in INTO, and calls
// each with those that are named; raw itself if none changes.
func (r *references) follow(raw []byte, each func(*attachment)) []byte {
	if r == nil || !bytes.ContainsAny(raw, "/") {
		return raw
	}
	switch rawjson.KindOf(raw) {
	case rawjson.String:
		text, ok := rawjson.Unquote(raw)
		if !ok || len(text) > 4<<10 {
			return raw
		}
		a := r.find(text)
		if a == nil {
			return raw
		}
		if each != nil {
			each(a)
		}
		if to := a.renamed(text); to != text {
			return rawjson.Quote(to)
		}
		return raw
	case rawjson.Array:
		return rawjson.EditList(raw, func(_ int, value []byte) ([]byte, bool) { return r.follow(value, each), true })
	case rawjson.ObjectKind:
		var keys []string // that are addresses themselves
		raw = rawjson.Edit(raw, func(o *rawjson.Object) {
			for _, key := range o.Keys() {
				value := o.Value(key)
				if now := r.follow(value, each); !bytes.Equal(now, value) {
					o.Set(key, now)
				}
				if strings.Contains(key, "/") {
					keys = append(keys, key)
				}
			}
		})
		for _, key := range keys {
			if a := r.find(key); a != nil {
				if each != nil {
					each(a)
				}
				if to := a.renamed(key); to != key {
					raw = rawjson.RenameKey(raw, key, to)
				}
			}
		}
	}
	return raw
}

// message returns a message with the addresses in what it holds besides its text.
func (r *references) message(line []byte) []byte {
	if r == nil || !r.renames {
		return line
	}
	return rawjson.Edit(line, func(o *rawjson.Object) {
		for _, key := range []string{"extra", "swipe_info", "force_avatar"} {
			value := o.Value(key)
			if now := r.follow(value, nil); !bytes.Equal(now, value) {
				o.Set(key, now)
			}
		}
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

// metadata gives a header the names of INTO's lorebooks and attachments, and returns the paths
// of what comes for it.
func (r *references) metadata(md *rawjson.Object) (needs []string) {
	if r == nil {
		return nil
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
			needs = append(needs, b.job.path)
		}
	}
	for _, key := range md.Keys() {
		value := md.Value(key)
		if now := r.follow(value, func(a *attachment) { needs = append(needs, a.needed()...) }); !bytes.Equal(now, value) {
			md.Set(key, now)
		}
	}
	return needs
}

// needed returns the path of the file if it comes.
func (a *attachment) needed() []string {
	if a.job == nil {
		return nil
	}
	return []string{a.job.path}
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
	needs := r.metadata(md)
	c, err := w.c.open(ctx, w.theirs.lib)
	if err != nil {
		return ops.PathError(err)
	}
	defer c.Close()
	err = jsonl.Each(ctx, c.Source, jsonl.MapOptions{From: c.Body, Line: c.BodyLine, Limit: -1, Keys: jsonl.NewKeys("extra", "swipe_info", "force_avatar")}, func(l *jsonl.Line, _ jsonl.Base) error {
		for k := range 3 {
			raw, _ := l.Value(k)
			r.follow(raw, func(a *attachment) { needs = append(needs, a.needed()...) })
		}
		return nil
	})
	slices.Sort(needs)
	w.needs = slices.Compact(needs)
	return err
}
