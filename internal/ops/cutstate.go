package ops

import (
	"context"
	"errors"
	"fmt"

	"stchat/internal/isolate"
	"stchat/internal/lorebook"
	"stchat/internal/meta"
	"stchat/internal/rawjson"
)

// Ways to take the chat's lorebook.
const (
	LorebookShare    = "share"
	LorebookClone    = "clone"
	LorebookSnapshot = "snapshot"
)

// StateOptions says what of the state outside the messages a new chat shares
// with its source.
type StateOptions struct {
	Lorebook string            // LorebookShare, LorebookClone or LorebookSnapshot
	Internal lorebook.Internal // what a clone does with extension-internal entries
	Drop     []string          // globs of comments that a clone leaves out
	Isolate  bool              // extension state as it was at the last message
	Require  []string          // what must hold at the last message
}

// needsFacts tells whether the messages' state must be known before the header
// can be written.
func (s StateOptions) needsFacts() bool {
	return s.Isolate || len(s.Require) > 0 || s.Lorebook == LorebookSnapshot
}

// scanState reads what isolation, snapshots and requirements need of the
// messages, in one pass, and settles which message is the last; nil where
// nothing is needed.
func (j *cutJob) scanState(ctx context.Context) (*isolate.Facts, error) {
	if !j.State.needsFacts() {
		return nil, nil
	}
	c := j.chat
	at := j.At
	if j.at >= 0 {
		at = j.at
	}
	facts, err := isolate.Scan(ctx, c.Source, isolate.Options{
		From: c.Body, Line: c.BodyLine, At: at, Workers: inner(len(j.jobs)), Progress: j.Meter.Follow(),
	})
	out, outOfRange := errors.AsType[*isolate.RangeError](err)
	if err != nil && !outOfRange {
		return nil, c.Errorf("%w", err)
	}
	if at < 0 {
		// the copy stops at the last message and does not see what is behind it
		if j.counted, j.damage = true, facts.Damage; len(j.damage) > 0 && !j.SkipDamaged {
			return nil, j.damaged(j.damage[0])
		}
	}
	if outOfRange {
		return nil, j.outOfRange(out.Messages)
	}
	j.at = facts.At
	if j.Swipe < 0 {
		return facts, nil
	}
	// the state at N is that of the swipe that is chosen
	if _, err := j.copy(ctx, nil); err != nil {
		return nil, err
	}
	line, err := j.chosen()
	if err != nil {
		return nil, err
	}
	facts.Choose(line)
	return facts, nil
}

// isolate gives the metadata the state it had at the last message.
func (j *cutJob) isolate(md *rawjson.Object, facts *isolate.Facts) {
	if j.State.Isolate {
		j.changed(facts.Apply(md, j.name.File))
	}
}

func (j *cutJob) changed(changes []isolate.Change) {
	for _, ch := range changes {
		j.res.State = append(j.res.State, StateChange{ch.Extension, ch.Change})
	}
}

// snapshot makes the lorebook as of the nearest scene break.
func (j *cutJob) snapshot(facts *isolate.Facts) (lorebook.Cloned, error) {
	noted, at, ok, err := facts.Snapshot(j.chat.Source)
	if err != nil {
		return lorebook.Cloned{}, err
	}
	if !ok {
		return lorebook.Cloned{}, fmt.Errorf("there is no snapshot of it: no visible scene break at or before message %d has a scene recap with allEntries; --lorebook clone takes the book as it is now", j.at)
	}
	made, err := j.book.from.Snapshot(noted, lorebook.SnapshotOptions{Name: j.book.name, Internal: j.State.Internal, Drop: j.State.Drop})
	if err == nil {
		j.changed([]isolate.Change{{Extension: "auto_recap", Change: fmt.Sprintf("lorebook as of the scene break at message %d", at)}})
	}
	return made, err
}

// mergeWith takes the object of --merge or --replace into the metadata.
func (j *cutJob) mergeWith(h *meta.Header) error {
	switch {
	case j.With == nil:
		return nil
	case j.Replace:
		return h.Replace(j.With)
	default:
		return meta.Merge(h.Metadata(), j.With)
	}
}

// editMetadata makes the changes that were asked for: the object, the state as
// of the last message, the single keys, the lorebook.
func (j *cutJob) editMetadata(h *meta.Header, facts *isolate.Facts) error {
	if err := j.mergeWith(h); err != nil {
		return err
	}
	md := h.Metadata()
	j.isolate(md, facts)
	if err := j.judge(md, facts); err != nil {
		return err
	}
	meta.Apply(md, j.Edits)
	if !j.clones() {
		j.share(md)
		return nil
	}
	return j.clone(md, facts)
}

// orphan makes an Auto-Recap store safe in a chat without a parent: its
// extension erases a recap whose chat_id is foreign where there is no
// main_chat (FORMATS.md B2.1).
func (j *cutJob) orphan(md *rawjson.Object) {
	const key, id = "auto_recap_running_scene_recaps", "chat_id"
	store, ok := md.Get(key)
	if !ok || rawjson.KindOf(store) != rawjson.ObjectKind {
		return
	}
	if j.name.File == "" {
		j.res.warn("%s: without main_chat Auto-Recap erases the recap in the new chat, unless its chat_id is the name the file gets", j.chat.Label())
		return
	}
	raw, _ := rawjson.Lookup(store, id)
	if old, _ := rawjson.Unquote(raw); old == j.name.File {
		return
	}
	set, err := rawjson.SetPath(store, rawjson.Quote(j.name.File), id)
	if err != nil {
		return // not an object, so no store of the extension's
	}
	md.Set(key, set)
	j.res.warn("%s: without main_chat Auto-Recap would erase the recap in the new chat, so its chat_id is set to %q", j.chat.Label(), j.name.File)
}
