package illustrator

import (
	"bytes"
	"strconv"

	"stchat/internal/rawjson"
)

// MoveOpen moves the indexes of the messages that are open in the gallery
// (expandedMessages). messages is how many the chat had. to returns a message's new index,
// or false if it goes; lost, which may be nil, is called with each index that goes. MoveOpen
// returns how many were open before and are now.
func MoveOpen(metadata *rawjson.Object, messages int, to func(message int) (int, bool), lost func(raw []byte)) (total, kept int) {
	state, ok := metadata.Object(Key)
	if !ok {
		return 0, 0
	}
	gallery, ok := state.Object(keyGallery)
	if !ok {
		return 0, 0
	}
	open := gallery.Value(keyOpen)
	edited := rawjson.EditList(open, func(_ int, raw []byte) ([]byte, bool) {
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
	if !bytes.Equal(edited, open) {
		gallery.Set(keyOpen, edited)
		state.Set(keyGallery, gallery.Bytes())
		metadata.Set(Key, state.Bytes())
	}
	return total, kept
}
