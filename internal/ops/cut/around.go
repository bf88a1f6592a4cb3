package cut

import (
	"fmt"
	"path/filepath"

	"stchat/internal/changeset"
	"stchat/internal/chat"
	"stchat/internal/extension"
	"stchat/internal/extension/luker"
	"stchat/internal/ops"
	"stchat/internal/plural"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// sidecarsOf returns the source's Luker sidecars (FORMATS.md A1, A2).
func sidecarsOf(c *call, src *chat.Chat, p *plan, r *Result) ([]luker.Sidecar, error) {
	if p.source == chat.Stdin {
		return nil, nil
	}
	folder := c.library.Folder(filepath.Dir(p.source))
	if p.beside && folder.Err != nil {
		return nil, ops.PathError(folder.Err)
	}
	list := folder.Sidecars(src.Name)
	if !p.beside {
		for _, s := range list {
			leave(s, "", r)
		}
		if len(list) > 0 {
			r.Warn("%s: the new chat is not beside its source, so Luker's state (%s) does not go with it", src.Label(), plural.S(len(list), "sidecar"))
		}
		return nil, nil
	}
	if left := folder.Sidecars(userdir.ChatName(p.path)); len(left) > 0 {
		return nil, fmt.Errorf("%s: there is Luker state of a chat of this name already, which the new chat would take for its own; remove it or choose another name", left[0].Path)
	}
	return list, nil
}

// cutSidecars drafts the new chat's sidecars once its last message is known.
func cutSidecars(opt *Options, set *changeset.Set, src *chat.Chat, p *plan, sidecars []luker.Sidecar, at int, r *Result) error {
	for _, s := range sidecars {
		path := filepath.Join(filepath.Dir(p.path), luker.SidecarName(p.name.File, s.Namespace))
		switch s.Kind {
		case luker.FloorLog:
			kept, dropped, err := cutLog(set, s.Path, path, at+1)
			if err != nil {
				return err
			}
			if kept == 0 {
				r.Doc.sidecar(s.Path, SidecarEmpty)
				continue
			}
			r.Doc.sidecar(path, SidecarCut)
			r.Doc.State = append(r.Doc.State, extension.Change{Extension: "luker", Change: fmt.Sprintf("%s: %d of %s kept", s.Namespace, kept, plural.S(kept+dropped, "commit"))})
		case luker.ChatSync:
			if r.Doc.Integrity == nil {
				continue
			}
			if err := ops.Create(set, path, "Luker's slug of it", luker.SyncData(*r.Doc.Integrity, opt.Changes.Now.UnixMilli()), changeset.Like(src.Stamp)); err != nil {
				return err
			}
			r.Doc.sidecar(path, SidecarFresh)
		default:
			leave(s, ": only its extension knows what it holds", r)
		}
	}
	return nil
}

// cutLog drafts the floor log of a new chat that keeps the first messages of its source.
func cutLog(set *changeset.Set, from, path string, messages int) (kept, dropped int, err error) {
	f, err := chat.OpenRegular(from)
	if err != nil {
		return 0, 0, ops.PathError(err)
	}
	defer f.Close()
	was, err := safefile.StampOf(f)
	if err != nil {
		return 0, 0, ops.PathError(err)
	}
	d, err := set.Create(path, "Luker's state of it", changeset.Like(was))
	if err != nil {
		return 0, 0, ops.PathError(err)
	}
	if kept, dropped, err = luker.Cut(d, f, messages); err != nil {
		return 0, 0, fmt.Errorf("%s: %w", from, err)
	}
	if kept == 0 {
		set.Drop(d)
	}
	set.Rely(from, was)
	return kept, dropped, nil
}

// leave lists a sidecar that does not go with the new chat, and why.
func leave(s luker.Sidecar, why string, r *Result) {
	r.Doc.sidecar(s.Path, SidecarLeft)
	r.Note("%s: %s%s", s.Path, SidecarLeft, why)
}

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
		return withKind(ErrGroupFile, ops.PathError(err))
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
