package copying

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/change/changeset"
	"stchat/internal/extension"
	"stchat/internal/extension/all"
	"stchat/internal/extension/core"
	"stchat/internal/extension/follow"
	"stchat/internal/extension/luker"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/lorebook"
	"stchat/internal/ops"
	"stchat/internal/ops/cut"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/text/progress"
)

// JoinOptions say which chats are joined.
type JoinOptions struct {
	Chats   []string // in their order; the first has the header
	Name    string   // of the new chat; "": the first one's with "joined"
	Data    string   // the user folder
	Changes changeset.Options
	Meter   *progress.Meter
}

// Joined is what became of joined chats.
type Joined struct {
	*Result
	chats []string
}

// Document returns the document.
func (j *Joined) Document() any { return JoinDocument{Schema: 1, Source: j.chats, Made: j.Doc.Made} }

// JoinDocument is the JSON document about joined chats.
type JoinDocument struct {
	Schema int      `json:"schema"`
	Source []string `json:"source" is:"path"`
	cut.Made
}

// ErrMixed means that chats of a character and of a group were to be joined: their messages say in
// different ways who speaks.
var ErrMixed = error(&ops.Kind{Code: "refused", Text: "a character's chats and a group's are not joined"})

// Join makes a new chat beside the first one, with its header and the messages of all. Messages keep
// their bytes, but for numbers of other messages of their chat, which go up, and for links to chats that
// the new chat's owner does not have: clicked, such a link makes an empty chat. What is kept by the
// numbers of messages stays the first chat's, that of the others is left out.
func Join(ctx context.Context, opt JoinOptions) *Joined {
	r := new(Result)
	to := beside(opt.Chats[0], opt.Name)
	unit := changeset.Unit{Root: to.root(), Again: ops.ChangedMeanwhile}
	unit.Draft = func(ctx context.Context, set *changeset.Set) error {
		*r = Result{Doc: document(opt.Chats[0], "join", opt.Changes)}
		return draftJoined(ctx, set, &opt, to, r)
	}
	ops.One(ctx, opt.Changes, r, unit)
	return &Joined{finished(r), opt.Chats}
}

// draftJoined drafts the new chat and what belongs to it.
func draftJoined(ctx context.Context, set *changeset.Set, opt *JoinOptions, to *place, r *Result) error {
	if err := judgeJoined(opt.Chats, to.name); err != nil {
		return err
	}
	lib := new(library.Library)
	first, err := openWhole(ctx, lib, opt.Chats[0], opt.Data)
	if err != nil {
		return err
	}
	defer first.Close()
	if err := to.listBeside(lib, first.Chat, r); err != nil {
		return err
	}
	sidecars, err := first.Sidecars()
	if err != nil {
		return err
	}
	path, err := to.free(lib, first.Name, " joined", len(sidecars) > 0, r)
	if err != nil {
		return first.Errorf("%w", err)
	}

	header := headerOf(first.Chat, path, opt.Changes, r)
	header.Metadata().Unset("uuid") // the first chat's own, by which ChatBranches knows it (FORMATS.md, Additions)
	r.Doc.MainChat = rawjson.TextOrNil(header.Metadata().Value(keyMainChat))
	out, err := set.Create(path, "the chats joined", changeset.Like(first.Stamp))
	if err != nil {
		return err
	}
	w, err := newWriter(out, header)
	if err != nil {
		return err
	}
	links := 0 // messages that had some that lead nowhere
	isThere := to.has(lib)
	edits := func(src *chat.Chat) edit {
		leads := isThere
		if !sameOwner(src, first.Chat) {
			leads = func(string) bool { return false } // a chat of this name would be another
		}
		before := w.messages
		state := follow.Behind(before)
		return func(l *jsonl.Line, i int) []byte { return state.Line(i-before, unlinked(l, leads, &links)) }
	}
	if err := joinOne(ctx, w, first, opt, edits, r); err != nil {
		return err
	}
	own := w.messages
	for _, from := range opt.Chats[1:] {
		if err := joinNext(ctx, lib, w, first, from, opt, edits, r); err != nil {
			return err
		}
	}
	if err := w.finish(r); err != nil {
		return err
	}

	if links > 0 {
		r.Tell(ops.Fact{Kind: ops.FactDeadLinks, Path: path, Count: links})
	}
	cut.ShareBooks(lib, first.Chat, header.Metadata(), r)
	if err := cut.CopySidecars(set, first.Chat, sidecars, path, own, opt.Changes.Now, r); err != nil {
		return err
	}
	return to.enlist(set, first.Chat, path, false, r)
}

// sameOwner reports whether two chats are of one character, one group, or one folder.
func sameOwner(a, b *chat.Chat) bool {
	folder := func(c *chat.Chat) string { return userdir.RealPath(filepath.Dir(c.Path)) }
	group := func(c *chat.Chat) string {
		if len(c.Groups) == 0 {
			return ""
		}
		return c.Groups[0].Path
	}
	return folder(a) == folder(b) && group(a) == group(b)
}

// judgeJoined refuses chats of different kinds, and a name that can only be a path.
func judgeJoined(chats []string, name string) error {
	if isPath(name) {
		return fmt.Errorf("%s: %w", name, ErrPath)
	}
	first, _ := userdir.KindOf(chats[0])
	for _, path := range chats[1:] {
		kind, _ := userdir.KindOf(path)
		known := kind != userdir.File && first != userdir.File
		if known && kind != first {
			return fmt.Errorf("%s: %w: %s is of the other kind", path, ErrMixed, chats[0])
		}
	}
	return nil
}

// joinOne writes the messages of an open chat.
func joinOne(ctx context.Context, w *writer, src *ops.Subject, opt *JoinOptions, edits func(*chat.Chat) edit, r *Result) error {
	opt.Meter.Expect(1, src.Source.Size)
	defer opt.Meter.Done()
	return w.copy(ctx, src.Chat, opt.Meter, edits(src.Chat), r)
}

// joinNext writes the messages of a chat behind those of the first, and says what of it is left out.
func joinNext(ctx context.Context, lib *library.Library, w *writer, first *ops.Subject, path string, opt *JoinOptions, edits func(*chat.Chat) edit, r *Result) error {
	src, err := openWhole(ctx, lib, path, opt.Data)
	if err != nil {
		return err
	}
	defer src.Close()
	if err := joinOne(ctx, w, src, opt, edits, r); err != nil {
		return err
	}
	if left := leftOut(src.Metadata(), first.Metadata()); len(left) > 0 {
		names := strings.Join(left, ", ")
		r.WarnOf(ops.Fact{Kind: ops.FactStateLeft, Path: src.Label(), Name: names}, "%s: left out is what these keep about the chat: %s", src.Label(), names)
	}
	sidecars, err := src.Sidecars()
	if err != nil {
		return err
	}
	isSlug := func(s luker.Sidecar) bool { return s.Kind == luker.ChatSync }
	cut.LeaveSidecars(slices.DeleteFunc(slices.Clone(sidecars), isSlug), "it goes by the messages of that chat", r)
	return nil
}

// leftOut returns what people would miss of a chat's metadata where another's stands: what extensions
// keep, timed effects, the lorebook, and the author's note.
func leftOut(md, instead *rawjson.Object) (left []string) {
	list := all.New()
	own := extension.Find[*core.Extension](list).About()
	kept := map[string]bool{}
	for key := range extension.Owned(md) {
		kept[key] = !slices.Contains(own.Keys, key)
	}
	for _, e := range list {
		about := e.About()
		isKept := func(key string) bool { return kept[key] }
		if slices.ContainsFunc(about.Keys, isKept) {
			left = append(left, about.Name)
		}
	}

	for _, timed := range rawjson.Members(md.Value("timedWorldInfo")) {
		effects := 0
		for range rawjson.Members(timed) {
			effects++
		}
		if effects > 0 {
			left = append(left, "timed effects")
			break
		}
	}

	book, ok := lorebook.NameIn(md)
	if other, _ := lorebook.NameIn(instead); ok && book != other {
		left = append(left, fmt.Sprintf("the lorebook %q", book))
	}
	note, _ := rawjson.Unquote(md.Value("note_prompt"))
	if other, _ := rawjson.Unquote(instead.Value("note_prompt")); note != "" && note != other {
		left = append(left, "the author's note")
	}
	return left
}

// has returns what reports whether the owner of a place has a chat of a name, so that a link to it
// leads there.
func (to *place) has(lib *library.Library) func(name string) bool {
	folder := lib.Folder(filepath.Dir(to.path("x")))
	known := map[string]bool{}
	return func(name string) bool {
		if _, asked := known[name]; !asked {
			_, isFile := folder.Target(name)
			isListed := to.group == nil || to.group.Lists(name)
			known[name] = isFile && isListed
		}
		return known[name]
	}
}
