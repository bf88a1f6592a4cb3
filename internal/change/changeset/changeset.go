// Package changeset creates, changes and removes the user's files; nothing else in the program
// does.
//
// A verb describes what belongs together as a [Unit]: a function that reads, judges, and
// writes new content into drafts, temporary files beside their targets. When it returns,
// nothing has a name yet. [Run] commits: all of the unit, or nothing. What a unit does is a set.
//
// # The protocol
//
// Every set leaves a record, with three exceptions: a new file in a root that is no user's folder and
// has no .stchat; a replacement that keeps nothing ([Unit.Unrecorded]); and both where no records are
// kept. Such a set is a single step, which is made at once. Every other set is committed in these
// steps. Sets that take no names away are committed in groups, with one journal for all of a group.
//
//  1. The drafts are complete: rendered, with mode and owner, on the disk, closed. A full disk
//     fails the set here.
//  2. The call takes its turn: the root, a SillyTavern user's folder or else the chat's own, is
//     locked against other runs of this program. The lock is not held while drafting, but from the
//     first commit of a call to its last. What dead runs left is ended first. Then the call
//     gets an ID that sorts after all others, so the IDs are the order of the commits, whatever the
//     clock says, and what a call did is one record with one place in the order of undo. (Where
//     another call comes between two runs of one [Call], the later run begins a new record.)
//  3. Every file that the drafts were based on is checked. An edit by meaning (a name in a
//     group's list) is rendered anew if its file was saved meanwhile. Any other change drops
//     the set; one that can be drafted again ([Unit.Again]) is, in the same turn.
//  4. A journal is written to ROOT/.stchat/ID.journal: what will be done with which files, and
//     how to recognise each (inode, size, time). Its appearance under that name is the
//     decision: before it nothing has happened, after it everything will.
//  5. The steps: create, move, replace, remove. So a name exists before anything refers to it,
//     and nothing refers to it any more when it goes. A file that is replaced or removed is
//     first hard-linked into .stchat, and compared with what was judged.
//  6. The folders are synced, and the journal becomes ID.done: the record for [Undo].
//
// Everything in .stchat may be a stranger's: it is opened without following links, only if it is
// a regular file, and read up to a bound ([safefile.ReadPlain]).
//
// # Recovery
//
// A run can be killed at any moment, and other programs can save files at any moment. At each of them a
// set is in one of these states, and the disk shows in which:
//
//	drafted       drafts beside their targets
//	   |
//	   |  the journal gets its name: the decision
//	   v
//	 begun        ID.journal
//	   |
//	   +-- every step was made, or can be made now ----> made         ID.done
//	   +-- a step cannot be made ----------------------> taken back   no trace, or ID.done of files that stay
//	   +-- and taking it back fails as well -----------> stuck        ID.journal, tried again by the next run
//	   +-- the journal was not written for this place -> foreign      ID.foreign, until a person decides
//
// Drafted: nothing has happened to any file. The drafts of a run that is gone are removed by a later run.
//
// Begun: a journal belongs to a run, which has the lock. So whoever holds the lock and finds a journal
// knows that its run is gone, and ends what it began ([Recover]), one set after the other, by the disk
// alone: what is made stays, what is missing is made. A file that somebody has saved since under its
// new name counts as made.
//
// Taken back: every file is as it was before the set. What another program has saved in between is never
// overwritten: such a file stays as it is, and is named. If an older version of it was kept, that stays
// too, in a record of these files alone, which undo passes over.
//
// Stuck: the disk refused to take the set back. Only such sets stay in the journal; the record of those
// that were made stands beside it.
//
// Foreign: a folder that was copied, or is used by another machine, has a journal of files that are not
// here; and a journal that cannot be read names none. It is renamed to ID.foreign and reported once. The
// drafts that it may name are left alone. A person decides: [Adopt] ends it after all, and [Discard] drops
// it with what was kept for it.
//
// So after a kill every set of a journal is made or taken back, whole, except for files that another
// program has saved in between; and nothing but a foreign journal waits for a person.
//
// # Limits
//
//   - Between the last check of a file and the rename that replaces it lie microseconds in
//     which no system keeps others out. SillyTavern takes no locks and writes chats, groups and
//     settings whole, from what it holds in memory.
//   - A disk whose clock counts whole seconds gives two saves within one of them the same time.
//     A second save in place and of the same size is noticed, by the file's content, while an
//     edit waits to be committed, but not between a verb's reading and the rendering. Where a
//     file's time is a whole second, undo also compares its content, up to 64 MiB.
//   - A power loss is survived as far as syncing goes: drafts with their new folders, then what is
//     kept with the journal, then the names. No other name of a file goes before the one that it
//     keeps is on the disk. Disks that lie about syncing are believed.
//   - Where there are no hard links (FAT, Android), a file of up to 64 MiB is copied to keep or
//     to move it; a larger one is renamed, so its name is free for a moment that only the
//     journal covers.
//   - A journal may come from a stranger: one with a path that leads outside its root, or a
//     name in .stchat that is not its own, counts as unreadable.
//   - Where there are no locks (some network disks) host, boot and process show whether a run
//     is gone.
//   - A kept file shares its bytes with any other hard link to it: a program that writes into
//     one in place changes the other. Undo notices that, and refuses.
//
// # Where it is
//
// run.go drafts the units, takes the turn of each root, and drafts again; group.go decides what is
// committed together; commit.go puts what was drafted (plan.go) in order, and journal.go writes the
// journal. A journal's steps are played as changes (change.go): each is of one path, from the file
// before to the file after, and judge finds out which of them is there; play.go makes them, or takes
// them back, set by set. recover.go ends what dead runs began. undo.go and inverse.go draft what takes
// a record back. record.go lists and drops records, and is the folder .stchat; room.go drops the oldest
// records when they hold too much. root.go is the folder whose files are changed, with its lock.
package changeset

import (
	"context"
	"time"

	"stchat/internal/change/safefile"
)

// Options apply to a whole call of [Run].
type Options struct {
	DryRun, NoSync bool
	Command        []string // for the list that undo shows
	Now            time.Time
	NewUUID        func() string // for new slugs; nil: none is needed
	// Precious marks what this call keeps as never to be dropped unasked, however much
	// there is: it was deleted or discarded, not edited.
	Precious bool
	// KeepBytes is how many bytes the records of edits, with the files kept for them, may take
	// in all before the oldest are dropped; the newest stays. 0 means [KeepBytes]; below 0 only
	// precious ones are kept.
	KeepBytes int64
	// Call, if set, joins several runs: what they do to a root is one record, unless another call
	// comes between two of them.
	Call *Call
	// With is the ID of the first record of a call that takes back several records, one after the
	// other, so that redo brings back all of them.
	With string
	// MoreFollows says that other runs of the same call follow, which need the records that are there: no
	// room is made yet.
	MoreFollows bool

	disk  *safefile.Disk // nil: the system's
	group int            // how many units are committed with one journal; 0: groupUnits
}

// Call is a call of the program that makes several runs, one after the other.
type Call struct{ roots []*root }

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
	redoes bool   // that record took one back, so that this unit brings back what it did
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
