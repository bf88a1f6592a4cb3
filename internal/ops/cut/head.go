package cut

import (
	"fmt"

	"stchat/internal/chat"
	"stchat/internal/ops"
	"stchat/internal/userdir"
)

// judgeHead refuses or reports problems in the lines up to the header.
func judgeHead(c *call, src *chat.Chat, r *Result) error {
	if src.Damage.Total > 0 && !c.opt.SkipDamaged {
		return src.DamageError(src.Damage.First[0])
	}
	r.Doc.skip(src.Damage)
	switch {
	case src.HeaderKind == chat.Damaged && src.Header == nil:
		r.Warn("%s: the first line is damaged: if it was the header, the chat's metadata (lorebook, author's note, parent, variables, what extensions keep) is lost; it counts as {}", src.Label())
	case src.HeaderKind == chat.Damaged:
		r.Warn("%s: chat_metadata is not an object: the chat's metadata is lost; it counts as {} (the header's other keys are kept)", src.Label())
	}
	switch {
	case src.Kind == userdir.Group && len(src.Groups) == 0:
		unless := ""
		if err := unreadGroup(c, src); err != nil {
			if src.HeaderKind == chat.None && !c.opt.SkipDamaged {
				return src.Errorf("%w: %w", ErrMetadataElsewhere, err)
			}
			unless = fmt.Sprintf("; unless it is this one, which cannot be read: %v", err)
		}
		r.Warn("%s: no group lists this chat: SillyTavern shows neither it nor the new one%s", src.Label(), unless)
	case src.Kind == userdir.Group && len(src.Groups) > 1:
		r.Warn("%s: %d groups list this chat; the new one goes to %s", src.Label(), len(src.Groups), src.Groups[0].Path)
	}
	if src.HeaderKind == chat.None && src.Kind != userdir.Group && src.Body < src.Source.Size {
		r.Warn("%s: the chat has no header: SillyTavern takes its first line for one, so its message numbers are one lower", src.Label())
	}
	return nil
}

// unreadGroup returns the error of a group file that could not be read and may be the one that
// lists the chat, nil if there is none.
func unreadGroup(c *call, src *chat.Chat) error {
	if !src.HasDir {
		return nil
	}
	set, err := c.library.In(src.Dir)
	if err != nil || len(set.Bad) == 0 {
		return nil // opening the chat reported it
	}
	return ops.PathError(set.Bad[0])
}
