package changeset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"stchat/internal/change/safefile"
)

const (
	version       = 1
	journalSuffix = ".journal"
	recordSuffix  = ".done"
	foreignSuffix = ".foreign" // a journal from elsewhere, or one that cannot be read: it is set aside
	draftSuffix   = ".tmp"
	probeSuffix   = ".probe"  // a hard link made to see whether there are any
	mostJournal   = 256 << 20 // anything larger is no journal of ours
)

// The two halves that a Move becomes in a journal where there are hard links.
const (
	link   Do = "link"   // the new name is added
	unlink Do = "unlink" // the old name is removed
)

// journal is what is being committed, one set or a group of them, or what was done: the undo
// record.
type journal struct {
	Version  int       `json:"version"`
	ID       string    `json:"id"`
	Set      int       `json:"set"` // number among the sets of one call, from 1
	Command  []string  `json:"command"`
	Time     time.Time `json:"time"`
	Host     string    `json:"host"`             // the machine
	Dev      uint64    `json:"dev"`              // the root's
	Ino      uint64    `json:"ino"`              // the root's
	Realm    string    `json:"realm"`            // where Pid is valid
	Pid      int       `json:"pid"`              // the process that wrote it: checked where there are no locks
	Links    bool      `json:"links"`            // the disk has hard links, so inodes are real
	Precious bool      `json:"precious"`         // never dropped unasked
	Undoes   string    `json:"undoes,omitempty"` // the ID of the record that this one takes back
	Redoes   bool      `json:"redoes,omitempty"` // that record took one back
	With     string    `json:"with,omitempty"`   // the ID of the first record of a call that takes back several
	Steps    []*step   `json:"steps"`
}

// step is one step of a journal. Paths are relative to the root, with slashes; a path
// outside, where files are only created, is absolute.
type step struct {
	Do    Do              `json:"do"`
	Path  string          `json:"path"`
	To    string          `json:"to,omitempty"`   // of a move
	Temp  string          `json:"temp,omitempty"` // the draft: its name in the file's folder
	Kept  string          `json:"kept,omitempty"` // the old file: its name in .stchat
	Was   *safefile.Ident `json:"was,omitempty"`
	Now   *safefile.Ident `json:"now,omitempty"`
	About string          `json:"about"`
	Part  int             `json:"part,omitempty"` // number of its set: each ends by itself
	// Folders is how many of the folders above a new file were made for it; of one that is removed,
	// how many go with it if they are empty by then.
	Folders int `json:"folders,omitempty"`
	// Left says that the set was taken back but for this file, which somebody had changed by then.
	Left bool `json:"left,omitempty"`
}

// errNoJournal means that a file has a journal's name but is no usable journal.
var errNoJournal = errors.New("is not a journal of this program")

// ErrVersion means that a journal was written by another version of the program.
var ErrVersion = errors.New("was written by another version of this program")

// UnreadableError says that a journal or a record cannot be read: it is damaged, of
// another version of this program, or a stranger's that leads outside its folder.
type UnreadableError struct {
	ID   string // taken from its name
	Done bool   // it is a record, not a journal
	Err  error
}

func (e *UnreadableError) Error() string { return e.Err.Error() }
func (e *UnreadableError) Unwrap() error { return e.Err }

// stem returns the journal's file name without its suffix: the ID, followed by the set's
// number from the second set on.
func (j *journal) stem() string {
	if j.Set > 1 {
		return fmt.Sprintf("%s.%d", j.ID, j.Set)
	}
	return j.ID
}

// idOf returns the ID in a [journal.stem].
func idOf(stem string) string {
	id, _, _ := strings.Cut(stem, ".")
	return id
}

// kept returns the name in .stchat of the file that a step keeps; steps count from 1.
func (j *journal) kept(step int) string { return fmt.Sprintf("%s-%d", j.stem(), step) }

// idClock is how an ID begins, and idLength how long it is.
const (
	idClock  = "20060102T150405"
	idLength = len(idClock) + 1 + 8
)

// newestID returns the last ID that these names in .stchat, in any order, begin with; "" if none does.
func newestID(names []string) (newest string) {
	for _, name := range names {
		if len(name) < idLength || name[:idLength] <= newest || !isStem(name[:idLength]) {
			continue
		}
		at, err := time.Parse(idClock, name[:len(idClock)])
		if err == nil && at.Year() < 9999 {
			newest = name[:idLength]
		}
	}
	return newest
}

// nextID returns the ID for a call that is the first to record something after the newest one. IDs
// sort by that, even where the clock was set back.
func nextID(newest string, now time.Time) string {
	at, tag := now.UTC().Truncate(time.Second), rand.Uint32()>>1
	if newest != "" {
		last, errTime := time.Parse(idClock, newest[:len(idClock)])
		n, errTag := strconv.ParseUint(newest[len(idClock)+1:], 16, 32)
		switch {
		case errTime != nil || errTag != nil || last.Before(at):
		case uint32(n) >= 1<<32-1<<16:
			at = last.Add(time.Second)
		default:
			at, tag = last, uint32(n)+1+rand.Uint32()>>16
		}
	}
	return fmt.Sprintf("%s-%08x", at.Format(idClock), tag)
}

// cutStem cuts a [journal.stem] off the beginning of a text.
func cutStem(text string) (rest string, ok bool) {
	if len(text) < idLength {
		return "", false
	}
	for i := range idLength {
		c := text[i]
		digit := '0' <= c && c <= '9'
		switch {
		case i == len("20060102"):
			ok = c == 'T'
		case i == len(idClock):
			ok = c == '-'
		case i > len(idClock):
			ok = digit || 'a' <= c && c <= 'f'
		default:
			ok = digit
		}

		if !ok {
			return "", false
		}
	}

	rest = text[idLength:]
	if set, found := strings.CutPrefix(rest, "."); found {
		if after, ok := cutNumber(set); ok {
			rest = after
		}
	}
	return rest, true
}

// cutNumber cuts a number of at most nine digits off the beginning of a text.
func cutNumber(text string) (rest string, ok bool) {
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return text[n:], 1 <= n && n <= 9
}

// isStem reports whether text can be a [journal.stem].
func isStem(text string) bool {
	rest, ok := cutStem(text)
	return ok && rest == ""
}

// isKept reports whether name can be a [journal.kept].
func isKept(name string) bool {
	rest, ok := cutStem(name)
	if !ok {
		return false
	}
	step, ok := strings.CutPrefix(rest, "-")
	if !ok {
		return false
	}
	rest, ok = cutNumber(step)
	return ok && rest == ""
}

// keptFor returns the stem in the name of a kept file.
func keptFor(name string) string { return name[:max(0, strings.LastIndexByte(name, '-'))] }

// readJournal reads a journal or a record. It may be a stranger's, so one whose names
// could lead anywhere but to what this program keeps there is refused. The error is an
// *[UnreadableError].
func readJournal(path string) (*journal, error) {
	stem, done := strings.CutSuffix(filepath.Base(path), recordSuffix)
	stem = strings.TrimSuffix(strings.TrimSuffix(stem, journalSuffix), foreignSuffix)
	j, err := parseJournal(path, stem)
	if err != nil {
		return nil, &UnreadableError{ID: idOf(stem), Done: done, Err: err}
	}
	return j, nil
}

func parseJournal(path, stem string) (*journal, error) {
	data, err := safefile.ReadPlain(path, mostJournal)
	switch {
	case errors.Is(err, safefile.ErrNotRegular):
		err = fmt.Errorf("%s: %w", path, errNoJournal)
	case errors.Is(err, safefile.ErrTooLarge):
		err = fmt.Errorf("%s: %w: it holds more than %d bytes", path, errNoJournal, int64(mostJournal))
	}
	if err != nil {
		return nil, err
	}
	j := new(journal)
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(j); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, errNoJournal, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w: something follows it", path, errNoJournal)
	}
	if j.Version != version {
		return nil, fmt.Errorf("%s: %w (%d, not %d)", path, ErrVersion, j.Version, version)
	}
	if err := j.check(stem); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, errNoJournal, err)
	}
	return j, nil
}

// check returns an error if the journal cannot be one that this program wrote under the
// stem.
func (j *journal) check(stem string) error {
	if !isStem(stem) || j.Set < 1 || j.stem() != stem {
		return errors.New("its name is not its ID")
	}
	for _, id := range []string{j.Undoes, j.With} {
		if id != "" && !isStem(id) {
			return fmt.Errorf("%q is not an ID", id)
		}
	}

	for i, s := range j.Steps {
		if s == nil {
			return fmt.Errorf("step %d is missing", i+1)
		}
		if err := s.check(j); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return nil
}

// check returns an error if the step cannot be one of j. Outside the root a set only
// creates, and an undo of that only removes. Kept files are named after their journal;
// only an undo uses those of another one, the record that it takes back.
func (s *step) check(j *journal) error {
	needs := func(ok bool, what string) error {
		if !ok {
			return fmt.Errorf("%s: %q says not %s", s.Path, s.Do, what)
		}
		return nil
	}

	for _, p := range []string{s.Path, s.To} {
		if p != "" && !fitPath(p, s.Do == Create || j.Undoes != "" && s.Do == Remove) {
			return fmt.Errorf("the path %q leads outside the folder", p)
		}
	}

	if s.Path == "" || s.Folders > len(s.Path) {
		return errors.New("it has no path, or not so many folders above it")
	}
	if s.Temp != "" && !safefile.IsTemp(s.Temp) && (!isKept(s.Temp) || idOf(keptFor(s.Temp)) != j.Undoes) {
		return fmt.Errorf("%q is not the name of a draft", s.Temp)
	}
	if s.Kept != "" && (!isKept(s.Kept) || keptFor(s.Kept) != j.stem()) {
		return fmt.Errorf("%q is not the name of a file that it keeps", s.Kept)
	}
	switch s.Do {
	case Create:
		return needs(s.Temp != "" && s.Now != nil, "what is made")
	case Replace:
		return needs(s.Temp != "" && s.Now != nil && s.Kept != "" && s.Was != nil, "what is put in what's place")
	case Remove:
		return needs(s.Kept != "" && s.Was != nil, "what goes")
	case link, unlink, Move:
		return needs(s.To != "" && s.Was != nil, "what is moved where")
	}
	return fmt.Errorf("%q is nothing that can be done", s.Do)
}

// fitPath reports whether a path of a journal stays inside the root and out of .stchat, or
// with outside is a clean absolute path.
func fitPath(p string, outside bool) bool {
	if strings.ContainsRune(p, 0) {
		return false
	}
	name := filepath.FromSlash(p)
	if filepath.IsAbs(name) {
		return outside && filepath.Clean(name) == name
	}
	first, _, _ := strings.Cut(p, "/")
	return filepath.IsLocal(name) && filepath.Clean(name) == name && !strings.EqualFold(first, folder)
}

// writeAs writes a journal of only these steps, under the journal's name with this suffix.
func (j *journal) writeAs(r *root, suffix string, steps []*step, d *safefile.Disk, sync bool) error {
	part := *j
	part.Steps = steps
	_ = d.Remove(j.tempPath(r)) // a run that died here left it, and write makes only a new file
	temp, err := part.write(r, d, sync)
	if err != nil {
		return err
	}
	if err := d.Rename(temp, r.own(j.stem()+suffix), sync); err != nil {
		return errors.Join(err, d.Remove(temp))
	}
	return nil
}

// tempPath returns where the journal is written before it gets its own name.
func (j *journal) tempPath(r *root) string { return r.own(j.stem() + journalSuffix + draftSuffix) }

// write writes the whole journal under a temporary name, which it returns, and forces it to the disk if
// sync says so.
func (j *journal) write(r *root, d *safefile.Disk, sync bool) (temp string, err error) {
	data, err := json.Marshal(j)
	if err != nil {
		return "", err
	}
	temp = j.tempPath(r)
	perm := fs.FileMode(0o600)
	if j.Precious {
		perm = 0o400 // read-only tells the clean-up that it stays, so it need not be read (room.go)
	}
	f, err := safefile.CreateNew(temp, perm)
	if err != nil {
		return "", err
	}
	safefile.AdoptOwner(f)
	_, err = d.Write(f, append(data, '\n'))
	if err == nil && sync {
		err = d.Sync(f)
	}
	if err = errors.Join(err, d.CloseFile(f)); err != nil {
		_ = d.Remove(temp)
		return "", err
	}
	return temp, nil
}

// newJournal returns a journal without steps.
func newJournal(r *root, opt *Options, u *Unit, links bool) *journal {
	r.sets++
	j := &journal{
		Version: version, ID: r.id, Set: r.sets, Command: opt.Command, Time: opt.Now.UTC(),
		Host: r.self.Host(), Precious: opt.Precious, Undoes: u.undoes, Redoes: u.redoes, With: opt.With, Links: links,
	}
	j.Realm, j.Pid = r.self.Process()
	return j
}

// compose turns the plans into the steps of a journal. A move is made in two halves, so
// that no name ever leads nowhere: the new name comes before files are replaced, the old
// one goes with what is removed. read means that files were read, so that all have to be
// looked at again.
func (t *commitment) compose(j *journal) (read bool, err error) {
	var last []*step
	j.Steps = nil
	for _, p := range t.plans {
		s := &step{Do: p.Do, About: p.About, Part: t.batch(p).number, Folders: p.folders}
		s.Path, _ = t.root.rel(p.Path)
		if p.draft != nil {
			s.Temp = filepath.Base(p.draft.at())
			now, err := p.draft.ident()
			if err != nil {
				return false, err
			}
			s.Now = &now
		}

		if p.Do != Create {
			was, isNew, err := p.ident()
			if err != nil {
				return false, err
			}
			s.Was, read = &was, read || isNew
		}

		if p.Do == Replace || p.Do == Remove {
			s.Kept = j.kept(len(j.Steps) + len(last) + 1)
			p.Kept = t.root.own(s.Kept)
		}
		switch p.Do {
		case Move:
			s.To, _ = t.root.rel(p.To)
			if (j.Links || s.Was.Size <= copied) && !sameButCase(p.real, p.to) {
				half := *s
				s.Do, half.Do = link, unlink
				last = append(last, &half)
			}
			j.Steps = append(j.Steps, s)
		case Remove:
			last = append(last, s)
		default:
			j.Steps = append(j.Steps, s)
		}
	}

	j.Steps = append(j.Steps, last...)
	return read, nil
}

// decide publishes the journal under its name, and returns the player for it.
func decide(j *journal, r *root, opt Options) (_ *player, err error) {
	j.Dev, j.Ino, err = safefile.FileID(r.dir)
	if err != nil {
		return nil, err
	}
	p := newPlayer(r, j, opt)
	d, sync := p.disk, p.sync
	temp, err := j.write(r, d, sync)
	if err != nil {
		return nil, err
	}
	p.keepAll()
	name := r.own(j.stem() + journalSuffix)
	if err := d.Rename(temp, name, sync); err != nil { // the decision
		return nil, errors.Join(err, d.Remove(temp), p.keepNone())
	}
	if sync {
		if err := d.SyncDir(r.own("")); err != nil {
			return nil, errors.Join(err, d.Remove(name), p.keepNone())
		}
	}
	return p, nil
}
