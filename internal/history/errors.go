package history

import (
	"errors"
	"fmt"
	"io/fs"
)

// What can be wrong with a store as a whole. An error names the file too.
var (
	// ErrNoStore means that there is no store yet. It is an [fs.ErrNotExist].
	ErrNoStore = fmt.Errorf("no history is kept here yet: %w", fs.ErrNotExist)
	// ErrForeign means that the file is another program's, or not SQLite's.
	ErrForeign = errors.New("not a history of stchat")
	// ErrNewer means that a newer stchat made the store.
	ErrNewer = errors.New("was written by a newer stchat; this one cannot read it")
	// ErrCut means that the file ends too early.
	ErrCut = errors.New("the history is cut short: its end is missing")
	// ErrBroken means that the file's own structure is damaged.
	ErrBroken = errors.New("the history is damaged")
	// ErrBusy means that another program held the store for five seconds.
	ErrBusy = errors.New("another program is using the history")
	// ErrNoLocks means that the disk has no locks, without which two runs could damage the
	// store.
	ErrNoLocks = errors.New("the disk of the history has no locks, as some network disks")
	// ErrFull means that the disk is full. Nothing of the transaction is left.
	ErrFull = errors.New("no space left on the disk of the history")
	// ErrReadOnly means that the store cannot be written.
	ErrReadOnly = errors.New("the history cannot be written")
	// ErrOtherRoot means that the store belongs to another user's folder.
	ErrOtherRoot = errors.New("the history belongs to another folder")
	// ErrRewritten means that packs were rewritten while they were read.
	ErrRewritten = errors.New("the history was pruned meanwhile")
)

// LostError means that a piece cannot be read back as it was stored.
type LostError struct {
	Piece int64
	Why   string
}

func (e *LostError) Error() string {
	return fmt.Sprintf("piece %d of the history is damaged: %s", e.Piece, e.Why)
}

// Is makes every lost piece an [ErrBroken].
func (e *LostError) Is(target error) bool { return target == ErrBroken }
