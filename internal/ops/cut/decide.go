package cut

import (
	"errors"
	"fmt"

	"stchat/internal/extension/luker"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/text/plural"
)

// What is decided in this file follows from values alone: whoever calls it has looked at the disk.

// offer is a name that a new chat beside its source may get, and what is known of it.
type offer struct {
	name  names.Name
	unfit error // why no chat can get the name
	given bool  // an earlier chat of this call gets it
	there bool  // a chat of exactly this name exists, or a group lists it
}

// isTaken reports whether the name would do if no other chat had it.
func (o *offer) isTaken() bool { return errors.Is(o.unfit, names.ErrTaken) }

// nameUse is what becomes of a name.
type nameUse int

const (
	useFree    nameUse = iota // no chat has it
	keepOld                   // the chat that has it counts as the new one, if it was made from the source
	replaceOld                // the chat that has it is made again
)

// decideName decides what becomes of a name, or refuses it.
func decideName(opt *Options, o offer) (nameUse, error) {
	switch {
	case o.unfit == nil:
		return useFree, nil
	case !o.isTaken():
		return useFree, o.unfit
	case o.given:
		return useFree, fmt.Errorf("%q: %w", o.name.File, ErrGivenTwice)
	case opt.IfMissing:
		return keepOld, nil
	case opt.Force && o.there:
		return replaceOld, nil
	}
	return useFree, o.unfit
}

// around is what lies around an open source and its new chat, as far as it decides whether the new
// chat may be made.
type around struct {
	unreadGroup error           // a group file that cannot be read, and may be the one that lists the source
	unlisted    error           // the source's folder cannot be listed
	sidecars    []luker.Sidecar // what Luker keeps beside the source
	stray       []luker.Sidecar // and of a chat that would have the name of the new one
	lockedGroup error           // the group file that lists the source cannot be replaced
	apart       bool            // the real source is not in the new chat's folder
	noFolders   error           // whether it is could not be found out
	locked      error           // the source cannot be replaced
}

// decide completes the plan of a new chat, or refuses what cannot be made of the source, before
// anything is drafted. In the result it notes what a person should know.
func decide(opt *Options, src *chat.Chat, p *plan, a *around, r *Result) error {
	judgeHead(src, r)
	if err := judgeLister(opt, src, a, r); err != nil {
		return err
	}
	if err := judgeSidecars(src, p, a, r); err != nil {
		return err
	}
	if err := judgeGroup(src, p, a, r); err != nil {
		return err
	}
	return judgeLink(opt, src, p, a)
}

// judgeHead warns of what is wrong with the header.
func judgeHead(src *chat.Chat, r *Result) {
	r.Doc.skip(src.Damage)
	if src.HeaderKind != chat.Damaged {
		return
	}
	if src.Header == nil {
		r.Warn("%s: the first line is damaged: if it was the header, the chat's metadata (lorebook, author's note, parent, variables, what extensions keep) is lost; it counts as {}", src.Label())
	} else {
		r.Warn("%s: chat_metadata is not an object: the chat's metadata is lost; it counts as {} (the header's other keys are kept)", src.Label())
	}
}

// judgeLister warns if not exactly one group lists a group chat, or if a chat has no header. It
// refuses a chat whose metadata may be in a group file that cannot be read.
func judgeLister(opt *Options, src *chat.Chat, a *around, r *Result) error {
	isGroup := src.Kind == userdir.Group
	switch {
	case isGroup && len(src.Groups) == 0:
		unless := ""
		if a.unreadGroup != nil {
			if src.HeaderKind == chat.None && !opt.SkipDamaged {
				return src.Errorf("%w: %w", ErrMetadataElsewhere, a.unreadGroup)
			}
			unless = fmt.Sprintf("; unless it is this one, which cannot be read: %v", a.unreadGroup)
		}
		r.Warn("%s: no group lists this chat: SillyTavern shows neither it nor the new one%s", src.Label(), unless)
	case isGroup && len(src.Groups) > 1:
		r.Warn("%s: %d groups list this chat; the new one goes to %s", src.Label(), len(src.Groups), src.Groups[0].Path)
	}

	hasMessages := src.Body < src.Source.Size
	if src.HeaderKind == chat.None && !isGroup && hasMessages {
		r.Warn("%s: the chat has no header: SillyTavern takes its first line for one, so its message numbers are one lower", src.Label())
	}
	return nil
}

// judgeSidecars plans that what Luker keeps beside the source goes with a new chat beside it, and
// lists what does not go with one elsewhere. It refuses a name under which Luker has left something.
func judgeSidecars(src *chat.Chat, p *plan, a *around, r *Result) error {
	if !p.beside {
		if len(a.sidecars) > 0 {
			LeaveSidecars(a.sidecars, "", r)
			r.Warn("%s: the new chat is not beside its source, so Luker's state (%s) does not go with it", src.Label(), plural.S(len(a.sidecars), "sidecar"))
		}
		return nil
	}

	if a.unlisted != nil { // what Luker keeps would stay behind without a word
		return ops.PathError(a.unlisted)
	}
	if len(a.stray) > 0 {
		return fmt.Errorf("%s: there is Luker state of a chat of this name already, which the new chat would take for its own; remove it or choose another name", a.stray[0].Path)
	}
	p.sidecars = a.sidecars
	return nil
}

// judgeGroup refuses a group file that cannot be edited, and warns about what concerns the
// group.
func judgeGroup(src *chat.Chat, p *plan, a *around, r *Result) error {
	if src.Kind != userdir.Group || len(src.Groups) == 0 {
		return nil
	}
	if !p.beside {
		r.Warn("%s: the new chat is not in the group's folder, so no group lists it", src.Label())
		return nil
	}
	if a.lockedGroup != nil {
		return withKind(ErrGroupFile, ops.PathError(a.lockedGroup))
	}
	g := src.Groups[0]
	if g.HasOldLayout() {
		// The new chat has a header, as SillyTavern 1.16 and later write it. Up to
		// 1.14 a group chat has none, and a page of 1.13 that opens a chat without
		// an entry in past_metadata takes it for a fresh one.
		r.Warn("%s: this group has the layout of SillyTavern up to 1.14, and the new chat that of 1.16 and later: open it with 1.16 or later only", g.Path)
	}

	r.Doc.Group = &g.Path
	return nil
}

// judgeLink refuses a link that cannot be made.
func judgeLink(opt *Options, src *chat.Chat, p *plan, a *around) error {
	if !opt.Link {
		return nil
	}
	if a.noFolders != nil {
		return ops.PathError(a.noFolders)
	}
	if !p.beside || a.apart {
		return src.Errorf("%w", ErrLinkElsewhere)
	}
	if a.locked != nil {
		return withKind(ErrLink, ops.PathError(a.locked))
	}
	if opt.BumpIntegrity && src.Header == nil {
		return src.Errorf("%w", ErrNoSlug)
	}
	getsSlug := opt.BumpIntegrity || len(p.sidecars) > 0
	if getsSlug && src.HeaderKind == chat.Damaged {
		return withKind(ErrLink, src.Errorf("a new integrity in the damaged header would lose what is left of it; repair the chat first"))
	}
	return nil
}
