package move

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"stchat/internal/changeset"
	"stchat/internal/chat"
	"stchat/internal/family"
	"stchat/internal/jsonl"
	"stchat/internal/library"
	"stchat/internal/luker"
	"stchat/internal/ops"
	"stchat/internal/plural"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
)

// drafter drafts the changes of a naming.
type drafter struct {
	n *naming
	s *changeset.Set
}

// draft drafts what was collected: the files that are renamed, moved or deleted, and those
// that name them.
func (d drafter) draft(ctx context.Context) error {
	slices.Sort(d.n.order)
	for _, c := range d.n.folder.graph.Chats {
		if _, ok := d.n.to[c]; ok {
			if err := d.draftOwn(ctx, c); err != nil {
				return err
			}
		}
	}
	for _, path := range d.n.order {
		e := d.n.files[path]
		if e.chat != nil {
			if _, moves := d.n.path[e.chat]; moves {
				continue
			}
		}
		if err := d.draftNames(path, e); err != nil {
			return err
		}
	}
	d.warnDamaged(ctx)
	return nil
}

// draftOwn drafts the file of a chat that is renamed, moved or deleted, and its sidecars.
func (d drafter) draftOwn(ctx context.Context, c *family.Chat) error {
	to := d.n.path[c]
	about := fmt.Sprintf("the chat %q", c.Name)
	var lines chat.Lines
	if e := d.n.files[c.Path]; e != nil && to != "" {
		lines = linesOf(d.n, e)
		d.n.r.Doc.Edits = append(d.n.r.Doc.Edits, Edited{c.Path, "names", e.count})
	}
	var err error
	switch {
	case to == c.Path && len(lines) == 0:
	case to == c.Path:
		err = d.s.Edit(c.Path, safefile.Stamp{}, changeset.Joined(lines), plural.S(len(lines), "name"))
	case to == "":
		err = d.s.Remove(c.Path, c.Stamp, about)
	case len(lines) == 0 && !d.n.noFolder:
		err = d.s.Move(c.Path, to, c.Stamp, about)
	default:
		err = rewritten(ctx, c, to, lines, about, d.s)
	}
	if err != nil {
		return ops.PathError(err)
	}
	if to == c.Path {
		return nil
	}
	for _, sidecar := range d.n.folder.graph.Folder.Sidecars(c.Name) {
		stamp, err := safefile.StampPath(sidecar.Path)
		if err != nil {
			return ops.PathError(err)
		}
		about := fmt.Sprintf("Luker's %s of it", sidecar.Namespace)
		if to == "" {
			err = d.s.Remove(sidecar.Path, stamp, about)
		} else {
			err = d.s.Move(sidecar.Path, sidecarTarget(to, d.n.to[c], sidecar.Namespace), stamp, about)
		}
		if err != nil {
			return ops.PathError(err)
		}
	}
	return nil
}

// rewritten drafts a chat under another name with edits in it, in a folder that may be new.
func rewritten(ctx context.Context, c *family.Chat, to string, lines chat.Lines, about string, s *changeset.Set) error {
	f, err := safefile.Open(c.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	d, err := s.Create(to, about, changeset.Like(c.Stamp), changeset.InFolder())
	if err != nil {
		return err
	}
	if err := lines.Render(ctx, d, f, c.Stamp.Size()); err != nil {
		return fmt.Errorf("%s: %w", c.Path, err)
	}
	return s.Remove(c.Path, c.Stamp, about)
}

// draftNames drafts a file in which names change.
func (d drafter) draftNames(path string, e *fileEdit) error {
	d.n.r.Doc.Edits = append(d.n.r.Doc.Edits, Edited{path, "names", e.count})
	about := plural.S(e.count, "name")
	if e.chat == nil {
		return ops.PathError(d.s.Edit(path, safefile.Stamp{}, bytesOf(d.n, path, e), about))
	}
	lines, err := withNewSlug(linesOf(d.n, e), d.n.folder.opt, d.n.folder.graph.Folder, e.chat.Name, d.s)
	if err != nil {
		return ops.PathError(err)
	}
	return ops.PathError(d.s.Edit(path, safefile.Stamp{}, changeset.Joined(lines), about))
}

// withNewSlug adds a new slug to the edits of a chat that is edited in place, if that is
// asked for or the chat has sidecars. It also drafts it in the sidecar where Luker looks
// first.
func withNewSlug(lines chat.Lines, opt *Options, f *library.Folder, name string, s *changeset.Set) (chat.Lines, error) {
	sidecars := f.Sidecars(name)
	if !opt.BumpIntegrity && len(sidecars) == 0 {
		return lines, nil
	}
	slug := opt.NewUUID()
	for _, sidecar := range sidecars {
		if sidecar.Kind == luker.ChatSync {
			if err := ops.SyncSlug(s, sidecar.Path, slug, opt.Changes.Now, ops.NewSlug); err != nil {
				return nil, err
			}
		}
	}
	return append(lines, chat.LineEdit{Index: chat.HeaderIndex, Do: headerDo(func(md *rawjson.Object) { md.Set("integrity", rawjson.Quote(slug)) })}), nil
}

// warnDamaged warns of damaged lines, in chats that stay where they are, that contain a name
// that changes or goes: these lines are not edited.
func (d drafter) warnDamaged(ctx context.Context) {
	if d.n.keep {
		return
	}
	var names [][]byte
	for c, to := range d.n.to {
		if to != c.Name || d.n.elsewhere != nil {
			names = append(names, rawjson.Quote(c.Name))
		}
	}
	for _, c := range d.n.folder.graph.Chats {
		if c.Damaged == 0 || !d.n.stays(c) {
			continue
		}
		for _, line := range d.damagedWith(ctx, c, names) {
			d.n.r.Warn("%s:%d: this damaged line contains the old name, and stays as it is", c.Path, line)
		}
	}
}

// damagedWith returns the numbers of a chat's damaged lines that contain one of the names.
func (d drafter) damagedWith(ctx context.Context, c *family.Chat, names [][]byte) (lines []int) {
	file, err := chat.Open(ctx, c.Path, chat.Options{Groups: d.n.folder.lib})
	if err != nil {
		return nil
	}
	defer file.Close()
	_ = jsonl.Map(ctx, file.Source, jsonl.MapOptions{Limit: -1, Keys: jsonl.NewKeys(), Workers: 1}, func(l *jsonl.Line, found *[]int) {
		if l.Damage != nil && slices.ContainsFunc(names, func(name []byte) bool { return bytes.Contains(l.Raw, name) }) {
			*found = append(*found, l.Number)
		}
	}, func(found *[]int, base jsonl.Base, _ jsonl.Damages) error {
		for _, number := range *found {
			lines = append(lines, base.Line+number+1)
		}
		return nil
	}, func(found *[]int) { *found = (*found)[:0] })
	return lines
}
