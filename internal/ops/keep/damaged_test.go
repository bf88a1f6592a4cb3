package keep

import (
	"database/sql"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"stchat/internal/change/changeset"
	"stchat/internal/history"
)

// damage makes the list of pieces of a version nonsense; versions count from 1, of all chats.
func (u *user) damage(version int) {
	u.t.Helper()
	u.exec("UPDATE version SET runs = x'ffffff' WHERE id = ?", version)
}

// exec changes the history, as damage does.
func (u *user) exec(query string, args ...any) {
	u.t.Helper()
	db, err := sql.Open("sqlite", StoreOf(u.root, ""))
	if err != nil {
		u.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(query, args...); err != nil {
		u.t.Fatal(err)
	}
}

// A version whose list of pieces is damaged hides no other one: log lists them all and says
// so, and a snapshot goes on, whatever needs to be compared with it.
func TestDamagedVersion(t *testing.T) {
	u := newUser(t)
	u.write("A", "a", "1", "2", "3")
	u.snapshot()
	u.write("A", "a", "1", "2", "3", "4")
	u.snapshot()
	u.write("A", "a", "1", "2", "3", "4", "5")
	u.snapshot()
	u.damage(2)
	var got []int
	_, err := Log(t.Context(), Where{Chat: u.path("A"), Now: u.now}, 0, func(d Logged) error {
		got = append(got, d.Messages, d.Added)
		return nil
	})
	if want := []int{5, 0, 4, 0, 3, 3}; !slices.Equal(got, want) || !errors.Is(err, history.ErrBroken) {
		t.Errorf("messages and those added: %v, want %v; %v", got, want, err)
	}
	// what the last one held is kept again, once
	u.damage(3)
	for _, want := range [][]string{{"Mira/A 4"}, nil} {
		u.write("A", "a", "1", "2", "3", "4", "5")
		if taken := u.snapshot(); !slices.Equal(taken, want) {
			t.Errorf("took %v, want %v", taken, want)
		}
	}
	if err := os.Remove(u.path("A")); err != nil {
		t.Fatal(err)
	}
	u.damage(4)
	backups := u.root + "/backups"
	if err := os.Mkdir(backups, 0o777); err != nil {
		t.Fatal(err)
	}
	u.write("B", "b", "1", "2", "3", "4", "5")
	if err := os.Link(u.path("B"), backups+"/chat_mira_20260101-000000.jsonl"); err != nil {
		t.Fatal(err)
	}
	if taken := u.snapshot(); !slices.Equal(taken, []string{"Mira/B 5"}) {
		t.Errorf("took %v", taken)
	}
	s, err := openSubject(t.Context(), Where{Chat: u.path("B"), Backups: true, Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	s.close()
}

// What the history says of a file was changed: it is not restored under that name, or as that
// chat's, and all else is.
func TestChangedRow(t *testing.T) {
	u := newUser(t)
	u.write("A", "a", "1", "2", "3")
	u.write("B", "b", "4", "5")
	u.snapshot()
	u.exec("UPDATE place SET path = 'chats/Mira/C.jsonl' WHERE path = 'chats/Mira/A.jsonl'")
	u.exec("UPDATE version SET note = 'changed' WHERE id = 2")
	out := t.TempDir()
	opt := RestoreOptions{Where: Where{Chat: u.root, Now: u.now, Pick: Pick{AsOf: u.now}}, Output: out}
	results, err := RestoreFolder(t.Context(), opt)
	if err != nil || len(results) != 2 {
		t.Fatal(err, results)
	}
	for _, r := range results {
		if !errors.Is(r.Err, ErrChangedRow) {
			t.Errorf("%s: %v", r.Doc.Path, r.Err)
		}
	}
	restore := RestoreOptions{Where: Where{Chat: u.path("B"), Now: u.now, Pick: Pick{Rev: 2}}, InPlace: true, Changes: changeset.Options{NewUUID: func() string { return "x" }}}
	if _, err := Restore(t.Context(), restore); !errors.Is(err, ErrChangedRow) {
		t.Error(err)
	}
	restore.InPlace, restore.Output = false, out+"/B.bin"
	if r, err := Restore(t.Context(), restore); err != nil || r.Err != nil {
		t.Error(err, r)
	}
	if got := read(t, out+"/B.bin"); !slices.Equal(got, read(t, u.path("B"))) {
		t.Errorf("%s", got)
	}
}

// A version whose messages cannot be read from the history is neither put in the place of the chat nor
// made a chat beside it, and what is there is not taken into the history for it.
func TestDamagedVersionNotRestored(t *testing.T) {
	u := newUser(t)
	u.write("A", "a", "1", "2", "3")
	u.snapshot()
	u.write("A", "a", "1", "2", "3", "4")
	u.snapshot()
	u.exec("UPDATE pack SET data = CAST('damaged' AS BLOB) WHERE first = 1")
	u.write("A", "a", "1", "2", "3", "4", "5")
	before := read(t, u.path("A"))
	for _, opt := range []RestoreOptions{{InPlace: true}, {Name: "n"}} {
		opt.Where = Where{Chat: u.path("A"), Now: u.now, Pick: Pick{Rev: 1}}
		opt.Changes = changeset.Options{NewUUID: func() string { return "x" }}
		r, err := Restore(t.Context(), opt)
		if err == nil {
			err = r.Err
		}
		if !errors.Is(err, history.ErrBroken) {
			t.Errorf("in place %v: %v", opt.InPlace, err)
		}
	}
	v, err := Version(t.Context(), Where{Chat: u.path("A"), Now: u.now, Pick: Pick{Rev: 1}})
	if !errors.Is(err, history.ErrBroken) {
		t.Errorf("as a file: %v, %v", v, err)
	}
	entries, err := os.ReadDir(u.root + "/chats/Mira")
	if err != nil || len(entries) != 1 || !slices.Equal(read(t, u.path("A")), before) {
		t.Errorf("the chat is not as it was, or not alone: %v, %v", entries, err)
	}
	if got, want := u.versions("A"), []int{4, 3}; !slices.Equal(got, want) {
		t.Errorf("versions with %v messages, want %v", got, want)
	}
}

// Where SillyTavern's backups cannot be read, it is not said that a chat has none.
func TestBackupsUnread(t *testing.T) {
	u := newUser(t)
	u.write("A", "a", "1", "2", "3")
	u.snapshot()
	if err := os.WriteFile(u.root+"/backups", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := openSubject(t.Context(), Where{Chat: u.path("A"), Backups: true, Now: u.now})
	defer s.close()
	if err == nil {
		t.Error("no error")
	}
}
