package past

import (
	"context"
	"time"

	"stchat/internal/ops"
	"stchat/internal/progress"
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
		found := &findings{in: &f.stock, opt: opt}
		found.gather()
		res.Chats = append(res.Chats, found.told()...)
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
