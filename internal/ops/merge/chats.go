package merge

import (
	"context"
	"fmt"
	"strings"

	"stchat/internal/folder/library"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
)

// ErrUnrelated means that two chats are no copies of one.
var ErrUnrelated = error(&ops.Kind{Code: "refused", Text: "it shares no more than a greeting with INTO, and is no copy of that", Hint: "other-chat"})

// folder merges the chats of a folder, or of one owner, into another one's; one chat into another,
// whatever both are called.
func (r *Result) folder(ctx context.Context, opt *Options) error {
	lib := new(library.Library)
	s, err := opt.openSides(ctx, lib)
	if err != nil {
		return err
	}
	o, err := s.open(opt, lib)
	if err != nil {
		return err
	}
	o.user = opt.around(lib, s.into.folder, s.from.folder)

	var copies []*match
	if s.single {
		copies, err = o.findCopyOf(ctx, s.into.only)
	} else {
		copies, err = o.findCopies(ctx, o.ours.files)
	}
	if err != nil {
		return err
	}
	o.decide(copies)
	decideLinks(ctx, o)

	if o.user != nil {
		return r.withBooks(ctx, o)
	}
	if err := o.tellLeft(ctx, s.into.folder, s.from.folder); err != nil {
		return err
	}
	r.run(ctx, opt, "", nil, o.jobs())
	return nil
}

// withBooks makes the changes, together with the lorebooks and attachments that the chats which come name.
func (r *Result) withBooks(ctx context.Context, o *owner) error {
	u := o.user
	u.works = o.works
	u.owned = o.jobs()
	named := bookNames(ctx, o.works)
	if err := u.readBooks(ctx, func(name string) bool { return named[name] }); err != nil {
		return err
	}
	return r.withNamed(ctx, u)
}

// around returns the two user folders in which the folders of an owner lie, whose lorebooks and attachments come along if
// chats that come name them. nil: not both lie in one, or both in the same.
func (opt *Options) around(lib *library.Library, into, from *library.Folder) *user {
	if !into.HasDir || !from.HasDir || userdir.RealPath(into.Dir.Root) == userdir.RealPath(from.Dir.Root) {
		return nil
	}
	return newUser(opt, lib, into.Dir, from.Dir)
}

// findCopyOf compares FROM's only chat with the chat of INTO that was named, and with those to which an earlier merge may
// have brought it. If it is a copy of none, it may still be here whole, as a part of another chat. Else it is refused.
func (o *owner) findCopyOf(ctx context.Context, named string) ([]*match, error) {
	c := o.theirs.files[0]
	c.key = names.FoldNFC(named)
	candidates := filter(o.ours.files, func(p *file) bool { return p.name == named || o.mayHave(ctx, p, c) })
	copies, err := o.findCopies(ctx, candidates)
	if err != nil || copies[0].judge().sign != Other {
		return copies, err
	}

	c.key = names.FoldNFC(c.name)
	elsewhere := filter(o.ours.files, func(p *file) bool { return !samePlace(p, c) && o.isMember(p) })
	copies, err = o.findCopies(ctx, elsewhere)
	if err != nil {
		return nil, err
	}
	switch copies[0].judge().sign {
	case Same, Behind, Refused:
		return copies, nil
	case Ahead, Parted:
		return nil, fmt.Errorf("%s: %w, but one of %s", c.path, ErrUnrelated, copies[0].into.path)
	}
	return nil, fmt.Errorf("%s: %w", c.path, ErrUnrelated)
}

// samePlace reports whether two chats are one file.
func samePlace(a, b *file) bool { return userdir.RealPath(a.path) == userdir.RealPath(b.path) }

// mayHave reports whether an earlier merge may have brought FROM's chat to one of INTO: under a branch's name, where it
// may have been gone on with since, or under its own or the next free name, if the chat still holds it.
func (o *owner) mayHave(ctx context.Context, p, c *file) bool {
	isNamed := p.key == c.key
	if isNamed || !o.isMember(p) || samePlace(p, c) {
		return false
	}
	for _, branch := range []string{c.name + "__", names.Derive(c.name, "__", o.label, names.MaxBytes)} { // the second is cut where a name is long
		if strings.HasPrefix(p.key, names.FoldNFC(branch)) {
			return true
		}
	}
	hasNextName := names.FoldNFC(unnumbered(p.name)) == names.FoldNFC(unnumbered(c.name))
	return hasNextName && o.holds(ctx, p, c)
}

// isMember reports whether a chat of INTO is the group's, if it is a group's that is merged.
func (o *owner) isMember(p *file) bool { return o.group == nil || o.group.Lists(p.name) }
