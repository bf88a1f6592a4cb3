package follow

import (
	"fmt"
	"slices"
	"strconv"

	"stchat/internal/extension/autorecap"
	"stchat/internal/extension/illustrator"
	"stchat/internal/extension/memorybook"
	"stchat/internal/isolate"
	"stchat/internal/plural"
	"stchat/internal/rawjson"
)

// stepping brings chat_metadata in step with what [Look] found.
type stepping struct {
	state    *State
	change   *Change
	metadata *rawjson.Object
	changes  []isolate.Change
}

func (s *stepping) add(extension, format string, args ...any) {
	s.changes = append(s.changes, isolate.Change{Extension: extension, Change: fmt.Sprintf(format, args...)})
}

// lastInContext moves SillyTavern's mark of the first message that a prompt held
// (FORMATS.md E3.1).
func (s *stepping) lastInContext() {
	const key = "lastInContextMessageId"
	raw, ok := s.metadata.Get(key)
	n, isInt := rawjson.Int(raw)
	if !ok || !isInt || n < 0 || !s.change.Moves() {
		return
	}
	to, ok := s.change.up(n)
	switch {
	case !ok:
		s.metadata.Unset(key)
		s.add("core", "%s %d removed: no message is left there", key, n)
	case to != n:
		s.metadata.Set(key, strconv.AppendInt(nil, int64(to), 10))
		s.add("core", "%s %d → %d", key, n, to)
	}
}

// boundariesOf returns the starts and ends of timed effects, in order, each once.
func boundariesOf(metadata *rawjson.Object) []boundary {
	var at []int
	eachEffect(metadata, func(effect *rawjson.Object) bool {
		for _, key := range [...]string{"start", "end"} {
			if n, ok := rawjson.Int(effect.Value(key)); ok {
				at = append(at, n)
			}
		}
		return true
	}, nil)
	slices.Sort(at)
	at = slices.Compact(at)
	list := make([]boundary, len(at))
	for i, n := range at {
		list[i].at = n
	}
	return list
}

// eachEffect calls keep with each timed effect, removes those that it rejects, and puts
// back those that it edited. done, if not nil, is called for each kind with how many there
// were, are left, and were edited.
func eachEffect(metadata *rawjson.Object, keep func(effect *rawjson.Object) bool, done func(kind string, total, kept, edited int)) {
	metadata.Edit(func(timed *rawjson.Object) {
		for _, kind := range [...]string{"sticky", "cooldown"} {
			timed.Edit(func(effects *rawjson.Object) {
				total, edited := effects.Len(), 0
				for _, key := range effects.Keys() {
					effect, ok := effects.Object(key)
					switch {
					case !ok:
					case !keep(effect):
						effects.Unset(key)
					case effect.Edited():
						edited++
						effects.Set(key, effect.Bytes())
					}
				}
				if done != nil {
					done(kind, total, effects.Len(), edited)
				}
			}, kind)
		}
	}, "timedWorldInfo")
}

// timed moves the starts and ends of timed effects with the visible messages before them,
// so that the number of remaining turns stays, and drops effects of replies that are gone
// (FORMATS.md section 0 rule 5, E3.2).
func (s *stepping) timed() {
	left := s.state.visible + s.state.shows - s.state.hides
	keep := func(effect *rawjson.Object) bool {
		raw := effect.Value("start")
		start, ok := rawjson.Int(raw)
		if !ok {
			return true
		}
		protected := effect.Value("protected")
		late := func(start, visible int) bool {
			return start > visible || start == visible && !rawjson.Truthy(protected)
		}
		to := start + s.state.moved(start)
		judged := to
		if s.change.Tail() {
			judged = start
		}
		if s.state.hides > 0 && late(judged, left) && (s.change.Tail() || !late(start, s.state.visible)) {
			return false
		}
		move := func(key string, from, to int) {
			if from != to {
				effect.Set(key, strconv.AppendInt(nil, int64(to), 10))
			}
		}
		move("start", start, to)
		raw = effect.Value("end")
		if end, ok := rawjson.Int(raw); ok {
			move("end", end, end+s.state.moved(end))
		}
		return true
	}
	eachEffect(s.metadata, keep, func(kind string, total, kept, edited int) {
		if kept < total {
			s.add("core", "%d of %s kept at %s", kept, plural.S(total, kind+" effect"), plural.S(left, "visible message"))
		}
		if edited > 0 {
			s.add("core", "%s moved with the messages before it", plural.S(edited, kind+" effect"))
		}
	})
}

// recap brings Auto-Recap's metadata in step (FORMATS.md B2.2).
func (s *stepping) recap() {
	const name = "auto_recap"
	c := s.change
	if len(c.Gone) > 0 {
		pruned := autorecap.PruneRunning(s.metadata, func(v autorecap.Version) bool {
			scene, ok := v.Scene()
			if c.Tail() {
				return ok && !c.goes(scene) && s.state.hasRecap(scene)
			}
			return !ok || !c.goes(scene)
		})
		if pruned.Kept < pruned.Total {
			s.add(name, "%d of %s kept", pruned.Kept, plural.S(pruned.Total, "version"))
		}
		if pruned.Now != "" {
			s.add(name, "current %s → %s", pruned.Was, pruned.Now)
		}
	}
	if c.Moves() {
		moved := autorecap.MoveScenes(s.metadata, c.Map, func(i int) int {
			to, ok := c.down(i)
			if !ok {
				return 0
			}
			return to
		})
		if moved > 0 {
			s.add(name, "%s of the running recap: scene indexes moved", plural.S(moved, "version"))
		}
	}
	if count := autorecap.DropCombined(s.metadata, c.Left()); count != "" {
		s.add(name, "combined recap of %s messages removed", count)
	} else if _, ok := autorecap.CombinedIn(s.metadata); ok && len(c.Gone) > 0 {
		s.add(name, "the combined recap is left as it is")
	}
}

// memoryBook brings the marks of STMemoryBooks in step.
func (s *stepping) memoryBook() {
	c := s.change
	if !c.Moves() {
		return
	}
	for _, change := range memorybook.Move(s.metadata, c.Messages, func(i int) (int, bool) { return c.Map(i), !c.goes(i) }, c.down) {
		s.add(memorybook.Key, "%s", change)
	}
}

// illustrator brings Auto-Illustrator's registry in step: prompts of messages that go are
// dropped as isolate drops them (FORMATS.md C3), and those of messages that move get the
// new index and id.
func (s *stepping) illustrator() {
	const name = illustrator.Key
	c := s.change
	if !c.Moves() {
		return
	}
	did := (&illustrator.Edit{
		Gone: s.state.nodes.gone, Renamed: s.state.nodes.renamed, Images: len(c.Gone) > 0,
		Move: func(_ string, message int) int {
			if message < c.Messages {
				return c.Map(message)
			}
			return message
		},
	}).Apply(s.metadata)
	illustrator.MoveOpen(s.metadata, c.Messages, func(message int) (int, bool) { return c.Map(message), !c.goes(message) }, nil)
	if did.Gone > 0 {
		s.add(name, "%d of %s kept", did.Prompts-did.Gone, plural.S(did.Prompts, "prompt"))
	}
	if did.ImagesGone > 0 {
		s.add(name, "%s removed", plural.S(did.ImagesGone, "image"))
	}
	if did.Moved > 0 {
		s.add(name, "%s moved with their messages", plural.S(did.Moved, "prompt"))
	}
	for _, id := range s.state.nodes.kept {
		s.add(name, "the prompt %s keeps its id: another prompt has the one it would get", id)
	}
}
