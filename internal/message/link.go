package message

import (
	"errors"
	"slices"

	"stchat/internal/rawjson"
)

// ErrExtraList says that a message's extra is a list, on which SillyTavern
// would lose a link at its next save, and which nobody should replace unasked.
var ErrExtraList = errors.New("the message's extra is a list, so it cannot hold a link")

// SetBookmark returns the message with extra.bookmark_link naming a checkpoint,
// as SillyTavern notes one (createNewBookmark in public/scripts/bookmarks.js),
// every other byte kept. replaced is the link to another chat that stood there,
// or "". extra is created where it is missing or null, and takes the place of
// text, a number or a boolean, which SillyTavern replaces too. The error is
// [ErrExtraList], or wraps [rawjson.ErrNotObject] when the line is not an object.
func SetBookmark(line []byte, name string) (out []byte, replaced string, err error) {
	m, extra, err := parseExtra(line)
	if err != nil {
		return nil, "", err
	}
	if old, ok := extra.Get(keyBookmark); ok {
		link, isText := rawjson.Unquote(old)
		if isText && link == name {
			return line, "", nil
		}
		replaced = link
	}
	extra.Set(keyBookmark, rawjson.Quote(name))
	m.Set(keyExtra, extra.Bytes())
	return m.Bytes(), replaced, nil
}

// AddBranch returns the message with one more name in extra.branches, as
// SillyTavern notes a branch (createBranch in public/scripts/bookmarks.js), every
// other byte kept. A name that is there already is not added again. branches is
// created where it is not a list; extra and the errors are as in [SetBookmark].
func AddBranch(line []byte, name string) ([]byte, error) {
	m, extra, err := parseExtra(line)
	if err != nil {
		return nil, err
	}
	branches, _ := extra.Get(keyBranches)
	if slices.Contains(texts(branches), name) {
		return line, nil
	}
	extra.Set(keyBranches, rawjson.Append(branches, rawjson.Quote(name)))
	m.Set(keyExtra, extra.Bytes())
	return m.Bytes(), nil
}

// Links returns the names of the checkpoint ("" for none) and of the branches
// that were made at a message. What is not text among them is passed over.
func Links(line []byte) (bookmark string, branches []string) {
	extra, _ := rawjson.Lookup(line, keyExtra)
	raw, _ := rawjson.Lookup(extra, keyBookmark)
	bookmark, _ = rawjson.Unquote(raw)
	list, _ := rawjson.Lookup(extra, keyBranches)
	return bookmark, texts(list)
}

// parseExtra opens a message and its extra for edits; the extra is not yet put
// back into the message.
func parseExtra(line []byte) (m, extra *rawjson.Object, err error) {
	m, err = rawjson.ParseObject(line)
	if err != nil {
		return nil, nil, err
	}
	raw, _ := m.Get(keyExtra)
	switch rawjson.KindOf(raw) {
	case rawjson.ObjectKind:
		extra, err = rawjson.ParseObject(raw)
	case rawjson.Array:
		err = ErrExtraList
	default:
		extra = rawjson.NewObject()
	}
	return m, extra, err
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
