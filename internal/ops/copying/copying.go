// Package copying makes whole chats of whole chats: an independent copy, which may have another owner
// and so be of the other kind ([Copy]), and one chat of several ([Join]).
//
// Each call drafts one new chat with what belongs to it: Luker's sidecars, its name in a group's list,
// and, if that is asked for, its owner opening with it. The sources are only read, line by line, so
// memory follows the longest line. What a checkpoint at the last message does is left to package cut.
package copying

import (
	"context"
	"fmt"
	"strings"

	"stchat/internal/change/changeset"
	"stchat/internal/extension/all"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/meta"
	"stchat/internal/ops"
	"stchat/internal/ops/address"
	"stchat/internal/ops/cut"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/text/progress"
)

// Options say which chat is copied, and to where.
type Options struct {
	Chat    string
	To      string // a whole owner's name, else the copy's name; "": neither
	Name    string // of the copy; "": To if that is no owner, else the chat's name with "copy"
	Open    bool   // make the owner open with the copy
	Data    string // the user folder
	Changes changeset.Options
	Meter   *progress.Meter
}

// Result is what became of a copy.
type Result = cut.Result

var (
	// ErrPath means that a path was given where an owner or the name of a chat is meant.
	ErrPath = error(&ops.Kind{Code: "usage", Text: "is a path: a copy goes to an owner, under a name"})
	// ErrTwoNames means that the name of a copy was given twice.
	ErrTwoNames = error(&ops.Kind{Code: "usage", Text: "no owner is called so, and the copy has another name already"})
	// ErrNoKind means that a chat belongs to nobody, so that it is not known whose its messages are.
	ErrNoKind = error(&ops.Kind{Code: "refused", Text: "belongs to no character and to no group", Hint: "merge"})
	// ErrOtherUser means that the owner to which a chat was to be copied is in another user folder.
	ErrOtherUser = error(&ops.Kind{Code: "refused", Text: "it is another user's, and chats are copied within one user folder"})
)

// Copy makes an independent chat of a chat, with all its messages: no parent, a new slug, and no
// links. With another owner, messages are made those of the owner's kind (see [dress]).
func Copy(ctx context.Context, opt Options) *Result {
	r := new(Result)
	to, err := placeOf(&opt)
	if err != nil {
		r.Doc = document(opt.Chat, "copy", opt.Changes)
		r.Err = ops.PathError(err)
		return r
	}

	unit := changeset.Unit{Root: to.root(), Again: ops.ChangedMeanwhile}
	unit.Draft = func(ctx context.Context, set *changeset.Set) error {
		*r = Result{Doc: document(opt.Chat, "copy", opt.Changes)}
		return draftCopy(ctx, set, &opt, to, r)
	}
	ops.One(ctx, opt.Changes, r, unit)
	return finished(r)
}

// document returns the document of a new chat of which nothing is known yet.
func document(source, kind string, opt changeset.Options) cut.Document {
	return cut.Document{Schema: 1, Source: source, Made: cut.Made{Kind: kind, At: -1, DryRun: opt.DryRun}}
}

// finished puts the warnings into the document; a chat that was not made has none.
func finished(r *Result) *Result {
	if r.Err != nil {
		r.Warnings, r.Facts = nil, nil
	}
	r.Doc.Warnings = append(r.Doc.Warnings, r.Warnings...)
	return r
}

// placeOf finds out whose the copy will be, and its name if one was given.
func placeOf(opt *Options) (*place, error) {
	to := beside(opt.Chat, opt.Name)
	if opt.To != "" {
		if err := to.settle(opt); err != nil {
			return nil, err
		}
	}
	if isPath(to.name) {
		return nil, fmt.Errorf("%s: %w", to.name, ErrPath)
	}
	return to, nil
}

// settle takes opt.To as a whole owner's name, else as the copy's.
func (to *place) settle(opt *Options) error {
	if strings.HasSuffix(strings.ToLower(opt.To), names.Extension) {
		return fmt.Errorf("%s: %w", opt.To, ErrPath)
	}
	dir, kind, _ := userdir.Place(opt.Chat)
	if opt.Data != "" {
		dir = userdir.Dir{Root: opt.Data}
	}
	owner, err := address.OwnerOf(new(library.Library), opt.To, dir.Root)
	switch {
	case err == nil && kind == userdir.File:
		return fmt.Errorf("%s: %w", opt.Chat, ErrNoKind)
	case err == nil && userdir.RealPath(owner.Dir.Root) != userdir.RealPath(dir.Root):
		return fmt.Errorf("%s: %w", owner.Folder, ErrOtherUser)
	case err == nil:
		to.belong(owner)
		return nil
	case isPath(opt.To):
		return fmt.Errorf("%s: %w", opt.To, ErrPath)
	case !isNobody(err):
		return err
	case opt.Name != "":
		return fmt.Errorf("%s: %w", opt.To, ErrTwoNames)
	}

	to.name = opt.To
	return nil
}

// isPath reports whether a text can only be the path of a file.
func isPath(text string) bool {
	return strings.ContainsAny(text, `/\`) || strings.HasSuffix(strings.ToLower(text), names.Extension)
}

// draftCopy drafts the copy and what belongs to it.
func draftCopy(ctx context.Context, set *changeset.Set, opt *Options, to *place, r *Result) error {
	defer opt.Meter.Done()
	lib := new(library.Library)
	src, err := openWhole(ctx, lib, opt.Chat, opt.Data)
	if err != nil {
		return err
	}
	defer src.Close()
	opt.Meter.Expect(1, src.Source.Size)
	if to.owner == nil {
		if err := to.listBeside(lib, src.Chat, r); err != nil {
			return err
		}
	}

	sidecars, err := src.Sidecars()
	if err != nil {
		return err
	}
	path, err := to.free(lib, src.Name, " copy", len(sidecars) > 0, r)
	if err != nil {
		return src.Errorf("%w", err)
	}
	dress, err := dressFor(lib, src.Chat, to, opt.Changes.Now, r)
	if err != nil {
		return err
	}

	links := 0 // messages that had some
	header := headerOf(src.Chat, path, opt.Changes, r)
	forgetParent(header.Metadata())
	out, err := set.Create(path, "the copy", changeset.Like(src.Stamp), changeset.InFolder())
	if err != nil {
		return err
	}
	w, err := newWriter(out, header)
	if err != nil {
		return err
	}
	err = w.copy(ctx, src.Chat, opt.Meter, func(l *jsonl.Line, i int) []byte {
		line := unlinked(l, func(string) bool { return false }, &links)
		return dress.message(l, line, i)
	}, r)
	if err == nil {
		err = w.finish(r)
	}
	if err != nil {
		return err
	}

	if links > 0 {
		r.Tell(ops.Fact{Kind: ops.FactLinks, Path: path, Count: links})
	}
	dress.tell(path, w.messages, r)
	cut.ShareBooks(lib, src.Chat, header.Metadata(), r)
	if err := cut.CopySidecars(set, src.Chat, sidecars, path, w.messages, opt.Changes.Now, r); err != nil {
		return err
	}
	return to.enlist(set, src.Chat, path, opt.Open, r)
}

// openWhole opens a chat, and refuses a file that is none, one that is damaged up to its header, or whose
// metadata may be in a group file that cannot be read.
func openWhole(ctx context.Context, lib *library.Library, path, data string) (*ops.Subject, error) {
	src, err := ops.Open(ctx, lib, path, ops.Whole, chat.Options{Data: data})
	if err != nil {
		return nil, err
	}
	if path != chat.Stdin {
		if err := chat.CheckFile(ctx, path); err != nil {
			src.Close()
			return nil, err
		}
	}
	mayBeElsewhere := src.Kind == userdir.Group && src.HeaderKind == chat.None && len(src.Groups) == 0
	if !mayBeElsewhere {
		return src, nil
	}
	if err := unreadGroup(lib, src.Chat); err != nil {
		src.Close()
		return nil, src.Errorf("the chat has no header, so its metadata may be in this group file, which cannot be read: %w", err)
	}
	return src, nil
}

// headerOf returns the header of a new chat at path with the metadata of a chat: a new slug, and all
// that notes the chat's own name has the new one. An extension takes what bears another chat's name
// for foreign, and may erase it (FORMATS.md B2.1).
func headerOf(src *chat.Chat, path string, opt changeset.Options, r *Result) *meta.Header {
	h := src.OutputHeader()
	md := h.Metadata()
	slug := opt.NewUUID()
	md.Set("integrity", rawjson.Quote(slug))
	md.Unset(meta.KeyImport) // it may go on otherwise than what import finds again
	name := userdir.ChatName(path)
	all.Table().SetOwn(md, src.Name, name)
	h.Complete()

	r.Doc.Path = path
	r.Doc.Name = &name
	r.Doc.Integrity = &slug
	hasMessages := src.Body < src.Source.Size
	if src.HeaderKind == chat.None && src.Kind != userdir.Group && hasMessages {
		r.Warn("%s: the chat has no header: SillyTavern takes its first line for one, so its message numbers are one lower", src.Label())
	}
	return h
}

// keyMainChat is the key of the metadata that names a chat's parent.
const keyMainChat = "main_chat"

// forgetParent removes from the metadata what makes a chat another's child: main_chat, and the ids by
// which the extension ChatBranches knows relatives (FORMATS.md, Additions).
func forgetParent(md *rawjson.Object) {
	for _, key := range []string{keyMainChat, "parent_uuid", "root_uuid", "uuid"} {
		md.Unset(key)
	}
}
