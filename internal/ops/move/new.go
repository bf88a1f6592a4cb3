package move

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/meta"
	"stchat/internal/ops"
	"stchat/internal/ops/address"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/group"
)

// NewOptions describes the new chat of an owner.
type NewOptions struct {
	Options
	Owner string
	Name  string // "": as SillyTavern names it
	Open  bool   // make it the chat that the owner opens with
}

// Made is the new chat: the document of new.
type Made struct {
	Schema    int     `json:"schema"`
	Path      string  `json:"path" is:"path"`
	Owner     string  `json:"owner"`
	Name      string  `json:"name"`
	Integrity *string `json:"integrity"`
	Listed    *string `json:"listed" is:"path"` // the group file
	Opened    bool    `json:"opened"`
	DryRun    bool    `json:"dry_run"`
	ops.Written

	Called string `json:"-"` // the name of the owner, which Owner may name by a part
}

// NewResult is the result of New.
type NewResult = ops.Result[Made]

// New makes a chat that SillyTavern greets in when it is first opened: for a character a
// file with nothing but a header, for a group a name in its list and no file, since there
// SillyTavern only greets if no file exists.
func New(ctx context.Context, opt NewOptions) *NewResult {
	r := &NewResult{Doc: Made{Schema: 1, Owner: opt.Owner, DryRun: opt.Changes.DryRun}}
	lib := new(library.Library)
	o, err := address.OwnerOf(lib, opt.Owner, opt.Data)
	if err != nil {
		r.Err = err
		return r
	}
	if r.Err = ops.InFiles(lib, o.Dir, opt.Owner); r.Err != nil {
		return r
	}
	return ops.One(ctx, opt.Changes, r, changeset.Unit{Root: changeset.RootOf(filepath.Join(o.Folder, "x")), Draft: func(_ context.Context, s *changeset.Set) error {
		return draftNew(o, lib, &opt, r, s)
	}})
}

func draftNew(o *address.Owner, lib *library.Library, opt *NewOptions, r *NewResult, s *changeset.Set) error {
	name, err := nameNew(o, lib, opt)
	if err != nil {
		return err
	}
	d := &r.Doc
	d.Name = name
	d.Called = o.Name
	d.Path = filepath.Join(o.Folder, name+names.Extension)
	given := strings.TrimSuffix(opt.Name, names.Extension)
	if given != "" && name != given {
		r.WarnSafeName(d.Path, given, name)
	}
	d.Opened = opt.Open
	if o.Group != nil {
		d.Listed = &o.Group.Path
		return group.List(s, o.Group.Path, group.Begun(name), opt.Open, name)
	}
	if err := draftHeader(opt, r, s); err != nil || !opt.Open {
		return err
	}
	_, err = ops.OpenInCard(s, o.Dir, filepath.Base(o.Folder), name)
	return err
}

// nameNew returns the new chat's name. The error wraps [ErrName], [ErrTaken] or
// [ErrLeftover] if it cannot be used.
func nameNew(o *address.Owner, lib *library.Library, opt *NewOptions) (string, error) {
	name := opt.Name
	if name == "" {
		name = names.Humanized(opt.Changes.Now)
		if o.Group == nil {
			name = o.Name + " - " + name
		}
	}

	safe, err := newName(name, names.Extension, names.MaxBytes)
	if err != nil {
		return "", err
	}
	f, err := o.Chats(lib)
	if err != nil {
		return "", err
	}
	if err := takenAt(o, f).claim(safe); err != nil {
		return "", err
	}
	return safe, leftOver(f, safe)
}

// draftHeader drafts a character's new chat.
func draftHeader(opt *NewOptions, r *NewResult, s *changeset.Set) error {
	h := meta.New()
	slug := opt.Changes.NewUUID()
	h.Metadata().Set("integrity", rawjson.Quote(slug))
	r.Doc.Integrity = &slug
	return ops.Create(s, r.Doc.Path, "the new chat", h.Bytes(), changeset.InFolder())
}

// Opened describes the change of a card or group file: the document of open.
type Opened struct {
	Schema  int    `json:"schema"`
	Path    string `json:"path" is:"path"` // the chat
	Card    string `json:"card" is:"path"` // or the group file
	From    string `json:"from"`
	To      string `json:"to"`
	Changed bool   `json:"changed"`
	DryRun  bool   `json:"dry_run"`
	ops.Written
}

// OpenResult is the result for one chat.
type OpenResult = ops.Result[Opened]

// ErrNoOwner means that a chat is in no user folder, so it has no owner.
var ErrNoOwner = error(&ops.Kind{Code: "refused", Text: "the chat is not in a SillyTavern user folder"})

// Open makes each chat the one that its character or group opens with. It returns a result
// for each, in the same order.
func Open(ctx context.Context, opt Options, chats []string) []*OpenResult {
	lib := new(library.Library)
	results := ops.Each(ctx, opt.Changes, chats, func(path string) (*OpenResult, changeset.Unit) {
		r := &OpenResult{Doc: Opened{Schema: 1, Path: path, DryRun: opt.Changes.DryRun}}
		return r, changeset.Unit{Root: changeset.RootOf(path), Draft: func(ctx context.Context, s *changeset.Set) error { return open(ctx, lib, path, r, s) }}
	})
	for _, r := range results {
		r.Doc.Changed = len(r.Steps) > 0
	}
	return results
}

func open(ctx context.Context, lib *library.Library, path string, r *OpenResult, s *changeset.Set) error {
	c, err := ops.Open(ctx, lib, path, ops.Anything, chat.Options{})
	if err != nil {
		return err
	}
	defer c.Close()
	if !c.HasDir || c.Kind == userdir.File {
		return c.Errorf("%w", ErrNoOwner)
	}
	r.Doc.To = c.Name
	if c.Kind == userdir.Group {
		if len(c.Groups) == 0 {
			return c.Errorf("%w", ErrNotListed)
		}
		if len(c.Groups) > 1 {
			r.Warn("%s: %d groups list this chat; it is opened in %s alone", c.Label(), len(c.Groups), c.Groups[0].Path)
		}
		g := c.Groups[0]
		r.Doc.Card, r.Doc.From = g.Path, g.ChatID
		return s.Edit(g.Path, safefile.Stamp{}, &group.Edit{Path: g.Path, Open: c.Name}, fmt.Sprintf("the chat that is open: %q", c.Name))
	}

	known, err := ops.OpenInCard(s, c.Dir, c.Owner, c.Name)
	if err == nil {
		r.Doc.Card, r.Doc.From = known.Path, known.Chat
	}
	return err
}
