package history

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Rule is a kind of damage.
type Rule string

// What Verify finds.
const (
	Structure Rule = "structure" // SQLite's own, what the tables are, or a part that cannot be read
	Index     Rule = "index"     // a key leads to another piece, or is missing: nothing is lost
	Lost      Rule = "lost"      // a line of a version cannot be read back
	BadList   Rule = "version"   // the version's list of pieces is wrong
	Row       Rule = "row"       // a name, time or note was changed
)

// Problem is one thing that is damaged: a part of the document of history.
type Problem struct {
	Rule  Rule    `json:"rule"`
	Chat  *string `json:"chat"` // its [Label]; nil for what concerns no chat
	Rev   *int64  `json:"rev"`
	Index *int    `json:"index"` // of the message; nil where it is not one
	Text  string  `json:"message"`
}

// damage lists the pieces that cannot be read back.
type damage struct {
	badPieces map[int64]key // and the key that each should have: of the pack, or else of the index; zero if neither has it
	packs     map[int64]bool

	wrong      int  // rows of the index that lead to other pieces
	missing    int  // pieces whose keys the index lacks
	structural bool // SQLite's own structure, or what the tables are
}

// verifier looks at one part of a store after the other. Damage of one part does not keep it from
// looking at the others.
type verifier struct {
	s    *Store
	each func(Problem) error
	d    *damage

	dec    *zstd.Decoder
	keys   *keyer
	pack   pack           // whose memory is reused
	judged map[int64]bool // the packs that were unpacked, by their first piece
	told   error          // by each: nothing more is to be said
}

// Verify reads everything: SQLite's structure, what the tables are, every pack, every key, every row
// and every version's sum. It calls each for every problem, version by version. A part that cannot be
// read is a problem, too; an error means that something else keeps it from being read now.
func Verify(ctx context.Context, s *Store, each func(Problem) error) error {
	_, err := findDamage(ctx, s, each)
	return err
}

// findDamage does what [Verify] does, and returns the damage.
func findDamage(ctx context.Context, s *Store, each func(Problem) error) (*damage, error) {
	s.lists = nil
	v := &verifier{s: s, each: each, dec: newDecoder(), keys: newKeyer(s.salt), judged: map[int64]bool{}}
	defer v.dec.Close()
	v.d = &damage{badPieces: map[int64]key{}, packs: map[int64]bool{}}

	for _, part := range []struct {
		name  string
		check func(context.Context) error
	}{
		{"the file's structure", v.structure},
		{"the list of tables", v.tables},
		{"the lines", v.packs},
		{"the index of lines", v.index},
		{"what is noted of the history itself", v.notes},
		{"the snapshots", v.snapshots},
		{"the places of files", v.places},
		{"the files", v.files},
		{"what belongs together", v.belonging},
		{"what the last snapshot found", v.seen},
		{"the versions", v.versions},
	} {
		err := v.unreadable(ctx, Problem{Rule: Structure, Text: part.name}, part.check(ctx))
		if err != nil {
			return nil, err
		}
	}
	return v.d, nil
}

// problem reports one.
func (v *verifier) problem(p Problem) error {
	v.told = v.each(p)
	return v.told
}

// unreadable reports what cannot be read because it is damaged: of, whose text says what that is. It
// returns every other error.
func (v *verifier) unreadable(ctx context.Context, of Problem, err error) error {
	if err == nil {
		return nil
	}
	if v.told != nil {
		return v.told
	}
	why, damaged := damageOf(err)
	if ctx.Err() != nil || !damaged {
		return v.s.db.wrap(err)
	}
	v.d.structural = true
	of.Text += " cannot be read: " + why
	return v.problem(of)
}

// damageOf says what an error of reading tells of what the file holds. Others that use the file, the
// disk, and the memory are no damage.
func damageOf(err error) (why string, damaged bool) {
	if errors.Is(err, ErrBusy) || errors.Is(err, ErrNoLocks) || errors.Is(err, ErrReadOnly) || errors.Is(err, ErrFull) {
		return "", false
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return "a value is of another kind than any that was written", true
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_INTERRUPT:
		return "", false
	}
	return e.Error(), true
}

// structure asks SQLite, but for the versions in the file's header, which it does not judge: with one that
// it does not know it only refuses to write (https://www.sqlite.org/fileformat.html#file_format_version_numbers).
func (v *verifier) structure(ctx context.Context) error {
	header, err := headerOf(v.s.db.path)
	if err != nil {
		return err
	}
	for _, at := range []int{writeVersion, readVersion} {
		if known := header[at] == 1 || header[at] == 2; !known {
			v.d.structural = true
			text := fmt.Sprintf("the header's byte %d is %d, not 1 or 2, so that the history cannot be written", at, header[at])
			if err := v.problem(Problem{Rule: Structure, Text: text}); err != nil {
				return err
			}
		}
	}
	return v.s.db.Each(ctx, "PRAGMA integrity_check(20)", nil, func(scan func(...any) error) error {
		var text string
		if err := scan(&text); err != nil || text == "ok" {
			return err
		}
		v.d.structural = true
		text = strings.TrimPrefix(text, "*** in database main ***\n")
		return v.problem(Problem{Rule: Structure, Text: text})
	})
}

// Where a database has the versions of its format, for writing and for reading.
const (
	writeVersion = 18
	readVersion  = 19
	headerBytes  = 100
)

// headerOf returns the header of a database.
func headerOf(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	header := make([]byte, headerBytes)
	_, err = io.ReadFull(f, header)
	return header, err
}

// tables compares what the tables and their indexes are with those of a new store. A changed letter
// there is no damage for SQLite, but it can make every query fail, or give other answers.
func (v *verifier) tables(ctx context.Context) error {
	sound, err := inMemory(ctx, v.s.db.path, time.Now())
	if err != nil {
		return err
	}
	defer sound.Close()
	want, err := tablesOf(ctx, sound)
	if err != nil {
		return err
	}
	got, err := tablesOf(ctx, v.s)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] == want[name] {
			continue
		}
		text := fmt.Sprintf("%s is not what it was made as: %q", name, got[name])
		if got[name] == "" {
			text = name + " is missing"
		}
		v.d.structural = true
		if err := v.problem(Problem{Rule: Structure, Text: text}); err != nil {
			return err
		}
	}
	return nil
}

// tablesOf returns the statements that make the tables and indexes of a store, by what they make. Those
// that SQLite makes itself for a table's key have none, and tell to which table they belong.
func tablesOf(ctx context.Context, s *Store) (map[string]string, error) {
	made := map[string]string{}
	err := s.db.Each(ctx, "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema", nil, func(scan func(...any) error) error {
		var kind, name, table, statement string
		if err := scan(&kind, &name, &table, &statement); err != nil {
			return err
		}
		made[fmt.Sprintf("%s %q", kind, name)] = cmp.Or(statement, "of "+table)
		return nil
	})
	return made, err
}

// packs unpacks every pack, in the order of the table, in which there is an end wherever a changed
// number would lead.
func (v *verifier) packs(ctx context.Context) error {
	return v.s.db.Each(ctx, "SELECT "+packColumns+" FROM pack", nil, func(scan func(...any) error) error {
		var r row
		if err := r.scan(scan); err != nil {
			return err
		}
		v.judge(&r)
		return ctx.Err()
	})
}

// judge notes which pieces of a pack are damaged.
func (v *verifier) judge(r *row) {
	v.judged[r.first] = true
	whole := r.decode(v.dec, &v.pack) == nil
	for i := range r.pieces() {
		k := keyAt(r, i)
		sound := whole && (k.isZero() || v.keys.keyOf(v.pack.piece(i)) == k)
		if !sound {
			v.d.packs[r.first] = true
			v.d.badPieces[r.first+int64(i)] = k
		}
	}
}

// keyAt returns the key that a pack lists for its piece i, zero beyond the end of the list.
func keyAt(r *row, i int) (k key) {
	if at := i * keySize; at+keySize <= len(r.keys) {
		copy(k[:], r.keys[at:])
	}
	return k
}

// row reports a row that was changed.
func (v *verifier) row(format string, args ...any) error {
	return v.problem(Problem{Rule: Row, Text: fmt.Sprintf(format, args...)})
}

// notes looks for what a store cannot do without.
func (v *verifier) notes(ctx context.Context) error {
	var id, root string
	var salt []byte
	var created, generation, floor, device, inode int64
	for k, into := range map[string]any{
		metaID: &id, metaRoot: &root, metaSalt: &salt, metaCreated: &created, metaGeneration: &generation,
		metaFloor: &floor, metaDevice: &device, metaInode: &inode,
	} {
		found, err := v.s.db.Find(ctx, "SELECT v FROM meta WHERE k = ?", k, into)
		if err != nil {
			return err
		}
		if !found {
			if err := v.row("a note of the history itself is missing: %q", k); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *verifier) snapshots(ctx context.Context) error {
	return eachRow(ctx, v.s, snapshotsQuery, nil, func(r *Snapshot) error {
		if !r.Changed {
			return nil
		}
		return v.row("the time or note of snapshot %d was changed", r.ID)
	})
}

func (v *verifier) places(ctx context.Context) error {
	return eachRow(ctx, v.s, placesQuery, nil, func(p *Place) error {
		if !p.Changed && inside(p.Path) {
			return nil
		}
		return v.row("the place of a file was changed, %q", p.Path)
	})
}

func (v *verifier) files(ctx context.Context) error {
	return eachRow(ctx, v.s, chatsQuery, nil, func(c *Chat) error {
		if !c.Changed {
			return nil
		}
		return v.row("what is known of %q was changed", c.Path)
	})
}

// belonging looks for rows that belong to no file, and for those that are missing: each row ever added
// took the next number, and those that were dropped on purpose are counted.
func (v *verifier) belonging(ctx context.Context) error {
	var lone int
	err := v.s.db.Row(ctx, "SELECT (SELECT count(*) FROM chat WHERE id NOT IN (SELECT chat FROM place)) + (SELECT count(*) FROM version WHERE chat NOT IN (SELECT chat FROM place))").Scan(&lone)
	if err != nil {
		return err
	}
	if lone > 0 {
		if err := v.row("rows that belong to no file: %d", lone); err != nil {
			return err
		}
	}

	for _, table := range []string{"run", "chat", "place", "version"} {
		var missing int64
		err := v.s.db.Row(ctx, "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?1), 0) - coalesce((SELECT v FROM meta WHERE k = ?2), 0) - count(*) FROM "+table, table, metaDropped+table).Scan(&missing)
		if err != nil {
			return err
		}
		if missing != 0 {
			if err := v.row("rows missing in the table %q: %d", table, missing); err != nil {
				return err
			}
		}
	}
	return nil
}

// seen looks whether the files that a snapshot found have the versions that are noted for them.
func (v *verifier) seen(ctx context.Context) error {
	all, err := v.s.Seen(ctx)
	if err != nil {
		return err
	}
	sizes := map[int64]int64{}
	err = v.s.db.Each(ctx, "SELECT id, size FROM version", nil, func(scan func(...any) error) error {
		var rev, size int64
		err := scan(&rev, &size)
		sizes[rev] = size
		return err
	})
	if err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(all)) {
		was := all[path]
		size, known := sizes[was.Rev]
		dropped := was.Rev == 0 // its version was pruned
		if dropped || known && size == was.Size {
			continue
		}
		if err := v.row("how the last snapshot found %q was changed", path); err != nil {
			return err
		}
	}
	return nil
}

// versions looks at each version by its own number, so that a row that cannot be read hides no other.
func (v *verifier) versions(ctx context.Context) error {
	paths, order := map[int64]string{}, map[int64]int{} // of the files
	err := eachRow(ctx, v.s, chatsQuery, nil, func(c *Chat) error {
		paths[c.ID] = c.Path
		order[c.ID] = len(order) + 1
		return nil
	})
	if err := v.unreadable(ctx, Problem{Rule: Structure, Text: "the files of versions"}, err); err != nil {
		return err
	}

	type numbers struct{ rev, chat int64 }
	var all []numbers
	err = v.s.db.Each(ctx, "SELECT id, chat FROM version ORDER BY at, id", nil, func(scan func(...any) error) error {
		var n numbers
		var chat number
		err := scan(&n.rev, &chat)
		n.chat = int64(chat)
		all = append(all, n)
		return err
	})

	err = v.unreadable(ctx, Problem{Rule: Structure, Text: "the list of versions"}, err)
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b numbers) int { return cmp.Compare(order[a.chat], order[b.chat]) })

	for _, n := range all {
		lost := Problem{Rule: BadList, Chat: new(Label(paths[n.chat])), Rev: &n.rev, Text: "the version"}
		of, ok, err := v.s.Version(ctx, n.rev)
		switch {
		case err == nil && !ok:
			lost.Text = "it is not found by its number"
			err = v.problem(lost)
		case err == nil:
			err = v.version(ctx, *lost.Chat, &of)
		}
		err = v.unreadable(ctx, lost, err)
		if err != nil {
			return err
		}
	}
	return nil
}

// version reports the messages of a version that cannot be read back; if there are none, that its
// content or its row is not what was stored.
func (v *verifier) version(ctx context.Context, label string, of *Version) error {
	problem := func(rule Rule, text string) error {
		return v.problem(Problem{Rule: rule, Chat: &label, Rev: &of.Rev, Text: text})
	}

	runs, err := of.Runs()
	if err != nil {
		return problem(BadList, "its list of pieces is damaged")
	}
	read, err := v.pieces(ctx, label, of, runs)
	switch {
	case err != nil:
		return err
	case read.missing != 0:
		return problem(BadList, fmt.Sprintf("it names the piece %d, which is not there", read.missing))
	case read.anyLost:
		return nil // its messages were reported
	case !slices.Equal(read.sum, []byte(of.Sum)):
		return problem(BadList, "its sum differs")
	case of.Changed:
		return problem(Row, "its name, time, note or list of pieces was changed")
	}
	return nil
}

// piecesRead is what the pieces of a version say of it.
type piecesRead struct {
	missing int64  // the first piece that is not there, behind which nothing was read; 0, which none has: all are
	anyLost bool   // messages that do not come back were reported
	sum     []byte // of all pieces
}

// pieces goes through the pieces of a version and reports each message that cannot be read back.
func (v *verifier) pieces(ctx context.Context, label string, of *Version, runs []Run) (read piecesRead, err error) {
	lines := int64(0)
	for _, r := range runs {
		lines += r.Lines()
	}
	header := 1 // the first line of a chat is usually its header
	if int64(of.Messages) >= lines {
		header = 0
	}

	sum := sha256.New()
	line := 0
	reported := -1 // the last line that was reported
	for _, r := range runs {
		for id := r.First; id < r.First+r.Count; id++ {
			pack, err := v.listOf(ctx, id)
			if err != nil {
				return read, err
			}
			if pack == nil {
				read.missing = id
				return read, nil
			}
			key := pack.keys[id-pack.first]
			sum.Write(key[:])

			_, isBad := v.d.badPieces[id]
			if isBad && reported != line {
				reported = line
				lost := Problem{Rule: Lost, Chat: &label, Rev: &of.Rev, Text: "does not come back"}
				isMessage := KindOf(of.Path).IsChat() && line >= header
				if isMessage {
					lost.Index = new(line - header)
				}
				if err := v.problem(lost); err != nil {
					return read, err
				}
			}

			endsLine := r.Part != More
			if endsLine {
				line++
			}
		}
	}

	read.anyLost = reported >= 0
	read.sum = sum.Sum(nil)
	return read, nil
}

// listOf is [Store.keysOf]. It judges the pack, where the table was not read so far.
func (v *verifier) listOf(ctx context.Context, id int64) (*pack, error) {
	l, err := v.s.keysOf(ctx, id)
	if err != nil || l == nil || v.judged[l.first] {
		return l, err
	}
	r, err := packRow(ctx, v.s.db, id)
	if errors.Is(err, errNoPiece) {
		return nil, nil
	}
	if err == nil {
		v.judge(r)
	}
	return l, err
}

// index compares the index of keys with the packs, both ways.
func (v *verifier) index(ctx context.Context) error {
	var known []Run // pieces that the index leads to
	// in this order, which is also that of known, each pack's keys are read once
	err := v.s.db.Each(ctx, "SELECT k, id FROM key ORDER BY id", nil, func(scan func(...any) error) error {
		var raw sql.RawBytes
		var of number
		if err := scan(&raw, &of); err != nil {
			return err
		}
		id := int64(of)
		var k key
		copy(k[:], raw)
		ok, err := v.s.isPiece(ctx, id, k)
		listed, isBad := v.d.badPieces[id]
		switch {
		case err != nil:
			return err
		case ok:
			known = appendRun(known, id, Whole)
		case !isBad:
			v.d.wrong++
		case listed.isZero():
			v.d.badPieces[id] = k // its pack lists too few keys
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = v.s.db.Each(ctx, "SELECT first, "+keysColumn+" FROM pack", nil, func(scan func(...any) error) error {
		var first int64
		var raw sql.RawBytes
		if err := scan(&first, &raw); err != nil {
			return err
		}
		for i, k := range parseKeys(raw) {
			id := first + int64(i)
			if _, bad := v.d.badPieces[id]; bad || k.isZero() || has(known, id) {
				continue
			}
			// a key that leads to another piece is that of the same line, stored twice
			_, found, err := v.s.find(ctx, k)
			if err != nil {
				return err
			}
			if !found {
				v.d.missing++
			}
		}
		return nil
	})
	if err != nil || v.d.wrong+v.d.missing == 0 {
		return err
	}
	return v.problem(Problem{Rule: Index, Text: fmt.Sprintf("in the index of lines, wrong: %d, missing: %d; nothing is lost, but such lines are stored again", v.d.wrong, v.d.missing)})
}

// Mender repairs damaged pieces from files that still have them.
type Mender struct {
	s     *Store
	bad   *damage
	found map[key][]byte // by the keys of damaged pieces; nil: not found yet
	cut   *cutter
	keys  *keyer
}

// NewMender verifies a store, calls each for every problem, and returns a mender of the
// damage.
func NewMender(ctx context.Context, s *Store, each func(Problem) error) (*Mender, error) {
	d, err := findDamage(ctx, s, each)
	if err != nil {
		return nil, err
	}
	m := &Mender{s: s, bad: d, found: map[key][]byte{}, cut: newCutter(), keys: newKeyer(s.salt)}
	for _, k := range d.badPieces {
		m.found[k] = nil
	}
	return m, nil
}

// Damaged reports whether there is anything to mend. Where SQLite's own structure is damaged there is
// not: to write there could damage more.
func (m *Mender) Damaged() bool {
	return !m.bad.structural && len(m.bad.badPieces)+m.bad.wrong+m.bad.missing > 0
}

// Look reads a file, a chat or another one, and keeps those of its pieces that are damaged
// in the store.
func (m *Mender) Look(r io.Reader, chat bool) error {
	take := func(data []byte, _ Part) error {
		k := m.keys.keyOf(data)
		if found, wanted := m.found[k]; wanted && found == nil {
			m.found[k] = append(make([]byte, 0, len(data)+1), data...)
		}
		return nil
	}
	return m.cut.cut(r, chat, take, func([]byte) {})
}

// Mend stores the pieces that were found again, and repairs the index of keys if it was
// damaged. It returns how many pieces were recovered. A pack of which nothing was found stays as it is.
func (m *Mender) Mend(ctx context.Context) (pieces int, err error) {
	enc, dec := newEncoder(), newDecoder()
	defer enc.Close()
	defer dec.Close()
	err = m.s.transact(ctx, func() error {
		var gen int64
		if err := m.s.db.Get(ctx, metaGeneration, &gen); err != nil {
			return err
		}
		if gen != m.s.gen {
			return ErrRewritten // what was forgotten since must not come back
		}
		for first := range m.bad.packs {
			// not the pack that has the piece: how many it has may be what is damaged
			r, err := onePack(ctx, m.s.db, "first = ?", first)
			if err != nil {
				return err
			}
			now, found := m.mended(ctx, r, dec)
			if found == 0 {
				continue // what is left of it may still be of use
			}
			pieces += found
			if err := m.s.putPack(ctx, "REPLACE", now, enc.EncodeAll(now.raw, nil)); err != nil {
				return err
			}
		}

		if m.bad.wrong+m.bad.missing > 0 {
			return indexAgain(ctx, m.s.db)
		}
		return nil
	})
	return pieces, err
}

// mended returns a pack with the pieces that were found again, and how many these are. The others that
// are damaged stay lost, and can be mended later by their keys.
func (m *Mender) mended(ctx context.Context, r *row, dec *zstd.Decoder) (now *pack, found int) {
	old := &pack{}
	now = &pack{first: r.first}
	whole := r.decode(dec, old) == nil
	for i := range r.pieces() {
		id := r.first + int64(i)
		k, isBad := m.bad.badPieces[id]
		if !isBad {
			k = keyAt(r, i)
		}
		var data []byte
		if whole {
			data = old.piece(i)
		}
		again := m.foundAgain(ctx, id, data)
		if again != nil {
			data = again
			k = m.keys.keyOf(again)
			found++
		}
		now.add(data, k)
	}
	return now, found
}

// foundAgain returns the bytes of a piece that is damaged, nil if they were not found, or it is not
// damaged. data is what the pack has of it now, nil if that cannot be unpacked.
func (m *Mender) foundAgain(ctx context.Context, id int64, data []byte) []byte {
	wanted, isBad := m.bad.badPieces[id]
	if !isBad {
		return nil
	}
	if again := m.found[wanted]; again != nil || data == nil {
		return again
	}
	// if the index knows the piece by the key of its present bytes, only the key in the pack is damaged
	known, ok, err := m.s.find(ctx, m.keys.keyOf(data))
	if err != nil || !ok || known != id {
		return nil
	}
	return data
}

// indexAgain builds the index of keys anew.
func indexAgain(ctx context.Context, db *database) error {
	if err := db.Exec(ctx, "DELETE FROM key"); err != nil {
		return err
	}
	return eachPack(ctx, db, func(r *row) error {
		for i, k := range parseKeys(r.keys) {
			if k.isZero() {
				continue
			}
			if err := db.Exec(ctx, "INSERT OR IGNORE INTO key(k, id) VALUES(?, ?)", k[:], r.first+int64(i)); err != nil {
				return err
			}
		}
		return nil
	})
}
