package rules

import (
	"stchat/internal/autorecap"
	"stchat/internal/illustrator"
	"stchat/internal/rawjson"
)

// watch is what the metadata says of messages, beside what the messages themselves say: it
// is as large as the metadata, however long the chat is.
type watch struct {
	scenes   map[int]bool // that versions of the running recap are made at: whether the message has a recap
	registry *illustrator.Registry
	places   illustrator.Places
}

// newWatch reads what is to be watched for.
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

// mark is a marker of a prompt in a message; line and index are those in the batch.
type mark struct {
	id                    string
	number, column, index int
}
