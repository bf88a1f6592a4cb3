package changeset

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/change/safefile"
)

// Making room looks at the names of records alone where their sizes are noted; it reads none that stays.
func TestRoomReadsNothing(t *testing.T) {
	allocated := func(records int) float64 {
		s := store{t.TempDir()}
		if err := os.Mkdir(s.own(""), 0o700); err != nil {
			t.Fatal(err)
		}
		for i := range records {
			id := fmt.Sprintf("20261121T2033%02d-%08x", i%60, i)
			data := fmt.Sprintf(`{"version":1,"id":%q,"set":1,"command":["meta","set"],"steps":[%s]}`, id, strings.Repeat(`{"do":"create","path":"a","temp":"b"},`, 100))
			if err := os.WriteFile(s.own(id+recordSuffix), []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		names, err := s.list()
		if err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(3, func() {
			if dropped := makeRoom(s, names, Options{}); len(dropped) > 0 {
				t.Error("records are dropped though there is room")
			}
		})
	}
	few, many := allocated(100), allocated(300)
	if each := (many - few) / 200; each > 0.5 {
		t.Errorf("%.1f allocations for each record that stays", each)
	}
}

// The oldest records go first; the newest stays, and so do precious ones, however much they
// hold. Where nothing is to be kept, precious ones alone are.
func TestRoom(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.jsonl")
	if err := os.WriteFile(path, []byte(strings.Repeat("x", 100_000)), 0o666); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC)
	edit := func(opt Options) Outcome {
		t.Helper()
		now = now.Add(-time.Hour) // the clock does not decide
		opt.Now, opt.NoSync = now, true
		out := Run(t.Context(), []Unit{{Root: dir, Draft: func(_ context.Context, s *Set) error {
			return s.Edit(path, safefile.Stamp{}, Bytes(func(old []byte) ([]byte, error) { return append(old, strings.Repeat("x", 100_000)...), nil }), "it")
		}}}, opt)[0]
		if out.Err != nil {
			t.Fatal(out.Err)
		}
		return out
	}
	list := func() (ids []string) {
		records, _, err := Records(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, rec := range records {
			ids = append(ids, rec.ID)
		}
		return ids
	}
	first, precious, second := edit(Options{}), edit(Options{Precious: true}), edit(Options{})
	if diff := cmp.Diff([]string{second.ID, precious.ID, first.ID}, list()); diff != "" {
		t.Fatal(diff)
	}
	third := edit(Options{KeepBytes: 750_000})
	if len(third.Dropped) != 1 || third.Dropped[0].ID != first.ID {
		t.Errorf("dropped: %v, not %s", third.Dropped, first.ID)
	}
	fourth := edit(Options{KeepBytes: 1})
	if diff := cmp.Diff([]string{fourth.ID, precious.ID}, list()); diff != "" {
		t.Error(diff)
	}
	if none := edit(Options{KeepBytes: -1}); none.ID != "" {
		t.Errorf("is recorded: %s", none.ID)
	}
	if diff := cmp.Diff([]string{precious.ID}, list()); diff != "" {
		t.Error(diff)
	}
	if kept := edit(Options{KeepBytes: -1, Precious: true}); kept.ID == "" {
		t.Error("what is precious is not recorded")
	}
}

// What a run that died while it dropped a record has left of it goes with the next one, whether what
// is held was noted or not.
func TestLeftOfDropped(t *testing.T) {
	for _, noted := range []bool{true, false} {
		dir, chat := aFolder(t)
		edit := func(text string) {
			t.Helper()
			if out := Run(t.Context(), []Unit{{Root: dir, Draft: func(_ context.Context, s *Set) error {
				return s.Edit(chat, safefile.Stamp{}, Bytes(func(old []byte) ([]byte, error) { return append(old, text...), nil }), "it")
			}}}, Options{NoSync: true, Now: time.Now()})[0]; out.Err != nil {
				t.Fatal(out.Err)
			}
		}
		edit("1")
		edit("2")
		s := newRoot(dir).store
		left := s.own("20200101T000000-00000000-0")
		if err := os.WriteFile(left, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		if !noted {
			if err := os.Remove(s.own(heldName)); err != nil {
				t.Fatal(err)
			}
		}
		edit("3")
		if !absent(left) {
			t.Errorf("noted %v: %s is still there", noted, filepath.Base(left))
		}
		if records, _, err := Records(dir); err != nil || len(records) != 3 {
			t.Errorf("noted %v: %d records, %v", noted, len(records), err)
		}
	}
}

// What took back a precious record stays with it: else that would count as not undone again.
func TestRoomKeepsPairs(t *testing.T) {
	dir, chat := aFolder(t)
	run := func(u Unit, opt Options) Outcome {
		t.Helper()
		opt.Now, opt.NoSync = time.Now(), true
		out := Run(t.Context(), []Unit{u}, opt)[0]
		if out.Err != nil {
			t.Fatal(out.Err)
		}
		return out
	}
	edit := Unit{Root: dir, Draft: func(_ context.Context, s *Set) error {
		return s.Edit(chat, safefile.Stamp{}, Bytes(func(old []byte) ([]byte, error) { return append(old, "more"...), nil }), "it")
	}}
	precious := run(edit, Options{Precious: true})
	u, err := Undo(dir, precious.ID, false)
	if err != nil {
		t.Fatal(err)
	}
	undo := run(u.Unit, Options{})
	run(edit, Options{})
	last := run(edit, Options{KeepBytes: 1})

	records, _, err := Records(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, rec := range records {
		left = append(left, rec.ID)
		if rec.ID == precious.ID && !rec.Undone {
			t.Error("the precious record is not undone any more")
		}
	}
	if diff := cmp.Diff([]string{last.ID, undo.ID, precious.ID}, left); diff != "" {
		t.Error(diff)
	}
}
