package changeset

import (
	"path/filepath"
	"time"

	"stchat/internal/safefile"
)

// KeptFile is an old file that a record keeps.
type KeptFile struct {
	Path string // where it was
	File string // where it is kept
	Time time.Time
	// Gone reports that the call removed the file on purpose (delete, or undo of what
	// had created it), and that this was not undone.
	Gone bool
}

// KeptFiles returns the files that the records of the root dir keep, the newest first.
// errs has an error for each record that cannot be read.
func KeptFiles(dir string) (files []KeptFile, errs []error, err error) {
	r := newRoot(dir)
	records, errs, err := readRecords(r.store, nil)
	if err != nil {
		return nil, nil, err
	}
	for _, rec := range records {
		for _, j := range rec.sets {
			for _, s := range j.Steps {
				file := filepath.Join(dir, folder, s.Kept)
				if s.Kept == "" || safefile.CheckPlain(file) != nil {
					continue
				}
				files = append(files, KeptFile{
					Path: r.show(s.Path), File: file, Time: rec.Time,
					Gone: s.Do == Remove && (rec.Precious || rec.Undoes != "") && !rec.Undone,
				})
			}
		}
	}
	return files, errs, nil
}
