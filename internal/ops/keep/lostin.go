package keep

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"stchat/internal/change/safefile"
	"stchat/internal/history"
	"stchat/internal/history/lost"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/ops/edit"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/sillytavern/message"
)

// LostIn is what a chat that is there has lost, message by message.
type LostIn struct {
	Path  string
	Root  string      // the folder in which it was looked for
	Owner string      // the character's folder or the group's name; "" if that is not known
	Items []*LostItem // those that were asked for, in the order in which they stand
	Left  int         // how many others there are
	Whole *LostChat   // the version that has the most of it; nil: none has much

	in       *finder
	stamp    safefile.Stamp // of the chat
	messages int            // that it has
	versions []*lostVersion
}

// LostItem is a message or a swipe that a chat has lost, or an older wording of a message that it
// has: a document of lost.
type LostItem struct {
	Schema  int       `json:"schema"`
	Path    string    `json:"path" is:"path"` // of the chat
	Kind    lost.Kind `json:"kind"`
	Number  int       `json:"number"` // its number then, that of the message where it is none
	Swipe   *int      `json:"swipe"`  // the number of the swipe, from 1
	Role    string    `json:"role"`
	Name    string    `json:"name"`
	Text    string    `json:"text"` // how it begins
	At      string    `json:"at"`   // when it was last there
	Source  string    `json:"source"`
	Rev     *int64    `json:"rev"`
	File    *string   `json:"file" is:"path"`
	Message *int      `json:"message"` // the message that it belongs to now
	After   *int      `json:"after"`   // of a message: the one behind which it stood
	Stray   bool      `json:"stray"`   // likewise: no neighbour is there any more, so it goes to the end

	found   *lost.Found
	of      *LostItem // the lost message that it belongs to
	isUser  bool
	isFound bool // its line was read
	matches bool
}

// Count counts what is listed.
func (in *LostIn) Count() (messages, swipes, wordings int) {
	for _, item := range in.Items {
		switch item.Kind {
		case lost.Message:
			messages++
		case lost.Swipe:
			swipes++
		case lost.Wording:
			wordings++
		}
	}
	return messages, swipes, wordings
}

// isTold reports whether a chat is told message by message: it was named, and something of it is
// left.
func (f *finder) isTold(c *lostChat) bool {
	return f.opt.byMessage() && c.fate == isLive && c.said.Messages > 0 && f.isNamed(userdir.RealPath(c.path))
}

// tellMessages finds what the chats that were named have lost. The error is that ctx ended.
func (f *finder) tellMessages(ctx context.Context, res *LostResult) error {
	for _, c := range f.chats {
		if !f.isTold(c) {
			continue
		}
		in := &LostIn{Path: c.path, Root: f.root.Path, Owner: f.shownOwner(c.of), in: f, versions: f.versionsOf(c)}
		slices.SortStableFunc(in.versions, func(a, b *lostVersion) int { return b.at.Compare(a.at) })
		greetings := 1
		if c.begins() {
			greetings = c.said.Messages
		}
		err := in.find(ctx, greetings)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		f.fail(err)
		if err == nil {
			in.Whole = f.whole(ctx, c)
			res.Named = append(res.Named, in)
		}
	}
	return nil
}

// whole returns the document of a chat that has lost much, nil for others.
func (f *finder) whole(ctx context.Context, c *lostChat) *LostChat {
	for _, g := range f.found {
		if g.chat == c && g.best.lost >= f.opt.least() {
			return f.document(ctx, g)
		}
	}
	return nil
}

// versionsOf returns all versions of a chat.
func (f *finder) versionsOf(c *lostChat) (list []*lostVersion) {
	isWeak := map[*lostVersion]bool{} // of which something else decided that they are the chat's
	for _, g := range f.found {
		if g.chat != c {
			continue
		}
		for _, v := range g.all {
			isWeak[v] = true
			list = append(list, v)
		}
	}

	for _, v := range f.seen {
		if v.said == nil || isWeak[v] {
			continue
		}
		if f.isVersionOf(v, c) {
			list = append(list, v)
		}
	}
	return list
}

// isVersionOf reports whether a version is surely a chat's.
func (f *finder) isVersionOf(v *lostVersion, c *lostChat) bool {
	if at, known := f.byID[v.of]; known && v.of != 0 {
		return f.chats[at] == c
	}
	if v.of != 0 {
		return false
	}
	m := v.match
	if v.skip && len(v.said.Texts) > 0 { // it was of no interest whose it is
		m = f.assign(v)
	}
	return m.target >= 0 && !m.weak && !m.ambiguous && f.chats[m.target] == c
}

// find compares the chat, which begins with so many greetings, with its versions, the newest first.
func (in *LostIn) find(ctx context.Context, greetings int) error {
	var err error
	if in.stamp, err = safefile.StampPath(in.Path); err != nil {
		return ops.PathError(err)
	}
	live, err := linesIn(ctx, in.Path)
	if err != nil {
		return ops.PathError(err)
	}

	in.messages = len(live)
	thread := lost.NewThread(live, greetings)
	stored := &lost.StoredLines{Store: in.in.now.store}
	for i, v := range in.versions {
		var lines []lost.Line
		if v.stored != nil {
			lines, err = stored.Version(ctx, v.stored)
		} else {
			lines, err = linesIn(ctx, v.path)
		}
		switch {
		case errors.Is(err, history.ErrBroken), errors.Is(err, fs.ErrNotExist):
			continue // of the first it was told when it was read
		case err != nil:
			return ops.PathError(err)
		}
		thread.Add(i, lines, v.copied)
	}
	return in.read(ctx, thread.Found())
}

// linesIn returns the messages of a file.
func linesIn(ctx context.Context, path string) (list []lost.Line, err error) {
	err = lost.EachInFile(ctx, path, func(_ int, raw []byte) error {
		list = append(list, lost.ReadLine(raw))
		return nil
	})
	return list, err
}

// read makes items of what was found, with what their lines say.
func (in *LostIn) read(ctx context.Context, found []*lost.Found) error {
	of := map[*lost.Found]*LostItem{}
	var all []*LostItem
	for _, f := range found {
		item := in.item(f)
		item.of = of[f.Of]
		of[f] = item
		all = append(all, item)
	}

	err := in.eachLine(ctx, all, func(item *LostItem, raw []byte) error {
		item.read(raw, in.in.opt)
		return nil
	})
	if err != nil {
		return err
	}

	for _, item := range all {
		if !item.isFound {
			continue // the file was changed meanwhile
		}
		if item.matches {
			in.Items = append(in.Items, item)
		} else {
			in.Left++
		}
	}
	return nil
}

// item returns an item without what its line says.
func (in *LostIn) item(f *lost.Found) *LostItem {
	v := in.versions[f.Version]
	item := &LostItem{
		Schema: 1, Path: in.Path, Kind: f.Kind, Number: f.Number, At: v.at.Local().Format(time.RFC3339),
		Source: in.in.sourceOf(v), Stray: f.Stray, found: f,
	}
	if v.stored != nil {
		item.Rev = &v.stored.Rev
	} else {
		item.File = &v.path
	}

	if f.Swipe >= 0 {
		item.Swipe = new(f.Swipe + 1)
	}
	if f.Kind != lost.Message && f.Live >= 0 {
		item.Message = &f.Live
	}
	if f.Kind == lost.Message && f.Live >= 0 {
		item.After = &f.Live
	}
	return item
}

// sourceOf returns the kind of source that a version is from.
func (f *finder) sourceOf(v *lostVersion) string {
	own := filepath.Join(f.root.Path, userdir.Own)
	switch {
	case v.stored != nil:
		return LostInHistory
	case v.copied:
		return LostInCopies
	case userdir.Inside(own, v.path):
		return LostInUndo
	case strings.Contains(filepath.Base(v.path), oldMark):
		return LostInOld
	}
	return LostInBackups
}

// eachLine calls do with each item and the line in which it was last, version by version.
func (in *LostIn) eachLine(ctx context.Context, items []*LostItem, do func(item *LostItem, raw []byte) error) error {
	wanted := make([]map[int][]*LostItem, len(in.versions))
	for _, item := range items {
		at := item.found.Version
		if wanted[at] == nil {
			wanted[at] = map[int][]*LostItem{}
		}
		wanted[at][item.found.Number] = append(wanted[at][item.found.Number], item)
	}

	for i, v := range in.versions {
		if wanted[i] == nil {
			continue
		}
		pick := func(number int, raw []byte) error {
			for _, item := range wanted[i][number] {
				if err := do(item, raw); err != nil {
					return err
				}
			}
			return nil
		}

		var err error
		if v.stored != nil {
			err = lost.EachInStore(ctx, in.in.now.store, v.stored, pick)
		} else {
			err = lost.EachInFile(ctx, v.path, pick)
		}
		if err != nil {
			return ops.PathError(err)
		}
	}
	return nil
}

// mostText is how much of a text is kept of an item.
const mostText = 120

// read notes what its line says, and whether it was asked for.
func (item *LostItem) read(raw []byte, opt *LostOptions) {
	item.Name, _ = rawjson.Unquote(rawjson.Value(raw, "name"))
	user := rawjson.Value(raw, "is_user")
	item.isUser = rawjson.Truthy(user)
	item.Role = string(message.Role(rawjson.Value(raw, "name"), user, rawjson.Value(raw, "is_system"), rawjson.Value(raw, "extra")))
	said, _, err := message.TakeSwipe(raw, item.found.Swipe)
	if err != nil {
		return
	}
	text, _ := rawjson.Unquote(said)
	item.isFound = true
	item.matches = isIn(opt.Messages, item.Number) && !slices.ContainsFunc(opt.Match, func(re *regexp.Regexp) bool { return !re.MatchString(text) })
	item.Text = beginning(text)
}

// beginning returns the first characters of a text.
func beginning(text string) string {
	for i := range text {
		if i >= mostText {
			return text[:i]
		}
	}
	return text
}

// isIn reports whether a number is in any of the ranges, if there are any.
func isIn(ranges []choose.Range, number int) bool {
	return len(ranges) == 0 || slices.ContainsFunc(ranges, func(r choose.Range) bool {
		return r.From <= number && number <= r.To
	})
}

// GoesBack reports whether an item is put back: an older wording only as a swipe, if that is wanted
// and SillyTavern shows swipes for the message; what belongs to a lost message with that.
func (in *LostIn) GoesBack(item *LostItem, asSwipe bool) bool {
	if item.Kind == lost.Wording && (!asSwipe || item.isUser) {
		return false
	}
	return item.of == nil || slices.Contains(in.Items, item.of)
}

// PutBack puts back what was asked for of chats that are there, as one call that undo takes back.
// Older wordings become swipes if asSwipe is set, else they are left. The chats must be of a result
// that is not closed yet.
func PutBack(ctx context.Context, chats []*LostIn, asSwipe bool, terms edit.Terms) []*edit.Result {
	opt := edit.PutBackOptions{Options: edit.Options{Terms: terms}}
	back := map[string]*edit.Returning{}
	failed := map[string]error{}
	for _, in := range chats {
		opt.Chats = append(opt.Chats, in.Path)
		back[in.Path], failed[in.Path] = in.returning(ctx, asSwipe)
	}
	opt.Of = func(path string) (*edit.Returning, error) { return back[path], failed[path] }
	return edit.PutBack(ctx, opt)
}

// returning reads the lines of what is put back.
func (in *LostIn) returning(ctx context.Context, asSwipe bool) (*edit.Returning, error) {
	var items []*LostItem
	for _, item := range in.Items {
		if in.GoesBack(item, asSwipe) {
			items = append(items, item)
		}
	}

	lines, swipes := map[*LostItem][]byte{}, map[*LostItem]edit.ReturningSwipe{}
	err := in.eachLine(ctx, items, func(item *LostItem, raw []byte) error {
		if item.Kind == lost.Message {
			lines[item] = slices.Clone(raw)
			return nil
		}
		text, info, err := message.TakeSwipe(raw, item.found.Swipe)
		swipes[item] = edit.ReturningSwipe{Message: item.found.Live, Text: slices.Clone(text), Info: slices.Clone(info)}
		return err
	})
	if err != nil {
		return nil, err
	}

	back := &edit.Returning{Was: in.stamp}
	for _, item := range items {
		if item.Kind == lost.Message {
			back.Messages = append(back.Messages, edit.ReturningMessage{At: item.found.Live + 1, Line: lines[item]})
			continue
		}
		swipe := swipes[item]
		if item.of == nil {
			back.Swipes = append(back.Swipes, swipe)
			continue
		}
		last := &back.Messages[len(back.Messages)-1] // the message that it belongs to stands before it
		if last.Line, err = edit.WithSwipes(last.Line, []edit.ReturningSwipe{swipe}); err != nil {
			return nil, err
		}
	}
	return back, nil
}
