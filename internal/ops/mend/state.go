package mend

import (
	"context"
	"errors"
	"fmt"
	"time"

	"stchat/internal/extension/autorecap"
	"stchat/internal/extension/illustrator"
	"stchat/internal/extension/memorybook"
	"stchat/internal/jsonl"
	"stchat/internal/meta"
	"stchat/internal/rawjson"
	"stchat/internal/rules"
)

// stateMender mends what extensions keep in a chat's metadata.
type stateMender struct {
	want     rules.Set
	messages int
	facts    rules.State
	now      time.Time
}

// mend edits the metadata rule by rule; rules that affect how others judge come first. It
// returns the changed ids of prompts, for the markers in the messages.
func (m *stateMender) mend(metadata *rawjson.Object) (changes []change, renamed illustrator.Renames) {
	note := func(id rules.ID, text, what string, lost []byte) {
		changes = append(changes, change{rule: id, text: text, what: what, lost: lost})
	}
	if m.want.Has(rules.PendingOld) {
		autorecap.DropPending(metadata, m.now, func(name string, raw []byte) {
			what := "the pending operation " + clip(name)
			note(rules.PendingOld, "removed "+what, what, raw)
		})
	}
	m.versions(metadata, note)
	if m.want.Has(rules.MemoryBook) {
		for _, c := range memorybook.Trim(metadata, m.messages) {
			note(rules.MemoryBook, c.String(), c.Key, c.Was)
		}
	}
	prompts := func(id rules.ID, list []illustrator.Change) {
		for _, c := range list {
			note(id, c.Text, c.What, c.Lost)
		}
	}
	if m.want.Has(rules.PromptShape) {
		prompts(rules.PromptShape, illustrator.FixShape(metadata))
	}
	if m.want.Has(rules.BeyondEnd) {
		m.beyond(metadata, note)
	}
	if m.want.Has(rules.PromptDangling) {
		prompts(rules.PromptDangling, illustrator.FixDangling(metadata))
	}
	if m.want.Has(rules.PromptDrift) {
		var list []illustrator.Change
		list, renamed = illustrator.FixDrift(metadata, m.facts.Places)
		prompts(rules.PromptDrift, list)
	}
	return changes, renamed
}

// versions mends the versions of the running recap.
func (m *stateMender) versions(metadata *rawjson.Object, note func(id rules.ID, text, what string, lost []byte)) {
	running, ok := autorecap.RunningIn(metadata)
	if !ok {
		return
	}
	bad := func(v autorecap.Version) (id rules.ID, is bool) {
		scene, ok := v.SceneNumber()
		switch {
		case ok && scene >= float64(m.messages):
			return rules.BeyondEnd, m.want.Has(rules.BeyondEnd)
		case ok && scene == float64(int(scene)) && m.facts.Scenes[int(scene)]:
			return 0, false
		}
		return rules.RecapScene, m.want.Has(rules.RecapScene)
	}
	some, why := false, rules.RecapScene
	for version := range running.Versions() {
		if id, is := bad(version); is && !some {
			some, why = true, id
		}
	}
	if some {
		pruned := autorecap.PruneRunning(metadata, func(v autorecap.Version) bool {
			id, is := bad(v)
			if is {
				what := fmt.Sprintf("version %s of the running recap", clip(string(v.NumberText())))
				note(id, "removed "+what, what, v.Raw())
			}
			return !is
		})
		if pruned.Now != "" {
			note(why, fmt.Sprintf("current_version %s → %s", clip(pruned.Was), pruned.Now), "", nil)
		}
	}
	if m.want.Has(rules.BeyondEnd) {
		autorecap.ClampScenes(metadata, m.messages, func(raw []byte) {
			note(rules.BeyondEnd, fmt.Sprintf("prev_scene_index %s is the last message", clip(string(raw))), "prev_scene_index", raw)
		})
	}
	if m.want.Has(rules.RecapVersion) {
		m.current(metadata, note)
	}
}

// current makes the newest version the current one if there is none, as
// delete_running_recap_version does.
func (m *stateMender) current(metadata *rawjson.Object, note func(id rules.ID, text, what string, lost []byte)) {
	running, _ := autorecap.RunningIn(metadata)
	newest := running.Newest()
	is, isNumber := rawjson.Float(running.Current())
	for version := range running.Versions() {
		if number, ok := version.Number(); ok && isNumber && number == is {
			return
		}
	}
	if newest == nil {
		return
	}
	was, lost := "nothing", running.Current()
	if lost != nil {
		was = string(lost)
	}
	note(rules.RecapVersion, fmt.Sprintf("current_version %s → %s, the newest", clip(was), clip(string(newest))), "current_version", lost)
	autorecap.SetCurrent(metadata, newest)
}

// beyond removes what Auto-Illustrator keeps of messages beyond the last one.
func (m *stateMender) beyond(metadata *rawjson.Object, note func(id rules.ID, text, what string, lost []byte)) {
	illustrator.Prune(metadata, m.messages, func(what string, raw []byte) { note(rules.BeyondEnd, "removed "+what, what, raw) })
	same := func(message int) (int, bool) { return message, true }
	illustrator.MoveOpen(metadata, m.messages, same, func(raw []byte) {
		note(rules.BeyondEnd, "closed the message "+clip(string(raw))+" in the gallery", "a message open in the gallery", raw)
	})
}

// renames returns which prompts get a new id, before the messages are read.
func (m *stateMender) renames(ctx context.Context, src jsonl.Source) (illustrator.Renames, error) {
	if m == nil || !m.want.Has(rules.PromptDrift) {
		return nil, nil
	}
	var renamed illustrator.Renames
	err := jsonl.Each(ctx, src, jsonl.MapOptions{Keys: jsonl.NewKeys()}, func(l *jsonl.Line, _ jsonl.Base) error {
		if l.Damage != nil {
			return nil
		}
		if h, err := meta.Parse(l.Raw); err == nil {
			_, renamed = m.mend(h.Metadata())
		}
		return errEnough
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return renamed, err
}
