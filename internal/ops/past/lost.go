package past

import (
	"cmp"
	"context"
	"slices"
	"time"

	"stchat/internal/backups"
	"stchat/internal/lost"
	"stchat/internal/ops"
	"stchat/internal/progress"
	"stchat/internal/userdir"
)

// LostOptions says where to look for messages that only older versions have.
type LostOptions struct {
	List  ops.List
	From  []string  // folders with copies of chats
	Min   int       // how many messages a live chat must have lost to be reported
	Gone  int       // the same for a chat that is gone
	Since time.Time // ignore versions older than this, unless zero
	// Store returns the path of a folder's history.
	Store func(root string) string
	Meter *progress.Meter
}

// LostChat is a chat that lost something: a document of lost.
type LostChat struct {
	Schema       int         `json:"schema"`
	Owner        *string     `json:"owner"` // the character's folder or the group's name
	Chat         *string     `json:"chat"`
	Path         *string     `json:"path" is:"path"`
	LiveMessages *int        `json:"live_messages"` // null: the chat is gone
	Lost         int         `json:"lost"`
	Reworded     int         `json:"reworded"`
	Best         LostVersion `json:"best"`
	Command      *string     `json:"command"` // what restores it
	Ambiguous    bool        `json:"ambiguous"`
}

// LostVersion is the version that has the most of what a chat lost.
type LostVersion struct {
	Rev      *int    `json:"rev"`
	Path     *string `json:"path" is:"path"`
	At       string  `json:"at"` // RFC 3339
	Messages int     `json:"messages"`

	Of string `json:"-"` // the path under which the history has Rev: the chat may have another name now
}

// LostSummary is the last document of lost.
type LostSummary struct {
	Schema     int          `json:"schema"`
	Summary    bool         `json:"summary"`
	Chats      int          `json:"chats"` // that lost something, including those that are gone
	Gone       int          `json:"gone"`
	Lost       int          `json:"lost"` // messages
	Unreadable int          `json:"unreadable"`
	Places     []LostPlaces `json:"places"`
}

// LostPlaces shows how the slots for backups under one key are used.
type LostPlaces struct {
	Key     string      `json:"key"`
	Owners  []string    `json:"owners"`
	Used    int         `json:"used"`
	Limit   int         `json:"limit"`
	Backups int         `json:"backups"` // under this key
	Bytes   int64       `json:"bytes"`
	Others  []LostShare `json:"others"` // other keys whose backups take slots, too, and are deleted by the same saves
}

// LostShare counts the slots of a key that another key's backups take.
type LostShare struct {
	Key    string   `json:"key"`
	Owners []string `json:"owners"`
	Used   int      `json:"used"`
}

// LostResult is the result of Lost.
type LostResult struct {
	Chats   []*LostChat
	Summary LostSummary
	Errs    []error // of PATHs, and of what cannot be read
}

// Lost finds the messages that only older versions have: those in the history,
// SillyTavern's backups, old files that repair and undo keep, and copies in other folders.
// The chats of a root are sorted by how much they lost, the most first. The error is that
// ctx ended.
func Lost(ctx context.Context, opt LostOptions) (*LostResult, error) {
	res := &LostResult{Summary: LostSummary{Schema: 1, Summary: true}}
	list := opt.List
	list.AllowEmpty = true // the user's chats may all be gone
	walked := ops.Walk(list)
	errs := walked.Errs
	if len(walked.Chats)+len(walked.Users)+len(errs) == 0 && !opt.List.AllowEmpty {
		errs = ops.Walk(opt.List).Errs
	}
	copies := ops.Walk(ops.List{Paths: opt.From})
	for _, err := range append(errs, copies.Errs...) {
		res.Errs = append(res.Errs, err)
	}
	for _, root := range ops.Roots(walked, opt.List.Shard) {
		f := newFinder(root, opt)
		if err := f.find(ctx, copies.Chats); err != nil {
			return nil, err
		}
		res.Errs = append(res.Errs, f.errs...)
		found := &losses{in: &f.files, opt: opt}
		found.groupByChat()
		res.Chats = append(res.Chats, found.documents()...)
		res.Summary.Places = append(res.Summary.Places, f.places()...)
	}
	sum := &res.Summary
	sum.Unreadable = len(res.Errs)
	for _, c := range res.Chats {
		sum.Chats++
		sum.Lost += c.Lost
		if c.LiveMessages == nil {
			sum.Gone++
		}
	}
	return res, nil
}

// loss is a chat that lost something.
type loss struct {
	chat  *lostChat     // nil: it is gone
	path  string        // of a chat that is gone, if known
	owner backups.Owner // of a chat that is gone; without a name if not known
	best  *lostVersion
	said  []lost.Text // the texts of the first version found
	texts *lost.Set   // likewise
	ambig bool
	weak  bool // it is not certain that it is this chat
}

// losses collects what was found in one root.
type losses struct {
	in    *files
	opt   LostOptions
	found []*loss
}

// groupByChat groups the versions by chat. Versions of a chat that is gone belong together by
// their name, by their slug, or by having nearly all messages in common.
func (f *losses) groupByChat() {
	live := map[int]*loss{}
	slices.SortStableFunc(f.in.versions, func(a, b *lostVersion) int { return b.at.Compare(a.at) }) // the newest first
	for _, v := range f.in.versions {
		switch {
		case v.said == nil || v.skip:
			continue
		case v.target < 0 || v.weak:
			if g := f.gone(v); v.said.Missing > g.best.said.Missing {
				g.best = v
			}
		case live[v.target] == nil:
			live[v.target] = &loss{chat: f.in.chats[v.target], best: v, ambig: v.ambiguous, said: v.said.Texts, texts: lost.NewSet(v.said.Texts)}
			f.found = append(f.found, live[v.target])
		case v.lost > live[v.target].best.lost:
			live[v.target].best = v
		}
		v.said.Texts = nil
	}
	f.assignWeak(live)
}

// assignWeak decides the cases with weak evidence. Several stories may match one chat that has
// nothing but a greeting: it lost the longest one, unless there is better evidence for
// another, and the rest are gone. A version with the same story as one that surely belongs
// to the chat belongs to it, too.
func (f *losses) assignWeak(live map[int]*loss) {
	slices.SortStableFunc(f.found, func(a, b *loss) int { return cmp.Compare(b.best.said.Missing, a.best.said.Missing) })
	f.found = slices.DeleteFunc(f.found, func(g *loss) bool {
		v := g.best
		if g.chat != nil || v.target < 0 {
			return g.chat == nil && v.said.Missing < f.opt.Gone
		}
		if other := live[v.target]; other != nil && other.tells(v.said.Slug, g.said) {
			if v.lost > other.best.lost {
				other.best = v
			}
			return true
		} else if other != nil {
			g.ambig, other.ambig = true, other.ambig || other.weak
		} else if v.lost >= f.opt.Min {
			g.chat, g.weak, live[v.target] = f.in.chats[v.target], true, g
			return false
		}
		return v.said.Missing < f.opt.Gone
	})
}

// gone returns the loss for a version whose chat is gone, a new one if there is none.
func (f *losses) gone(v *lostVersion) *loss {
	owner, path, ambiguous := f.in.ownerOfGone(v)
	for _, g := range f.found {
		if g.chat != nil || g.owner != owner {
			continue
		}
		if path != "" && path == g.path || g.tells(v.said.Slug, v.said.Texts) {
			return g
		}
	}
	g := &loss{path: path, owner: owner, best: v, said: v.said.Texts, texts: lost.NewSet(v.said.Texts), ambig: ambiguous || v.ambiguous}
	f.found = append(f.found, g)
	return g
}

// tells reports whether a version tells the same story: it has the same slug, or nearly all
// messages in common.
func (g *loss) tells(slug string, said []lost.Text) bool {
	return slug != "" && slug == g.best.said.Slug || 8*g.texts.Common(said) >= 7*min(len(said), len(g.said))
}

// documents returns the documents of the losses, those that lost the most first.
func (f *losses) documents() (list []*LostChat) {
	for _, g := range f.found {
		v := g.best
		doc := &LostChat{
			Schema: 1, Lost: v.said.Missing, Ambiguous: g.ambig,
			Best: LostVersion{At: v.at.Local().Format(time.RFC3339), Messages: v.said.Messages},
		}
		path, owner := g.path, g.owner
		if g.chat != nil {
			path, owner = g.chat.path, g.chat.of
			doc.LiveMessages, doc.Lost, doc.Reworded = &g.chat.said.Messages, v.lost, v.reworded
		} else if path == "" {
			path = f.in.placeFor(owner, v)
		}
		if v.path == "" {
			doc.Best.Rev, doc.Best.Of = &v.rev, cmp.Or(v.chat, path)
		} else {
			doc.Best.Path = &v.path
		}
		if path != "" {
			if !f.in.root.Means(path) {
				continue
			}
			name := userdir.ChatName(path)
			doc.Path, doc.Chat = &path, &name
		} else if !f.in.root.Whole {
			continue
		}
		if name := f.in.shownOwner(owner); name != "" {
			doc.Owner = &name
		}
		list = append(list, doc)
	}
	slices.SortStableFunc(list, func(a, b *LostChat) int { return cmp.Compare(b.Lost, a.Lost) })
	return list
}
