package rules

import (
	"stchat/internal/extension/autorecap"
	"stchat/internal/extension/illustrator"
	"stchat/internal/rawjson"
)

// watch is what the metadata says about messages, and what the messages themselves say. Its
// size follows the metadata, not the chat's length.
type watch struct {
	scenes   map[int]bool // by message at which a version of the running recap is made: whether it has a scene recap
	registry *illustrator.Registry
	places   illustrator.Places
}

// newWatch reads from the metadata what to watch for.
func newWatch(metadata *rawjson.Object) watch {
	w := watch{scenes: map[int]bool{}, registry: illustrator.Read(metadata), places: illustrator.Places{}}
	running, _ := autorecap.RunningIn(metadata)
	for version := range running.Versions() {
		if scene, ok := version.Scene(); ok {
			w.scenes[scene] = false
		}
	}
	return w
}

// mark is a marker of a prompt in a message; number and index are counted in the batch.
type mark struct {
	id                    string
	number, column, index int
}
