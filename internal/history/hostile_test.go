package history

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// A pack that would unpack to a gigabyte, and a version of two thousand million pieces,
// are damage like any other, and take no more room than what is sound.
func TestBombs(t *testing.T) {
	s := openNew(t)
	v := take(t, s, "a", chatOf("a", 0, 20))[0]
	var bomb bytes.Buffer
	enc, err := zstd.NewWriter(&bomb)
	if err != nil {
		t.Fatal(err)
	}
	zeroes := make([]byte, 1<<20)
	for range 1 << 10 {
		if _, err := enc.Write(zeroes); err != nil {
			t.Fatal(err)
		}
	}
	if err := enc.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.db.Exec(t.Context(), "UPDATE pack SET data = ?", bomb.Bytes()); err != nil {
		t.Fatal(err)
	}
	allocated := testing.AllocsPerRun(1, func() {
		if err := s.WriteTo(t.Context(), new(bytes.Buffer), &v); !errors.Is(err, ErrBroken) {
			t.Errorf("reads: %v", err)
		}
	})
	if allocated > 10_000 {
		t.Errorf("%v allocations", allocated)
	}
	if list := verified(t, s); len(list) == 0 || list[0].Rule != Lost {
		t.Errorf("found %+v", list)
	}

	runs := binary.AppendUvarint(binary.AppendUvarint(binary.AppendVarint(nil, 1), math.MaxInt32), uint64(Whole))
	if err := s.db.Exec(t.Context(), "UPDATE version SET runs = ?", runs); err != nil {
		t.Fatal(err)
	}
	list, err := s.Versions(t.Context(), v.Chat)
	if err != nil {
		t.Fatal(err)
	}
	if runs, err := list[0].Runs(); err == nil {
		t.Errorf("runs %v of %d bytes", runs, v.Size)
	}
	if list := verified(t, s); len(list) == 0 || list[0].Rule != BadList {
		t.Errorf("found %+v", list)
	}
}

// A value larger than any that is ever written, and a list of more pieces than there can be, are
// damage of the store, of a pack or of a version, and are not read into memory.
func TestHugeValues(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 800 MB")
	}
	const (
		most = 40 << 20 // of memory; a value may have 64 MB
		huge = "zeroblob(70000000)"
	)
	endless := "x'" + hex.EncodeToString(bytes.Repeat([]byte{1, 1, 0}, 1<<20/3)) + "', size = 9000000000000000000"
	for _, tt := range []struct {
		column, value string
		opens         bool // the versions can be listed, and verify tells what is wrong
	}{
		{"version.runs", huge + ", size = 9000000000000000000", true},
		{"version.runs", endless, true},
		{"pack.lens", huge, true},
		{"pack.keys", huge, true},
		{"pack.data", huge, true},
		{"version.note", huge, false},
		{"version.sum", huge, false},
		{"place.path", huge, false},
		{"chat.slug", huge, false},
		{"chat.main", huge, false},
		{"meta.v", huge, false},
	} {
		t.Run(tt.column, func(t *testing.T) {
			s := openNew(t)
			v := take(t, s, "a", chatOf("a", 0, 20))[0]
			table, column, _ := strings.Cut(tt.column, ".")
			unbounded(t, s, "UPDATE "+table+" SET "+column+" = "+tt.value)
			path := s.Path()
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}

			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			s, versions, err := versionsIn(t, path, v.Chat)
			if tt.opens {
				if err != nil {
					t.Fatal(err)
				}
				if err := s.WriteTo(t.Context(), io.Discard, &versions[0]); err == nil {
					t.Error("is read")
				}
				if len(verified(t, s)) == 0 {
					t.Error("verify finds nothing")
				}
			} else if !errors.Is(err, ErrBroken) || !strings.Contains(err.Error(), path) {
				t.Error(err)
			}
			runtime.ReadMemStats(&after)
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > most {
				t.Errorf("%d bytes are allocated", allocated)
			}
		})
	}
}

// versionsIn opens a store to read, and lists the versions of a chat.
func versionsIn(t *testing.T, path string, chat int64) (s *Store, versions []Version, err error) {
	t.Helper()
	s, err = OpenRead(t.Context(), path)
	if err != nil {
		return nil, nil, err
	}
	t.Cleanup(func() { _ = s.Close() })
	if _, err := s.Chats(t.Context()); err != nil {
		return s, nil, err
	}
	versions, err = s.Versions(t.Context(), chat)
	return s, versions, err
}

// What stands in a store's place is told apart, however it is opened, and left as it is.
func TestOpenHostile(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "history.db")
	s, err := OpenWrite(t.Context(), whole, t.TempDir(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	take(t, s, "a", chatOf("a", 0, 200))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	with := func(at int, value uint32) []byte {
		b := bytes.Clone(good)
		binary.BigEndian.PutUint32(b[at:], value)
		return b
	}
	for _, tt := range []struct {
		name string
		data []byte
		want error
	}{
		{"of a newer schema", with(60, schemaVersion+1), ErrNewer},
		{"of another program", with(68, 7), ErrForeign},
		{"cut in the header", good[:50], ErrForeign},
		{"cut behind the header", good[:5000], ErrCut},
		{"without its last page", good[:len(good)-8192], ErrCut},
		{"no database", []byte(strings.Repeat("junk ", 100)), ErrForeign},
		{"nothing but a header", append(bytes.Clone(good[:100]), make([]byte, len(good)-100)...), ErrBroken},
	} {
		path := filepath.Join(t.TempDir(), "history.db")
		if err := os.WriteFile(path, tt.data, 0o600); err != nil {
			t.Fatal(err)
		}
		for how, open := range map[string]func() (*Store, error){
			"read":  func() (*Store, error) { return OpenRead(t.Context(), path) },
			"look":  func() (*Store, error) { return OpenLook(t.Context(), path, time.Now()) },
			"write": func() (*Store, error) { return OpenWrite(t.Context(), path, filepath.Dir(path), time.Now()) },
		} {
			s, err := open()
			if err == nil {
				_ = s.Close()
			}
			if !errors.Is(err, tt.want) {
				t.Errorf("%s, to %s: %v", tt.name, how, err)
			}
		}
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, tt.data) {
			t.Errorf("%s: it was changed (%v)", tt.name, err)
		}
	}
}

// A store that somebody made cannot lead outside of the user's folder.
func TestOutside(t *testing.T) {
	for _, path := range []string{"chats/../../evil/a.jsonl", "../a.jsonl", "/tmp/a.jsonl", "chats/Mira/../../../evil", "chats/Mira/../Mira/b.jsonl", "", "."} {
		for _, table := range []string{"place", "version"} {
			s := openNew(t)
			v := take(t, s, "a", chatOf("a", 0, 3))[0]
			if _, err := s.Chats(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := s.db.Exec(t.Context(), "UPDATE "+table+" SET path = ?", path); err != nil {
				t.Fatal(err)
			}
			_, err := s.Chats(t.Context())
			if _, err2 := s.Versions(t.Context(), v.Chat); err == nil {
				err = err2
			}
			if !errors.Is(err, ErrBroken) {
				t.Errorf("%s, %q: %v", table, path, err)
			}
		}
	}
}

// A row that says something else than was written is found, whatever it is.
func TestChangedRows(t *testing.T) {
	for _, change := range []string{
		"run SET at = at + 1", "run SET note = 'x'", "chat SET slug = 'x'", "chat SET main = 'x'", "place SET path = 'chats/Mira/b.jsonl'",
		"place SET first = 0", "version SET path = 'chats/Mira/b.jsonl'", "version SET at = at + 1", "version SET note = 'x'", "version SET run = 7",
		"version SET messages = 7", "version SET source = 'restore'", "version SET thin = 7", "version SET mtime = 7", "version SET chat = 7",
	} {
		s := openNew(t)
		take(t, s, "a", chatOf("a", 0, 3))
		if found := verified(t, s); len(found) > 0 {
			t.Fatalf("%+v", found)
		}
		if err := s.db.Exec(t.Context(), "UPDATE "+change+" WHERE id = 1"); err != nil {
			t.Fatal(err)
		}
		found := verified(t, s)
		if len(found) == 0 || slices.ContainsFunc(found, func(p Problem) bool { return p.Rule != Row }) {
			t.Errorf("%s: %+v", change, found)
		}
	}
}

// So is a row of another store that says the same, as the disk may have it of one that was there before.
func TestRowOfAnotherStore(t *testing.T) {
	for _, table := range []string{"run", "chat", "place"} {
		s, other := openNew(t), openNew(t)
		take(t, s, "a", chatOf("a", 0, 3))
		take(t, other, "a", chatOf("a", 0, 3))
		if err := s.db.Exec(t.Context(), "ATTACH ? AS other", other.Path()); err != nil {
			t.Fatal(err)
		}
		if err := s.db.Exec(t.Context(), "REPLACE INTO main."+table+" SELECT * FROM other."+table); err != nil {
			t.Fatal(err)
		}
		if found := verified(t, s); len(found) != 1 || found[0].Rule != Row {
			t.Errorf("%s: %+v", table, found)
		}
	}
}

// unbounded runs a statement that may make a value of any length.
func unbounded(t *testing.T, s *Store, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", s.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
