package past

import (
	"time"

	"stchat/internal/change/changeset"
	"stchat/internal/place/userdir"
)

// Command is what one call did in a root, as far as its record is kept.
type Command struct {
	ID       string // what undo takes
	At       time.Time
	Args     []string // without the name of the program
	Chats    int      // that it made, changed, moved or removed
	Files    int      // likewise, with those chats
	Bytes    int64    // what is kept for it
	Undone   bool
	UndoneBy string   // the ID of the call that took it back; "" where that is not known
	Undoes   string   // of an undo or a redo: the ID of the call that it took back
	Paths    []string // of all that it touched, relative to the root, with slashes
}

// Commands returns the calls that are recorded in a root, the newest first. errs are of records that
// cannot be read.
func Commands(dir string) (list []Command, errs []error, err error) {
	records, errs, err := changeset.Records(dir)
	if err != nil {
		return nil, errs, err
	}
	for i := range records {
		rec := &records[i]
		c := Command{
			ID: rec.ID, At: rec.Time, Args: rec.Command, Bytes: rec.Bytes,
			Undone: rec.Undone, UndoneBy: rec.UndoneBy, Undoes: rec.Undoes,
		}
		seen := map[string]bool{}
		for _, step := range rec.Steps() {
			c.Paths = append(c.Paths, step.Path)
			if step.To != "" {
				c.Paths = append(c.Paths, step.To)
			}
			if seen[step.Path] {
				continue // several sets changed it, or it is the other half of a move
			}
			seen[step.Path] = true
			c.Files++
			if userdir.HasExtension(step.Path) {
				c.Chats++
			}
		}

		list = append(list, c)
	}
	return list, errs, nil
}
