package illustrator

import (
	"strconv"

	"stchat/internal/rawjson"
)

// MoveOpen moves the indexes of the messages that are open in the gallery
// (expandedMessages). messages is how many the chat had. to returns a message's new index,
// or false if it goes; lost, which may be nil, is called with each index that goes. MoveOpen
// returns how many were open before and are now.
func MoveOpen(metadata *rawjson.Object, messages int, to func(message int) (int, bool), lost func(raw []byte)) (total, kept int) {
	metadata.Edit(func(gallery *rawjson.Object) {
		gallery.EditList(keyOpen, func(_ int, raw []byte) ([]byte, bool) {
			total++
			at, keep := rawjson.Int(raw)
			was := at
			switch {
			case isBeyond(raw, messages):
				keep = false
			case keep && at >= 0:
				at, keep = to(at)
			default:
				keep, at = true, was // it is not an index
			}
			switch {
			case !keep:
				if lost != nil {
					lost(raw)
				}
				return raw, false
			case at != was:
				raw = strconv.AppendInt(nil, int64(at), 10)
			}
			kept++
			return raw, true
		})
	}, Key, keyGallery)
	return total, kept
}
