package changeset

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"stchat/internal/change/safefile"
)

// aFolder returns a user's folder with one chat.
func aFolder(t *testing.T) (dir, chat string) {
	t.Helper()
	dir = t.TempDir()
	chat = filepath.Join(dir, "chats", "A", "old.jsonl")
	if err := os.MkdirAll(filepath.Dir(chat), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(chat, []byte("0"), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir, chat
}

// Runs of one call are one record, which is taken back as a whole, to the byte.
func TestCallOfRuns(t *testing.T) {
	dir, chat := aFolder(t)
	opt := Options{NoSync: true, Now: time.Now(), Call: new(Call)}
	made := filepath.Join(filepath.Dir(chat), "new.jsonl")
	for n, text := range []string{"1", "2"} {
		unit := Unit{Root: dir, Draft: func(_ context.Context, s *Set) error {
			edit := Bytes(func(old []byte) ([]byte, error) { return append(old, text...), nil })
			if n > 0 {
				return errors.Join(s.Edit(chat, safefile.Stamp{}, edit, "it"), s.Edit(made, safefile.Stamp{}, edit, "it"))
			}
			d, err := s.Create(made, "it")
			if err == nil {
				_, err = d.Write([]byte("n"))
			}
			return errors.Join(err, s.Edit(chat, safefile.Stamp{}, edit, "it"))
		}}
		if out := Run(t.Context(), []Unit{unit}, opt); out[0].Err != nil {
			t.Fatal(out[0].Err)
		}
	}
	if now, _ := os.ReadFile(chat); string(now) != "012" {
		t.Fatalf("%s", now)
	}
	if records, _, err := Records(dir); err != nil || len(records) != 1 || len(records[0].sets) != 2 {
		t.Fatalf("%+v, %v", records, err)
	}
	back, err := Undo(dir, "", false)
	if err != nil {
		t.Fatal(err)
	}
	if out := Run(t.Context(), []Unit{back.Unit}, Options{NoSync: true, Now: time.Now()}); out[0].Err != nil {
		t.Fatal(out[0].Err)
	}
	if now, _ := os.ReadFile(chat); string(now) != "0" || !absent(made) {
		t.Errorf("%s", now)
	}
}

// Where another call comes between two runs of a call, what the later one does is a record of its own,
// after that of the other: so each can be taken back, the last first.
func TestCallInterleaved(t *testing.T) {
	dir, chat := aFolder(t)
	add := func(call *Call, text string) {
		t.Helper()
		unit := Unit{Root: dir, Draft: func(_ context.Context, s *Set) error {
			return s.Edit(chat, safefile.Stamp{}, Bytes(func(old []byte) ([]byte, error) { return append(old, text...), nil }), "it")
		}}
		if out := Run(t.Context(), []Unit{unit}, Options{NoSync: true, Now: time.Now(), Call: call}); out[0].Err != nil {
			t.Fatal(out[0].Err)
		}
	}
	call := new(Call)
	for _, text := range []string{"1", "2", "3"} {
		add(call, text)
		if text == "1" {
			add(nil, "other")
		}
	}
	for _, want := range []string{"01other23", "01other", "01", "0"} {
		if now, err := os.ReadFile(chat); string(now) != want {
			t.Fatalf("%s, %v, not %s", now, err, want)
		}
		if want != "0" {
			undone(t, dir)
		}
	}
}

// A disk on which a new .stchat cannot be synced fails what creates, too: it is no folder in
// which nothing can be recorded.
func TestNewFolderUnsynced(t *testing.T) {
	dir, chat := aFolder(t)
	fails := errors.New("input/output error")
	disk := safefile.System()
	sync := disk.SyncDir
	disk.SyncDir = func(at string) error {
		if at == realOf(dir) {
			return fails
		}
		return sync(at)
	}
	made := filepath.Join(filepath.Dir(chat), "new.jsonl")
	unit := Unit{Root: dir, Draft: func(_ context.Context, s *Set) error {
		_, err := s.Create(made, "it")
		return err
	}}
	if out := Run(t.Context(), []Unit{unit}, Options{Now: time.Now(), disk: &disk}); !errors.Is(out[0].Err, fails) || out[0].NoRecord != nil || !absent(made) {
		t.Errorf("%+v", out[0])
	}
}

// Where something else has taken the place of .stchat by the time of the commit, what creates
// does so, and says that it is not recorded.
func TestNewFolderTaken(t *testing.T) {
	dir, chat := aFolder(t)
	disk := safefile.System()
	sync := disk.SyncDir
	disk.SyncDir = func(at string) error {
		own := filepath.Join(dir, folder)
		if info, err := os.Lstat(own); err == nil && info.IsDir() {
			return errors.Join(os.RemoveAll(own), os.WriteFile(own, nil, 0o600))
		}
		return sync(at)
	}
	made := filepath.Join(filepath.Dir(chat), "new.jsonl")
	unit := Unit{Root: dir, Draft: func(_ context.Context, s *Set) error {
		_, err := s.Create(made, "it")
		return err
	}}
	if out := Run(t.Context(), []Unit{unit}, Options{Now: time.Now(), disk: &disk}); out[0].Err != nil || out[0].NoRecord == nil || absent(made) {
		t.Errorf("%+v", out[0])
	}
}

// heeding is an edit that ends when it is interrupted.
type heeding struct{ Bytes }

func (h heeding) Render(ctx context.Context, dst io.Writer, old io.ReaderAt, size int64) error {
	return errors.Join(ctx.Err(), h.Bytes.Render(ctx, dst, old, size))
}

// An interruption ends a call of one unit while it commits; of several units, those that were
// drafted are made, each once.
func TestInterrupted(t *testing.T) {
	alone(t)
	for _, tt := range []struct {
		units, group int
		shared       bool
		want         string
	}{{1, 0, false, "0"}, {2, 1, false, "0!"}, {2, 0, false, "0!"}, {3, 0, true, "0!"}} {
		dir, chat := aFolder(t)
		ctx, stop := context.WithCancel(t.Context())
		unit := Unit{Root: dir, Draft: func(_ context.Context, s *Set) error {
			stop()
			return s.Edit(chat, safefile.Stamp{}, heeding{func(old []byte) ([]byte, error) { return append(old, '!'), nil }}, "it")
		}}
		if tt.shared {
			unit.Shares = []string{chat}
		}
		out := Run(ctx, slices.Repeat([]Unit{unit}, tt.units), Options{NoSync: true, Now: time.Now(), group: tt.group})
		if made := tt.want != "0"; (len(out[0].Steps) == 1) != made || !made && !errors.Is(out[0].Err, context.Canceled) {
			t.Errorf("%+v: %+v", tt, out[0])
		}
		if now, err := os.ReadFile(chat); string(now) != tt.want {
			t.Errorf("%+v: %s, %v", tt, now, err)
		}
	}
}

// Whoever waits for another run's lock can be interrupted, and is told so.
func TestInterruptedWaiting(t *testing.T) {
	dir, chat := aFolder(t)
	if out := Run(t.Context(), []Unit{replacing(dir, "chats/A/old.jsonl", "1", nil)}, Options{NoSync: true, Now: time.Now()}); out[0].Err != nil {
		t.Fatal(out[0].Err)
	}
	unlock, held, err := safefile.Lock(t.Context(), dir)
	if err != nil || !held {
		t.Skip("no locks here: ", err)
	}
	defer unlock()
	was := stored(t, dir)
	for name, wait := range map[string]func(ctx context.Context, stop func()) error{
		"Run": func(ctx context.Context, stop func()) error {
			unit := replacing(dir, "chats/A/old.jsonl", "2", func(*Set) { stop() })
			return Run(ctx, []Unit{unit}, Options{NoSync: true, Now: time.Now()})[0].Err
		},
		"Prune": func(ctx context.Context, stop func()) error {
			stop()
			_, err := Prune(ctx, dir, Options{}, func(Record) bool { return true })
			return err
		},
		"Discard": func(ctx context.Context, stop func()) error {
			stop()
			_, err := Discard(ctx, dir, "20200101T000000-00000000", Options{})
			return err
		},
		"Adopt": func(ctx context.Context, stop func()) error {
			stop()
			_, err := Adopt(ctx, dir, "20200101T000000-00000000", Options{})
			return err
		},
	} {
		ctx, stop := context.WithCancel(t.Context())
		if err := wait(ctx, stop); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if now, err := os.ReadFile(chat); string(now) != "1" || !slices.Equal(was, stored(t, dir)) {
		t.Errorf("%s, %v, %q", now, err, stored(t, dir))
	}
}

// No command changes in one run what it moved in another; undo of such a record refuses, and changes
// nothing, also by force.
func TestMovedAndChanged(t *testing.T) {
	for _, what := range []string{"changed", "its old name taken"} {
		dir := t.TempDir()
		from, to := filepath.Join(dir, "a"), filepath.Join(dir, "b")
		if err := os.WriteFile(from, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		opt := Options{Now: time.Now(), NoSync: true, Call: new(Call)}
		second := replacing(dir, "b", "new", nil)
		if what != "changed" {
			second.Draft = func(_ context.Context, s *Set) error {
				_, err := s.Create(from, "new")
				return err
			}
		}
		for _, unit := range []Unit{{Root: dir, Draft: func(_ context.Context, s *Set) error {
			was, err := safefile.StampPath(from)
			return errors.Join(err, s.Move(from, to, was, "moves"))
		}}, second} {
			if out := Run(t.Context(), []Unit{unit}, opt); out[0].Err != nil {
				t.Fatal(out[0].Err)
			}
		}
		was := files(t, dir)
		for _, force := range []bool{false, true} {
			u, err := Undo(dir, "", force)
			if err != nil {
				t.Fatal(err)
			}
			out := Run(t.Context(), []Unit{u.Unit}, Options{Now: time.Now(), NoSync: true})
			if now := files(t, dir); out[0].Err == nil && len(u.Left) == 0 || !maps.Equal(was, now) {
				t.Errorf("%s, force %v: %v, %v became %v", what, force, out[0].Err, was, now)
			}
		}
	}
}
