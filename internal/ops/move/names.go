package move

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/extension/luker"
	"stchat/internal/folder/family"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/ops/address"
	"stchat/internal/place/names"
	"stchat/internal/sillytavern/card"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/group"
	"stchat/internal/text/plural"
)

// renameSet is the chats of a folder that are renamed, moved or deleted, and what becomes of
// their names in all places.
type renameSet struct {
	*folder
	r       *Result   // the first of results; it takes all warnings and notes
	results []*Result // of the chats that were asked for, in the order of goes
	s       *changeset.Set

	goes      []*family.Chat
	to        map[*family.Chat]string       // the new name; "" if the chat is deleted
	elsewhere *address.Owner                // the owner that the chats move to; nil: they stay with theirs
	open      map[string]string             // by the path of a card or group file: what it opens with instead of a chat that goes
	noFolder  bool                          // elsewhere has no folder of chats yet
	kept      []Kept                        // chats that were named and are not deleted
	adopted   map[*family.Chat]*family.Chat // the new parents of children of what goes
	edits     family.Edits
}

// change changes chats in the folder of the chat at path: prepare says what becomes of their
// names. It returns a result for each, or only the first one's if that fails.
func change(ctx context.Context, opt *Options, path string, prepare func(n *renameSet) error) []*Result {
	return changeEach(ctx, opt, []string{path}, prepare)[0].results
}

// changeEach is [change] for several folders, each of the chat at one of the paths.
func changeEach(ctx context.Context, opt *Options, paths []string, prepare func(n *renameSet) error) []*renameSet {
	return ops.Each(ctx, opt.Changes, paths, func(path string) (*renameSet, changeset.Unit) {
		r := newResult(path)
		n := &renameSet{r: r, results: []*Result{r}, to: map[*family.Chat]string{}, open: map[string]string{}, adopted: map[*family.Chat]*family.Chat{}}
		return n, changeset.Unit{Root: changeset.RootOf(path), Draft: func(ctx context.Context, s *changeset.Set) (err error) {
			n.s = s
			if n.folder, err = read(ctx, opt, filepath.Dir(path)); err == nil {
				err = prepare(n)
			}
			if err == nil {
				err = n.draft(ctx)
			}
			return err
		}}
	})
}

// Complete implements [ops.Completer]. If the change failed, there is only the first result, and
// warnings are dropped: they are about changes that were not made.
func (n *renameSet) Complete(o changeset.Outcome, dryRun bool) {
	n.r.Complete(o, dryRun)
	if o.Err != nil {
		n.results, n.r.Warnings = n.results[:1], nil
	}
	for _, r := range n.results[1:] {
		r.Complete(changeset.Outcome{ID: o.ID}, dryRun)
	}
}

// begin makes the results of the chats that were asked for, whose new names are known.
func (n *renameSet) begin(goes []*family.Chat) {
	n.goes = goes
	for i, c := range goes {
		if i > 0 {
			n.results = append(n.results, newResult(c.Path))
		}
		if to := n.path(c); to != "" {
			n.results[i].Doc.To = &to
		}
	}
}

// stays reports whether a chat keeps its name and its place.
func (n *renameSet) stays(c *family.Chat) bool {
	_, named := n.to[c]
	return !named
}

func (n *renameSet) gone(c *family.Chat) bool { return !n.stays(c) && n.to[c] == "" }

// renamed lists the chats that have a new name or place, in the order of the folder.
func (n *renameSet) renamed() (list []*family.Chat) {
	for _, c := range n.graph.Chats {
		if n.to[c] != "" {
			list = append(list, c)
		}
	}
	return list
}

// path returns the new path of a chat, "" if it is deleted.
func (n *renameSet) path(c *family.Chat) string {
	switch {
	case n.gone(c):
		return ""
	case n.elsewhere != nil && n.elsewhere.Group == nil:
		return filepath.Join(n.elsewhere.Folder, n.to[c]+names.Extension)
	}
	return filepath.Join(filepath.Dir(c.Path), n.to[c]+names.Extension) // the chats of all groups are in one folder
}

// collect decides about all places that name the chats.
func (n *renameSet) collect() {
	unreachable(n.r)
	n.edits = n.graph.Rename(func(c *family.Chat) bool { return !n.stays(c) }, n.decide)
	trunks := map[*family.Chat]*family.Trunk{}
	for _, c := range n.graph.Chats {
		p := n.adopted[c]
		if p == nil || n.edits[p.Path] == nil || !n.edits[p.Path].Loses ||
			slices.ContainsFunc(p.Links, func(l family.Link) bool { return n.graph.Find(l.Name) == c }) {
			continue
		}
		// a parent that loses a link lists the child as a branch instead
		if trunks[p] == nil {
			trunks[p] = family.NewTrunk(p.Messages)
		}
		if at := trunks[p].Point(c.Messages).AtParent; at >= 0 {
			n.edits[p.Path].Branch(at, c.Name)
		}
	}
}

// decide returns what a place says that names one of the chats.
func (n *renameSet) decide(ref family.Reference, named *family.Chat) (to string, ok bool) {
	to = n.to[named]
	switch {
	case ref.From != nil && n.gone(ref.From):
		return "", false // its names go with it
	case n.elsewhere != nil && ref.Kind != family.Recap && n.stays(ref.From) && !n.receives(ref.Path):
		to = ""
		switch ref.Kind {
		case family.Parent:
			n.r.WarnOf(ops.Fact{Kind: ops.FactParentCut, Path: ref.Path, Name: ref.Name}, "%s: main_chat %q is removed: that chat moves away", ref.Path, ref.Name)
		case family.Checkpoint, family.Branch:
			n.r.WarnOf(ops.Fact{Kind: ops.FactLinkCut, Path: ref.Path, Name: ref.Name}, "%s: the link to %q on message %d is removed: that chat moves away", ref.Path, ref.Name, ref.Index)
		}
	case to == "" && ref.Kind == family.Parent:
		to = n.adopt(ref.From)
	}

	keepsOpen := n.isCard(ref.Path) && n.open[ref.Path] == "" // SillyTavern starts that chat afresh
	return to, to != ref.Name && (to != "" || !keepsOpen)
}

// adopt makes the nearest ancestor that stays the parent of a child of what goes, and returns
// its name, "" for none. The name of an ancestor that is missing already is handed on: it may come back.
func (n *renameSet) adopt(c *family.Chat) string {
	for p := c.Named; p != nil && p != c; p = p.Named { // in a cycle the chat itself is no parent
		if !n.gone(p) {
			n.adopted[c] = p
			return p.Name
		}
		if p.Cycle {
			break
		}
		if p.Dangling != "" {
			return p.Dangling
		}
	}
	return ""
}

// chooseOpen decides which chat a card or a group opens with in place of one that goes, and
// notes it in that chat's result: the nearest ancestor that stays, else the owner's chat
// last changed, else, in a group, the last name in its list that stays or a fresh one.
func (n *renameSet) chooseOpen() {
	note := func(i int, path, name string) {
		if name != "" {
			n.open[path], n.results[i].Doc.Opened = name, &name
		}
	}

	for i, c := range n.goes {
		if n.graph.Card != nil && n.graph.IsOpenInCard(c) {
			note(i, n.graph.Card.Path, n.heir(c, nil))
		}
		for _, f := range n.graph.Groups {
			isTheirs := len(c.Groups) == 0 || slices.Contains(c.Groups, f.Path) // a group may have a chat open that none lists
			if isTheirs && !n.receives(f.Path) && n.graph.IsOpenIn(f, c) {
				note(i, f.Path, cmp.Or(n.heir(c, f), n.lastListed(f), names.Humanized(n.opt.Changes.Now)))
			}
		}
	}
}

// receives reports whether a group's file is that of the group to which the chats move.
func (n *renameSet) receives(path string) bool {
	return n.elsewhere != nil && n.elsewhere.Group != nil && n.elsewhere.Group.Path == path
}

// heir returns the name of the nearest ancestor of a chat that stays, else of the chat last
// changed of those that stay; for a group only among those it lists. It is "" if none stays.
func (n *renameSet) heir(c *family.Chat, in *group.File) string {
	stays := func(c *family.Chat) bool {
		return n.stays(c) && (in == nil || slices.Contains(c.Groups, in.Path))
	}
	for p := c.Parent; p != nil; p = p.Parent {
		if stays(p) {
			return p.Name
		}
	}

	last := &family.Chat{}
	for _, other := range n.graph.Chats {
		if stays(other) && other.Err == nil && (last.Name == "" || other.Stamp.ModTime().After(last.Stamp.ModTime())) {
			last = other
		}
	}
	return last.Name
}

// lastListed returns the last name in a group's list that is not of a chat that goes, "" if
// there is none.
func (n *renameSet) lastListed(f *group.File) string {
	for _, name := range slices.Backward(f.Chats) {
		if c := n.graph.Find(name); name != "" && (c == nil || n.stays(c)) {
			return name
		}
	}
	return ""
}

// draft drafts the files that are renamed, moved or deleted, and those that name them.
func (n *renameSet) draft(ctx context.Context) error {
	for _, c := range n.graph.Chats {
		if n.inGroup(c) {
			return fmt.Errorf("%s: %w", c.Path, ErrInGroup)
		}
		if n.stays(c) {
			continue
		}
		if err := n.draftOwn(ctx, c); err != nil {
			return err
		}
	}

	for _, path := range slices.Sorted(maps.Keys(n.edits)) {
		e := n.edits[path]
		if e.Chat != nil && !n.stays(e.Chat) {
			continue
		}
		n.r.Doc.edited(path, "names", e.Count)
		about := plural.S(e.Count, "name")
		var err error
		if e.Chat == nil {
			err = n.s.Edit(path, safefile.Stamp{}, e.Bytes(path, n.isCard(path), n.open[path]), about)
		} else {
			err = n.editInPlace(e.Chat, e.Lines(), about)
		}
		if err != nil {
			return err
		}
	}

	n.warnDamaged(ctx)
	n.warnUnread()
	if err := n.draftEntries(ctx); err != nil {
		return err
	}
	if err := n.join(); err != nil {
		return err
	}
	if err := n.draftKept(); err != nil {
		return err
	}
	return n.draftPins()
}

// inGroup reports whether a group's file holds metadata of a chat that changes, or that would have to
// go to another group with it.
func (n *renameSet) inGroup(c *family.Chat) bool {
	lines := n.edits[c.Path].Lines()
	return (len(lines) > 0 && lines[0].Index == chat.HeaderIndex || n.elsewhere != nil && !n.stays(c)) &&
		slices.ContainsFunc(n.graph.Groups, func(g *group.File) bool { _, ok := g.OldMetadata(c.Name); return ok })
}

func (n *renameSet) isCard(path string) bool {
	return n.graph.Card != nil && n.graph.Card.Path == path
}

// draftOwn drafts the file of a chat that is renamed, moved or deleted, and its sidecars.
func (n *renameSet) draftOwn(ctx context.Context, c *family.Chat) error {
	to, about := n.path(c), fmt.Sprintf("the chat %q", c.Name)
	var lines chat.Lines
	if e := n.edits[c.Path]; e != nil && to != "" {
		lines = e.Lines()
		n.r.Doc.edited(c.Path, "names", e.Count)
	}
	switch {
	case to == c.Path && len(lines) == 0:
		return nil
	case to == c.Path:
		return n.editInPlace(c, lines, plural.S(len(lines), "name"))
	case to != "" && (len(lines) > 0 || n.noFolder):
		if err := rewrite(ctx, c, to, lines, about, n.s); err != nil {
			return err
		}
	default:
		if err := n.moveFile(c.Path, to, c.Stamp, about); err != nil {
			return err
		}
	}

	for _, sidecar := range n.graph.Folder.Sidecars(c.Name) {
		beside := ""
		if to != "" {
			beside = filepath.Join(filepath.Dir(to), luker.SidecarName(n.to[c], sidecar.Namespace))
		}
		stamp, err := safefile.StampPath(sidecar.Path)
		if err == nil {
			err = n.moveFile(sidecar.Path, beside, stamp, fmt.Sprintf("Luker's %s of it", sidecar.Namespace))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// editInPlace drafts an edit of a chat that keeps its path, with a fresh slug where it needs one.
func (n *renameSet) editInPlace(c *family.Chat, lines chat.Lines, about string) error {
	lines, err := ops.FreshSlug(n.s, lines, n.graph.Folder.Sidecars(c.Name), n.opt.BumpIntegrity, n.opt.Changes)
	if err != nil {
		return err
	}
	return n.s.Edit(c.Path, safefile.Stamp{}, changeset.Joined(c.Path, lines), about)
}

// moveFile drafts that a file moves, or goes if to is "".
func (n *renameSet) moveFile(path, to string, was safefile.Stamp, about string) error {
	if to == "" {
		return n.s.Remove(path, was, about)
	}
	return n.s.Move(path, to, was, about)
}

// rewrite drafts a chat under another name with edits in it, in a folder that may be new.
func rewrite(ctx context.Context, c *family.Chat, to string, lines chat.Lines, about string, s *changeset.Set) error {
	f, err := safefile.Open(c.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	d, err := s.Create(to, about, changeset.Like(c.Stamp), changeset.InFolder())
	if err != nil {
		return letterCase(c.Path, to, err)
	}
	if err := lines.Render(ctx, d, f, c.Stamp.Size()); err != nil {
		return fmt.Errorf("%s: %w", c.Path, err)
	}
	return s.Remove(c.Path, c.Stamp, about)
}

// ErrLetterCase means that a file would get other content and another name, which the disk takes for the one
// that it has: the new file would have to come before the old one goes.
var ErrLetterCase = error(&ops.Kind{Code: "exists", Text: "this disk takes the old name and the new one for the same, and the content changes too; choose another name first, then this one"})

// letterCase returns the error of creating to, which takes the place of the file at from: [ErrLetterCase] if
// to is the same file.
func letterCase(from, to string, err error) error {
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	was, statErr := os.Lstat(from)
	is, otherErr := os.Lstat(to)
	isSame := statErr == nil && otherErr == nil && os.SameFile(was, is)
	if !isSame {
		return err
	}
	return fmt.Errorf("%s: %w", to, ErrLetterCase)
}

// warnDamaged warns of damaged lines, in chats that stay where they are, that contain a name
// that changes or goes: these lines are not edited.
func (n *renameSet) warnDamaged(ctx context.Context) {
	var names [][]byte
	for c, to := range n.to {
		if to != c.Name || n.elsewhere != nil {
			names = append(names, rawjson.Quote(c.Name))
		}
	}

	for _, c := range n.graph.Chats {
		if c.Damaged == 0 || !n.stays(c) {
			continue
		}
		for _, line := range n.damagedWith(ctx, c, names) {
			n.r.Warn("%s:%d: this damaged line contains the old name, and stays as it is", c.Path, line)
		}
	}
}

// damagedWith returns the numbers of a chat's damaged lines that contain one of the names.
func (n *renameSet) damagedWith(ctx context.Context, c *family.Chat, names [][]byte) (lines []int) {
	file, err := chat.Open(ctx, c.Path, chat.Options{Groups: n.lib})
	if err != nil {
		return nil
	}
	defer file.Close()
	_ = jsonl.Each(ctx, file.Source, jsonl.MapOptions{Keys: jsonl.NewKeys()}, func(l *jsonl.Line, base jsonl.Base) error {
		if l.Damage != nil && slices.ContainsFunc(names, func(name []byte) bool { return bytes.Contains(l.Raw, name) }) {
			lines = append(lines, base.Line+l.Number+1)
		}
		return nil
	})
	return lines
}

// warnUnread warns of files that make no sense, and may name a chat that changes: the name in them would
// lead nowhere.
func (n *renameSet) warnUnread() {
	if len(n.goes) == 0 {
		return
	}
	var errs []error
	isUnlisted := func(c *family.Chat) bool { return len(c.Groups) == 0 }
	if !n.isGroup() || slices.ContainsFunc(n.goes, isUnlisted) {
		errs = n.around()
	}
	if n.graph.Folder.HasDir && len(n.renamed()) > 0 {
		_, err := readSettings(n.graph.Folder.Dir)
		errs = append(errs, err)
	}

	for _, err := range errs {
		namesNone := errors.Is(err, card.ErrMissing) || errors.Is(err, card.ErrNoData)
		if err != nil && !namesNone {
			n.r.Warn("%v; this file, which cannot be read, may name the chat, and stays as it is", err)
		}
	}
}

// newName returns a name made safe as SillyTavern does, without the extension that it may have.
func newName(name, extension string, most int) (safe string, err error) {
	name = strings.TrimSuffix(name, extension)
	if strings.ContainsAny(name, `/\`) {
		return "", fmt.Errorf("%q: %w: it has a / or \\", name, ErrName)
	}
	if safe, err = names.New(name, most); err != nil {
		err = fmt.Errorf("%w: %w", ErrName, err)
	}
	return safe, err
}

// takenNames are the names that chats have, by what they are in any letter case.
type takenNames map[string]string

// takenAt returns the names of an owner's chats, which are in a folder.
func takenAt(o *address.Owner, f *library.Folder) takenNames {
	t := takenNames{}
	t.add(f.Chats...)
	if o.Group != nil {
		t.add(o.Group.Chats...)
	}
	return t
}

func (t takenNames) add(list ...string) {
	for _, name := range list {
		t[names.Fold(name)] = name
	}
}

// claim adds a name. The error wraps [ErrTaken] if there is one already.
func (t takenNames) claim(name string) error {
	if by, ok := t[names.Fold(name)]; ok {
		return fmt.Errorf("%q %w: there is a chat %q", name, ErrTaken, by)
	}
	t.add(name)
	return nil
}

// leftOver returns an error that wraps [ErrLeftover] if Luker's state of a chat called name lies
// in a folder.
func leftOver(f *library.Folder, name string) error {
	if left := f.Sidecars(name); len(left) > 0 {
		return fmt.Errorf("%s: %w", left[0].Path, ErrLeftover)
	}
	return nil
}
