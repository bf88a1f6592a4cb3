package message

import (
	"bytes"
	"errors"

	"stchat/internal/rawjson"
)

// ErrExtraList means that a message's extra is a list, on which SillyTavern
// would lose a link at its next save, and which nobody should replace unasked.
var ErrExtraList = errors.New("the message's extra is a list, so it cannot hold a link")

// BookmarkSplice returns the change that makes extra.bookmark_link of a message name
// a checkpoint, as SillyTavern notes one (createNewBookmark in
// public/scripts/bookmarks.js); nil where it does already. Only the change: beside
// an inlined image of megabytes a link is a few bytes. replaced is the link to
// another chat that stands there, or "". extra is created where it is missing or
// null, and takes the place of text, a number or a boolean, which SillyTavern
// replaces too. The error is [ErrExtraList], or wraps [rawjson.ErrNotObject] when
// the line is not an object.
func BookmarkSplice(line []byte, name string) (s *rawjson.Splice, replaced string, err error) {
	old, _ := rawjson.Lookup(line, keyExtra, keyBookmark)
	link, isText := rawjson.Unquote(old)
	if isText && link == name {
		return nil, "", nil
	}
	s, err = setExtra(line, keyBookmark, rawjson.Quote(name))
	return s, link, err
}

// BranchSplice returns the change that adds names to extra.branches, as SillyTavern
// notes a branch (createBranch in public/scripts/bookmarks.js), every other byte kept;
// nil where there is none, for a name that is there already is not added again.
// branches is created where it is not a list; extra and the errors are as in
// [BookmarkSplice].
func BranchSplice(line []byte, names ...string) (*rawjson.Splice, error) {
	branches, _ := rawjson.Lookup(line, keyExtra, keyBranches)
	known := map[string]bool{}
	for _, name := range texts(branches) {
		known[name] = true
	}
	var added [][]byte
	for _, name := range names {
		if !known[name] {
			known[name] = true
			added = append(added, rawjson.Quote(name))
		}
	}
	if added == nil {
		return nil, nil
	}
	return setExtra(line, keyBranches, rawjson.Append(branches, bytes.Join(added, []byte(","))))
}

// setExtra gives a key of a message's extra a value.
func setExtra(line []byte, key string, value []byte) (*rawjson.Splice, error) {
	extra, has := rawjson.Lookup(line, keyExtra)
	var s rawjson.Splice
	var err error
	switch kind := rawjson.KindOf(extra); {
	case kind == rawjson.Array:
		return nil, ErrExtraList
	case !has, kind == rawjson.ObjectKind:
		s, err = rawjson.SetSplice(line, value, keyExtra, key)
	default:
		o := rawjson.NewObject()
		o.Set(key, value)
		s, err = rawjson.SetSplice(line, o.Bytes(), keyExtra)
	}
	if err != nil {
		return nil, err
	}
	return &s, nil
}

// texts returns the strings among the elements of a list.
func texts(list []byte) []string {
	var found []string
	for raw := range rawjson.Elements(list) {
		if s, ok := rawjson.Unquote(raw); ok {
			found = append(found, s)
		}
	}
	return found
}

// EditLinks returns the message with its links as edit gives them: extra.bookmark_link and
// every name in extra.branches, in the extra of every swipe too, since a swipe that is
// chosen brings its own. A link that edit does not keep goes, and a list of branches of
// which nothing is left. edit gets the name as it is written; line itself is returned
// where nothing changes.
func EditLinks(line []byte, edit func(checkpoint bool, name string) (to string, keep bool)) []byte {
	m, err := rawjson.ParseObject(line)
	if err != nil {
		return line
	}
	if extra, ok := m.Object(keyExtra); ok {
		if editLinks(extra, edit); extra.Edited() {
			m.Set(keyExtra, extra.Bytes())
		}
	}
	infos, _ := m.Get(keySwipeInfo)
	changed := false
	edited := rawjson.EditList(infos, func(_ int, raw []byte) ([]byte, bool) {
		info, err := rawjson.ParseObject(raw)
		if err != nil {
			return raw, true
		}
		extra, ok := info.Object(keyExtra)
		if !ok {
			return raw, true
		}
		if editLinks(extra, edit); !extra.Edited() {
			return raw, true
		}
		changed = true
		info.Set(keyExtra, extra.Bytes())
		return info.Bytes(), true
	})
	if changed {
		m.Set(keySwipeInfo, edited)
	}
	if !m.Edited() {
		return line
	}
	return m.Bytes()
}

// editLinks edits the links in one extra.
func editLinks(extra *rawjson.Object, edit func(checkpoint bool, name string) (to string, keep bool)) {
	raw, _ := extra.Get(keyBookmark)
	if name, ok := rawjson.Unquote(raw); ok && name != "" {
		switch to, keep := edit(true, name); {
		case !keep:
			extra.Unset(keyBookmark)
		case to != name:
			extra.Set(keyBookmark, rawjson.Quote(to))
		}
	}
	list, _ := extra.Get(keyBranches)
	if rawjson.KindOf(list) != rawjson.Array {
		return
	}
	kept, changed := 0, false
	edited := rawjson.EditList(list, func(_ int, value []byte) ([]byte, bool) {
		name, ok := rawjson.Unquote(value)
		if !ok || name == "" {
			kept++
			return value, true
		}
		to, keep := edit(false, name)
		if !keep {
			changed = true
			return value, false
		}
		kept++
		if to == name {
			return value, true
		}
		changed = true
		return rawjson.Quote(to), true
	})
	switch {
	case !changed:
	case kept == 0:
		extra.Unset(keyBranches)
	default:
		extra.Set(keyBranches, edited)
	}
}
