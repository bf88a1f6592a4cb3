package family

import (
	"context"
	"sync"

	"stchat/internal/library"
	"stchat/internal/progress"
	"stchat/internal/userdir"
)

// Forks returns where chats part from a parent, as the files at the paths are now; nil
// for one that cannot be read, and for all if the parent cannot. Besides the parent's
// messages, each reader holds those of one chat at a time. The error is that ctx ended.
func Forks(ctx context.Context, lib *library.Library, parent string, chats []string) ([]*Point, error) {
	newReader := readers(lib, nil)
	from := &Chat{Path: parent, Name: userdir.ChatName(parent)}
	newReader().read(ctx, from, false)
	points := make([]*Point, len(chats))
	if from.Err == nil {
		var one sync.Mutex
		trunk := NewTrunk(from.Messages)
		progress.SmallFirst(ctx, len(chats), nil, newReader, func(r *reader, i int, small bool) bool {
			c := &Chat{Path: chats[i], Name: userdir.ChatName(chats[i])}
			if !r.read(ctx, c, small) {
				return false
			}
			if c.Err == nil {
				one.Lock()
				defer one.Unlock()
				points[i] = new(trunk.Point(c.Messages))
			}
			return true
		})
	}
	return points, ctx.Err()
}
