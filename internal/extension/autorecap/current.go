package autorecap

import (
	"errors"
	"strconv"

	"stchat/internal/jsvalue"
	"stchat/internal/rawjson"
)

// ChooseRecap returns a message with version k, from 0, of its scene recap current. Like the
// arrows of sceneBreak.js it sets the number, the text in both of its places, and its hash
// (computeRecapHash), also in the mirror in swipe_info that set_data of messageData.js keeps
// for every swipe but the first. versions is how many there are. The error is [ErrVersion],
// or that line is not an object.
func ChooseRecap(line []byte, k int) (edited []byte, versions int, err error) {
	m, err := rawjson.ParseObject(line)
	if err != nil {
		return nil, 0, err
	}
	extra, _ := m.Object("extra")
	if extra == nil {
		return nil, 0, ErrVersion
	}
	key := Module
	if !extra.Has(key) {
		key = DocumentedModule
	}
	mark, ok := extra.Object(key)
	if !ok {
		return nil, 0, ErrVersion
	}
	list := mark.Value("scene_recap_versions")
	var text []byte
	for raw := range rawjson.Elements(list) {
		if versions == k {
			text = raw
		}
		versions++
	}
	recap, isText := rawjson.Unquote(text)
	if !isText {
		return nil, versions, ErrVersion
	}
	mark.Set("scene_recap_current_index", strconv.AppendInt(nil, int64(k), 10))
	mark.Set("scene_break_recap", text)
	mark.Set("scene_recap_memory", text)
	mark.Set("scene_recap_hash", rawjson.Quote(jsvalue.Hash36(jsvalue.Trim(recap))))
	extra.Set(key, mark.Bytes())
	m.Set("extra", extra.Bytes())
	if n, ok := rawjson.Int(m.Value("swipe_id")); ok && n > 0 {
		m.EditList("swipe_info", func(i int, raw []byte) ([]byte, bool) {
			if i != n {
				return raw, true
			}
			return mirror(raw, key, mark.Bytes()), true
		})
	}
	return m.Bytes(), versions, nil
}

// mirror returns a swipe's info with the mark in its extra.
func mirror(raw []byte, key string, mark []byte) []byte {
	return rawjson.Edit(raw, func(info *rawjson.Object) {
		extra, ok := info.Object("extra")
		if !ok {
			extra = rawjson.NewObject()
		}
		extra.Set(key, mark)
		info.Set("extra", extra.Bytes())
	})
}

// ErrVersion means that a recap has no such version.
var ErrVersion = errors.New("there is no such version")

// ChooseRunning makes a version of the running recap current. had are the numbers of all
// versions. The error is [ErrVersion].
func ChooseRunning(metadata *rawjson.Object, version int) (had []string, err error) {
	running, _ := RunningIn(metadata)
	found := false
	for v := range running.Versions() {
		n, ok := v.Number()
		if !ok {
			continue
		}
		had = append(had, jsvalue.FormatNumber(n))
		found = found || n == float64(version)
	}
	if !found {
		return had, ErrVersion
	}
	if now, ok := rawjson.Float(running.Current()); !ok || now != float64(version) {
		SetCurrent(metadata, strconv.AppendInt(nil, int64(version), 10))
	}
	return had, nil
}
