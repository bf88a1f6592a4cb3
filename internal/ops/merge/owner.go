package merge

import (
	"context"
	"slices"

	"stchat/internal/folder/library"
	"stchat/internal/place/names"
	"stchat/internal/sillytavern/group"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/progress"
)

// inFolder is what is known of all chats of a folder. Those of group chats have several owners.
type inFolder struct {
	to      map[string]string // the name in INTO by that in FROM
	goesOn  map[string]bool   // names in FROM of chats that are here as the beginning of another one
	deleted map[string]bool   // names in FROM of chats that only the base and FROM have
	slugs   map[string]bool   // of INTO's
	copied  map[string]bool   // names of INTO's that have their copy in FROM
	parents map[string]string // main_chat by name, as it will be in INTO
	renames bool              // some have another name in INTO
}

func newInFolder() *inFolder {
	return &inFolder{
		to:      map[string]string{},
		goesOn:  map[string]bool{},
		deleted: map[string]bool{},
		slugs:   map[string]bool{},
		copied:  map[string]bool{},
		parents: map[string]string{},
	}
}

// owner is the chats of a character or a group that are merged.
type owner struct {
	*inFolder
	opt          *Options
	ours, theirs *side       // INTO and FROM
	group        *group.File // of INTO, that lists new chats; nil: none
	label        string
	given        map[string]bool       // folded paths that other owners give, too
	base         *side                 // what both came from; nil: unknown
	bases        library.Once[baseSet] // by the folded name of a chat of FROM
	seed         message.Seed
	user         *user // nil: only chats are merged

	works  []*work
	taken  map[string]bool // folded names of INTO
	coming map[string]bool // those of FROM's folder
}

// has reports whether INTO has a chat of a name, or gets one from this owner or another one.
func (o *owner) has(name string) bool {
	return o.taken[names.FoldNFC(name)] || o.given[names.FoldNFC(o.ours.folder.File(name))]
}

// nameHere returns the name in INTO that a name of FROM becomes.
func (o *owner) nameHere(name string) string {
	if target, ok := o.theirs.folder.Target(name); ok {
		if to, ok := o.to[target]; ok && (to != target || name == target) {
			return to
		}
	}
	return name
}

// comes reports whether a chat of an owner, if there is one, comes.
func (o *owner) comes() bool { return o != nil && slices.ContainsFunc(o.works, (*work).writes) }

// jobs returns what is to be done about the chats.
func (o *owner) jobs() (list []*job) {
	for _, w := range o.works {
		list = append(list, &w.job)
	}
	return list
}

// each does something about chats, several at once.
func (o *owner) each(ctx context.Context, files []*file, do func(f *file)) {
	o.opt.Meter.Expect(len(files), 0)
	progress.Each(ctx, len(files), func(i int) {
		defer o.opt.Meter.Done()
		do(files[i])
	})
}
