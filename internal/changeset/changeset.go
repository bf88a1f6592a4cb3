package changeset

import (
	"context"
	"time"

	"stchat/internal/safefile"
)

// Options hold for a whole call.
type Options struct {
	DryRun, NoSync bool
	Command        []string // for the list that undo shows
	Now            time.Time
	// Precious says that what this call keeps is never dropped unasked, however much
	// there is: it was deleted or thrown over, not edited.
	Precious bool
	// KeepBytes is how much the files that are kept for undo may hold in all, before the
	// records of the oldest edits go. 0 means [KeepBytes]; below 0 only the newest stays.
	KeepBytes int64

	disk *safefile.Disk // nil: the system's
}

// KeepBytes is how much is kept for undo, where nobody says otherwise.
const KeepBytes = 2 << 30

// Unit is what stands or falls by itself: one CHAT of a call.
type Unit struct {
	// Root is the folder that the unit edits; see [RootOf].
	Root string
	// Shares are the paths that other units of the call may edit too. Units that share
	// one are committed together.
	Shares []string
	// Draft reads, judges and drafts; it gives nothing a name.
	Draft func(ctx context.Context, s *Set) error
	// Unrecorded makes the replacement of one file without keeping the old one.
	Unrecorded bool

	undoes string // the record that this unit takes back
}

// Outcome is what became of a unit.
type Outcome struct {
	ID    string // what undo takes; "" where nothing can be taken back
	Steps []Step // as done, or as they would be
	Err   error

	// Ended are the changes of runs that died which had to be looked at before: said
	// once, by the first unit of their folder.
	Ended []Ended
	// Dropped are records of old edits that had to go to make room for this one's.
	Dropped []Record
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

// Step is one thing that a set does, as it is told.
type Step struct {
	Do    Do
	Path  string
	To    string // of a move
	About string
	Bytes int64 // of the file that is written, moved or removed
	// Kept is where the file is that was replaced or removed; "" where nothing was done.
	Kept string
}

func (o *Options) system() *safefile.Disk {
	if o.disk != nil {
		return o.disk
	}
	d := safefile.System()
	return &d
}
