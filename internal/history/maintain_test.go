package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// chatOf is a chat of numbered messages; each is long enough to be looked for.
func chatOf(name string, from, to int) []byte {
	lines := []string{`{"chat_metadata":{"integrity":"` + name + `"}}`}
	for i := from; i < to; i++ {
		lines = append(lines, fmt.Sprintf(`{"name":"%s","mes":"message %d of %s, %x"}`, name, i, name, rand.New(rand.NewPCG(uint64(i), 7)).Uint64()))
	}
	return []byte(strings.Join(lines, "\n"))
}

// pagesHold reports whether a text is in the store's file, in a pack or a page.
func pagesHold(t *testing.T, s *Store, text string) bool {
	t.Helper()
	data, err := os.ReadFile(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	dec := newDecoder()
	defer dec.Close()
	found := bytes.Contains(data, []byte(text))
	// every place where a zstd frame could begin, in a free page too
	for rest := data; ; {
		i := bytes.Index(rest, []byte{0x28, 0xb5, 0x2f, 0xfd})
		if i < 0 {
			return found
		}
		raw, _ := dec.DecodeAll(rest[i:min(len(rest), i+maxPack)], nil) // what follows the frame is an error after it
		found = found || bytes.Contains(raw, []byte(text))
		rest = rest[i+4:]
	}
}

func TestForget(t *testing.T) {
	s := openNew(t)
	shared := chatOf("a", 0, 10)
	a := take(t, s, "a", append(slices.Clone(shared), "\n{\"mes\":\"SECRET-OF-A\"}"...))[0]
	b := take(t, s, "b", append(slices.Clone(shared), "\n{\"mes\":\"kept-of-b\"}"...))[0]
	if !pagesHold(t, s, "SECRET-OF-A") || !pagesHold(t, s, "kept-of-b") {
		t.Fatal("the test does not find what is there")
	}
	if _, err := Forget(t.Context(), s, []int64{a.Chat}); err != nil {
		t.Fatal(err)
	}
	if pagesHold(t, s, "SECRET-OF-A") {
		t.Error("what was forgotten is still in the file")
	}
	want := append(slices.Clone(shared), "\n{\"mes\":\"kept-of-b\"}"...)
	if !bytes.Equal(back(t, s, b), want) {
		t.Error("the other chat has other bytes")
	}
	if list := verified(t, s); len(list) > 0 {
		t.Errorf("%+v", list)
	}
	// what was forgotten can be taken again
	again := take(t, s, "a", append(slices.Clone(shared), "\n{\"mes\":\"SECRET-OF-A\"}"...))[0]
	if got := back(t, s, again); !bytes.Contains(got, []byte("SECRET-OF-A")) || again.Rev != 3 {
		t.Errorf("taken again it is rev %d, %q", again.Rev, got)
	}
}

// What is forgotten goes from a pack that does not unpack, too; the rest of that is as lost as
// before, and can be mended.
func TestForgetInDamagedPack(t *testing.T) {
	s := openNew(t)
	take(t, s, "a", []byte("{\"mes\":\"SECRET-OF-A\"}"))
	kept := []byte("{\"mes\":\"kept-of-b\"}")
	b := take(t, s, "b", kept)[0]
	w := take(t, s, "c", append(slices.Clone(kept), "\n{\"mes\":\"SECRET-OF-C\"}\n{\"mes\":\"more-of-c\"}"...))[0]
	d := take(t, s, "d", []byte("{\"mes\":\"more-of-c\"}"))[0]
	if err := s.db.Exec(t.Context(), "UPDATE pack SET data = CAST('a damaged frame with SECRET-OF-C in it' AS BLOB) WHERE first = 3"); err != nil {
		t.Fatal(err)
	}
	if _, err := Forget(t.Context(), s, []int64{w.Chat}); err != nil {
		t.Fatal(err)
	}
	if pagesHold(t, s, "SECRET-OF-C") {
		t.Error("what was forgotten is still in the file")
	}
	if got := back(t, s, b); !bytes.Equal(got, kept) {
		t.Errorf("another pack's line is %q", got)
	}
	if list := verified(t, s); len(list) == 0 {
		t.Error("nothing is said to be lost")
	}
	m, err := NewMender(t.Context(), s, func(Problem) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Look(strings.NewReader("{\"mes\":\"more-of-c\"}"), true); err != nil {
		t.Fatal(err)
	}
	if n, err := m.Mend(t.Context()); n != 1 || err != nil {
		t.Errorf("%d mended, %v", n, err)
	}
	if got := string(back(t, s, d)); got != "{\"mes\":\"more-of-c\"}" {
		t.Errorf("the mended line is %q", got)
	}
}

func TestPrune(t *testing.T) {
	s := openNew(t)
	w, err := NewWriter(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.Local)
	for i := range 60 { // twice a day
		note := ""
		if i == 3 {
			note = "kept"
		}
		takeOne(t, w, "a", start.Add(time.Duration(i)*12*time.Hour), note, chatOf("a", i, i+30))
	}
	if err := w.Close(false); err != nil {
		t.Fatal(err)
	}
	rules := Rules{Last: 3, Daily: 4, Monthly: 1}
	would, err := dry(s, func() (Freed, error) { return Prune(t.Context(), s, rules) })
	if err != nil {
		t.Fatal(err)
	}
	if list, _ := s.Versions(t.Context(), 1); len(list) != 60 {
		t.Fatalf("a dry run leaves %d versions", len(list))
	}
	did, err := Prune(t.Context(), s, rules)
	if err != nil || did != would {
		t.Errorf("dropped %+v, the dry run said %+v: %v", did, would, err)
	}
	list, err := s.Versions(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	var revs []int64
	for _, v := range list {
		revs = append(revs, v.Rev)
		if got := back(t, s, v); !bytes.Equal(got, chatOf("a", int(v.Rev)-1, int(v.Rev)+29)) {
			t.Errorf("rev %d has other bytes", v.Rev)
		}
	}
	// from noon on: the last three, and the last of four days, each of which ends at noon and midnight
	if want := []int64{4, 55, 57, 58, 59, 60}; !slices.Equal(revs, want) && !slices.Equal(revs, []int64{4, 54, 56, 58, 59, 60}) {
		t.Errorf("revs %v stay, want %v", revs, want)
	}
	if found := verified(t, s); len(found) > 0 {
		t.Errorf("%+v", found)
	}
}

// What was pruned is noted: what stayed may not be what a file held at a later time.
func TestPrunedIsNoted(t *testing.T) {
	s := openNew(t)
	for i := range 6 {
		take(t, s, "a", chatOf("a", 0, i+1))
	}
	for range 2 { // it stays
		if _, err := Prune(t.Context(), s, Rules{Last: 1}); err != nil {
			t.Fatal(err)
		}
	}
	take(t, s, "a", chatOf("a", 0, 9))
	take(t, s, "a", chatOf("a", 0, 10))
	if _, err := Prune(t.Context(), s, Rules{Last: 1, Daily: 1}); err != nil {
		t.Fatal(err)
	}
	list, err := s.Versions(t.Context(), 1)
	if err != nil || len(list) != 1 || list[0].Rev != 8 || list[0].Thin != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	s = openNew(t)
	w, err := NewWriter(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		takeOne(t, w, "a", noon.AddDate(0, 0, i/3), "", chatOf("a", 0, i+1))
	}
	if err := w.Close(false); err != nil {
		t.Fatal(err)
	}
	if _, err := Prune(t.Context(), s, Rules{Daily: 2}); err != nil {
		t.Fatal(err)
	}
	if list, err = s.Versions(t.Context(), 1); err != nil || len(list) != 2 || list[0].Rev != 3 || list[0].Thin != 4 || list[1].Thin != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	if found := verified(t, s); len(found) > 0 {
		t.Errorf("%+v", found)
	}
}

// Two writers take turns: each leaves whole versions, and nothing is stored twice that
// both had seen.
func TestTwoWriters(t *testing.T) {
	s := openNew(t)
	other, err := OpenWrite(t.Context(), s.Path(), filepath.Dir(s.Path()), noon)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	for i := range 20 {
		take(t, []*Store{s, other}[i%2], fmt.Sprint("chat", i%2), chatOf("a", 0, 10+i))
	}
	var lines int64
	if err := s.db.Row(t.Context(), "SELECT sum(n) FROM pack").Scan(&lines); err != nil || lines != 30 {
		t.Errorf("%d lines are stored, want 30: %v", lines, err)
	}
	if list := verified(t, s); len(list) > 0 {
		t.Errorf("%+v", list)
	}
	// one that comes while another is at work waits five seconds, then says so
	w, err := NewWriter(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.db.Exec(t.Context(), "PRAGMA busy_timeout = 50"); err != nil {
		t.Fatal(err)
	}
	if _, err := NewWriter(t.Context(), other); !errors.Is(err, ErrBusy) {
		t.Errorf("a second writer at once: %v", err)
	}
	if err := w.Close(true); err != nil {
		t.Fatal(err)
	}
	// and leaves nothing open when it is closed: Windows would not let the file be removed
	if err := errors.Join(other.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if open := openFiles(t, s.Path()); open > 0 {
		t.Errorf("the store is still open, %d times", open)
	}
}

// openFiles counts how often this program has a file open, where the system lists that.
func openFiles(t *testing.T, path string) (n int) {
	t.Helper()
	const list = "/proc/self/fd"
	entries, err := os.ReadDir(list)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		if to, err := os.Readlink(filepath.Join(list, e.Name())); err == nil && to == path {
			n++
		}
	}
	return n
}

// A disk that is full leaves what was committed, and no part of the rest.
func TestFull(t *testing.T) {
	s := openNew(t)
	kept := take(t, s, "a", chatOf("a", 0, 50))[0]
	if err := s.db.Exec(t.Context(), "PRAGMA max_page_count = 40"); err != nil {
		t.Fatal(err)
	}
	w, err := NewWriter(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	random := make([]byte, 4<<20)
	for i := range random {
		random[i] = byte(rand.Uint32())
	}
	_, err = w.Read(bytes.NewReader(random), true)
	if err == nil {
		err = w.Commit()
	}
	if !errors.Is(err, ErrFull) {
		t.Errorf("a full disk: %v", err)
	}
	_ = w.Close(true)
	if list := verified(t, s); len(list) > 0 {
		t.Errorf("%+v", list)
	}
	if !bytes.Equal(back(t, s, kept), chatOf("a", 0, 50)) {
		t.Error("the version before has other bytes")
	}
}

// A run that pruned between two transactions of a writer makes it read the file again.
func TestPrunedMeanwhile(t *testing.T) {
	s := openNew(t)
	old := take(t, s, "a", chatOf("a", 0, 50))[0]
	other, err := OpenWrite(context.Background(), s.Path(), filepath.Dir(s.Path()), noon)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	w, err := NewWriter(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.finish(); err != nil { // as between two transactions
		t.Fatal(err)
	}
	if _, err := Forget(t.Context(), other, []int64{old.Chat}); err != nil {
		t.Fatal(err)
	}
	if err := w.begin(); !errors.Is(err, ErrRewritten) {
		t.Errorf("after another run forgot what it had found: %v", err)
	}
	_ = w.Close(true)
}

// Of a chat that is forgotten nothing is left, and what that freed is counted.
func TestForgetAll(t *testing.T) {
	s := openNew(t)
	v := take(t, s, "a", chatOf("a", 0, 20))[0]
	would, err := dry(s, func() (Freed, error) { return Forget(t.Context(), s, []int64{v.Chat}) })
	if err != nil {
		t.Fatal(err)
	}
	freed, err := Forget(t.Context(), s, []int64{v.Chat})
	if err != nil {
		t.Fatal(err)
	}
	if would != freed || freed.Versions != 1 || freed.Pieces != 21 || freed.Bytes == 0 {
		t.Errorf("freed %+v, in a dry run %+v", freed, would)
	}
	for _, table := range []string{"pack", "key", "chat", "place", "version"} {
		var n int
		if err := s.db.Row(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil || n > 0 {
			t.Errorf("%d rows are left in %s, %v", n, table, err)
		}
	}
}

// Which versions go: those that no rule keeps, but never one with a note, and never the last.
func TestGoing(t *testing.T) {
	day := func(rev, snapshot int64, date, note string) Version {
		at, err := time.ParseInLocation(time.DateTime, date, time.Local)
		if err != nil {
			t.Fatal(err)
		}
		return Version{Rev: rev, Snapshot: snapshot, At: at, Note: note}
	}
	life := []Version{
		day(1, 1, "2026-01-05 10:00:00", ""), day(2, 2, "2026-01-06 10:00:00", "mine"), day(3, 3, "2026-02-02 10:00:00", ""),
		day(4, 4, "2026-02-03 10:00:00", ""), day(5, 5, "2026-02-03 11:00:00", ""), day(6, 6, "2026-02-09 10:00:00", ""), day(7, 0, "2026-02-09 12:00:00", ""),
	}
	for _, tt := range []struct {
		name     string
		versions []Version
		rules    Rules
		stay     []int64
	}{
		{"no rule", life, Rules{}, []int64{2, 6}},
		{"the last two", life, Rules{Last: 2}, []int64{2, 6, 7}},
		{"three days", life, Rules{Daily: 3}, []int64{2, 3, 5, 6, 7}},
		{"two weeks", life, Rules{Weekly: 2}, []int64{2, 5, 6, 7}},
		{"two months", life, Rules{Monthly: 2}, []int64{2, 6, 7}},
		{"all", life, Rules{Last: 9}, []int64{1, 2, 3, 4, 5, 6, 7}},
		{"backups alone", []Version{day(1, 0, "2026-01-05 10:00:00", ""), day(2, 0, "2026-01-06 10:00:00", "")}, Rules{}, []int64{2}},
		{"none", nil, Rules{Last: 1}, nil},
	} {
		going := tt.rules.going(tt.versions)
		var stay []int64
		for _, v := range tt.versions {
			if !going[v.Rev] {
				stay = append(stay, v.Rev)
			}
		}
		if !slices.Equal(stay, tt.stay) {
			t.Errorf("%s: %v stay, want %v", tt.name, stay, tt.stay)
		}
	}
}

// A writer says when it is time to commit, and what was committed stays when it fails later.
func TestCommit(t *testing.T) {
	s := openNew(t)
	w, err := NewWriter(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if w.Full() || w.Commits() != 0 {
		t.Errorf("full %v, %d commits", w.Full(), w.Commits())
	}
	takeOne(t, w, "a", noon, "", chatOf("a", 0, 20))
	for range stayFiles - 2 {
		if _, err := w.Read(strings.NewReader("{}"), true); err != nil {
			t.Fatal(err)
		}
	}
	if w.Full() {
		t.Error("full before it is")
	}
	if _, err := w.Read(strings.NewReader("{}"), false); err != nil || !w.Full() {
		t.Errorf("not full: %v", err)
	}
	if err := w.Commit(); err != nil || w.Full() || w.Commits() != 1 {
		t.Errorf("%v, full %v, %d commits", err, w.Full(), w.Commits())
	}
	takeOne(t, w, "b", noon, "", chatOf("b", 0, 20))
	if err := w.Close(true); err != nil {
		t.Fatal(err)
	}
	chats, err := s.Chats(t.Context())
	if err != nil || len(chats) != 1 || chats[0].Path != "chats/Mira/a.jsonl" {
		t.Errorf("%+v, %v", chats, err)
	}
}

// Pruning rewrites a pack of which less than half is left, and leaves others as they are.
func TestPruneWhereItPays(t *testing.T) {
	for _, tt := range []struct {
		kept      int // of the 100 messages in the only pack
		rewritten bool
	}{{20, true}, {80, false}} {
		s := openNew(t)
		take(t, s, "a", chatOf("a", 0, 100), chatOf("a", 0, tt.kept))
		raw := func() (n int64) {
			if err := s.db.Row(t.Context(), "SELECT sum(raw) FROM pack").Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		before := raw()
		freed, err := Prune(t.Context(), s, Rules{Last: 1})
		if err != nil || freed.Versions != 1 || (freed.Pieces == int64(100-tt.kept)) != tt.rewritten || !tt.rewritten && freed.Pieces > 0 {
			t.Errorf("of 100 stay %d: %+v, %v", tt.kept, freed, err)
		}
		if less := raw() < before/2; less != tt.rewritten {
			t.Errorf("of 100 stay %d: %d bytes, before %d", tt.kept, raw(), before)
		}
		if list := verified(t, s); len(list) > 0 {
			t.Errorf("%+v", list)
		}
	}
}

// A pack goes with the last of its pieces, also where these have no bytes.
func TestPruneEmptyPack(t *testing.T) {
	s := openNew(t)
	take(t, s, "a", nil)
	take(t, s, "a", chatOf("a", 0, 3))
	freed, err := Prune(t.Context(), s, Rules{Last: 1})
	if err != nil || freed.Versions != 1 || freed.Pieces != 1 {
		t.Errorf("%+v, %v", freed, err)
	}
	if list := verified(t, s); len(list) > 0 {
		t.Errorf("%+v", list)
	}
}
