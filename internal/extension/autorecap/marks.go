package autorecap

import (
	"stchat/internal/message"
	"stchat/internal/rawjson"
)

// MoveMarks returns a message with the indexes in its marks moved: startIdx by start and
// endIdx by end, in the versions of scene_recap_metadata and in stage1_lorebook_metadata, of
// extra and of every swipe's extra (operationHandlers.js reads them). It returns line itself
// if there is nothing to move.
func MoveMarks(line []byte, start, end func(index int) int) []byte {
	return message.EditExtras(line, func(extra *rawjson.Object) {
		for _, key := range [...]string{Module, DocumentedModule} {
			extra.Edit(func(mark *rawjson.Object) {
				mark.Edit(func(versions *rawjson.Object) {
					for _, version := range versions.Keys() {
						moveRange(versions, version, start, end)
					}
				}, "scene_recap_metadata")
				moveRange(mark, "stage1_lorebook_metadata", start, end)
			}, key)
		}
	})
}

// moveRange moves startIdx and endIdx of the object under a key.
func moveRange(o *rawjson.Object, key string, start, end func(index int) int) {
	o.Edit(func(ranged *rawjson.Object) {
		moveIndex(ranged, "startIdx", start)
		moveIndex(ranged, "endIdx", end)
	}, key)
}
