package past

import (
	"context"
	"time"

	"stchat/internal/change/changeset"
	"stchat/internal/ops"
)

// Redone describes what was done again: the document of redo.
type Redone struct {
	Schema   int      `json:"schema"`
	Root     string   `json:"root" is:"path"`
	ID       string   `json:"id"`      // of the command that is done again
	Command  []string `json:"command"` // empty where its record was dropped
	Undo     string   `json:"undo"`    // the ID of the undo that was taken back
	Restored []string `json:"restored"`
	Removed  []string `json:"removed"`
	Left     []string `json:"left"`
	Opens    []Opens  `json:"opens"`
	DryRun   bool     `json:"dry_run"`
	ops.Written

	Time time.Time `json:"-"` // of the command
}

// RedoResult is the result of a redo.
type RedoResult = ops.Result[Redone]

// Newest returns the ID of the command that undo without an ID would take back, "" for none.
func Newest(root string) string {
	u, err := changeset.Undo(root, "", false)
	if err != nil {
		return ""
	}
	return u.Record.ID
}

// Redo brings back what the last undo took back that was not brought back since: one command, or all that
// an undo of several took back, the oldest first, each by itself. It stops at the first that cannot be
// brought back: the Err of its result, the last one, or err says why. err wraps [changeset.ErrNoRedo] if
// there is nothing to bring back.
func Redo(ctx context.Context, opt Options) ([]*RedoResult, error) {
	ended, err := changeset.Recover(ctx, opt.Root, opt.Changes)
	if err != nil {
		return nil, err
	}
	ids, err := changeset.LastUndo(opt.Root)
	taken, err := takeBackAll(ctx, opt, ids, ended, err)
	records, _, _ := changeset.Records(opt.Root) // what cannot be read of them is not told
	byID := map[string]*changeset.Record{}
	for i := range records {
		byID[records[i].ID] = &records[i]
	}
	var results []*RedoResult
	for _, r := range taken {
		d := Redone{
			Schema: 1, Root: r.Doc.Root, ID: r.Doc.Undoes, Undo: r.Doc.ID, Restored: r.Doc.Restored, Removed: r.Doc.Removed,
			Left: r.Doc.Left, Opens: r.Doc.Opens, DryRun: r.Doc.DryRun, Written: r.Doc.Written,
		}
		if command := byID[d.ID]; command != nil {
			d.Command, d.Time = command.Command, command.Time
		}
		results = append(results, &RedoResult{Doc: d, Warnings: r.Warnings, Outcome: r.Outcome})
	}
	return results, err
}
