package message

import (
	"errors"
	"slices"

	"stchat/internal/rawjson"
)

// ErrExtraList says that a message's extra is a list, on which SillyTavern
// would lose a link at its next save, and which nobody should replace unasked.
var ErrExtraList = errors.New("the message's extra is a list, so it cannot hold a link")

// BookmarkSplice gives the change that makes extra.bookmark_link of a message name
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

// AddBranch returns the message with one more name in extra.branches, as
// SillyTavern notes a branch (createBranch in public/scripts/bookmarks.js), every
// other byte kept. A name that is there already is not added again. branches is
// created where it is not a list; extra and the errors are as in [BookmarkSplice].
func AddBranch(line []byte, name string) ([]byte, error) {
	s, err := BranchSplice(line, name)
	if err != nil || s == nil {
		return line, err
	}
	return s.Apply(line), nil
}

// BranchSplice is [AddBranch] for any number of names, but gives only the change,
// nil where there is none.
func BranchSplice(line []byte, names ...string) (*rawjson.Splice, error) {
	branches, _ := rawjson.Lookup(line, keyExtra, keyBranches)
	known, added := texts(branches), false
	for _, name := range names {
		if !slices.Contains(known, name) {
			branches = rawjson.Append(branches, rawjson.Quote(name))
			known, added = append(known, name), true
		}
	}
	if !added {
		return nil, nil
	}
	return setExtra(line, keyBranches, branches)
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
