package main

import (
	"errors"

	"stchat/internal/choose"
	"stchat/internal/extension/luker"
	"stchat/internal/message"
	"stchat/internal/ops/edit"
	"stchat/internal/patch"
)

// editCode returns the code of an error about messages or metadata, "" for any other error.
func editCode(err error) string {
	if isA[*choose.OutOfRangeError](err) {
		return "usage"
	}
	if isA[*luker.DatabaseError](err) {
		return "refused"
	}
	for _, e := range []error{
		choose.ErrNone, choose.ErrNotOne, choose.ErrRange, patch.ErrMalformed, patch.ErrNoPlace,
		edit.ErrOperation, edit.ErrNotMessage, edit.ErrNoSpeaker, edit.ErrSwipeID, edit.ErrShape, edit.ErrChosenGone,
	} {
		if errors.Is(err, e) {
			return "usage"
		}
	}
	for _, e := range []error{
		patch.ErrTest, patch.ErrMissing, message.ErrChosenSwipe, message.ErrOnlySwipe,
		edit.ErrNotInPlace, edit.ErrNoHeader, edit.ErrExpected, edit.ErrAll, edit.ErrQueue, edit.ErrReplay, edit.ErrNoSwipes, edit.ErrCycle, edit.ErrNeedsSlug,
	} {
		if errors.Is(err, e) {
			return "refused"
		}
	}
	return ""
}
