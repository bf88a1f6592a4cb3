package message

import (
	"bytes"
	"errors"

	"stchat/internal/jsonl/rawjson"
)

// ErrExtraList means that a message's extra is a list: SillyTavern would lose a link on it
// at its next save, and a list should not be replaced unasked.
var ErrExtraList = errors.New("the message's extra is a list, so it cannot hold a link")

// MayLink reports whether there can be a link in raw, an extra or a swipe_info, without
// reading it. plain means that it has no escape with \u, with which a key may be spelled.
func MayLink(raw []byte, plain bool) bool {
	const least = len(`{"branches":[""]}`)
	if len(raw) < least {
		return false
	}
	if !plain && bytes.Contains(raw, []byte(`\u`)) {
		return true
	}
	for { // both keys begin with a letter that is rare in the others
		at := bytes.IndexByte(raw, keyBookmark[0])
		if at < 0 {
			return false
		}
		if raw = raw[at:]; bytes.HasPrefix(raw, []byte(keyBookmark)) || bytes.HasPrefix(raw, []byte(keyBranches)) {
			return true
		}
		raw = raw[1:]
	}
}

// BookmarkSplice returns the change that makes extra.bookmark_link of a message name a
// checkpoint, as SillyTavern notes one (createNewBookmark in public/scripts/bookmarks.js);
// nil if it does already. It returns only the change, since a link is a few bytes beside
// an inlined image of megabytes. replaced is the link to another chat that the change
// replaces, or "". extra is created if it is missing or null; text, a number or a boolean
// in its place is replaced, as SillyTavern does too. The error is [ErrExtraList], or wraps
// [rawjson.ErrNotObject] if the line is not an object.
func BookmarkSplice(line []byte, name string) (s *rawjson.Splice, replaced string, err error) {
	link, isText := rawjson.Unquote(rawjson.Value(line, keyExtra, keyBookmark))
	if isText && link == name {
		return nil, "", nil
	}
	s, err = setExtra(line, keyBookmark, rawjson.Quote(name))
	return s, link, err
}

// BranchSplice returns the change that adds names to extra.branches, as SillyTavern notes
// a branch (createBranch in public/scripts/bookmarks.js), every other byte kept. Names
// that are there already are not added again; the change is nil if none is left. branches
// is created if it is not a list; extra and the errors are as in [BookmarkSplice].
func BranchSplice(line []byte, names ...string) (*rawjson.Splice, error) {
	branches := rawjson.Value(line, keyExtra, keyBranches)
	added := rawjson.AppendTexts(branches, names...)
	if bytes.Equal(added, branches) {
		return nil, nil
	}
	return setExtra(line, keyBranches, added)
}

// LinkSplice is [BookmarkSplice] for a link to a checkpoint, and [BranchSplice] for one to a branch.
func LinkSplice(line []byte, checkpoint bool, name string) (s *rawjson.Splice, replaced string, err error) {
	if checkpoint {
		return BookmarkSplice(line, name)
	}
	s, err = BranchSplice(line, name)
	return s, "", err
}

// setExtra returns the change that sets a key of a message's extra.
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
	return &s, err
}

// EditLinks returns the message with its links as edit returns them: extra.bookmark_link
// and every name in extra.branches, also in the extra of every swipe, which replaces the
// message's when the swipe is chosen. A link that edit does not keep is removed, and so is
// a list of branches that becomes empty. edit gets the name as it is in the file. If
// nothing changes, line itself is returned.
func EditLinks(line []byte, edit func(checkpoint bool, name string) (to string, keep bool)) []byte {
	return EditExtras(line, func(extra *rawjson.Object) { editLinks(extra, edit) })
}

// EditExtras returns the message with edit made in its extra and in that of every swipe.
// If nothing changes, line itself is returned.
func EditExtras(line []byte, edit func(extra *rawjson.Object)) []byte {
	return rawjson.Edit(line, func(m *rawjson.Object) {
		m.Edit(edit, keyExtra)
		m.EditList(keySwipeInfo, func(_ int, raw []byte) ([]byte, bool) {
			return rawjson.Edit(raw, func(info *rawjson.Object) { info.Edit(edit, keyExtra) }), true
		})
	})
}

// editLinks edits the links in one extra.
func editLinks(extra *rawjson.Object, edit func(checkpoint bool, name string) (to string, keep bool)) {
	if name, ok := rawjson.Unquote(extra.Value(keyBookmark)); ok && name != "" {
		switch to, keep := edit(true, name); {
		case !keep:
			extra.Unset(keyBookmark)
		case to != name:
			extra.Set(keyBookmark, rawjson.Quote(to))
		}
	}

	had, kept := 0, 0
	extra.EditList(keyBranches, func(_ int, value []byte) ([]byte, bool) {
		had++
		name, _ := rawjson.Unquote(value)
		to, keep := name, true
		if name != "" {
			to, keep = edit(false, name)
		}
		if keep {
			kept++
		}
		if to == name {
			return value, keep
		}
		return rawjson.Quote(to), keep
	})

	if had > 0 && kept == 0 {
		extra.Unset(keyBranches)
	}
}
