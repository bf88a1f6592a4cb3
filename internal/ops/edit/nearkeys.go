package edit

import (
	"slices"
	"strings"

	"stchat/internal/extension/all"
	"stchat/internal/json/patch"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/words"
)

// nearKey is a key that is set and unknown, and two letters or less off a known one.
type nearKey struct {
	path  patch.Path
	known string
}

// nearMetadataKeys returns such keys of chat_metadata.
func nearMetadataKeys(edits []patch.Edit) (list []nearKey) {
	var known []string
	for _, e := range all.New() {
		known = append(known, e.About().Keys...)
	}
	known = append(known, "note", "lorebook") // which stand for note_prompt and world_info
	for _, e := range edits {
		if e.Value != nil && len(e.Path) == 1 {
			list = append(list, near(e.Path, known)...)
		}
	}
	return list
}

// nearMessageKeys returns such keys of a message, and of its extra.
func nearMessageKeys(edits []patch.Edit) (list []nearKey) {
	for _, e := range edits {
		switch {
		case e.Value == nil:
		case len(e.Path) == 1:
			list = append(list, near(e.Path, message.Keys())...)
		case len(e.Path) == 2 && e.Path[0] == "extra":
			list = append(list, near(e.Path, message.ExtraKeys())...)
		}
	}
	return list
}

// near returns the last key of a path, if it is near a known key and none itself. Upper and lower case do
// not count.
func near(path patch.Path, known []string) []nearKey {
	const letters = 2
	key := path[len(path)-1]
	if slices.Contains(known, key) {
		return nil
	}
	best, least := "", letters+1
	for _, k := range known {
		distance := words.Distance(strings.ToLower(key), strings.ToLower(k))
		if distance < least {
			best, least = k, distance
		}
	}

	if best == "" {
		return nil
	}
	return []nearKey{{path: path, known: best}}
}

// warnOfKeys warns of those keys that are new: lacks reports whether what is edited has nothing there yet.
func (o *open) warnOfKeys(keys []nearKey, lacks func(key patch.Path) (bool, error)) error {
	for _, k := range keys {
		isNew, err := lacks(k.path)
		if err != nil {
			return err
		}
		if isNew {
			o.result.Warn("%s: there was no key %q before; did you mean %q?", o.chat.Label(), k.path[len(k.path)-1], k.known)
		}
	}
	return nil
}

// lacking returns a function that reports whether one of some messages has nothing at a path.
func (o *open) lacking(places []choose.Place) func(path patch.Path) (bool, error) {
	return func(path patch.Path) (bool, error) {
		for _, at := range places {
			line, err := o.chat.Source.Section(at.Off, at.Len)
			if err != nil {
				return false, o.chat.Errorf("%w", err)
			}
			_, has := patch.Get(line, path)
			if !has {
				return true, nil
			}
		}
		return false, nil
	}
}
