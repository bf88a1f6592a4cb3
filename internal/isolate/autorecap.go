package isolate

import (
	"fmt"
	"slices"
	"strings"

	"stchat/internal/extension/autorecap"
	"stchat/internal/plural"
	"stchat/internal/rawjson"
)

// autoRecap deals with ST-Auto-Recap (FORMATS.md B2, section 0 rules 8 and 9):
// versions of the running recap that come from later scenes go, chat_id follows the
// chat's name, and work in flight is forgotten. auto_lorebooks_processed_recaps and
// auto_recap_checkpoint_state have no rule; they stay, and are reported. What is in
// the messages is kept or dropped with them.
type autoRecap struct {
	recaps []int           // kept messages with a scene recap, in order
	at     int             // the last one kept
	scene  autorecap.Scene // its scene

	snapshot snapshot // of the last scene break that has one
	found    bool
}

// snapshot is where a scene break's note of the lorebook is found.
type snapshot struct {
	at     int // the message
	off    int64
	length int
	raw    []byte // the list itself, if the message is not as in the source
}

// recapFact is the fact about one message.
type recapFact struct {
	scene    autorecap.Scene
	noted    bool // the scene break counts and has a note of the lorebook
	snapshot snapshot
}

func (*autoRecap) Name() string    { return "auto_recap" }
func (*autoRecap) Owns() []string  { return autorecap.Keys() }
func (*autoRecap) Needs() []string { return []string{keyExtra} }

// markIn reads the mark of a message.
func markIn(m *Message) (autorecap.Mark, bool) {
	return autorecap.ReadMark(m.Extra(autorecap.Module), m.Extra(autorecap.DocumentedModule))
}

func (*autoRecap) Look(m *Message) any {
	mark, ok := markIn(m)
	if !ok {
		return nil
	}
	fact := recapFact{scene: mark.Scene()}
	if fact.scene.Break && !fact.scene.Hidden {
		var entries []byte
		if entries, fact.noted = mark.Entries(); fact.noted {
			var inSource bool
			if fact.snapshot.off, fact.snapshot.length, inSource = m.place(); !inSource {
				fact.snapshot.raw = slices.Clone(entries)
			}
		}
	}
	if fact.scene == (autorecap.Scene{}) {
		return nil
	}
	return fact
}

func (a *autoRecap) Keep(i int, fact any) {
	f, _ := fact.(recapFact)
	a.at, a.scene = i, f.scene
	if f.scene.Recap {
		a.recaps = append(a.recaps, i)
	}
	if f.noted {
		a.snapshot, a.found = f.snapshot, true
		a.snapshot.at = i
	}
}

func (*autoRecap) Later(any) {}

func (a *autoRecap) Apply(metadata *rawjson.Object, at Moment) []Change {
	r := &report{extension: a.Name()}
	a.running(metadata, at, r)
	if n := autorecap.ForgetPending(metadata); n > 0 {
		r.add("%s removed", plural.S(n, "pending operation"))
	}
	if count := autorecap.DropCombined(metadata, at.Messages()); count != "" {
		r.add("combined recap of %s messages removed", count)
	} else if at.Chat != "" && autorecap.OwnCombined(metadata, at.Chat) {
		r.add("chat_id of the combined recap set to %q", at.Chat)
	}
	for _, key := range autorecap.Unruled() {
		if metadata.Has(key) {
			r.add("%s left as it is at the end of the source: no rule says what it was at message %d", key, at.At)
		}
	}
	return r.changes
}

// running drops the versions of the running recap whose scene the branch lacks, or has
// without a recap, and makes the rest the branch's own.
func (a *autoRecap) running(metadata *rawjson.Object, at Moment, r *report) {
	pruned := autorecap.PruneRunning(metadata, func(v autorecap.Version) bool {
		scene, ok := v.Scene()
		_, found := slices.BinarySearch(a.recaps, scene)
		return ok && found
	})
	var said []string
	if pruned.Kept < pruned.Total {
		said = append(said, fmt.Sprintf("%d of %s kept", pruned.Kept, plural.S(pruned.Total, "version")))
	}
	if pruned.Now != "" {
		said = append(said, fmt.Sprintf("current %s → %s", pruned.Was, pruned.Now))
	}
	if len(said) > 0 {
		r.add("%s", strings.Join(said, ", "))
	}
	if at.Chat != "" && autorecap.OwnRunning(metadata, at.Chat) {
		r.add("chat_id set to %q", at.Chat)
	}
}

// report collects an adapter's changes.
type report struct {
	extension string
	changes   []Change
}

func (r *report) add(format string, args ...any) {
	r.changes = append(r.changes, Change{Extension: r.extension, Change: fmt.Sprintf(format, args...)})
}

// leave adds a value that stays because its value at N could not be found out.
func (r *report) leave(format string, args ...any) {
	r.add(format, args...)
	r.changes[len(r.changes)-1].Left = true
}
