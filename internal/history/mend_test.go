package history

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func verified(t *testing.T, s *Store) (list []Problem) {
	t.Helper()
	if err := Verify(t.Context(), s, func(p Problem) error { list = append(list, p); return nil }); err != nil {
		t.Fatal(err)
	}
	return list
}

// flip changes a byte of a blob in the store.
func flip(t *testing.T, s *Store, query, update string, at int, args ...any) {
	t.Helper()
	var blob []byte
	if err := s.db.Row(t.Context(), query, args...).Scan(&blob); err != nil {
		t.Fatal(err)
	}
	if at < 0 {
		at += len(blob)
	}
	blob[at] ^= 0x40
	if err := s.db.Exec(t.Context(), update, append([]any{blob}, args...)...); err != nil {
		t.Fatal(err)
	}
}

// A flipped byte is found wherever it is, and named; what a file still has is mended.
func TestVerifyAndMend(t *testing.T) {
	first, second := chatOf("a", 0, 20), chatOf("b", 0, 30)
	for _, test := range []struct {
		name          string
		query, update string
		at            int
		rule          Rule
		index         int
		mends         bool
	}{
		{"data", "SELECT data FROM pack WHERE first = 1", "UPDATE pack SET data = ? WHERE first = 1", -5, Lost, -1, true},
		{"a key of a pack", "SELECT keys FROM pack WHERE first = 1", "UPDATE pack SET keys = ? WHERE first = 1", 5*keySize + 3, Lost, 4, true},
		{"lengths", "SELECT lens FROM pack WHERE first = 1", "UPDATE pack SET lens = ? WHERE first = 1", 3, Lost, -1, true},
		{"a number of pieces", "SELECT CAST(n AS BLOB) FROM pack WHERE first = 1", "UPDATE pack SET n = CAST(? AS INTEGER) WHERE first = 1", 1, Lost, -1, true},
		{"a key of the index", "SELECT k FROM key WHERE id = 3", "UPDATE key SET k = ? WHERE id = 3", 0, Index, -1, true},
		{"the piece of a key", "SELECT CAST(id AS BLOB) FROM key WHERE id = 3", "UPDATE key SET id = CAST(? AS INTEGER) WHERE id = 3", 0, Index, -1, true},
		{"runs", "SELECT runs FROM version WHERE id = 1 AND chat = 1", "UPDATE version SET runs = ? WHERE id = 1 AND chat = 1", 0, BadList, -1, false},
		{"a sum", "SELECT sum FROM version WHERE id = 1 AND chat = 1", "UPDATE version SET sum = ? WHERE id = 1 AND chat = 1", 9, BadList, -1, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := openNew(t)
			versions := []Version{take(t, s, "a", first)[0], take(t, s, "b", second)[0]}
			if list := verified(t, s); len(list) > 0 {
				t.Fatalf("a sound store: %+v", list)
			}
			flip(t, s, test.query, test.update, test.at)
			s.packs = nil
			list := verified(t, s)
			if len(list) == 0 || list[0].Rule != test.rule {
				t.Fatalf("found %+v, want %s", list, test.rule)
			}
			for _, p := range list {
				if p.Rule != Index && (p.Chat == nil || *p.Chat != "Mira/a" || *p.Rev != 1) {
					t.Errorf("%+v is of another chat", p)
				}
			}
			if test.index >= 0 && (list[0].Index == nil || *list[0].Index != test.index) {
				t.Errorf("names message %v, want %d", list[0].Index, test.index)
			}
			if test.rule == Lost {
				if err := s.WriteTo(t.Context(), new(bytes.Buffer), &versions[0]); !errors.Is(err, ErrBroken) {
					t.Errorf("reads as if nothing were: %v", err)
				}
			}
			m, err := NewMender(t.Context(), s, func(Problem) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Look(bytes.NewReader(first), true); err != nil {
				t.Fatal(err)
			}
			if _, err := m.Mend(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.packs = nil
			if list := verified(t, s); len(list) == 0 != test.mends {
				t.Errorf("after mending: %+v", list)
			}
			if test.mends && !bytes.Equal(back(t, s, versions[0]), first) {
				t.Error("after mending: other bytes")
			}
			if !bytes.Equal(back(t, s, versions[1]), second) {
				t.Error("the other chat has other bytes")
			}
		})
	}
}

// A key that is missing from the index is found and mended.
func TestMissingKey(t *testing.T) {
	s := openNew(t)
	take(t, s, "a", chatOf("a", 0, 20))
	if err := s.db.Exec(t.Context(), "DELETE FROM key WHERE id = ?", 3); err != nil {
		t.Fatal(err)
	}
	list := verified(t, s)
	if len(list) != 1 || list[0].Rule != Index || !strings.Contains(list[0].Text, "missing: 1") {
		t.Fatalf("found %+v", list)
	}
	m, err := NewMender(t.Context(), s, func(Problem) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if !m.Damaged() {
		t.Error("a missing key is no damage")
	}
	if _, err := m.Mend(t.Context()); err != nil {
		t.Fatal(err)
	}
	if list := verified(t, s); len(list) > 0 {
		t.Errorf("after mending: %+v", list)
	}
}

// A line that was stored again because its key was missing has one key, and the store is sound.
func TestStoredTwice(t *testing.T) {
	s := openNew(t)
	chat := chatOf("a", 0, 20)
	take(t, s, "a", chat)
	if err := s.db.Exec(t.Context(), "DELETE FROM key WHERE id = ?", 3); err != nil {
		t.Fatal(err)
	}
	third := bytes.Split(chat, []byte("\n"))[2]
	v := take(t, s, "b", append([]byte("{}\n"), third...))[0]
	if runs, err := v.Runs(); err != nil || len(runs) != 1 || runs[0].Count != 2 || has(Ranges(runs), 3) {
		t.Fatal("the line was not stored twice:", runs, err)
	}
	if list := verified(t, s); len(list) > 0 {
		t.Errorf("%+v", list)
	}
}

// What no file has any more stays lost, and is said again.
func TestMendWithoutFiles(t *testing.T) {
	s := openNew(t)
	take(t, s, "a", chatOf("a", 0, 20))
	flip(t, s, "SELECT data FROM pack WHERE first = 1", "UPDATE pack SET data = ? WHERE first = 1", -5)
	m, err := NewMender(t.Context(), s, func(Problem) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if n, err := m.Mend(t.Context()); err != nil || n != 0 {
		t.Fatalf("%d pieces came back from nowhere: %v", n, err)
	}
	if list := verified(t, s); len(list) == 0 {
		t.Error("the loss is not said any more")
	}
}

// TestProblemsTold holds what is said of a damaged store.
func TestProblemsTold(t *testing.T) {
	for statement, want := range map[string]string{
		"DELETE FROM pack WHERE first = 1":                          `mends true; index rev 0 message -1: in the index of lines, wrong: 3, missing: 0; nothing is lost, but such lines are stored again; version rev 1 message -1: it names the piece 1, which is not there`,
		"DELETE FROM pack WHERE first > 1":                          `mends true; index rev 0 message -1: in the index of lines, wrong: 3, missing: 0; nothing is lost, but such lines are stored again; version rev 2 message -1: it names the piece 4, which is not there`,
		"DELETE FROM key WHERE id = 2":                              `mends true; index rev 0 message -1: in the index of lines, wrong: 0, missing: 1; nothing is lost, but such lines are stored again`,
		"UPDATE key SET id = 3 WHERE id = 2":                        `mends true; index rev 0 message -1: in the index of lines, wrong: 1, missing: 0; nothing is lost, but such lines are stored again`,
		"UPDATE pack SET keys = zeroblob(7) WHERE first = 1":        `mends true; version rev 1 message -1: it names the piece 1, which is not there`,
		"UPDATE pack SET data = CAST('x' AS BLOB) WHERE first > 1":  `mends true; lost rev 2 message -1: does not come back; lost rev 2 message 0: does not come back; lost rev 2 message 1: does not come back`,
		"UPDATE version SET note = 'x' WHERE id = 1":                `mends false; row rev 1 message -1: its name, time, note or list of pieces was changed`,
		"UPDATE version SET runs = CAST('x' AS BLOB) WHERE id = 1":  `mends false; version rev 1 message -1: its list of pieces is damaged`,
		"UPDATE version SET sum = CAST('x' AS BLOB) WHERE id = 1":   `mends false; version rev 1 message -1: its sum differs`,
		"UPDATE place SET path = 'chats/Mira/z.jsonl' WHERE id = 1": `mends false; row rev 0 message -1: the place of a file was changed, "chats/Mira/z.jsonl"`,
		"UPDATE run SET note = 'x' WHERE id = 1":                    `mends false; row rev 0 message -1: the time or note of snapshot 1 was changed`,
		"UPDATE chat SET slug = 'x' WHERE id = 1":                   `mends false; row rev 0 message -1: what is known of "chats/Mira/a.jsonl" was changed`,
		"DELETE FROM place WHERE id = 1":                            `mends false; row rev 0 message -1: rows that belong to no file: 2; row rev 0 message -1: rows missing in the table "place": 1`,
		"DELETE FROM chat WHERE id = 2":                             `mends false; row rev 0 message -1: rows missing in the table "chat": 1`,
		"DELETE FROM run":                                           `mends false; row rev 0 message -1: rows missing in the table "run": 2`,
		"DELETE FROM version WHERE id = 1":                          `mends false; row rev 0 message -1: rows missing in the table "version": 1`,
		"DELETE FROM version WHERE id = 2":                          `mends false; row rev 0 message -1: rows missing in the table "version": 1`,
		"DELETE FROM sqlite_sequence WHERE name = 'version'":        `mends false; row rev 0 message -1: rows missing in the table "version": -2`,
		"DELETE FROM seen":                                          `mends false`,
	} {
		s := openNew(t)
		take(t, s, "a", chatOf("a", 0, 2))
		take(t, s, "b", chatOf("b", 0, 2))
		if err := s.db.Exec(t.Context(), "PRAGMA foreign_keys = OFF; "+statement); err != nil {
			t.Fatal(err)
		}
		m, err := NewMender(t.Context(), s, func(Problem) error { return nil })
		if err != nil {
			t.Errorf("%s: %v", statement, err)
			continue
		}
		got := fmt.Sprintf("mends %v", m.Damaged())
		for _, p := range verified(t, s) {
			rev, index := int64(0), -1
			if p.Rev != nil {
				rev = *p.Rev
			}
			if p.Index != nil {
				index = *p.Index
			}
			got += fmt.Sprintf("; %s rev %d message %d: %s", p.Rule, rev, index, p.Text)
		}
		if got != want {
			t.Errorf("%s:\n\tgot  %s\n\twant %s", statement, got, want)
		}
		enough := errors.New("enough")
		if err := Verify(t.Context(), s, func(Problem) error { return enough }); !errors.Is(err, enough) && got != "mends false" {
			t.Errorf("%s: whoever has enough of it gets %v", statement, err)
		}
	}
}

// A piece that is damaged is named by its number.
func TestLostPieceNamed(t *testing.T) {
	s := openNew(t)
	v := take(t, s, "a", chatOf("a", 0, 20))[0]
	flip(t, s, "SELECT keys FROM pack WHERE first = 1", "UPDATE pack SET keys = ? WHERE first = 1", 5*keySize)
	s.packs = nil
	runs, err := v.Runs()
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range s.Lines(t.Context(), runs) {
		if lost, ok := errors.AsType[*LostError](err); err != nil && (!ok || lost.Piece != 6) {
			t.Errorf("%v; want piece 6", err)
		}
	}
	if lost, ok := errors.AsType[*LostError](s.WriteTo(t.Context(), new(bytes.Buffer), &v)); !ok || lost.Piece != 6 || !strings.Contains(lost.Error(), "piece 6 ") {
		t.Errorf("%v; want piece 6", lost)
	}
}

// A piece that no pack has is lost, and said to be; and so is a version that has another size.
func TestNoSuchPiece(t *testing.T) {
	s := openNew(t)
	v := take(t, s, "a", chatOf("a", 0, 20))[0]
	v.Size++
	if err := s.WriteTo(t.Context(), new(bytes.Buffer), &v); !errors.Is(err, ErrBroken) {
		t.Errorf("of another size: %v", err)
	}
	for _, id := range []int64{0, 22, 999} {
		n := 0
		for _, err := range s.Lines(t.Context(), []Run{{First: id, Count: 1}}) {
			if lost, ok := errors.AsType[*LostError](err); !ok || lost.Piece != id {
				t.Errorf("piece %d: %v", id, err)
			}
			n++
		}
		if n != 1 {
			t.Errorf("piece %d: %d lines", id, n)
		}
	}
	if err := s.db.Exec(t.Context(), "DELETE FROM meta WHERE k = ?", metaGeneration); err != nil {
		t.Fatal(err)
	}
	for line, err := range s.Lines(t.Context(), []Run{{First: 999, Count: 1}}) {
		if lost := new(LostError); err == nil || errors.As(err, &lost) {
			t.Errorf("nobody knows whether the history was pruned: %+v, %v", line, err)
		}
	}
}

// Damage of the database itself is found by SQLite, and told.
func TestStructure(t *testing.T) {
	path, root := faulty(t)
	s, err := copied(t, path, root, "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'version_chat') WHERE name = 'place_path'")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = OpenRead(t.Context(), s.Path()); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var said []Problem
	err = Verify(t.Context(), s, func(p Problem) error {
		if p.Rule == Structure {
			said = append(said, p)
		}
		return nil
	})
	if len(said) == 0 || said[0].Text == "" || said[0].Index != nil || said[0].Chat != nil {
		t.Errorf("%+v, %v", said, err)
	}
}

// What prune and forget dropped is not missed, but what was deleted besides is.
func TestDropped(t *testing.T) {
	s := openNew(t)
	take(t, s, "a", chatOf("a", 0, 2), chatOf("a", 0, 3), chatOf("a", 0, 4))
	other := take(t, s, "b", chatOf("b", 0, 2), chatOf("b", 0, 3))
	take(t, s, "c", chatOf("c", 0, 2))
	for range 2 {
		if _, err := Prune(t.Context(), s, Rules{Last: 2}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Forget(t.Context(), s, []int64{other[0].Chat}); err != nil {
		t.Fatal(err)
	}
	if list := verified(t, s); len(list) > 0 {
		t.Errorf("after prune and forget: %+v", list)
	}
	for _, table := range []string{"run", "version", "place", "chat"} {
		if err := s.db.Exec(t.Context(), "PRAGMA foreign_keys = OFF; DELETE FROM "+table+" WHERE id = (SELECT max(id) FROM "+table+")"); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("rows missing in the table %q: 1", table)
		if list := verified(t, s); !slices.ContainsFunc(list, func(p Problem) bool { return p.Rule == Row && p.Text == want }) {
			t.Errorf("%s: verify finds %+v", want, list)
		}
	}
}

// A pack of which nothing is found again stays as it is: what is in it may still be of use to somebody.
func TestMendLeavesPack(t *testing.T) {
	for _, damage := range []string{
		"data = CAST('x' AS BLOB)", "lens = CAST('x' AS BLOB)", "keys = zeroblob(7)", "keys = substr(keys, 1, 100)", "n = 2", "n = 0", "n = -1", "n = 'x'", "raw = 1",
	} {
		s := openNew(t)
		take(t, s, "a", chatOf("a", 0, 20))
		if err := s.db.Exec(t.Context(), "UPDATE pack SET "+damage); err != nil {
			t.Fatal(err)
		}
		before := rowsOf(t, s)
		m, err := NewMender(t.Context(), s, func(Problem) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Look(bytes.NewReader(chatOf("b", 0, 20)), true); err != nil {
			t.Fatal(err)
		}
		if n, err := m.Mend(t.Context()); err != nil || n != 0 {
			t.Errorf("%s: %d pieces came back from nowhere, %v", damage, n, err)
		}
		if after := rowsOf(t, s); after != before {
			t.Errorf("%s: the store was changed", damage)
		}
	}
}

// A pack that lists too few keys comes back by those of the index; what no file has is still named.
func TestMendCutKeys(t *testing.T) {
	const found = 5
	for _, damage := range []string{"zeroblob(7)", "substr(keys, 1, 40)"} {
		s := openNew(t)
		chat := chatOf("a", 0, 20)
		v := take(t, s, "a", chat)[0]
		if err := s.db.Exec(t.Context(), "UPDATE pack SET keys = "+damage); err != nil {
			t.Fatal(err)
		}
		for _, file := range [][]byte{chatOf("a", 0, found), chat} {
			m, err := NewMender(t.Context(), s, func(Problem) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Look(bytes.NewReader(file), true); err != nil {
				t.Fatal(err)
			}
			if _, err := m.Mend(t.Context()); err != nil {
				t.Fatal(err)
			}
			var lost []int
			for _, p := range verified(t, s) {
				if p.Rule != Lost || p.Index == nil {
					t.Fatalf("%s: %+v is said", damage, p)
				}
				lost = append(lost, *p.Index)
			}
			want := 20 - bytes.Count(file, []byte("\n"))
			if len(lost) != want || want > 0 && lost[0] != found {
				t.Errorf("%s: the messages %v are lost, want %d", damage, lost, want)
			}
		}
		s.packs = nil
		if !bytes.Equal(back(t, s, v), chat) {
			t.Errorf("%s: it has other bytes", damage)
		}
	}
}

// What another run forgets while files are looked at does not come back, and the pack is not missed.
func TestMendForgottenMeanwhile(t *testing.T) {
	for _, stays := range []bool{true, false} {
		s := openNew(t)
		chat := chatOf("a", 0, 20)
		v := take(t, s, "a", chat)[0]
		if stays {
			take(t, s, "b", chatOf("a", 0, 5)) // of the same pack
		}
		if err := s.db.Exec(t.Context(), "UPDATE pack SET data = CAST('x' AS BLOB)"); err != nil {
			t.Fatal(err)
		}
		m, err := NewMender(t.Context(), s, func(Problem) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Look(bytes.NewReader(chat), true); err != nil {
			t.Fatal(err)
		}

		other, err := OpenWrite(t.Context(), s.Path(), filepath.Dir(s.Path()), noon)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Forget(t.Context(), other, []int64{v.Chat}); err != nil {
			t.Fatal(err)
		}
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Mend(t.Context()); !errors.Is(err, ErrRewritten) {
			t.Errorf("another chat stays %v: %v", stays, err)
		}
	}
}

// A pack whose number of pieces is damaged keeps no other from being mended, and is mended itself.
func TestMendNumbersOfPieces(t *testing.T) {
	for _, n := range []string{"0", "-7", "'x'", "1.5", "9223372036854775807"} {
		s := openNew(t)
		first, second := chatOf("a", 0, 20), chatOf("b", 0, 20)
		versions := []Version{take(t, s, "a", first)[0], take(t, s, "b", second)[0]}
		if err := s.db.Exec(t.Context(), "UPDATE pack SET n = "+n+" WHERE first = 1; UPDATE pack SET data = CAST('x' AS BLOB) WHERE first > 1"); err != nil {
			t.Fatal(err)
		}
		m, err := NewMender(t.Context(), s, func(Problem) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		for _, chat := range [][]byte{first, second} {
			if err := m.Look(bytes.NewReader(chat), true); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := m.Mend(t.Context()); err != nil {
			t.Errorf("%s: %v", n, err)
			continue
		}
		if list := verified(t, s); len(list) > 0 {
			t.Errorf("%s: after mending: %+v", n, list)
		}
		s.packs = nil
		for i, want := range [][]byte{first, second} {
			if !bytes.Equal(back(t, s, versions[i]), want) {
				t.Errorf("%s: version %d has other bytes", n, i+1)
			}
		}
	}
}
