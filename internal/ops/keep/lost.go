package keep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"stchat/internal/backups"
	"stchat/internal/chat"
	"stchat/internal/ops"
	"stchat/internal/progress"
	"stchat/internal/userdir"
)

// LostOptions says where to look for messages that only older versions have.
type LostOptions struct {
	List  ops.List
	Names []string // chats that are gone, as [Where] names them
	From  []string // folders with copies of chats
	Min   int      // how many messages a live chat must have lost to be reported
	Gone  int      // the same for a chat that is gone
	Since time.Time
	Store string // a file; empty: that of each user's folder
	Now   time.Time
	Meter *progress.Meter

	folders []string             // real paths, with a separator, of those among List.Paths that were asked for
	meant   map[string]*ops.Root // by the real paths of all roots: what of each was asked for, by List
	told    map[int64]bool       // the chats of a history of several folders of loose chats that are gone, and that were told
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
	Further      LostFurther `json:"further"`
	Parted       *int        `json:"parted"`  // the last message that it and the copy of another folder share
	Command      *string     `json:"command"` // what restores it
	Ambiguous    bool        `json:"ambiguous"`

	To   string `json:"-"` // the path that restore takes; "" if nothing is known of it
	Name string `json:"-"` // the name that restore must give, since another chat has the path or had it since
	row  *loss
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
	Lost       int             `json:"lost"` // messages
	Unreadable int             `json:"unreadable"`
	Sources    []LostSource    `json:"sources"`
	Places     []backups.Quota `json:"places"`
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
	Chats   []*LostChat
	Summary LostSummary
	Errs    []error // of PATHs, and of what cannot be read

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
	roots := ops.Roots(walked, opt.List.Shard)
	opt.told, opt.meant = map[int64]bool{}, map[string]*ops.Root{}
	for _, root := range roots {
		opt.meant[userdir.RealPath(root.Path)] = root
	}
	for _, path := range opt.List.Paths {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() {
			continue
		}
		real := userdir.RealPath(path)
		opt.folders = append(opt.folders, real+string(filepath.Separator))
		if around, ok := userdir.Around(path); ok {
			list.Paths = append(list.Paths, around) // its chats may all be gone
		} else if opt.Store != "" && opt.meant[real] == nil {
			opt.meant[real] = &ops.Root{Path: path}
			roots = append(roots, opt.meant[real])
		}
	}
	if len(walked.Users)+len(roots)+len(errs)+len(opt.Names)+len(list.Paths)-len(opt.List.Paths) == 0 && !opt.List.AllowEmpty {
		errs = ops.Walk(opt.List).Errs
	}
	copies := ops.Walk(ops.List{Paths: opt.From})
	copies.Chats = slices.DeleteFunc(copies.Chats, func(t ops.Target) bool {
		err := chat.CheckName(t.Path)
		if err != nil {
			res.Errs = append(res.Errs, err)
		}
		return err != nil
	})
	for _, err := range append(errs, copies.Errs...) {
		res.Errs = append(res.Errs, err)
	}
	for _, name := range opt.Names {
		switch root, _, users := rootOf(name); {
		case users > 1:
			res.Errs = append(res.Errs, ErrUsers)
		case users == 0:
			res.Errs = append(res.Errs, fmt.Errorf("%s: %w", name, fs.ErrNotExist))
		default:
			list.Paths = append(list.Paths, root)
		}
	}
	for _, root := range ops.Roots(ops.Walk(list), opt.List.Shard) {
		if real := userdir.RealPath(root.Path); opt.meant[real] == nil {
			opt.meant[real] = &ops.Root{Path: root.Path}
			roots = append(roots, root)
		}
	}
	unknown := slices.Clone(opt.Names)
	for _, root := range roots {
		f := newFinder(root, &opt)
		err := f.find(ctx, copies.Chats)
		res.opened = append(res.opened, f.now)
		if err != nil {
			res.Close()
			return nil, err
		}
		unknown = slices.DeleteFunc(unknown, f.hasName)
		f.groupByChat()
		res.Chats = append(res.Chats, f.documents()...)
		res.Errs = append(res.Errs, f.errs...)
		res.Summary.Sources = append(res.Summary.Sources, f.sources...)
		res.Summary.Places = append(res.Summary.Places, f.folder.Quotas(f.owners)...)
	}
	for _, name := range unknown {
		if !slices.ContainsFunc(res.Errs, func(err error) bool { return errors.Is(err, ErrNoSource) }) {
			res.Errs = append(res.Errs, fmt.Errorf("%s: %w", name, ErrUnknown))
		}
	}
	sum := &res.Summary
	sum.Unreadable, sum.Chats = len(res.Errs), len(res.Chats)
	for _, c := range res.Chats {
		sum.Lost += c.Lost
		if c.LiveMessages == nil {
			sum.Gone++
		}
	}
	return res, nil
}
