package keep

import (
	"cmp"
	"context"

	"stchat/internal/history"
)

// RestoreLost brings back the best version of each of some chats, as one call that undo takes
// back: a chat that is gone under its name, of any other as a new chat beside it. They must be of
// a result that is not closed yet.
func RestoreLost(ctx context.Context, chats []*LostChat, opt RestoreOptions) []*RestoreResult {
	var list []*made
	results := make([]*RestoreResult, len(chats))
	for i, c := range chats {
		r := c.restoring(opt)
		results[i] = r.res
		var m *made
		var err error
		switch {
		case !c.row.isGone():
			m, err = r.fork(ctx)
		case c.Name != "":
			m, err = r.revive(ctx, r.beside())
		default:
			m, err = r.revive(ctx, c.To)
		}
		if r.res.Err = err; err == nil {
			list = append(list, m)
		}
	}
	commit(ctx, opt.Changes, list)
	return results
}

// restoring returns the best version on its way to a file.
func (c *LostChat) restoring(opt RestoreOptions) *restoring {
	f, best := c.row.in, c.row.best
	s := &subject{root: f.now.root, path: c.To, store: f.store, now: f.now}
	s.rel, _ = relative(s.root, c.To) // a chat of the root lies in it
	v := &version{file: best.path, Version: history.Version{At: best.at, Source: history.FromBackup, Messages: best.said.Messages}}
	if best.stored != nil {
		v.Version = *best.stored
		s.id = v.Chat
	}
	opt.Name = cmp.Or(c.Name, opt.Name)
	return newRestoring(s, v, opt)
}
