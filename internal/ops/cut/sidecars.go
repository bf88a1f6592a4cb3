package cut

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/extension"
	"stchat/internal/extension/luker"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/text/plural"
)

// sidecarsOf returns what Luker keeps beside a source, or kept beside the content that is taken for it.
func sidecarsOf(c *call, source string) []luker.Sidecar {
	folder := filepath.Dir(source)
	name := userdir.ChatName(source)
	if c.opt.Sidecars == nil {
		return c.library.Folder(folder).Sidecars(name)
	}
	var files []string
	for namespace := range c.opt.Sidecars {
		files = append(files, luker.SidecarName(name, namespace))
	}
	slices.Sort(files)
	return luker.Among(files, folder, name)
}

// cutSidecars drafts the new chat's sidecars once its last message is known.
func cutSidecars(opt *Options, set *changeset.Set, j *job, at int) error {
	doc := &j.res.Doc
	for _, s := range j.sidecars {
		path := filepath.Join(filepath.Dir(j.path), luker.SidecarName(j.name.File, s.Namespace))
		switch s.Kind {
		case luker.FloorLog:
			kept, dropped, err := j.cutLog(opt, set, s, path, at+1)
			if err != nil {
				return err
			}
			if kept == 0 {
				doc.sidecar(s.Path, SidecarEmpty)
				continue
			}
			doc.sidecar(path, SidecarCut)
			doc.State = append(doc.State, extension.Change{
				Extension: "luker", Change: fmt.Sprintf("%s: %d of %s kept", s.Namespace, kept, plural.S(kept+dropped, "commit")),
				What: extension.Kept, Things: "commit", Count: kept, Of: kept + dropped,
			})
		case luker.ChatSync:
			if doc.Integrity == nil {
				continue
			}
			slug := luker.SyncData(*doc.Integrity, opt.Changes.Now.UnixMilli())
			if err := ops.Create(set, path, "Luker's integrity of it", slug, changeset.Like(j.like(opt))); err != nil {
				return err
			}
			doc.sidecar(path, SidecarFresh)
		default:
			leave(s, "only its extension knows what it holds", j.res)
		}
	}
	return nil
}

// CopySidecars drafts, beside a new chat at path, what Luker keeps beside a chat all of whose messages
// the new one begins with: as a checkpoint at the last of them has it. The document must have the
// new chat's slug.
func CopySidecars(set *changeset.Set, src *chat.Chat, sidecars []luker.Sidecar, path string, messages int, now time.Time, r *Result) error {
	to := chatPath{path: path, name: names.Name{File: userdir.ChatName(path)}}
	j := &job{source: src.Path, src: src, res: r, plan: plan{chatPath: to, sidecars: sidecars}}
	opt := &Options{Changes: changeset.Options{Now: now}}
	return cutSidecars(opt, set, j, messages-1)
}

// LeaveSidecars lists sidecars that do not go with a new chat, and why.
func LeaveSidecars(sidecars []luker.Sidecar, why string, r *Result) {
	for _, s := range sidecars {
		leave(s, why, r)
	}
}

// cutLog drafts the floor log of a new chat that keeps the first messages of its source, or a part
// of them.
func (j *job) cutLog(opt *Options, set *changeset.Set, from luker.Sidecar, path string, messages int) (kept, dropped int, err error) {
	if opt.Sidecars != nil {
		log := bytes.NewReader(opt.Sidecars[from.Namespace])
		return j.cutLogOf(set, log, j.like(opt), from.Path, path, messages)
	}
	f, was, err := chat.OpenStamped(from.Path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	kept, dropped, err = j.cutLogOf(set, f, was, from.Path, path, messages)
	if err == nil {
		set.Rely(from.Path, was)
	}
	return kept, dropped, err
}

// cutLogOf is cutLog for a log that is open. from is its path, in errors.
func (j *job) cutLogOf(set *changeset.Set, log io.Reader, like safefile.Stamp, from, path string, messages int) (kept, dropped int, err error) {
	d, err := set.Create(path, "Luker's state of it", changeset.Like(like))
	if err != nil {
		return 0, 0, err
	}
	if j.part != nil {
		kept, dropped, err = j.part.cutLog(d, log)
	} else {
		kept, dropped, err = luker.Cut(d, log, messages)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", from, err)
	}
	if kept == 0 {
		set.Drop(d)
	}
	return kept, dropped, nil
}

// leave lists a sidecar that does not go with the new chat, and why.
func leave(s luker.Sidecar, why string, r *Result) {
	r.Doc.sidecar(s.Path, SidecarLeft)
	r.Tell(ops.Fact{Kind: ops.FactSidecarSource, Path: s.Path, Name: why})
}
