package group

import (
	"strconv"
	"strings"
)

const (
	beforeBegun = "the new chat "
	behindBegun = " in the group's list"
)

// Begun describes a change that lists a new chat in a group. The chat gets its file only when
// SillyTavern greets in it.
func Begun(chat string) string { return beforeBegun + strconv.Quote(chat) + behindBegun }

// BegunIn returns the chat in a description by [Begun].
func BegunIn(about string) (chat string, ok bool) {
	rest, before := strings.CutPrefix(about, beforeBegun)
	rest, behind := strings.CutSuffix(rest, behindBegun)
	chat, err := strconv.Unquote(rest)
	return chat, before && behind && err == nil
}
