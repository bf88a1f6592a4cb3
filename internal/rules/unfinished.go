package rules

import (
	"path/filepath"
	"strings"

	"stchat/internal/changeset"
	"stchat/internal/userdir"
)

// Unfinished returns the finding about a change in root that an interrupted run left.
func Unfinished(root string, e changeset.Ended) Finding {
	f := Finding{
		Rule: UnfinishedChange, Severity: Error, Path: filepath.Join(root, userdir.Own), Index: -1,
		Message: "the change " + e.ID + " was begun and not ended",
	}
	if len(e.Command) > 0 {
		f.Message += ": " + clip(strings.Join(e.Command, " "))
	}
	switch e.Way {
	case changeset.Stuck:
		f.Message += "; it can be neither completed nor taken back, since its files were changed"
	case changeset.Elsewhere:
		f.Message += "; it was begun on another machine or in another folder"
		f.mend = "have undo take it back by force, as far as the files are recognised"
	case changeset.Unreadable:
		f.Message += "; its journal cannot be read"
		f.mend = "have undo set the journal aside, and look at the files by hand"
	}
	return f
}
