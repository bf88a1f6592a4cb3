package mend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"stchat/internal/changeset"
	"stchat/internal/chat"
	"stchat/internal/jsonl"
	"stchat/internal/luker"
	"stchat/internal/names"
	"stchat/internal/rules"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// drafted is what drafting one chat came to.
type drafted struct {
	told       told
	left       []string // what was asked for and could not be mended
	quarantine string   // path; empty: nothing is taken out
}

// unit is the change of one chat and what belongs to it.
func (p *plan) unit(opt *RepairOptions, files *quarantines, d *drafted) changeset.Unit {
	u := changeset.Unit{Root: changeset.RootOf(p.chat.Path)}
	for _, e := range p.groups {
		u.Shares = append(u.Shares, e.Path)
	}
	u.Draft = func(ctx context.Context, set *changeset.Set) error {
		if !p.isEmpty() {
			if err := p.draft(ctx, opt, set, files, d); err != nil {
				return err
			}
		}
		for _, e := range p.groups {
			if err := set.Edit(e.Path, safefile.Stamp{}, &e.Edit, "the group"); err != nil {
				return err
			}
		}
		return nil
	}
	return u
}

// draft drafts the chat as it is to be, and what goes with it.
func (p *plan) draft(ctx context.Context, opt *RepairOptions, set *changeset.Set, files *quarantines, d *drafted) error {
	file, src, err := openJudged(p.chat)
	if err != nil {
		return err
	}
	defer file.Close()
	out, err := set.Replace(p.chat.Path, p.chat.Stamp, "the chat")
	if err != nil {
		return err
	}
	lost := &quarantine{chat: p.chat.Path, now: opt.Now, make: func() (w io.Writer, err error) {
		w, d.quarantine, err = files.create(set, p.chat)
		return w, err
	}}
	if err := p.render(ctx, src, out, lost, d); err != nil {
		return err
	}
	if d.told.total == 0 {
		set.Drop(out)
		return nil
	}
	if p.sync == "" {
		return nil
	}
	// Luker reads the slug there first (FORMATS.md A1.6)
	data := luker.SyncData(p.slug, opt.Now.UnixMilli())
	same := changeset.Bytes(func([]byte) ([]byte, error) { return data, nil })
	return set.Edit(p.sync, safefile.Stamp{}, same, "the chat's new slug, for Luker")
}

// render writes the chat as it is to be.
func (p *plan) render(ctx context.Context, file jsonl.Source, out io.Writer, lost *quarantine, d *drafted) error {
	for i := range p.steps {
		s := &p.steps[i]
		d.told.add(s.step, text(s.change), s.before, s.after)
	}
	src := p.view.over(file)
	renamed, err := p.renamesIn(ctx, src)
	if err != nil {
		return err
	}
	pass := &pass{plan: p, told: &d.told, lost: lost, src: src, renamed: renamed}
	err = errors.Join(jsonl.Rewrite(ctx, out, pass.src, pass.edits(ctx)), lost.flush())
	d.left = pass.left
	return err
}

// openJudged opens a chat that must still be as it was judged.
func openJudged(c *rules.Chat) (file *os.File, src jsonl.Source, err error) {
	f, err := chat.OpenRegular(c.Path)
	if err != nil {
		return nil, src, err
	}
	stamp, err := safefile.StampOf(f)
	if err == nil && !stamp.Same(c.Stamp) {
		err = fmt.Errorf("%s: %w", c.Path, safefile.ErrChanged)
	}
	if err != nil {
		return nil, src, errors.Join(err, f.Close())
	}
	return f, jsonl.Source{R: f, Size: stamp.Size()}, nil
}

const (
	// tries is how many names are tried for a quarantine file.
	tries = 1000
	// longest is how many bytes its name has at most before a number.
	longest = 255 - len(".1000.damaged")
)

// quarantines finds names for the quarantine files of a call. It is safe for use
// by several goroutines at once.
type quarantines struct {
	folder string // empty: beside the chats
	mu     sync.Mutex
	taken  map[string]bool
}

// create drafts the quarantine file of a chat, which is as private as the chat.
func (q *quarantines) create(set *changeset.Set, c *rules.Chat) (w io.Writer, path string, err error) {
	path = q.name(c.Path)
	w, err = set.Create(path, "what is taken out of the chat", changeset.Like(c.Stamp), changeset.InFolder())
	return w, path, err
}

// name returns the first name that is free.
func (q *quarantines) name(chat string) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	folder := q.folder
	if folder == "" {
		folder = filepath.Dir(chat)
	}
	stem := filepath.Join(folder, names.Shorten(userdir.ChatName(chat), longest))
	path := stem + ".damaged"
	for i := 2; i <= tries; i++ {
		if _, err := os.Lstat(path); err != nil && !q.taken[path] {
			break // free, or trouble that creating it will meet
		}
		path = fmt.Sprintf("%s.%d.damaged", stem, i)
	}
	q.taken[path] = true
	return path
}
