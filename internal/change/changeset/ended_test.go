package changeset

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"stchat/internal/change/safefile"
)

// What became of a killed change names its files.
func TestEndedNamesFiles(t *testing.T) {
	alone(t)
	whole := newCrashed(t, true)
	completed := 0
	for n, done := 1, false; !done; n++ {
		c := whole.again(t)
		done = !killed(n, true, nil, func(opt Options) { Run(t.Context(), groupOf(c.dir, nil), opt) })
		ended, err := Recover(t.Context(), c.dir, Options{NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range ended {
			if e.Result == Forward {
				completed++
			}
			recap := filepath.Join(c.dir, "group chats", "Recap.jsonl")
			if !slices.Contains(e.Files, recap) {
				t.Errorf("stop %d: %v of %q, without %s", n, e.Result, e.Files, recap)
			}
		}
	}
	if completed == 0 {
		t.Error("none was completed")
	}
}

// A unit that makes no step is not in the record of those that do.
func TestUnitWithoutStep(t *testing.T) {
	c := newCrashed(t, true).again(t)
	idle := Unit{Root: c.dir, Draft: func(context.Context, *Set) error { return nil }}
	same := Unit{Root: c.dir, Draft: func(_ context.Context, s *Set) error {
		asItIs := Bytes(func(was []byte) ([]byte, error) { return was, nil })
		return s.Edit(filepath.Join(c.dir, "groups", "1.json"), safefile.Stamp{}, asItIs, "nothing")
	}}
	out := Run(t.Context(), []Unit{replacing(c.dir, "worlds/Unconcerned.json", "{1}", nil), idle, same}, Options{NoSync: true, Now: time.Now()})
	if out[0].Err != nil || out[0].ID == "" {
		t.Errorf("%+v", out[0])
	}
	for _, o := range out[1:] {
		if o.Err != nil || o.ID != "" || len(o.Steps) > 0 {
			t.Errorf("%+v", o)
		}
	}
}
