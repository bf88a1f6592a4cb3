package follow

import (
	"fmt"
	"slices"
	"strconv"

	"stchat/internal/autorecap"
	"stchat/internal/isolate"
	"stchat/internal/memorybook"
	"stchat/internal/plural"
	"stchat/internal/rawjson"
)

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// Metadata brings chat_metadata in step, and says what changed.
func (s *State) Metadata(metadata *rawjson.Object) []isolate.Change {
	r := &report{}
	s.lastInContext(metadata, r)
	s.timed(metadata, r)
	s.recap(metadata, r)
	s.illustrator(metadata, r)
	s.memoryBook(metadata, r)
	if s.operated {
		r.changes = append(r.changes, isolate.Variables(metadata, &s.variables)...)
	}
	return r.changes
}

type report struct{ changes []isolate.Change }

func (r *report) add(extension, format string, args ...any) {
	r.changes = append(r.changes, isolate.Change{Extension: extension, Change: fmt.Sprintf(format, args...)})
}

// lastInContext moves SillyTavern's mark of the first message that a prompt held
// (FORMATS.md E3.1).
func (s *State) lastInContext(metadata *rawjson.Object, r *report) {
	const key = "lastInContextMessageId"
	raw, ok := metadata.Get(key)
	n, isInt := rawjson.Int(raw)
	if !ok || !isInt || n < 0 || !s.change.Moves() {
		return
	}
	to, ok := s.change.up(n)
	switch {
	case !ok:
		metadata.Unset(key)
		r.add("core", "%s %d removed: no message is left there", key, n)
	case to != n:
		metadata.Set(key, strconv.AppendInt(nil, int64(to), 10))
		r.add("core", "%s %d → %d", key, n, to)
	}
}

// boundariesOf lists the starts and ends of timed effects, in order, each once.
func boundariesOf(metadata *rawjson.Object) []boundary {
	var at []int
	eachEffect(metadata, func(effect *rawjson.Object) bool {
		for _, key := range [...]string{"start", "end"} {
			raw, _ := effect.Get(key)
			if n, ok := rawjson.Int(raw); ok {
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

// eachEffect hands out the timed effects and puts back those that changed; one that keep
// refuses goes. done, where it is given, gets each kind with how many there were and are.
func eachEffect(metadata *rawjson.Object, keep func(effect *rawjson.Object) bool, done func(kind string, total, kept, edited int)) {
	timed, ok := metadata.Object("timedWorldInfo")
	if !ok {
		return
	}
	for _, kind := range [...]string{"sticky", "cooldown"} {
		effects, ok := timed.Object(kind)
		if !ok {
			continue
		}
		total, edited := effects.Len(), 0
		for _, key := range effects.Keys() {
			effect, ok := effects.Object(key)
			if !ok {
				continue
			}
			switch {
			case !keep(effect):
				effects.Unset(key)
			case effect.Edited():
				edited++
				effects.Set(key, effect.Bytes())
			}
		}
		if effects.Edited() {
			timed.Set(kind, effects.Bytes())
		}
		if done != nil {
			done(kind, total, effects.Len(), edited)
		}
	}
	if timed.Edited() {
		metadata.Set("timedWorldInfo", timed.Bytes())
	}
}

// timed moves the starts and ends of timed effects with the visible messages before them,
// so that the turns which remain stay, and drops effects of replies that are gone
// (FORMATS.md section 0 rule 5, E3.2).
func (s *State) timed(metadata *rawjson.Object, r *report) {
	left := s.visible + s.shows - s.hides
	keep := func(effect *rawjson.Object) bool {
		raw, _ := effect.Get("start")
		start, ok := rawjson.Int(raw)
		if !ok {
			return true
		}
		protected, _ := effect.Get("protected")
		late := func(start, visible int) bool {
			return start > visible || start == visible && !rawjson.Truthy(protected)
		}
		to := start + s.moved(start)
		judged := to
		if s.change.Tail() {
			judged = start
		}
		if s.hides > 0 && late(judged, left) && (s.change.Tail() || !late(start, s.visible)) {
			return false
		}
		move := func(key string, from, to int) {
			if from != to {
				effect.Set(key, strconv.AppendInt(nil, int64(to), 10))
			}
		}
		move("start", start, to)
		raw, _ = effect.Get("end")
		if end, ok := rawjson.Int(raw); ok {
			move("end", end, end+s.moved(end))
		}
		return true
	}
	eachEffect(metadata, keep, func(kind string, total, kept, edited int) {
		if kept < total {
			r.add("core", "%d of %s kept at %s", kept, plural.S(total, kind+" effect"), plural.S(left, "visible message"))
		}
		if edited > 0 {
			r.add("core", "%s moved with the messages before it", plural.S(edited, kind+" effect"))
		}
	})
}

// recap brings Auto-Recap's metadata in step (FORMATS.md B2.2).
func (s *State) recap(metadata *rawjson.Object, r *report) {
	const name = "auto_recap"
	c := s.change
	if len(c.Gone) > 0 {
		pruned := autorecap.PruneRunning(metadata, func(v autorecap.Version) bool {
			scene, ok := v.Scene()
			if c.Tail() {
				return ok && !c.goes(scene) && s.hasRecap(scene)
			}
			return !ok || !c.goes(scene)
		})
		if pruned.Kept < pruned.Total {
			r.add(name, "%d of %s kept", pruned.Kept, plural.S(pruned.Total, "version"))
		}
		if pruned.Now != "" {
			r.add(name, "current %s → %s", pruned.Was, pruned.Now)
		}
	}
	if c.Moves() {
		moved := autorecap.MoveScenes(metadata, c.Map, func(i int) int {
			to, ok := c.down(i)
			if !ok {
				return 0
			}
			return to
		})
		if moved > 0 {
			r.add(name, "%s of the running recap: scene indexes moved", plural.S(moved, "version"))
		}
	}
	if count := autorecap.DropCombined(metadata, c.Left()); count != "" {
		r.add(name, "combined recap of %s messages removed", count)
	} else if _, ok := autorecap.CombinedIn(metadata); ok && len(c.Gone) > 0 {
		r.add(name, "the combined recap is left as it is")
	}
}

// memoryBook brings the marks of STMemoryBooks in step.
func (s *State) memoryBook(metadata *rawjson.Object, r *report) {
	c := s.change
	if !c.Moves() {
		return
	}
	for _, change := range memorybook.Move(metadata, c.Messages, func(i int) (int, bool) { return c.Map(i), !c.goes(i) }, c.down) {
		r.add(memorybook.Key, "%s", change)
	}
}
