package lost

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"math"
	"path/filepath"
	"testing"
	"time"

	"stchat/internal/history"
)

// storeOf makes a history of one version of a chat, runs a statement in it, and opens it to read.
func storeOf(t *testing.T, chat []byte, statement string, args ...any) (*history.Store, history.Version) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "history.db")
	s, err := history.OpenWrite(t.Context(), path, filepath.Dir(path), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	w, err := history.NewWriter(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	content, err := w.Read(bytes.NewReader(chat), true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Add(history.Version{Chat: 1, Snapshot: 1, Path: "chats/Mira/a.jsonl", At: time.Now()}, content); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(false), s.Close()); err != nil {
		t.Fatal(err)
	}

	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "PRAGMA foreign_keys = OFF; "+statement, args...); err != nil {
		t.Fatal(err)
	}

	if s, err = history.OpenRead(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	versions, err := s.Versions(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	return s, versions[0]
}

// A version whose list names pieces that are far from all others, or more than there can be, is damaged,
// and takes neither memory nor time.
func TestDamagedRuns(t *testing.T) {
	chat := []byte(`{"chat_metadata":{}}` + "\n" + `{"mes":"a"}` + "\n" + `{"mes":"b"}`)
	for _, tt := range []struct {
		name         string
		first, count int64
	}{
		{"a large number", 1 << 40, 3},
		{"the largest number", math.MaxInt64 / 2, 3},
		{"as many as can be", 1, math.MaxInt32},
	} {
		t.Run(tt.name, func(t *testing.T) {
			runs := binary.AppendVarint(nil, tt.first)
			runs = binary.AppendUvarint(runs, uint64(tt.count))
			runs = binary.AppendUvarint(runs, uint64(history.Whole))
			s, v := storeOf(t, chat, "UPDATE version SET runs = ?, size = max(size, ?)", runs, tt.count)
			_, err := NewStoreReader(s, NewReader(maphash.MakeSeed(), nil)).Version(t.Context(), &v)
			if !errors.Is(err, history.ErrBroken) {
				t.Errorf("the texts are read: %v", err)
			}
			lines := &StoredLines{Store: s}
			if _, err := lines.Version(t.Context(), &v); !errors.Is(err, history.ErrBroken) {
				t.Errorf("the lines are read: %v", err)
			}
		})
	}
}

// A chat whose pieces have large numbers, as they do after the number of pieces of a pack was damaged, is
// read like any other.
func TestLargeNumbers(t *testing.T) {
	chat := []byte(`{"chat_metadata":{}}` + "\n" + `{"mes":"a"}` + "\n" + `{"mes":"b"}`)
	const first = 1 << 40
	runs := binary.AppendVarint(nil, first)
	runs = binary.AppendUvarint(runs, 3)
	runs = binary.AppendUvarint(runs, uint64(history.Whole))
	s, v := storeOf(t, chat, "UPDATE pack SET first = ?1; UPDATE version SET runs = ?2", int64(first), runs)
	said, err := NewStoreReader(s, NewReader(maphash.MakeSeed(), nil)).Version(t.Context(), &v)
	if err != nil || len(said.Texts) != 2 {
		t.Errorf("%+v, %v", said, err)
	}
}

// Every piece that was not read yet is in one stretch, and no other piece is.
func TestUnread(t *testing.T) {
	const last = 3*manyPieces + 7
	for _, every := range []int64{1, 2, 1000, manyPieces - 1, manyPieces, manyPieces + 1, 2 * last} {
		isRead := func(piece int64) bool { return piece%every == 0 }
		next := int64(1)
		skip := func() {
			for next <= last && isRead(next) {
				next++
			}
		}
		for stretch := range unread(history.Run{First: 1, Count: last}, isRead) {
			skip()
			if stretch.First != next || stretch.Count < 1 || stretch.Count > manyPieces {
				t.Fatalf("every %d: %+v, want it to begin with %d", every, stretch, next)
			}
			for ; next < stretch.First+stretch.Count; next++ {
				if isRead(next) {
					t.Fatalf("every %d: %+v has %d, which was read", every, stretch, next)
				}
			}
		}
		skip()
		if next != last+1 {
			t.Errorf("every %d: it ends before %d", every, next)
		}
	}
}
