package main

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"stchat/internal/change/changeset"
)

// TestHintOfRecord advises to drop a record that is damaged, and not one that belongs to
// another user.
func TestHintOfRecord(t *testing.T) {
	damaged := &changeset.UnreadableError{ID: "20260101T000000-aaaaaaaa", Done: true, Err: errors.New("no journal")}
	if text := withHint(damaged, nil).Error(); !strings.Contains(text, "--prune") {
		t.Errorf("damaged: %s", text)
	}
	foreign := &changeset.UnreadableError{ID: damaged.ID, Done: true, Err: &fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission}}
	if text := withHint(foreign, nil).Error(); strings.Contains(text, "--prune") {
		t.Errorf("another user's: %s", text)
	}
}
