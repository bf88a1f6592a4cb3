package history

import (
	"bytes"
	"errors"
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
	if err := s.db.row(t.Context(), query, args...).Scan(&blob); err != nil {
		t.Fatal(err)
	}
	if at < 0 {
		at += len(blob)
	}
	blob[at] ^= 0x40
	if err := s.db.exec(t.Context(), update, append([]any{blob}, args...)...); err != nil {
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
			s.packs.forget()
			list := verified(t, s)
			if len(list) == 0 || list[0].Rule != test.rule {
				t.Fatalf("found %+v, want %s", list, test.rule)
			}
			for _, p := range list {
				if p.Rule != Index && (p.Chat == nil || p.Chat.Path != "chats/Mira/a.jsonl" || p.Rev != 1) {
					t.Errorf("%+v is of another chat", p)
				}
			}
			if test.index >= 0 && list[0].Index != test.index {
				t.Errorf("names message %d, want %d", list[0].Index, test.index)
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
			s.packs.forget()
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
	if err := s.db.exec(t.Context(), "DELETE FROM key WHERE id = ?", 3); err != nil {
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
	if err := s.db.exec(t.Context(), "DELETE FROM key WHERE id = ?", 3); err != nil {
		t.Fatal(err)
	}
	third := bytes.Split(chat, []byte("\n"))[2]
	v := take(t, s, "b", append([]byte("{}\n"), third...))[0]
	if runs, err := v.Runs(); err != nil || pieceCount(runs) != 2 || has(Ranges(runs), 3) {
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
