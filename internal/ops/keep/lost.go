package keep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"stchat/internal/history"
	"stchat/internal/history/lost"
	"stchat/internal/ops"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/backups"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/text/progress"
)

// LostOptions says where to look for messages that only older versions have.
type LostOptions struct {
	List  ops.List
	Names []string // chats that are gone, as [Where] names them
	From  []string // folders with copies of chats
	Since time.Time
	Store string // a file; empty: that of each user's folder
	Data  string // the user's folder of Names that are in none; empty: the one around the working folder
	Now   time.Time
	Meter *progress.Meter

	Messages []choose.Range   // of chats that are named: only what had one of these numbers
	Match    []*regexp.Regexp // likewise: only texts that all of these match

	files   map[string]bool      // real paths of those among List.Paths that are files
	folders []string             // real paths, with a separator, of those among List.Paths that were asked for
	meant   map[string]*ops.Root // by the real paths of all roots: what of each was asked for, by List
	told    map[int64]bool       // the chats of a history of several folders of loose chats that are gone, and that were told
}

// byMessage reports whether chats are named, which are told message by message.
func (o *LostOptions) byMessage() bool { return len(o.files)+len(o.Names) > 0 }

// fewMessages is how many messages a chat that is there must have lost to be reported by itself:
// fewer are what people delete, or write anew.
const fewMessages = 5

// least returns how many messages a chat that is there must have lost to be reported by itself. A
// copy in another place is no edit: there each counts.
func (o *LostOptions) least() int {
	if len(o.From) > 0 {
		return 1
	}
	return fewMessages
}

// LostChat is a chat that is gone, or lost something: a document of lost.
type LostChat struct {
	Schema       int         `json:"schema"`
	Owner        *string     `json:"owner"` // the character's folder or the group's name
	Chat         *string     `json:"chat"`
	Path         *string     `json:"path" is:"path"`
	LiveMessages *int        `json:"live_messages"` // null: the chat is gone
	Lost         int         `json:"lost"`
	Reworded     int         `json:"reworded"`
	Best         LostVersion `json:"best"`
	Further      LostFurther `json:"further"`
	Parted       *int        `json:"parted"`  // of a copy in another folder that went on otherwise: the first message after the last that both have
	Command      *string     `json:"command"` // what restores it
	Ambiguous    bool        `json:"ambiguous"`

	Root  string `json:"-"` // the folder in which it was looked for
	To    string `json:"-"` // the path that restore takes; "" if nothing is known of it
	Name  string `json:"-"` // the name that restore must give, since another chat has the path or had it since
	Named bool   `json:"-"` // it was asked for by its name, not with others of its folder
	Alone bool   `json:"-"` // it is a group's chat, and no group is known into whose list it belongs
	row   *loss
}

// LostVersion is the version that has the most of what a chat lost.
type LostVersion struct {
	Rev      *int64  `json:"rev"`
	Path     *string `json:"path" is:"path"`
	At       string  `json:"at"` // RFC 3339
	Messages int     `json:"messages"`
}

// LostFurther counts what the best version does not have either.
type LostFurther struct {
	Messages int `json:"messages"`
	Versions int `json:"versions"`
}

// LostSummary is the last document of lost.
type LostSummary struct {
	Schema     int             `json:"schema"`
	Summary    bool            `json:"summary"`
	Chats      int             `json:"chats"` // that lost something, including those that are gone
	Gone       int             `json:"gone"`
	Lost       int             `json:"lost"`      // messages
	Few        LostFew         `json:"few"`       // besides
	LivingOn   int             `json:"living_on"` // besides, chats that are gone, and whose texts others have
	Unreadable int             `json:"unreadable"`
	Sources    []LostSource    `json:"sources"`
	Places     []backups.Quota `json:"places"`
	Swipes     int             `json:"swipes"`   // of chats that are named
	Wordings   int             `json:"wordings"` // likewise
}

// LostFew counts chats that lost too few messages to be reported each by itself.
type LostFew struct {
	Chats    int `json:"chats"`
	Messages int `json:"messages"`
}

// LostSource is what the chats of a folder were compared with.
type LostSource struct {
	Kind     string `json:"kind"` // one of the constants below
	Path     string `json:"path" is:"path"`
	Versions int    `json:"versions"`
}

// The kinds of source.
const (
	LostInHistory = "history"
	LostInBackups = "backups" // SillyTavern's own
	LostInOld     = "old"     // what earlier versions of stchat kept beside the chats
	LostInUndo    = "undo"
	LostInCopies  = "from"
)

// LostResult is the result of Lost. It must be closed.
type LostResult struct {
	Chats    []*LostChat // those that lost something
	Few      []*LostChat // those that lost fewer messages than are reported by themselves
	LivingOn []*LostChat // those that are gone, and whose texts others have
	Named    []*LostIn   // those that are there and were named, message by message; they are not among the others
	Summary  LostSummary
	Errs     []error // of PATHs, and of what cannot be read

	opened []*present
}

// Close closes the histories that were looked at.
func (r *LostResult) Close() {
	for _, p := range r.opened {
		p.close()
	}
}

// ErrNoSource means that there is nothing to compare chats with.
var ErrNoSource = error(&ops.Kind{Code: "not-found", Text: "nothing to compare with: there is no history and no backup", Hint: "no-source"})

// Lost finds the messages that only older versions have: those in the history, SillyTavern's
// backups, old files that repair and undo keep, and copies in other folders. The chats of a root
// are sorted by how much they lost, the most first. The error is that ctx ended.
func Lost(ctx context.Context, opt LostOptions) (*LostResult, error) {
	res := &LostResult{Summary: LostSummary{Schema: 1, Summary: true}}
	list := opt.List
	list.AllowEmpty = true // the user's chats may all be gone
	walked := ops.Walk(list)
	roots := ops.Roots(walked)
	opt.told, opt.meant, opt.files = map[int64]bool{}, map[string]*ops.Root{}, map[string]bool{}
	for _, root := range roots {
		opt.meant[userdir.RealPath(root.Path)] = root
	}
	for _, path := range opt.List.Paths {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		real := userdir.RealPath(path)
		if !info.IsDir() {
			opt.files[real] = true
			continue
		}
		opt.folders = append(opt.folders, real+string(filepath.Separator))
		if around, ok := userdir.Around(path); ok {
			list.Paths = append(list.Paths, around) // its chats may all be gone
		} else if opt.Store != "" && opt.meant[real] == nil {
			opt.meant[real] = &ops.Root{Path: path}
			roots = append(roots, opt.meant[real])
		}
	}
	if len(walked.Users)+len(roots)+len(walked.Errs)+len(opt.Names)+len(list.Paths)-len(opt.List.Paths) == 0 && !opt.List.AllowEmpty {
		walked = ops.Walk(opt.List)
	}
	copies := ops.Walk(ops.List{Paths: opt.From})
	copies.Chats = slices.DeleteFunc(copies.Chats, func(t ops.Target) bool {
		err := chat.CheckName(t.Path)
		if err != nil {
			res.Errs = append(res.Errs, err)
		}
		return err != nil
	})
	res.Errs = slices.Concat(res.Errs, walked.Errors(), copies.Errors())
	var unknown []string
	for _, name := range opt.Names {
		switch root, _, users := rootOf(name, opt.Data); {
		case users > 1:
			res.Errs = append(res.Errs, ErrUsers)
		case users == 0:
			res.Errs = append(res.Errs, fmt.Errorf("%s: %w", name, fs.ErrNotExist))
		default:
			list.Paths, unknown = append(list.Paths, root), append(unknown, name)
		}
	}
	for _, root := range ops.Roots(ops.Walk(list)) {
		if real := userdir.RealPath(root.Path); opt.meant[real] == nil {
			opt.meant[real] = &ops.Root{Path: root.Path}
			roots = append(roots, root)
		}
	}
	given := places{}
	for _, root := range roots {
		f := newFinder(root, &opt)
		err := f.find(ctx, copies.Chats)
		res.opened = append(res.opened, f.now)
		if err != nil {
			res.Close()
			return nil, err
		}
		f.groupByChat()
		if err := cmp.Or(f.tellMessages(ctx, res), f.documents(ctx, res, given)); err != nil {
			res.Close()
			return nil, err
		}
		unknown = slices.DeleteFunc(unknown, f.hasName)
		res.Errs = append(res.Errs, f.errs...)
		res.Summary.Sources = append(res.Summary.Sources, f.sources...)
		res.Summary.Places = append(res.Summary.Places, f.folder.Quotas(f.owners)...)
	}
	for _, name := range unknown {
		if !slices.ContainsFunc(res.Errs, func(err error) bool { return errors.Is(err, ErrNoSource) }) {
			res.Errs = append(res.Errs, ops.AtPath(name, ErrUnknown))
		}
	}
	res.sum()
	return res, nil
}

// sum completes the summary.
func (r *LostResult) sum() {
	sum := &r.Summary
	sum.Unreadable = len(r.Errs)
	sum.Chats = len(r.Chats)
	for _, c := range r.Chats {
		sum.Lost += c.Lost + c.Further.Messages
		if c.LiveMessages == nil {
			sum.Gone++
		}
	}
	sum.Few.Chats = len(r.Few)
	for _, c := range r.Few {
		sum.Few.Messages += c.Lost + c.Further.Messages
	}
	sum.LivingOn = len(r.LivingOn)
	for _, in := range r.Named {
		messages, swipes, wordings := in.Count()
		if messages+swipes > 0 {
			sum.Chats++
		}
		sum.Lost += messages
		sum.Swipes += swipes
		sum.Wordings += wordings
	}
}

// loss is a chat that lost something.
type loss struct {
	in    *finder
	chat  *lostChat
	best  *lostVersion
	all   []*lostVersion
	texts lost.Set // of the first version found
	ambig bool
	weak  bool // it is not certain that it is this chat
}

// begin begins the loss of a chat with the first version found.
func (f *finder) begin(chat *lostChat, v *lostVersion) *loss {
	g := &loss{in: f, chat: chat, best: v, ambig: v.ambiguous, texts: lost.NewSet(v.said.Texts)}
	f.found = append(f.found, g)
	return g
}

// isGone reports whether the chat has no file any more.
func (g *loss) isGone() bool { return g.chat.fate >= isGone }

// add adds a version. The best is the one that has the most of what is lost.
func (g *loss) add(v *lostVersion) {
	g.all = append(g.all, v)
	n, most := v.lost, g.best.lost
	if g.isGone() {
		n, most = v.said.Missing, g.best.said.Missing
	}
	if n > most || n == most && v.stored != nil && g.best.stored == nil { // a number says more than a file, and sidecars come with it
		g.best = v
	}
}

// last returns what a chat that is gone was last.
func (g *loss) last() *lostVersion {
	newest := g.chat.last
	if newest != nil && len(g.all) > 0 && newest.said.Greets(g.chat.of.Kind == userdir.Group) {
		newest = nil // backups have more
	}
	for _, v := range g.all {
		if newest == nil || v.at.After(newest.at) {
			newest = v
		}
	}
	if newest.stored != nil {
		return newest
	}
	for _, v := range g.all {
		if v.stored != nil && slices.Equal(v.said.Texts, newest.said.Texts) {
			return v // likewise
		}
	}
	return newest
}

// groupByChat groups the versions by chat. Versions of a chat that is gone, and not known, belong
// together by their name, by their slug, or by having nearly all messages in common.
func (f *finder) groupByChat() {
	known := map[int]*loss{}
	slices.SortStableFunc(f.versions, func(a, b *lostVersion) int { return b.at.Compare(a.at) }) // the newest first
	for _, v := range f.versions {
		switch {
		case v.said == nil || v.skip || v.target >= 0 && f.chats[v.target].fate == wasDeleted:
			continue
		case v.target < 0 || v.weak:
			f.gone(v).add(v)
			continue
		case known[v.target] == nil:
			known[v.target] = f.begin(f.chats[v.target], v)
		}
		known[v.target].add(v)
	}
	f.assignWeak(known)
	for i, c := range f.chats {
		if c.fate == isGone && known[i] == nil {
			f.begin(c, c.last)
		}
	}
	for _, g := range f.found {
		if g.isGone() {
			g.best = g.last()
		}
	}
}

// assignWeak decides the cases with weak evidence. Several stories may match one chat that has
// nothing but a greeting, or nothing at all: it lost the longest one, unless there is better evidence
// for another, and the rest are gone. A version with the same story as one that surely belongs
// to the chat belongs to it, too.
func (f *finder) assignWeak(known map[int]*loss) {
	slices.SortStableFunc(f.found, func(a, b *loss) int { return cmp.Compare(b.best.said.Missing, a.best.said.Missing) })
	f.found = slices.DeleteFunc(f.found, func(g *loss) bool {
		v := g.best
		if g.chat.fate != isUnknown || v.target < 0 {
			return false
		}
		other := known[v.target]
		if other != nil && other.tells(v, g.all[0].said.Texts) {
			for _, v := range g.all {
				other.add(v)
			}
			return true
		}
		if other != nil {
			g.ambig, other.ambig = true, other.ambig || other.weak
			v.target = f.stillFree(v, known)
		}
		if v.target < 0 {
			return false
		}
		c := f.chats[v.target]
		if v.lost >= f.opt.least() || c.said.Messages == 0 || c.fate == isGone {
			g.chat, g.weak, known[v.target] = c, true, g
		}
		return false
	})
}

// stillFree returns a chat of which nothing is left, that may have been a version and has lost nothing
// else; -1 for none.
func (f *finder) stillFree(v *lostVersion, known map[int]*loss) int {
	candidates, _ := f.candidates(v)
	candidates = slices.DeleteFunc(candidates, func(i int) bool { return known[i] != nil })
	return f.emptied(v, candidates).target
}

// gone returns the loss for a version whose chat is gone, a new one if there is none.
func (f *finder) gone(v *lostVersion) *loss {
	chat, ambiguous := f.unknownChat(v)
	for _, g := range f.found {
		if g.chat.fate != isUnknown || !mayBeOf(g.chat.of, chat.of) {
			continue
		}
		n := g.texts.Common(v.said.Texts)
		if chat.path != "" && chat.path == g.chat.path && 2*n >= min(len(v.said.Texts), len(g.all[0].said.Texts)) || g.tells(v, v.said.Texts) {
			return g
		}
	}
	g := f.begin(chat, v)
	g.ambig = g.ambig || ambiguous
	return g
}

// mayBeOf reports whether two versions may be of one owner: of one of them nobody may know whose it is.
func mayBeOf(a, b backups.Owner) bool {
	return a.Name == "" || b.Name == "" || a.Kind == b.Kind && a.Name == b.Name
}

// tells reports whether a version tells the same story: it has the same slug, or the same parent
// and nearly all messages in common, unless both were branched from that at different places.
func (g *loss) tells(v *lostVersion, said []lost.Text) bool {
	if v.said.Slug != "" && v.said.Slug == g.best.said.Slug {
		return true
	}
	first := g.all[0].said.Texts
	if v.said.Parent != g.best.said.Parent || 8*g.texts.Common(said) < 7*min(len(said), len(first)) {
		return false
	}
	a, b := g.in.fromRoots(first), g.in.fromRoots(said)
	return v.said.Parent == "" || a == b || a > b && g.texts.Has(said[len(said)-1]) || a < b && lost.NewSet(said).Has(first[len(first)-1])
}

// fromRoots counts what chats that were no branches say of a version.
func (f *finder) fromRoots(version []lost.Text) int {
	if f.roots == nil {
		var texts [][]lost.Text
		for _, c := range f.chats {
			if c.said.Parent == "" {
				texts = append(texts, c.said.Texts)
			}
		}
		for _, v := range f.versions {
			if v.said != nil && v.said.Parent == "" {
				texts = append(texts, v.said.Texts)
			}
		}
		f.roots = lost.NewSet(texts...)
	}
	return f.roots.Common(version)
}

// further counts what other versions have that neither a live chat nor the best one has, and
// from how many of them it would come back.
func (g *loss) further(least int) (sum LostFurther) {
	var live *lost.Live
	if g.isGone() {
		live = lost.NewLive(g.best.said.Said())
	} else {
		live = g.chat.live()
	}
	back := [][]lost.Text{g.best.said.Texts}
	for {
		had := lost.NewSet(back...)
		var most *lostVersion
		n := least - 1
		for _, v := range g.all {
			if v.said.Missing < least {
				continue
			}
			if lost, _ := live.Compare(v.said.Texts, had, v.copied); lost > n {
				most, n = v, lost
			}
		}
		if most == nil {
			return sum
		}
		sum.Messages, sum.Versions = sum.Messages+n, sum.Versions+1
		back = append(back, most.said.Texts)
	}
}

// documents adds the documents of the losses, those that lost the most first. given are the paths to
// which chats come back: of two that had one path, that of the history has it.
func (f *finder) documents(ctx context.Context, res *LostResult, given places) error {
	var list []*LostChat
	for _, g := range f.found {
		if f.isTold(g.chat) {
			continue
		}
		if doc := f.document(ctx, g); doc != nil {
			list = append(list, doc)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	for _, known := range []bool{true, false} {
		for _, doc := range list {
			if doc.row.isGone() && doc.To != "" && doc.row.best.isKnown() == known {
				f.place(doc, given)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *LostChat) int {
		return cmp.Compare(b.Lost+b.Further.Messages, a.Lost+a.Further.Messages)
	})
	for _, doc := range list {
		few := doc.Lost+doc.Further.Messages < f.opt.least()
		switch {
		case !doc.row.isGone() && few:
			res.Few = append(res.Few, doc)
		case doc.row.isGone() && few && doc.Lost == 0:
			res.LivingOn = append(res.LivingOn, doc)
		default:
			res.Chats = append(res.Chats, doc)
		}
	}
	return nil
}

// isKnown reports whether the history knows of which chat it has a version.
func (v *lostVersion) isKnown() bool { return v.stored != nil && v.of != 0 }

// place finds out where a chat that is gone comes back.
func (f *finder) place(doc *LostChat, given places) {
	v := doc.row.best
	switch {
	case v.isKnown():
		doc.Name = f.now.aside(doc.To, v.stored, given)
	case given.taken(doc.To):
		doc.To = besideOf(doc.To, freeName(doc.To, timeName(v.at), given))
	}
	given.give(doc.ComesTo())
}

// document returns the document of a loss, nil if the chat was not asked for.
func (f *finder) document(ctx context.Context, g *loss) *LostChat {
	v := g.best
	doc := &LostChat{
		Schema: 1, Ambiguous: g.ambig, Root: f.root.Path, row: g,
		Best: LostVersion{At: v.at.Local().Format(time.RFC3339), Messages: v.said.Messages},
	}
	path := g.chat.path
	if path == "" && g.isGone() {
		path = f.placeFor(ctx, g.chat.of, v)
	}
	if !f.means(path) {
		return nil
	}
	switch {
	case !g.isGone():
		doc.LiveMessages, doc.Lost, doc.Reworded = &g.chat.said.Messages, v.lost, v.reworded
		doc.Further = g.further(f.opt.least())
	case v.said.Greets(g.chat.of.Kind == userdir.Group): // no loss
	default:
		doc.Lost = v.said.Missing
		doc.Further = g.further(1)
	}
	if v.path == "" {
		doc.Best.Rev = &v.stored.Rev
	} else {
		doc.Best.Path = &v.path
	}
	if path != "" {
		name := userdir.ChatName(path)
		doc.Path, doc.Chat, doc.To = &path, &name, path
		doc.Named = f.isNamed(userdir.RealPath(path))
		f.suggested = append(f.suggested, path)
	}
	name := f.shownOwner(g.chat.of)
	if kind, _ := userdir.KindOf(path); name == "" && kind == userdir.Group && g.isGone() {
		name = f.groupOf(ctx, doc)
		doc.Alone = name == ""
	}
	if name != "" {
		doc.Owner = &name
	}
	return doc
}

// groupOf returns the name of the group to which a chat comes back, "" if none is known.
func (f *finder) groupOf(ctx context.Context, doc *LostChat) string {
	r := doc.restoring(RestoreOptions{})
	if err := r.findGroup(ctx); err != nil {
		return "" // the error comes again with what is brought back
	}
	return r.groupName()
}

// ComesTo returns the path under which a chat that is gone comes back.
func (c *LostChat) ComesTo() string {
	if c.Name == "" {
		return c.To
	}
	return besideOf(c.To, c.Name)
}

// RestoreLost brings back the best version of each of some chats, as one call that undo takes
// back: a chat that is gone under its name, of any other as a new chat beside it. They must be of
// a result that is not closed yet.
func RestoreLost(ctx context.Context, chats []*LostChat, opt RestoreOptions) []*RestoreResult {
	given := places{}
	for _, c := range chats {
		if c.row.isGone() {
			given.give(c.ComesTo())
		}
	}
	list := make([]*restoring, len(chats))
	for i, c := range chats {
		r := c.restoring(opt)
		list[i] = r
		if c.row.isGone() {
			r.refused = r.revive(ctx, c.ComesTo())
		} else {
			r.refused = r.fork(ctx, given)
		}
	}
	return commit(ctx, opt.Changes, list)
}

// restoring returns the best version on its way to a file.
func (c *LostChat) restoring(opt RestoreOptions) *restoring {
	f, best := c.row.in, c.row.best
	s := &subject{present: f.now, path: c.To}
	s.rel, _ = relative(s.root, c.To) // a chat of the root lies in it
	if best.stored != nil {
		s.id = best.stored.Chat
	}
	return newRestoring(s, best.version(), opt)
}

// version returns what can be read, or brought back.
func (v *lostVersion) version() *version {
	if v.stored != nil {
		return &version{Version: *v.stored}
	}
	return &version{file: v.path, Version: history.Version{At: v.at, Source: history.FromBackup, Messages: v.said.Messages}}
}
