package edit

import (
	"context"
	"maps"
	"slices"
	"time"

	"stchat/internal/extension/autorecap"
	"stchat/internal/extension/illustrator"
	"stchat/internal/extension/luker"
	"stchat/internal/rawjson"
)

// PruneOptions says which dead state to remove.
type PruneOptions struct {
	Options
	Recap, Illustrator bool
	Logs               func(namespace string) bool // which floor logs, by the namespace of their data
	Before             time.Time                   // pending operations that were noted earlier go
}

// Removed counts what was removed.
type Removed struct {
	What  string `json:"what"`
	Count int    `json:"count"`
}

// Pruned is what was removed from a chat.
type Pruned struct {
	Removed []Removed
	Last    int // the chat's last message; -1: it has none

	commits map[string]int // by namespace
}

func (p *Pruned) add(what string, n int) {
	if n > 0 {
		p.Removed = append(p.Removed, Removed{what, n})
	}
}

// Prune removes what is provably dead, by the extensions' own rules: pending operations that
// are old (cleanupStalePendingEntries), versions of the running recap whose scene has no recap
// (cleanup_invalid_running_recaps), prompts of messages beyond the end and images without a
// prompt, and commits of floor logs that are invalid or beyond the end.
func Prune(ctx context.Context, opt PruneOptions) ([]*Result, []*Pruned) {
	byPath := map[string]*Pruned{}
	for _, path := range opt.Chats {
		byPath[path] = &Pruned{commits: map[string]int{}}
	}
	results := run(ctx, opt.Options, func(ctx context.Context, o *open) (*Plan, error) {
		did := byPath[o.chat.Path]
		messages, err := o.count(ctx)
		if err != nil {
			return nil, err
		}
		did.Last = messages - 1
		recaps := map[int]bool{}
		if _, ok := autorecap.RunningIn(o.chat.Metadata()); ok {
			if recaps, err = autorecap.Recaps(ctx, o.chat.Source, o.chat.Body, o.chat.BodyLine); err != nil {
				return nil, err
			}
		}
		o.sidecars = slices.DeleteFunc(o.sidecars, func(s luker.Sidecar) bool {
			return s.Kind == luker.FloorLog && !opt.Logs(luker.DataOf(s.Namespace))
		})
		return &Plan{
			Metadata: func(raw []byte) ([]byte, error) { return opt.metadata(raw, did, recaps) },
			Logs: func(namespace string) luker.Where {
				return func(c *luker.Commit) (floor, swipe int, keep bool) {
					if keep = c.Valid && c.Floor < messages; !keep {
						did.commits[namespace]++
					}
					return c.Floor, c.Swipe, keep
				}
			},
		}, nil
	})
	var all []*Pruned
	for _, r := range results {
		did := byPath[r.Doc.Path]
		for _, namespace := range slices.Sorted(maps.Keys(did.commits)) {
			did.add("commits of "+luker.LogOf(namespace), did.commits[namespace])
		}
		all = append(all, did)
	}
	return results, all
}

// metadata removes what is dead from a chat's metadata.
func (opt *PruneOptions) metadata(raw []byte, did *Pruned, recaps map[int]bool) ([]byte, error) {
	metadata, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil, err
	}
	if opt.Recap {
		did.add("pending operations", autorecap.PrunePending(metadata, opt.Before))
		p := autorecap.PruneRunning(metadata, func(v autorecap.Version) bool {
			at, ok := rawjson.Int(v.Scene())
			return !ok || recaps[at]
		})
		did.add("versions of the running recap", p.Total-p.Kept)
	}
	if opt.Illustrator {
		edited := illustrator.Prune(metadata, did.Last+1, nil)
		did.add("prompts", edited.Gone)
		did.add("images", edited.ImagesGone)
		did.add("open messages of the gallery", edited.OpenGone)
	}
	return metadata.Bytes(), nil
}
