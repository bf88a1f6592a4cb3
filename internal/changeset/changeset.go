package changeset

import (
	"context"
	"time"

	"stchat/internal/safefile"
)

// Options apply to a whole call of [Run].
type Options struct {
	DryRun, NoSync bool
	Command        []string // for the list that undo shows
	Now            time.Time
	// Precious marks what this call keeps as never to be dropped unasked, however much
	// there is: it was deleted or discarded, not edited.
	Precious bool
	// KeepBytes is how many bytes the records of edits, with the files kept for them, may take
	// in all before the oldest are dropped; the newest stays. 0 means [KeepBytes]; below 0 only
	// precious ones are kept.
	KeepBytes int64

	disk  *safefile.Disk // nil: the system's
	group int            // how many units are committed with one journal; 0: groupUnits
}

// KeepBytes is how many bytes are kept for undo by default.
const KeepBytes = 2 << 30

// Unit is what succeeds or fails by itself: one CHAT of a call.
type Unit struct {
	// Root is the folder that the unit edits; see [RootOf].
	Root string
	// Shares are the paths that other units of the call may edit too. Units that share
	// one are committed together.
	Shares []string
	// Draft reads, judges and drafts; nothing has its name when it returns.
	Draft func(ctx context.Context, s *Set) error
	// Again, if set, says of an error whether Draft and commit are to be made again after it, from
	// what stands there now. Draft must forget what it did before.
	Again func(err error) bool
	// Unrecorded replaces a single file without a record and without keeping the old one.
	Unrecorded bool

	undoes string // the ID of the record that this unit takes back
}

// Outcome is what became of a unit.
type Outcome struct {
	ID    string // of the record, for undo; "" where nothing can be taken back
	Steps []Step // as done, or in a dry run as they would be
	Err   error

	// Ended are the changes that dead runs left unfinished in the unit's root. They are
	// reported once, by the first unit of the root.
	Ended []Ended
	// Dropped are the records of old edits that were dropped to make room for this one's.
	Dropped []Record
	// NoRecord is why files were created without a record: .stchat cannot be made or written.
	// It is reported once, by the first unit of the root.
	NoRecord error
}

// Do is what a step does to a file.
type Do string

// What a step does.
const (
	Create  Do = "create"
	Replace Do = "replace"
	Move    Do = "move"
	Remove  Do = "remove"
)

// Step is one thing that a set does, as it is reported.
type Step struct {
	Do    Do
	Path  string
	To    string // of a move
	About string
	Bytes int64 // size of the file that is written, moved or removed
	// Kept is the path under which the replaced or removed file is kept; "" where none
	// is.
	Kept string
}

func (o *Options) system() *safefile.Disk {
	if o.disk != nil {
		return o.disk
	}
	d := safefile.System()
	return &d
}
