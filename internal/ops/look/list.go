package look

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stchat/internal/folder/inspect"
	"stchat/internal/folder/library"
	"stchat/internal/ops"
	"stchat/internal/ops/address"
	"stchat/internal/place/userdir"
	"stchat/internal/text/progress"
)

// Order is what a list of chats is sorted by.
type Order string

// The orders of a list: the newest and the largest come first, names as in a dictionary.
const (
	ByDate     Order = "date"
	ByName     Order = "name"
	BySize     Order = "size"
	ByMessages Order = "messages"
)

// Orders returns all of them.
func Orders() []Order { return []Order{ByDate, ByName, BySize, ByMessages} }

// ListOptions says which chats are listed, and in which order.
type ListOptions struct {
	List         ops.List
	Where        []ops.Condition // all must hold for a chat's metadata
	Since, Until time.Time       // of the last message; the zero time is no limit
	Order        Order
	Reverse      bool
	Limit        int // 0: all
	Meter        *progress.Meter
}

// Listed is a chat in a list: a document of list.
type Listed struct {
	inspect.Report
	Current bool `json:"current"` // the one that its character or group opens with

	Last time.Time `json:"-"` // of the last message, else of the file
}

// ListResult is a list of chats.
type ListResult struct {
	Chats []*Listed
	Left  int // chats that the limit leaves out
	Errs  []error
}

// List lists the chats of a list. The error is ctx's.
func List(ctx context.Context, opt ListOptions) (*ListResult, error) {
	res := new(ListResult)
	lib := new(library.Library)
	current := map[string]string{} // by the folder of a character
	reading := ops.InspectOptions{List: opt.List, Where: opt.Where, Meter: opt.Meter}
	reading.Each = func(r *inspect.Report, err error) error {
		if err != nil {
			res.Errs = append(res.Errs, err)
			return nil
		}
		l := &Listed{Report: *r, Last: ops.LastChanged(r)}
		if !opt.Since.IsZero() && l.Last.Before(opt.Since) || !opt.Until.IsZero() && l.Last.After(opt.Until) {
			return nil
		}
		l.Current = isCurrent(lib, current, r)
		res.Chats = append(res.Chats, l)
		return nil
	}

	read, err := ops.Inspect(ctx, reading)
	if err != nil {
		return nil, err
	}
	res.Errs = append(res.Errs, read.Errs...)

	slices.SortStableFunc(res.Chats, opt.compare)
	if opt.Limit > 0 && len(res.Chats) > opt.Limit {
		res.Left = len(res.Chats) - opt.Limit
		res.Chats = res.Chats[:opt.Limit]
	}
	return res, nil
}

// compare orders two chats of a list.
func (opt *ListOptions) compare(a, b *Listed) int {
	var order int
	switch opt.Order {
	case ByName:
		order = cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	case BySize:
		order = cmp.Compare(b.Bytes, a.Bytes)
	case ByMessages:
		order = cmp.Compare(b.Messages, a.Messages)
	default:
		order = b.Last.Compare(a.Last)
	}

	if opt.Reverse {
		order = -order
	}
	return order
}

// isCurrent reports whether a chat is the one that its character or a group opens with. known holds the
// names of such chats by the folders of characters.
func isCurrent(lib *library.Library, known map[string]string, r *inspect.Report) bool {
	dir, ok := userdir.Enclosing(r.Path)
	if !ok {
		return false
	}
	if r.Kind == string(userdir.Group) {
		groups, err := lib.Groups(dir)
		return err == nil && len(groups.Open(r.Name)) > 0
	}
	folder := filepath.Dir(r.Path)
	name, ok := known[folder]
	if !ok {
		if o, err := address.OwnerOf(lib, folder, dir.Root); err == nil {
			name, _ = o.Open(lib)
		}
		known[folder] = name
	}
	return name != "" && name == r.Name
}
