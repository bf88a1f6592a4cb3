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
	Asked []string // all that List and Names stand for, as it was written: of a group also its chats that are gone are meant
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
	Guess bool   `json:"-"` // nothing says that it had the name by which it was asked for, and it is the only one that may have had it
	row   *loss

	Backup string `json:"-"` // where nothing is known of it, the backup that the history has: the path that it had in Root, with slashes
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
	opt.told = map[int64]bool{}
	opt.meant = map[string]*ops.Root{}
	opt.files = map[string]bool{}
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
		f.placeGone(ctx)
		if err := cmp.Or(f.tellMessages(ctx, res), f.documents(ctx, res, given)); err != nil {
			res.Close()
			return nil, err
		}
		unknown = slices.DeleteFunc(unknown, func(name string) bool { return f.hasName(name) || slices.Contains(f.answered, name) })
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
