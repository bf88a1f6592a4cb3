package history

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func tables() []string {
	return []string{"meta", "pack", "key", "run", "chat", "place", "version", "seen"}
}

// reading returns what only reads a store.
func reading() map[string]func(ctx context.Context, s *Store) (any, error) {
	return map[string]func(ctx context.Context, s *Store) (any, error){
		"Root":          func(ctx context.Context, s *Store) (any, error) { return s.Root(ctx) },
		"Chats":         func(ctx context.Context, s *Store) (any, error) { return s.Chats(ctx) },
		"Snapshots":     func(ctx context.Context, s *Store) (any, error) { return s.Snapshots(ctx) },
		"Places":        func(ctx context.Context, s *Store) (any, error) { return s.Places(ctx) },
		"Versions":      func(ctx context.Context, s *Store) (any, error) { return s.Versions(ctx, 1) },
		"VersionsSince": func(ctx context.Context, s *Store) (any, error) { return s.VersionsSince(ctx, 1) },
		"Backups":       func(ctx context.Context, s *Store) (any, error) { return s.Backups(ctx) },
		"Seen":          func(ctx context.Context, s *Store) (any, error) { return s.Seen(ctx) },
		"State":         func(ctx context.Context, s *Store) (any, error) { return s.State(ctx) },
		"Version": func(ctx context.Context, s *Store) (any, error) {
			v, ok, err := s.Version(ctx, 1)
			return fmt.Sprint(v, ok), err
		},
		"Last": func(ctx context.Context, s *Store) (any, error) {
			v, ok, err := s.Last(ctx, 1, 9)
			return fmt.Sprint(v, ok), err
		},
		"WriteTo": func(ctx context.Context, s *Store) (any, error) {
			v, _, err := s.Version(ctx, 2)
			if err != nil {
				return nil, err
			}
			var b bytes.Buffer
			err = s.WriteTo(ctx, &b, &v)
			return b.String(), err
		},
		"Verify": func(ctx context.Context, s *Store) (any, error) {
			var list []string
			err := Verify(ctx, s, func(p Problem) error {
				list = append(list, fmt.Sprint(p.Rule, p.Text))
				return unreadable(p)
			})
			return list, err
		},
		"NewMender": func(ctx context.Context, s *Store) (any, error) {
			m, err := NewMender(ctx, s, unreadable)
			return err == nil && m.Damaged(), err
		},
		"Prune": func(ctx context.Context, s *Store) (any, error) {
			return dry(s, func() (Freed, error) { return Prune(ctx, s, Rules{Last: 1}) })
		},
		"Forget": func(ctx context.Context, s *Store) (any, error) {
			return dry(s, func() (Freed, error) { return Forget(ctx, s, []int64{1}) })
		},
	}
}

// unreadable makes a problem an error if it is that something cannot be read.
func unreadable(p Problem) error {
	if p.Rule == Structure {
		return errors.New(p.Text)
	}
	return nil
}

// dry does something to a store as if it had been opened for reading.
func dry(s *Store, do func() (Freed, error)) (Freed, error) {
	s.dry = true
	defer func() { s.dry = false }()
	return do()
}

// writing returns what changes a store.
func writing() map[string]func(ctx context.Context, s *Store) error {
	return map[string]func(ctx context.Context, s *Store) error{
		"Prune":  func(ctx context.Context, s *Store) error { _, err := Prune(ctx, s, Rules{Last: 1}); return err },
		"Forget": func(ctx context.Context, s *Store) error { _, err := Forget(ctx, s, []int64{1}); return err },
		"Mend": func(ctx context.Context, s *Store) error {
			m, err := NewMender(ctx, s, func(Problem) error { return nil })
			if err != nil {
				return err
			}
			if err := m.Look(bytes.NewReader(chatOf("b", 0, 30)), true); err != nil {
				return err
			}
			_, err = m.Mend(ctx)
			return err
		},
		"Writer": func(ctx context.Context, s *Store) error {
			w, err := NewWriter(ctx, s)
			if err != nil {
				return err
			}
			err = func() error {
				c, err := w.Read(bytes.NewReader(chatOf("c", 0, 50)), true)
				if err != nil {
					return err
				}
				run, err := w.Take(Snapshot{At: noon, Note: "n"})
				if err != nil {
					return err
				}
				chat, err := w.Found(Chat{Slug: "c"})
				if err != nil {
					return err
				}
				place := Place{Chat: chat.ID, Path: "chats/Mira/c.jsonl", First: run.ID}
				if err := w.Enter(place); err != nil {
					return err
				}
				if err := w.Leave(Place{ID: 1, Chat: 1, Path: "chats/Mira/a.jsonl", First: 1}, run.ID); err != nil {
					return err
				}
				if err := w.Know(Chat{ID: 1, Slug: "other"}); err != nil {
					return err
				}
				if _, err := w.Add(Version{Chat: chat.ID, Snapshot: run.ID, Path: place.Path, At: run.At, Source: FromSnapshot}, c); err != nil {
					return err
				}
				return w.See(place.Path, Seen{Rev: 4})
			}()
			if closed := w.Close(err != nil); err == nil {
				err = closed
			}
			return err
		},
	}
}

// faulty returns the path of a store that holds two chats, one with a version that can go, of which
// a pack and the index are damaged.
func faulty(t *testing.T) (path, root string) {
	t.Helper()
	root = t.TempDir()
	path = filepath.Join(root, "history.db")
	s, err := OpenWrite(t.Context(), path, root, noon)
	if err != nil {
		t.Fatal(err)
	}
	take(t, s, "a", chatOf("a", 0, 10), chatOf("a", 5, 40))
	take(t, s, "b", chatOf("b", 0, 30))
	for _, statement := range []string{
		"INSERT INTO seen VALUES('chats/Mira/a.jsonl', 1, 2, 3, 4, 5, 0)",
		"UPDATE pack SET data = CAST('damaged' AS BLOB) WHERE first = (SELECT max(first) FROM pack)",
		"DELETE FROM key WHERE id = 2", "INSERT INTO key VALUES(zeroblob(16), 3)",
	} {
		if err := s.db.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path, root
}

// copied opens a copy of a store, after statements that change it.
func copied(t *testing.T, path, root string, statements ...string) (*Store, error) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(root, "copy.db")
	if err := os.WriteFile(to, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := OpenWrite(t.Context(), to, root, noon)
	for _, statement := range statements {
		if err := s.db.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err == nil {
		t.Cleanup(func() { s.Close() })
	}
	return s, err
}

// rowsOf returns all that the tables hold.
func rowsOf(t *testing.T, s *Store) string {
	t.Helper()
	db, err := sql.Open("sqlite", s.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var b strings.Builder
	for _, table := range tables() {
		rows, err := db.QueryContext(t.Context(), "SELECT * FROM "+table+" ORDER BY 1")
		if err != nil {
			t.Fatal(err)
		}
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			row, into := make([]any, len(columns)), make([]any, len(columns))
			for i := range row {
				into[i] = &row[i]
			}
			if err := rows.Scan(into...); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&b, table, row)
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// What cannot be read is an error: no answer is given that lacks it. What reads changes nothing.
func TestUnreadableTable(t *testing.T) {
	path, root := faulty(t)
	for name, read := range reading() {
		s, err := copied(t, path, root)
		if err != nil {
			t.Fatal(err)
		}
		before := rowsOf(t, s)
		want, err := read(t.Context(), s)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if after := rowsOf(t, s); after != before {
			t.Errorf("%s changes the store", name)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if got, err := read(ended, s); err == nil {
			t.Errorf("%s, cancelled: %v", name, got)
		}
		failed := 0
		for _, table := range tables() {
			s, err := copied(t, path, root, "ALTER TABLE "+table+" RENAME TO gone")
			if err != nil {
				t.Fatal(err)
			}
			got, err := read(t.Context(), s)
			if err != nil {
				failed++
			} else if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s without %s: %v, no error", name, table, got)
			}
		}
		if failed == 0 {
			t.Errorf("%s reads none of the tables", name)
		}
	}
}

// What cannot be written is an error, and then nothing is changed.
func TestUnwritableTable(t *testing.T) {
	path, root := faulty(t)
	for name, write := range writing() {
		s, err := copied(t, path, root)
		if err != nil {
			t.Fatal(err)
		}
		before := rowsOf(t, s)
		if err := write(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		after := rowsOf(t, s)
		failed := 0
		for _, table := range tables() {
			for _, do := range []string{"INSERT", "UPDATE", "DELETE"} {
				s, err := copied(t, path, root, "CREATE TRIGGER refuse BEFORE "+do+" ON "+table+" BEGIN SELECT RAISE(ABORT, 'refused'); END")
				if err != nil {
					t.Fatal(err)
				}
				want := after
				if err := write(t.Context(), s); err != nil {
					failed++
					want = before
				}
				if got := rowsOf(t, s); got != want {
					t.Errorf("%s, no %s %s: something else is written", name, do, table)
				}
			}
		}
		if failed == 0 {
			t.Errorf("%s writes to none of the tables", name)
		}
	}
}

// Where somebody else reads for too long, or nothing may be written, a change is an error that says
// so; then nothing is changed, and the next try makes it.
func TestCannotCommit(t *testing.T) {
	path, root := faulty(t)
	for name, write := range writing() {
		for _, tt := range []struct {
			begin, end string
			other      bool // another opening does
			want       error
		}{{"BEGIN; SELECT count(*) FROM version", "COMMIT", true, ErrBusy}, {"PRAGMA query_only = ON", "PRAGMA query_only = OFF", false, ErrReadOnly}} {
			s, err := copied(t, path, root, "PRAGMA busy_timeout = 20")
			if err != nil {
				t.Fatal(err)
			}
			does := s
			if tt.other {
				if does, err = OpenRead(t.Context(), s.Path()); err != nil {
					t.Fatal(err)
				}
				defer does.Close()
			}
			before := rowsOf(t, s)
			if err := does.db.Exec(t.Context(), tt.begin); err != nil {
				t.Fatal(err)
			}
			if err := write(t.Context(), s); !errors.Is(err, tt.want) {
				t.Errorf("%s: %v, want %v", name, err, tt.want)
			}
			if err := Compact(t.Context(), s); !errors.Is(err, tt.want) {
				t.Errorf("Compact: %v, want %v", err, tt.want)
			}
			if err := does.db.Exec(t.Context(), tt.end); err != nil {
				t.Fatal(err)
			}
			if rowsOf(t, s) != before {
				t.Errorf("%s, %v: something is written all the same", name, tt.want)
			}
			if err := write(t.Context(), s); err != nil || rowsOf(t, s) == before {
				t.Errorf("%s, after %v: %v", name, tt.want, err)
			}
		}
	}
}

// A value of another kind than was ever written is an error for what needs it.
func TestOtherKinds(t *testing.T) {
	path, root := faulty(t)
	reads := reading()
	reads["Writer"] = func(ctx context.Context, s *Store) (any, error) {
		w, err := NewWriter(ctx, s)
		if err != nil {
			return nil, err
		}
		defer w.Close(true)
		return w.Read(bytes.NewReader(chatOf("a", 0, 10)), true)
	}
	for column, names := range map[string][]string{
		"seen.size": {"Seen"}, "key.id": {"Writer"}, "pack.n": {"WriteTo"},
		"version.size": {"Versions", "VersionsSince", "Version", "Last", "Verify", "Prune"}, "run.at": {"Snapshots", "Verify"},
		"place.first": {"Places", "Verify"}, "version.chat": {"VersionsSince"},
	} {
		table, name, _ := strings.Cut(column, ".")
		s, err := copied(t, path, root, "PRAGMA foreign_keys = OFF; UPDATE "+table+" SET "+name+" = 'x'")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if got, err := reads[name](t.Context(), s); err == nil {
				t.Errorf("%s: %s says %v", column, name, got)
			}
		}
	}
}

// Where it cannot be read whether a line is the one that came next before, it is not taken for that.
func TestUnreadableWhileWriting(t *testing.T) {
	root := t.TempDir()
	s, err := OpenWrite(t.Context(), filepath.Join(root, "history.db"), root, noon)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w, err := NewWriter(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close(true)
	if _, err := w.Read(bytes.NewReader(chatOf("a", 0, 10)), true); err != nil {
		t.Fatal(err)
	}
	if err := s.db.Exec(t.Context(), "ALTER TABLE pack RENAME TO gone"); err != nil {
		t.Fatal(err)
	}
	went := append(chatOf("a", 0, 1), "\n"+`{"mes":"on"}`...)
	if c, err := w.Read(bytes.NewReader(went), true); err == nil {
		t.Errorf("no error, but %+v", c)
	}
}
