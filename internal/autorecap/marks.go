package autorecap

import "stchat/internal/rawjson"

// MoveMarks returns a message with the indexes in its marks moved: startIdx by start and
// endIdx by end, in the versions of scene_recap_metadata and in stage1_lorebook_metadata, of
// extra and of every swipe's extra (operationHandlers.js reads them). It returns line itself
// if there is nothing to move.
func MoveMarks(line []byte, start, end func(index int) int) []byte {
	m, err := rawjson.ParseObject(line)
	if err != nil {
		return line
	}
	if extra, ok := m.Object("extra"); ok {
		if moveIn(extra, start, end); extra.Edited() {
			m.Set("extra", extra.Bytes())
		}
	}
	infos := m.Value("swipe_info")
	changed := false
	edited := rawjson.EditList(infos, func(_ int, raw []byte) ([]byte, bool) {
		info, err := rawjson.ParseObject(raw)
		if err != nil {
			return raw, true
		}
		extra, ok := info.Object("extra")
		if !ok {
			return raw, true
		}
		if moveIn(extra, start, end); !extra.Edited() {
			return raw, true
		}
		changed = true
		info.Set("extra", extra.Bytes())
		return info.Bytes(), true
	})
	if changed {
		m.Set("swipe_info", edited)
	}
	if !m.Edited() {
		return line
	}
	return m.Bytes()
}

// moveIn moves the indexes in the marks of one extra.
func moveIn(extra *rawjson.Object, start, end func(index int) int) {
	for _, key := range [...]string{Module, DocumentedModule} {
		mark, ok := extra.Object(key)
		if !ok {
			continue
		}
		if versions, ok := mark.Object("scene_recap_metadata"); ok {
			for _, version := range versions.Keys() {
				moveRange(versions, version, start, end)
			}
			if versions.Edited() {
				mark.Set("scene_recap_metadata", versions.Bytes())
			}
		}
		if moveRange(mark, "stage1_lorebook_metadata", start, end); mark.Edited() {
			extra.Set(key, mark.Bytes())
		}
	}
}

// moveRange moves startIdx and endIdx of the object under a key.
func moveRange(o *rawjson.Object, key string, start, end func(index int) int) {
	ranged, ok := o.Object(key)
	if !ok {
		return
	}
	moveIndex(ranged, "startIdx", start)
	moveIndex(ranged, "endIdx", end)
	if ranged.Edited() {
		o.Set(key, ranged.Bytes())
	}
}
