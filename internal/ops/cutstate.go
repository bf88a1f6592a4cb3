package ops

import (
	"context"
	"errors"

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

// ErrRequirement says that a --require does not hold.
var ErrRequirement = errors.New("requirement does not hold")

// chatState is what a scan of the chat found about its state.
type chatState struct{}

// prepareState reads what isolation, snapshots and requirements need of the
// messages.
func (j *cutJob) prepareState(ctx context.Context) (*chatState, error) {
	_ = ctx
	return nil, nil
}

func (j *cutJob) snapshot(*chatState) (lorebook.Cloned, error) {
	return lorebook.Cloned{}, errors.New("not there yet")
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
func (j *cutJob) editMetadata(h *meta.Header, state *chatState) error {
	if err := j.mergeWith(h); err != nil {
		return err
	}
	meta.Apply(h.Metadata(), j.Edits)
	if !j.clones() {
		j.share(h.Metadata())
		return nil
	}
	return j.fillClone(state)
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
