package changeset

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/change/safefile"
)

// heldName is the name, in .stchat, of the file with a [heldBefore].
const heldName = ".held"

// heldBefore is what the records hold that are older than the newest one, so that a call need not look
// at each of thousands of files. It is noted under the lock, when room was made, and believed as long
// as there are as many files as were counted then.
type heldBefore struct {
	ID    string `json:"before"` // the newest record's
	Files int    `json:"files"`  // of records, and kept for them
	Bytes int64  `json:"bytes"`  // of those that are no precious records'
}

// heldFiles are the files of one record.
type heldFiles struct {
	records []string // their names in .stchat, one for each set
	kept    []string
}

// measure returns how many bytes the files of a record hold, and whether it stays, whatever room is
// needed: it is precious, and so read-only, or it has no record.
func (h *heldFiles) measure(s store) (bytes int64, stays bool) {
	stays = len(h.records) == 0
	for _, name := range h.kept {
		if info, err := os.Lstat(s.own(name)); err == nil {
			bytes += info.Size()
		}
	}

	for _, name := range h.records {
		if info, err := os.Lstat(s.own(name)); err == nil {
			bytes += info.Size()
			stays = stays || info.Mode().Perm()&0o200 == 0
		}
	}
	return bytes, stays
}

// makeRoom drops the oldest records of edits when they hold more than they may. The newest record
// stays, unless none is to be kept. What precious ones hold does not count. names is what is in
// .stchat. Only a record that goes is read: IDs tell which are old.
func makeRoom(s store, names []string, opt Options) []Record {
	if opt.DryRun {
		return nil
	}
	known := s.readHeld()
	since, older := filesByID(names, known.ID)
	if older != known.Files {
		known = heldBefore{}
		since, _ = filesByID(names, "")
	}
	total := known.Bytes
	for _, h := range since {
		bytes, stays := h.measure(s)
		if !stays {
			total += bytes
		}
	}

	limit := cmp.Or(opt.KeepBytes, KeepBytes)
	if total <= max(limit, 0) {
		s.noteHeld(since, known.Files, total)
		return nil
	}
	all, _ := filesByID(names, "")
	ids := slices.Sorted(maps.Keys(all))
	if limit > 0 {
		ids = ids[:len(ids)-1]
	}
	var dropped []Record
	precious := map[string]bool{}
	for _, id := range ids {
		if total <= max(limit, 0) {
			break
		}
		bytes, stays := all[id].measure(s)
		if stays {
			precious[id] = true
			continue
		}
		rec, errs := readRecord(s, all[id].records)
		if len(errs) > 0 {
			continue
		}
		if rec.Precious || precious[rec.Undoes] { // without what took it back it would count as not undone
			precious[id] = true
			continue
		}
		rec.drop(s, opt)
		total -= bytes
		dropped = append(dropped, rec)
		delete(all, id)
	}

	s.noteHeld(all, 0, total)
	return dropped
}

// counted reports whether these are all files that were in .stchat when room was made last, and newer
// ones.
func (s store) counted(names []string) bool {
	known := s.readHeld()
	_, older := filesByID(names, known.ID)
	return known.ID != "" && older == known.Files
}

// filesByID returns the files in .stchat of the records from an ID on, by their IDs, and how many files
// there are of older ones.
func filesByID(names []string, from string) (since map[string]*heldFiles, older int) {
	since = map[string]*heldFiles{}
	for _, name := range names {
		id, isRecord, ok := ofRecord(name)
		if !ok {
			continue
		}
		if id < from {
			older++
			continue
		}
		h := since[id]
		if h == nil {
			h = &heldFiles{}
			since[id] = h
		}
		if isRecord {
			h.records = append(h.records, name)
		} else {
			h.kept = append(h.kept, name)
		}
	}
	return since, older
}

// ofRecord tells the ID of a record by the name of its file or of a file that is kept for it; ok is
// false for any other name.
func ofRecord(name string) (id string, isRecord, ok bool) {
	stem, isRecord := strings.CutSuffix(name, recordSuffix)
	ok = isRecord && isStem(stem) || !isRecord && isKept(name)
	if !ok {
		return "", false, false
	}
	return name[:idLength], isRecord, true
}

// readHeld returns what was noted last; the zero value where that is nothing that could be true.
func (s store) readHeld() (h heldBefore) {
	const most = 1 << 10
	data, err := safefile.ReadPlain(s.own(heldName), most)
	if err != nil || json.Unmarshal(data, &h) != nil || !isStem(h.ID) || h.Bytes < 0 {
		return heldBefore{}
	}
	return h
}

// noteHeld notes what the records before the newest one hold: of these, which hold total bytes together
// with so many older files. If it fails, the next call looks at all of them.
func (s store) noteHeld(these map[string]*heldFiles, older int, total int64) {
	if len(these) == 0 {
		return
	}
	h := heldBefore{ID: slices.Max(slices.Collect(maps.Keys(these))), Files: older, Bytes: total}
	for id, of := range these {
		if id != h.ID {
			h.Files += len(of.records) + len(of.kept)
		}
	}

	bytes, stays := these[h.ID].measure(s)
	if !stays {
		h.Bytes -= bytes
	}
	data, err := json.Marshal(h)
	if err != nil {
		return
	}
	temp := filepath.Join(s.own(""), safefile.TempName())
	f, err := safefile.CreateNew(temp, 0o600)
	if err != nil {
		return
	}
	safefile.AdoptOwner(f)
	_, err = f.Write(append(data, '\n'))
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(temp, s.own(heldName))
	}
	if err != nil {
		_ = os.Remove(temp)
	}
}
