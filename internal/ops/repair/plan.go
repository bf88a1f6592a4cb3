package repair

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/extension"
	"stchat/internal/extension/autorecap"
	"stchat/internal/extension/luker"
	"stchat/internal/folder/rules"
	"stchat/internal/json/metadiff"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/meta"
	"stchat/internal/ops"
	"stchat/internal/sillytavern/group"
)

// plan is what to do about one chat, or about one group file alone.
type plan struct {
	path   string      // of the chat or the group file
	chat   *rules.Chat // as judged with its header in front; nil: the plan is about a group file
	head               // how its header gets there; without a view if it is there already
	want   rules.Set   // rules to repair line by line
	wanted rules.Set   // the same, for lines that were not judged yet
	header []headerEdit
	notes  map[int][]string // branches to note, by the message they branch from
	links  rules.LinkRepair
	files  *rules.AttachmentRepair
	moved  *moved    // what files repairs; nil: nothing
	failed error     // why it could not tell what a chat is called now; the chat stays as it is
	state  rules.Set // by which to repair what extensions keep
	logs   bool      // floor logs lose the commits of messages that are not there
	slug   string    // the chat's new slug, set whatever is repaired; empty: keep the old one
	beside []luker.Sidecar

	groups groupEdits
	old    []oldMetadata // what goes from group files
	left   []string      // what was asked for but cannot be repaired

	// known once it is drafted
	done       actions
	keptOld    int    // actions that only keep old metadata: the chat stays as it is for them
	quarantine string // path; empty: nothing is taken out
	outcome    changeset.Outcome
}

// Complete implements [ops.Completer].
func (p *plan) Complete(o changeset.Outcome, _ bool) { p.outcome = o }

// headerEdit is a change to the header.
type headerEdit struct {
	rule   rules.ID
	change string
	do     func(h *meta.Header)
}

// isEmpty reports whether the chat's own file stays as it is.
func (p *plan) isEmpty() bool {
	if p.chat == nil {
		return true
	}
	readAsItIs := len(p.old) == 0 && p.chat.Reading == nil
	changesNothing := p.want.IsEmpty() && p.view == nil && len(p.header) == 0
	return readAsItIs && changesNothing && len(p.notes) == 0 && p.state.IsEmpty()
}

// unit returns the change of the plan's file and of what belongs to it.
func (p *plan) unit(opt *Options, files *quarantines) changeset.Unit {
	u := changeset.Unit{Root: changeset.RootOf(p.path)}
	for _, e := range p.groups {
		u.Shares = append(u.Shares, e.Path)
	}
	u.Draft = func(ctx context.Context, set *changeset.Set) error {
		lost := p.takenOut(opt, set, files)
		if !p.isEmpty() {
			if err := p.draft(ctx, opt, set, lost); err != nil {
				return err
			}
		}

		if p.logs {
			if err := p.cutLogs(set, lost); err != nil {
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

// takenOut returns the .damaged file of the plan's chat.
func (p *plan) takenOut(opt *Options, set *changeset.Set, files *quarantines) *quarantine {
	return &quarantine{chat: p.path, now: opt.Changes.Now, make: func() (io.Writer, error) {
		p.quarantine = files.name(p.path)
		return set.Create(p.quarantine, "what is taken out of the chat", changeset.Like(p.chat.Stamp), changeset.InFolder())
	}}
}

// draft drafts the repaired chat and what goes with it.
func (p *plan) draft(ctx context.Context, opt *Options, set *changeset.Set, lost *quarantine) error {
	file, src, err := openJudged(p.chat)
	if err != nil {
		return err
	}
	defer file.Close()
	out, err := set.Replace(p.chat.Path, p.chat.Stamp, "the chat")
	if err != nil {
		return err
	}
	whole := jsonl.Source{R: file, Size: p.chat.Stamp.Size()}
	if err := p.convert(whole, lost); err != nil {
		return err
	}
	pass, err := p.render(ctx, src, out, lost)
	if err != nil {
		return err
	}
	if p.moved != nil {
		p.left = append(p.left, p.moved.told()...)
		if err := p.moved.rely(set); err != nil {
			return err
		}
	}

	if p.takesOut() {
		if err := p.keepsAll(ctx, whole, pass.readable); err != nil {
			return err
		}
	}

	if p.done.total == p.keptOld {
		set.Drop(out)
		return nil
	}
	return ops.SyncSlugs(set, p.beside, p.slug, opt.Changes.Now, "the chat's new integrity, for Luker")
}

// takesOut reports whether damage goes to the .damaged file, and with it perhaps what could be read.
func (p *plan) takesOut() bool {
	return p.want.HasAny(onDamage()) || p.chat.Reading != nil && len(p.chat.Reading.Torn) > 0
}

// render writes the repaired chat. lines is its file, read as lines.
func (p *plan) render(ctx context.Context, lines jsonl.Source, out io.Writer, lost *quarantine) (*pass, error) {
	for i := range p.steps {
		s := &p.steps[i]
		p.done.add(s.step, s.change, s.before, s.after)
	}
	pass := &pass{plan: p, lost: lost, src: p.view.over(lines)}
	return pass, errors.Join(jsonl.Rewrite(ctx, out, pass.src, pass.edits(ctx)), lost.flush())
}

// forget removes the chat's metadata from group files.
func (p *plan) forget(files []*group.File) {
	for _, f := range files {
		e := p.groups.editOf(f.Path, f.Raw())
		e.Forget = append(e.Forget, p.chat.Name)
		if raw, ok := f.OldMetadata(p.chat.Name); ok {
			p.old = append(p.old, oldMetadata{f.Name, raw})
		}
	}
}

// oldMetadata is what a group file holds of a chat's metadata.
type oldMetadata struct {
	group string // its name
	raw   []byte
}

// isIn reports whether the chat's header has all of it.
func (o *oldMetadata) isIn(metadata *rawjson.Object) bool {
	old, err := rawjson.ParseObject(o.raw)
	if err != nil {
		return false
	}
	for _, key := range old.Keys() {
		if !metadiff.Equal(old.Value(key), metadata.Value(key)) {
			return false
		}
	}
	return true
}

// edit adds a change to the header.
func (p *plan) edit(id rules.ID, change string, do func(h *meta.Header)) {
	p.header = append(p.header, headerEdit{id, change, do})
}

// looksFor plans to write the addresses of attachments anew whose files are elsewhere.
func (p *plan) looksFor(files *attachments) {
	p.moved = &moved{all: files, left: map[rules.Attachment]bool{}}
	p.files = p.moved.repair()
	p.wanted = p.wanted.With(rules.SetOf(rules.MissingAttachment))
}

// ownRecap makes the running recap the chat's own.
func (p *plan) ownRecap(id rules.ID) {
	p.edit(id, "set chat_id of the running recap to this chat", func(h *meta.Header) {
		autorecap.SetRunningChat(h.Metadata(), p.chat.Name)
	})
}

// parent repairs main_chat, which leads to target if ok. Without a parent, Auto-Recap erases a
// running recap of another chat, so that recap is made this chat's own.
func (p *plan) parent(target string, ok bool, have, asked rules.Set) {
	c := p.chat
	var now string
	var renamed bool
	if !ok && have.Has(rules.DanglingMainChat) {
		now, renamed = p.links.Renamed(c.MainChat)
	}
	switch {
	case renamed && now == "":
	case renamed:
		p.edit(rules.DanglingMainChat, fmt.Sprintf("main_chat now names %q, since the parent that it named is not there", clip(now)), func(h *meta.Header) {
			h.Metadata().Set("main_chat", rawjson.Quote(now))
		})
	case !ok && have.Has(rules.DanglingMainChat) && asked.Has(rules.DanglingMainChat):
		p.edit(rules.DanglingMainChat, "removed main_chat, which named a chat that is not there", func(h *meta.Header) {
			h.Metadata().Unset("main_chat")
		})
		if c.ForeignRecap {
			p.ownRecap(rules.DanglingMainChat)
		}
	case ok && target != c.MainChat && have.Has(rules.UnsafeName):
		p.edit(rules.UnsafeName, "main_chat names the file as it is called", func(h *meta.Header) {
			h.Metadata().Set("main_chat", rawjson.Quote(target))
		})
	}
}

// keeping plans the repairing of what extensions keep. That is judged by the messages the chat
// has: if damaged lines may become messages in this run, it waits for the next.
func (p *plan) keeping(have, want rules.Set) {
	state := want.And(rules.OnState()) // repairing by one rule may create work for another
	if !have.HasAny(state) {
		return
	}
	if have.HasAny(mendedToMessages()) {
		for _, id := range rules.All() {
			if have.And(state).Has(id) {
				p.waits(id)
			}
		}
		return
	}

	p.state = state
}

// mendedToMessages returns the rules by which damaged lines may become messages.
func mendedToMessages() rules.Set { return rules.SetOf(rules.NUL, rules.InvalidJSON, rules.TornTail) }

// waits says that findings of a rule are left to the next run.
func (p *plan) waits(id rules.ID) {
	p.left = append(p.left, id.String()+": damaged lines are fixed first, and may become messages; repair once more")
}

// repairState repairs what extensions keep in the metadata. line, which may be nil, brings a message
// in step.
func (p *plan) repairState(metadata *rawjson.Object, now time.Time) (changes []rules.Change, line func([]byte) ([]byte, extension.Repaired)) {
	in := &extension.Repairing{
		Metadata: metadata, Messages: p.chat.Messages, Now: now,
		Wants: func(rule string) bool { return p.state.Has(rules.Named(rule)) },
		Note:  func(one extension.Repaired) { changes = append(changes, changeOf(one)) },
	}
	for _, e := range p.chat.Extensions {
		e.Repair(in)
	}
	return changes, in.Line
}

func changeOf(m extension.Repaired) rules.Change {
	return rules.Change{Rule: rules.Named(m.Rule), Text: m.Text, What: m.What, Lost: m.Lost}
}
