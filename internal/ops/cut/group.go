package cut

import (
	"stchat/internal/chat"
	"stchat/internal/ops"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// judgeGroup refuses a group file that cannot be edited, and warns about what concerns the
// group.
func judgeGroup(opt *Options, src *chat.Chat, p *plan, r *Result) error {
	if src.Kind != userdir.Group || opt.NoGroup || len(src.Groups) == 0 {
		return nil
	}
	if !p.beside {
		r.Warn("%s: the new chat is not in the group's folder, so no group lists it", src.Label())
		return nil
	}
	g := src.Groups[0]
	if err := safefile.CanReplace(g.Path); err != nil {
		return as(ErrGroupFile, ops.PathError(err))
	}
	if g.HasOldLayout() {
		// The new chat has a header, as SillyTavern 1.16 and later write it. Up to
		// 1.14 a group chat has none, and a page of 1.13 that opens a chat without
		// an entry in past_metadata takes it for a fresh one.
		r.Warn("%s: this group has the layout of SillyTavern up to 1.14, and the new chat that of 1.16 and later: open it with 1.16 or later only", g.Path)
	}
	r.Doc.Group = &g.Path
	return nil
}
