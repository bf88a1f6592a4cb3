package changeset

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/change/safefile"
)

// Calls side by side that change the same files each have one place in the order of undo, though each
// commits several sets: taken back one after the other, they leave every file as it was.
func TestSideBySide(t *testing.T) {
	const chats = 6
	for range 8 {
		dir := t.TempDir()
		var all []string
		for i := range chats {
			path := filepath.Join(dir, fmt.Sprintf("%d.jsonl", i))
			if err := os.WriteFile(path, []byte{byte('0' + i)}, 0o666); err != nil {
				t.Fatal(err)
			}
			all = append(all, path)
		}
		before := files(t, dir)

		var calls sync.WaitGroup
		call := func(text string, paths ...string) {
			var units []Unit
			for _, path := range paths {
				units = append(units, appending(dir, path, text))
			}
			calls.Go(func() {
				for _, o := range Run(context.WithoutCancel(t.Context()), units, Options{NoSync: true, Now: time.Now(), group: 1}) {
					if o.Err != nil {
						t.Error(o.Err)
					}
				}
			})
		}
		call("a", all...)
		call("b", all...)
		for _, path := range all[:4] {
			call("c", path)
		}
		calls.Wait()

		taken := 0
		for {
			back, err := Undo(dir, "", false)
			if errors.Is(err, ErrNothing) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			out := Run(t.Context(), []Unit{back.Unit}, Options{NoSync: true, Now: time.Now()})[0]
			if out.Err != nil {
				t.Fatalf("after %d: %v", taken, out.Err)
			}
			taken++
		}
		if taken != 6 {
			t.Errorf("%d records, not one a call", taken)
		}
		if diff := cmp.Diff(before, files(t, dir)); diff != "" {
			t.Errorf("(-before +after):\n%s", diff)
		}
	}
}

// appending is a unit that appends a text to what a file holds when it is drafted, as often as it takes.
func appending(dir, path, text string) Unit {
	return Unit{
		Root: dir,
		Draft: func(_ context.Context, s *Set) error {
			old, was, err := safefile.Read(path)
			if err != nil {
				return err
			}
			d, err := s.Replace(path, was, "it")
			if err != nil {
				return err
			}
			_, err = d.Write(append(old, text...))
			return err
		},
		Again: func(err error) bool { return errors.Is(err, safefile.ErrChanged) },
	}
}

// What is in .stchat is read once, as long as the time of the folder proves that it is the same.
func TestLookOnce(t *testing.T) {
	r := newRoot(t.TempDir())
	if _, err := r.make(); err != nil {
		t.Fatal(err)
	}
	put := func(name string, at time.Time) {
		t.Helper()
		if err := os.WriteFile(r.own(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(r.own(""), at, at); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	for _, tt := range []struct {
		name string
		at   time.Time // of the folder after the file came
		read bool
	}{
		{"first", now.Add(-time.Hour), true},
		{"same time", now.Add(-time.Hour), false},
		{"another time", now.Add(-time.Minute), true},
		{"just now", now.Add(time.Minute), true},
		{"just now, again", now.Add(time.Minute), true},
		{"a whole second", now.Truncate(time.Second), true},
		{"a whole second, again", now.Truncate(time.Second), true},
	} {
		put(tt.name, tt.at)
		names, err := r.look()
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(names, tt.name) != tt.read {
			t.Errorf("%s: read %v, want %v", tt.name, !tt.read, tt.read)
		}
	}
}

// What is noted of older records is believed while there are as many files as were counted; else they
// are counted again. Nothing goes by a number that is wrong.
func TestHeldIsChecked(t *testing.T) {
	s := store{t.TempDir()}
	if err := os.Mkdir(s.own(""), 0o700); err != nil {
		t.Fatal(err)
	}
	add := func(n int) {
		t.Helper()
		id := fmt.Sprintf("20261121T203300-%08x", n)
		text := fmt.Sprintf(`{"version":1,"id":%q,"set":1,"steps":[{"do":"remove","path":"a","kept":"%s-1","was":{}}]}`, id, id)
		err := errors.Join(os.WriteFile(s.own(id+recordSuffix), []byte(text), 0o600), os.WriteFile(s.own(id+"-1"), make([]byte, 1000), 0o600))
		if err != nil {
			t.Fatal(err)
		}
	}
	room := func(keep int64) (dropped int, held heldBefore) {
		t.Helper()
		names, err := s.list()
		if err != nil {
			t.Fatal(err)
		}
		return len(makeRoom(s, names, Options{KeepBytes: keep})), s.readHeld()
	}
	for n := range 5 {
		add(n)
	}
	_, noted := room(1 << 20)
	if noted.Files != 8 || noted.Bytes < 4000 || noted.Bytes > 5000 {
		t.Fatalf("%+v", noted)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(s.own(heldName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"too many files": `{"before":"` + noted.ID + `","files":9,"bytes":900000000}`,
		"no ID":          `{"before":"x","files":8,"bytes":900000000}`,
		"negative":       `{"before":"` + noted.ID + `","files":8,"bytes":-1}`,
		"torn":           `{"before":"`,
		"empty":          ``,
	} {
		write(text)
		if dropped, held := room(1 << 20); dropped != 0 || held != noted {
			t.Errorf("%s: %d dropped, %+v, not %+v", name, dropped, held, noted)
		}
	}
	add(5)
	_, held := room(1 << 20)
	if each := noted.Bytes / 4; held.Files != 10 || held.Bytes != 5*each {
		t.Errorf("%+v", held)
	}
	if dropped, held := room(held.Bytes); dropped != 1 || held.Files != 8 || held.Bytes != noted.Bytes {
		t.Errorf("%d dropped, %+v", dropped, held)
	}
	left := map[string]bool{}
	names, err := s.list()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if id, _, ok := ofRecord(name); ok {
			left[id] = true
		}
	}
	if len(left) != 5 || slices.Min(slices.Collect(maps.Keys(left))) != "20261121T203300-00000001" {
		t.Errorf("%v", left)
	}
}
