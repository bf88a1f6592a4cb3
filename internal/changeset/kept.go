package changeset

import (
	"path/filepath"
	"time"
)

// KeptFile is an old file that a record keeps.
type KeptFile struct {
	Path string // where it was
	File string // where it is kept
	Time time.Time
	// Gone says that the call took the file away on purpose (delete, or undo of what had
	// made it), and that this was not taken back.
	Gone bool
}

// KeptFiles returns what the records of a root keep, the newest first. A record that
// cannot be read stands in errs.
func KeptFiles(dir string) (files []KeptFile, errs []error, err error) {
	r := newRoot(dir)
	records, errs, err := readRecords(r.store)
	if err != nil {
		return nil, nil, err
	}
	for _, rec := range records {
		for _, j := range rec.sets {
			for _, s := range j.Steps {
				if s.Kept == "" {
					continue
				}
				files = append(files, KeptFile{
					Path: r.show(s.Path), File: filepath.Join(dir, folder, s.Kept), Time: rec.Time,
					Gone: s.Do == Remove && (rec.Precious || rec.Undoes != "") && !rec.Undone,
				})
			}
		}
	}
	return files, errs, nil
}
