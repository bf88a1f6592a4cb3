package changeset

import (
	"context"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"stchat/internal/change/safefile"
)

// A run that dies between two changes of a call is seen by the second one, and what it began
// is ended first; so is one that lived.
func TestDeathBetweenChanges(t *testing.T) {
	dir := t.TempDir()
	crashWorld(t, dir)
	before := files(t, dir)
	journals := func() int {
		list, err := filepath.Glob(filepath.Join(dir, ".stchat", "*"+journalSuffix))
		if err != nil {
			t.Error(err)
		}
		return len(list)
	}
	edit := func(name, text string, first func()) Unit {
		return Unit{Root: dir, Draft: func(_ context.Context, s *Set) error {
			if first != nil {
				first()
			}
			return s.Edit(filepath.Join(dir, filepath.FromSlash(name)), safefile.Stamp{}, Bytes(func([]byte) ([]byte, error) { return []byte(text), nil }), "it")
		}}
	}
	die := func() {
		for n := 1; journals() == 0 && n < 50; n++ {
			killed(n, true, func() {}, func(opt Options) {
				for _, o := range Run(context.Background(), []Unit{crashUnit(dir)}, opt) {
					_ = o.Err // it dies
				}
			})
			runtime.GC() // ends the locks of the dead, for which the next would wait
		}
		if journals() == 0 {
			t.Error("nobody died with something begun")
		}
	}
	units := []Unit{edit("group chats/Else.jsonl", "touched", nil), edit("worlds/Unconcerned.json", "{1}", die)}
	for _, o := range Run(context.Background(), units, Options{NoSync: true, Now: time.Now(), group: 1}) {
		if o.Err != nil || len(o.Steps) != 1 {
			t.Errorf("%+v", o)
		}
	}
	if n := journals(); n > 0 {
		t.Errorf("%d journals are left", n)
	}
	after := files(t, dir)
	if bad := dangles(after); len(bad) > 0 {
		t.Error(strings.Join(bad, ", "))
	}
	if _, moved := after["group chats/B.jsonl"]; !moved && after["group chats/A.jsonl"] != before["group chats/A.jsonl"] {
		t.Error("the chat is neither old nor new")
	}
}

// A change that fails half way, and cannot be taken back, is ended before the next change of
// the same call.
func TestChangeAfterFailure(t *testing.T) {
	dir := t.TempDir()
	crashWorld(t, dir)
	var begun, broken atomic.Bool
	real := safefile.System()
	disk := real
	fail := func() error {
		if broken.Load() {
			return errKilled
		}
		return nil
	}
	disk.Rename = func(from, to string, sync bool) error {
		if err := fail(); err != nil {
			return err
		}
		err := real.Rename(from, to, sync)
		if strings.HasSuffix(to, journalSuffix) && begun.CompareAndSwap(false, true) {
			broken.Store(true)
		}
		return err
	}
	disk.Link = func(from, to string) error {
		if err := fail(); err != nil {
			return err
		}
		return real.Link(from, to)
	}
	disk.Remove = func(path string) error {
		if err := fail(); err != nil {
			return err
		}
		return real.Remove(path)
	}
	next := Unit{
		Root: dir,
		Draft: func(_ context.Context, s *Set) error {
			return s.Edit(filepath.Join(dir, "worlds", "Unconcerned.json"), safefile.Stamp{}, Bytes(func([]byte) ([]byte, error) { return []byte("{1}"), nil }), "it")
		},
		Again: func(error) bool {
			broken.Store(false)
			return true
		},
	}
	out := Run(t.Context(), []Unit{crashUnit(dir), next}, Options{NoSync: true, Now: time.Now(), disk: &disk, group: 1})
	if out[0].Err == nil || out[1].Err != nil {
		t.Errorf("%v, %v", out[0].Err, out[1].Err)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".stchat", "*"+journalSuffix))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
	if bad := dangles(files(t, dir)); len(bad) > 0 {
		t.Error(strings.Join(bad, ", "))
	}
}
