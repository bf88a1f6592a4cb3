package history

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io"
	"slices"
)

// Rule is a kind of damage.
type Rule string

// What Verify finds.
const (
	Structure Rule = "structure" // SQLite's own
	Index     Rule = "index"     // a key leads to another piece, or is missing: nothing is lost
	Lost      Rule = "lost"      // a line of a version cannot be read back
	BadList   Rule = "version"   // the version's list of pieces is wrong
	Row       Rule = "row"       // a name, time or note was changed
	Search    Rule = "search"    // the index of words, which is found elsewhere, is damaged
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
	pieces map[int64]key // and the key that each should have, as far as that is known
	packs  map[int64]bool

	wrong   int // rows of the index that lead to other pieces
	missing int // pieces whose keys the index lacks
}

type verifier struct {
	s    *Store
	each func(Problem) error
	d    *damage
}

// Verify reads everything: SQLite's structure, every pack, every key, every version's sum. It
// calls each for every problem, version by version.
func Verify(ctx context.Context, s *Store, each func(Problem) error) error {
	_, err := findDamage(ctx, s, each)
	return err
}

// findDamage does what [Verify] does, and returns the damage.
func findDamage(ctx context.Context, s *Store, each func(Problem) error) (*damage, error) {
	s.lists = nil
	v := &verifier{s: s, each: each, d: &damage{pieces: map[int64]key{}, packs: map[int64]bool{}}}
	for _, check := range []func(context.Context) error{v.structure, v.packs, v.index} {
		if err := check(ctx); err != nil {
			return nil, err
		}
	}
	return v.d, v.rows(ctx)
}

// rows checks the rows that say what the pieces are: each against its tag, and the lists of
// versions against the pieces.
func (v *verifier) rows(ctx context.Context) error {
	var found []string
	note := func(wrong bool, format string, args ...any) {
		if wrong {
			found = append(found, fmt.Sprintf(format, args...))
		}
	}
	runs, errRuns := v.s.Snapshots(ctx)
	places, errPlaces := v.s.Places(ctx)
	chats, errChats := v.s.Chats(ctx)
	if err := cmp.Or(errRuns, errPlaces, errChats); err != nil {
		return err
	}
	for _, r := range runs {
		note(r.Changed, "the time or note of snapshot %d was changed", r.ID)
	}
	for _, p := range places {
		note(p.Changed, "the place of a file was changed, %q", p.Path)
	}
	for _, c := range chats {
		note(c.Changed, "what is known of %q was changed", c.Path)
	}
	var lone int
	if err := v.s.db.Row(ctx, "SELECT (SELECT count(*) FROM chat WHERE id NOT IN (SELECT chat FROM place)) + (SELECT count(*) FROM version WHERE chat NOT IN (SELECT chat FROM place))").Scan(&lone); err != nil {
		return v.s.db.wrap(err)
	}
	note(lone > 0, "rows that belong to no file: %d", lone)
	for _, table := range []string{"run", "chat", "place", "version"} {
		var missing int64 // each row ever added took the next number, and those dropped on purpose are counted
		err := v.s.db.Row(ctx, "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?1), 0) - coalesce((SELECT v FROM meta WHERE k = ?2), 0) - count(*) FROM "+table, table, metaDropped+table).Scan(&missing)
		if err != nil {
			return v.s.db.wrap(err)
		}
		note(missing != 0, "rows missing in the table %q: %d", table, missing)
	}
	for _, text := range found {
		if err := v.each(Problem{Rule: Row, Text: text}); err != nil {
			return err
		}
	}
	for i := range chats {
		versions, err := v.s.Versions(ctx, chats[i].ID)
		if err != nil {
			return err
		}
		for k := range versions {
			if err := v.version(ctx, &chats[i], &versions[k]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *verifier) structure(ctx context.Context) error {
	return v.s.db.wrap(v.s.db.Each(ctx, "PRAGMA integrity_check(20)", nil, func(scan func(...any) error) error {
		var text string
		if err := scan(&text); err != nil || text == "ok" {
			return err
		}
		return v.each(Problem{Rule: Structure, Text: text})
	}))
}

func (v *verifier) packs(ctx context.Context) error {
	dec := newDecoder()
	defer dec.Close()
	keys, p := newKeyer(v.s.salt), &pack{}
	return eachPack(ctx, v.s.db, func(r *row) error {
		whole := r.decode(dec, p) == nil
		for i := range int(min(max(r.n, int64(len(r.keys)/keySize), 1), maxPack)) {
			if k := keyAt(r, i); !whole || !k.isZero() && keys.of(p.piece(i)) != k {
				v.d.packs[r.first] = true
				v.d.pieces[r.first+int64(i)] = k
			}
		}
		return nil
	})
}

// keyAt returns the key that a pack lists for its piece i, zero beyond the end of the list.
func keyAt(r *row, i int) (k key) {
	if at := i * keySize; at+keySize <= len(r.keys) {
		copy(k[:], r.keys[at:])
	}
	return k
}

// version reports the messages of a version that cannot be read back, or else that its row was
// changed.
func (v *verifier) version(ctx context.Context, c *Chat, of *Version) error {
	lost := Problem{Rule: BadList, Chat: new(Label(c.Path)), Rev: &of.Rev}
	runs, err := of.Runs()
	if err != nil {
		lost.Text = "its list of pieces is damaged"
		return v.each(lost)
	}
	sum, line, bad := sha256.New(), 0, -1
	header, lines := 1, int64(0) // the first line of a chat is usually its header
	for _, r := range runs {
		lines += r.Lines()
	}
	if int64(of.Messages) >= lines {
		header = 0
	}
	found := false
	for _, r := range runs {
		for id := r.First; id < r.First+r.Count; id++ {
			l, err := v.s.keysOf(ctx, id)
			if err != nil {
				return v.s.db.wrap(err)
			}
			if l == nil {
				lost.Text = fmt.Sprintf("it names the piece %d, which is not there", id)
				return v.each(lost)
			}
			k := l.keys[id-l.first]
			sum.Write(k[:])
			if _, isBad := v.d.pieces[id]; isBad && bad != line {
				bad, found = line, true
				message := Problem{Rule: Lost, Chat: lost.Chat, Rev: lost.Rev, Text: "does not come back"}
				if index := line - header; KindOf(c.Path).IsChat() && index >= 0 {
					message.Index = &index
				}
				if err := v.each(message); err != nil {
					return err
				}
			}
			if r.Part != More {
				line++
			}
		}
	}
	if !found && !slices.Equal(sum.Sum(nil), []byte(of.Sum)) {
		lost.Text = "its sum differs"
		return v.each(lost)
	}
	if of.Changed && !found {
		lost.Rule, lost.Text = Row, "its name, time, note or list of pieces was changed"
		return v.each(lost)
	}
	return nil
}

// index compares the index of keys with the packs, both ways.
func (v *verifier) index(ctx context.Context) error {
	var known []Run // pieces that the index leads to
	// in this order, which is also that of known, each pack's keys are read once
	err := v.s.db.Each(ctx, "SELECT k, id FROM key ORDER BY id", nil, func(scan func(...any) error) error {
		var raw sql.RawBytes
		var id int64
		if err := scan(&raw, &id); err != nil {
			return err
		}
		var k key
		copy(k[:], raw)
		ok, err := v.s.isPiece(ctx, id, k)
		if ok {
			known = appendRun(known, id, Whole)
		} else if _, bad := v.d.pieces[id]; !bad && err == nil {
			v.d.wrong++
		}
		return err
	})
	if err != nil {
		return v.s.db.wrap(err)
	}
	err = v.s.db.Each(ctx, "SELECT first, "+keysColumn+" FROM pack", nil, func(scan func(...any) error) error {
		var first int64
		var raw sql.RawBytes
		if err := scan(&first, &raw); err != nil {
			return err
		}
		for i, k := range parseKeys(raw) {
			id := first + int64(i)
			if _, bad := v.d.pieces[id]; bad || k.isZero() || has(known, id) {
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
		return v.s.db.wrap(err)
	}
	return v.each(Problem{Rule: Index, Text: fmt.Sprintf("in the index of lines, wrong: %d, missing: %d; nothing is lost, but such lines are stored again", v.d.wrong, v.d.missing)})
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
	for _, k := range d.pieces {
		m.found[k] = nil
	}
	return m, nil
}

// Damaged reports whether there is anything to mend.
func (m *Mender) Damaged() bool {
	return len(m.bad.pieces)+m.bad.wrong+m.bad.missing > 0
}

// Look reads a file, a chat or another one, and keeps those of its pieces that are damaged
// in the store.
func (m *Mender) Look(r io.Reader, chat bool) error {
	take := func(data []byte, _ Part) error {
		k := m.keys.of(data)
		if found, wanted := m.found[k]; wanted && found == nil {
			m.found[k] = append(make([]byte, 0, len(data)+1), data...)
		}
		return nil
	}
	return m.cut.cut(r, chat, take, func([]byte) {})
}

// Mend stores the pieces that were found again, and repairs the index of keys if it was
// damaged. It returns how many pieces were recovered.
func (m *Mender) Mend(ctx context.Context) (pieces int, err error) {
	enc, dec := newEncoder(), newDecoder()
	defer enc.Close()
	defer dec.Close()
	err = m.s.transact(ctx, func() error {
		for first := range m.bad.packs {
			r, err := packRow(ctx, m.s.db, first)
			if err != nil {
				return err
			}
			old, now := &pack{}, &pack{first: r.first}
			whole := r.decode(dec, old) == nil
			for i := range int(max(r.n, int64(len(r.keys)/keySize))) {
				id, k, data := r.first+int64(i), keyAt(r, i), []byte(nil)
				if whole {
					data = old.piece(i) // if it is damaged and was not found, it stays lost
				}
				if wanted, bad := m.bad.pieces[id]; bad {
					again := m.found[wanted]
					if whole && again == nil {
						// known by the key of its present bytes, only the key in the pack is damaged
						if known, ok, err := m.s.find(ctx, m.keys.of(data)); err == nil && ok && known == id {
							again = data
						}
					}
					if again != nil {
						data, k = again, m.keys.of(again)
						pieces++
					}
				}
				now.add(data, k)
			}
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
