package edit

import (
	"context"
	"slices"
	"time"

	"stchat/internal/choose"
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
	OlderThan          time.Duration               // the minimum age of pending operations
}

// Pruned counts what was removed from a chat.
type Pruned struct {
	Pending, Versions, Prompts, Images int
	Open                               int            // messages open in the gallery
	Commits                            map[string]int // by namespace
	Last                               int            // the chat's last message; -1: it has none
}

// Prune removes what is provably dead, by the extensions' own rules: pending operations that
// are old (cleanupStalePendingEntries), versions of the running recap whose scene has no recap
// (cleanup_invalid_running_recaps), prompts of messages beyond the end and images without a
// prompt, and commits of floor logs that are invalid or beyond the end.
func Prune(ctx context.Context, opt PruneOptions) ([]*Result, []*Pruned) {
	byPath := map[string]*Pruned{}
	for _, path := range opt.Chats {
		byPath[path] = &Pruned{Commits: map[string]int{}}
	}
	results := run(ctx, opt.Options, func(ctx context.Context, o *open) (*Plan, error) {
		did := byPath[o.chat.Path]
		messages, err := o.count(ctx)
		if err != nil {
			return nil, err
		}
		did.Last = messages - 1
		recaps, err := recaps(ctx, o, messages)
		if err != nil {
			return nil, err
		}
		o.sidecars = slices.DeleteFunc(o.sidecars, func(s luker.Sidecar) bool {
			return s.Kind == luker.FloorLog && !opt.Logs(luker.DataOf(s.Namespace))
		})
		return &Plan{
			Metadata: func(raw []byte) ([]byte, error) { return opt.metadata(raw, did, recaps) },
			Logs: func(namespace string) luker.Where {
				return func(c *luker.Commit) (floor, swipe int, keep bool) {
					if keep = c.Valid && c.Floor < messages; !keep {
						did.Commits[namespace]++
					}
					return c.Floor, c.Swipe, keep
				}
			},
		}, nil
	})
	var all []*Pruned
	for _, r := range results {
		all = append(all, byPath[r.Doc.Path])
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
		did.Pending = autorecap.PrunePending(metadata, opt.Changes.Now, opt.OlderThan)
		p := autorecap.PruneRunning(metadata, func(v autorecap.Version) bool {
			at, ok := v.Scene()
			return !ok || recaps[at]
		})
		did.Versions = p.Total - p.Kept
	}
	if opt.Illustrator {
		edited := illustrator.Prune(metadata, did.Last+1, nil)
		did.Prompts, did.Images = edited.Gone, edited.ImagesGone
		total, kept := illustrator.MoveOpen(metadata, did.Last+1, func(at int) (int, bool) { return at, true }, nil)
		did.Open = total - kept
	}
	return metadata.Bytes(), nil
}

// recaps reports, for the messages named by versions of the running recap, whether they have a
// scene recap.
func recaps(ctx context.Context, o *open, messages int) (map[int]bool, error) {
	has := map[int]bool{}
	running, ok := autorecap.RunningIn(o.chat.Header.Metadata())
	if !ok {
		return has, nil
	}
	var ranges []choose.Range
	for v := range running.Versions() {
		if at, ok := v.Scene(); ok && at >= 0 && at < messages {
			ranges = append(ranges, choose.Range{From: at, To: at})
		}
	}
	if len(ranges) == 0 {
		return has, nil
	}
	err := o.scan(ctx, scanning{Choice: choose.Choice{Ranges: ranges}}, func(at choose.Place) error {
		line, err := o.chat.Source.Section(at.Off, at.Len)
		if err != nil {
			return err
		}
		mark, _ := autorecap.ReadSceneMark(rawjson.Value(line, "extra"))
		has[at.Index] = mark.Scene.Recap
		return nil
	})
	return has, err
}
