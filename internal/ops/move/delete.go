package move

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"stchat/internal/changeset"
	"stchat/internal/family"
	"stchat/internal/ops"
	"stchat/internal/userdir"
)

// DeleteOptions says which chats are deleted.
type DeleteOptions struct {
	Options
	Chats  []string
	Family bool // all descendants too
	Keep   bool // leave links to them as they are
}

// Delete removes chats with their sidecars, and keeps them for undo until its record is
// dropped. It returns a result for every chat deleted, grouped by folder, and one for each
// folder in which it failed.
func Delete(ctx context.Context, opt DeleteOptions) []*Result {
	opt.Changes.Precious = true
	byFolder := map[string][]string{}
	var folders []string
	for _, path := range opt.Chats {
		key := userdir.RealPath(filepath.Dir(path))
		if byFolder[key] == nil {
			folders = append(folders, key)
		}
		byFolder[key] = append(byFolder[key], path)
	}
	more := map[*Result][]*Result{}
	var mu sync.Mutex // of more
	firsts := ops.Each(ctx, opt.Changes, folders, func(key string) (*Result, changeset.Unit) {
		paths := byFolder[key]
		r := newResult(paths[0])
		return r, changeset.Unit{Root: changeset.RootOf(paths[0]), Draft: func(ctx context.Context, s *changeset.Set) error {
			others, err := deleteIn(ctx, &opt, paths, r, s)
			mu.Lock()
			defer mu.Unlock()
			more[r] = others
			return err
		}}
	})
	var results []*Result
	for _, first := range firsts {
		results = append(results, together(first, more[first])...)
	}
	return results
}

// deleteIn deletes chats of one folder. r is the first one's result and takes all warnings
// and notes; the results of the others are returned.
func deleteIn(ctx context.Context, opt *DeleteOptions, paths []string, r *Result, s *changeset.Set) (more []*Result, err error) {
	f, err := read(ctx, &opt.Options, filepath.Dir(paths[0]))
	if err != nil {
		return nil, err
	}
	var above func(*family.Chat) *family.Chat
	if opt.Family {
		above = func(c *family.Chat) *family.Chat { return c }
	}
	goes, err := f.chosen(paths, above)
	if err != nil {
		return nil, err
	}
	n := newRenameSet(f, r, s)
	n.keep = opt.Keep
	for _, c := range goes {
		n.to[c] = ""
	}
	r.Doc.From = goes[0].Path
	for _, c := range goes[1:] {
		more = append(more, newResult(c.Path))
	}
	results := append([]*Result{r}, more...)
	if !opt.Keep {
		n.chooseOpen(goes, results)
	}
	n.collect()
	for _, d := range r.Doc.Dangling {
		r.Warn("%s: %s names %q, which no longer exists", d.Path, d.Key, d.Name)
	}
	noteBookless(ctx, f, goes, r)
	unreachable(r)
	return more, n.draft(ctx)
}

// noteBookless notes the lorebooks that the deleted chats name and no other chat of the user
// does.
func noteBookless(ctx context.Context, f *folder, goes []*family.Chat, r *Result) {
	dir := f.graph.Folder
	if !dir.HasDir {
		return
	}
	left := map[string]bool{}
	for _, c := range goes {
		for _, book := range booksOf(ctx, f.lib, c.Path) {
			left[book] = true
		}
	}
	if len(left) == 0 {
		return
	}
	going := map[string]bool{}
	for _, c := range goes {
		going[userdir.RealPath(c.Path)] = true
	}
	for _, t := range ops.WalkNames(ops.List{Paths: []string{dir.Dir.Root}, AllowEmpty: true}).Chats {
		if len(left) == 0 {
			return
		}
		if !going[userdir.RealPath(t.Path)] {
			for _, book := range booksOf(ctx, f.lib, t.Path) {
				delete(left, book)
			}
		}
	}
	for _, book := range slices.Sorted(maps.Keys(left)) {
		r.Note("no chat names the lorebook %q any more; it is left as it is", book)
	}
}
