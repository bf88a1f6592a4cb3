package changeset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"stchat/internal/change/safefile"
)

// replacing is a unit that replaces a file, and calls drafted when it has drafted that.
func replacing(dir, name, text string, drafted func(s *Set)) Unit {
	path := filepath.Join(dir, filepath.FromSlash(name))
	return Unit{Root: dir, Draft: func(_ context.Context, s *Set) error {
		was, err := safefile.StampPath(path)
		if err != nil {
			return err
		}
		d, err := s.Replace(path, was, "it")
		if err != nil {
			return err
		}
		if drafted != nil {
			drafted(s)
		}
		_, err = d.Write([]byte(text))
		return err
	}}
}

// groupOf is a change of some files, whose names lead to one another, beside two of one file each.
func groupOf(dir string, drafted func(s *Set)) []Unit {
	some := Unit{Root: dir, Draft: func(ctx context.Context, s *Set) error {
		d, err := s.Create(filepath.Join(dir, "group chats", "New.jsonl"), "new")
		if err != nil {
			return err
		}
		to := Bytes(func([]byte) ([]byte, error) { return []byte("list=New"), nil })
		_, err = d.Write([]byte("new"))
		return errors.Join(err, s.Edit(filepath.Join(dir, "groups", "1.json"), safefile.Stamp{}, to, "its name in the list"),
			replacing(dir, "group chats/Recap.jsonl", "was rewritten", nil).Draft(ctx, s))
	}}
	return []Unit{replacing(dir, "worlds/Unconcerned.json", "{1}", nil), some, replacing(dir, "group chats/Else.jsonl", "touched", drafted)}
}

// alone makes Run work in the test's own goroutine, where a panic can play the kill.
func alone(t *testing.T) {
	procs := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(procs) })
}

// A group is one record. Killed before any primitive, it is old or new as a whole after the next
// call, also if that is killed too.
func TestGroupKilledAnywhere(t *testing.T) {
	alone(t)
	eachDisk(t, func(t *testing.T, links bool) {
		whole, ends := newCrashed(t, links), map[string]int{}
		whole = whole.again(t)
		killed(0, links, nil, func(opt Options) {
			out := Run(t.Context(), groupOf(whole.dir, nil), opt)
			for _, o := range out {
				if o.Err != nil || o.ID == "" || o.ID != out[0].ID {
					t.Fatalf("%+v", o)
				}
			}
		})
		records, _, err := Records(whole.dir)
		if err != nil || len(records) != 1 || len(records[0].sets) != 1 || records[0].Files != 5 {
			t.Fatalf("%+v, %v", records, err)
		}
		whole.new = files(t, whole.dir)
		for n, done := 1, false; !done; n++ {
			recovered := false
			for m := 1 + n%4; !recovered && !done; m += 4 {
				c := whole.again(t)
				look := func() {
					if list := dangles(files(t, c.dir)); len(list) > 0 {
						t.Fatalf("stop %d, %d: %q", n, m, list)
					}
				}
				done = !killed(n, links, look, func(opt Options) { Run(t.Context(), groupOf(c.dir, nil), opt) })
				recovered = !killed(m, links, look, func(opt Options) {
					if _, err := Recover(t.Context(), c.dir, opt); err != nil {
						t.Fatal(err)
					}
				})
				if _, err := Recover(t.Context(), c.dir, Options{NoSync: true}); err != nil {
					t.Fatal(err)
				}
				ends[c.judge(t, fmt.Sprintf("stop %d, %d", n, m))]++
				if list := c.orphans(t); len(list) > 0 {
					t.Fatalf("stop %d, %d: left in .stchat: %q", n, m, list)
				}
			}
		}
		if t.Log(ends); ends["old"] == 0 || ends["new"] == 0 {
			t.Errorf("ends: %v", ends)
		}
	})
}

// If another program writes one file of a group, before whatever primitive, only that file's
// unit fails, the program's bytes stay, the others are made, and undo takes back just those.
func TestGroupWithoutOne(t *testing.T) {
	alone(t)
	whole, failed := newCrashed(t, true), 0
	for n := 1; ; n++ {
		c := whole.again(t)
		other := filepath.Join(c.dir, "group chats", "Else.jsonl")
		drafted, written, last, at := false, false, false, 0
		k := &killer{}
		disk := k.disk(true)
		k.each = func() {
			if at++; at >= n && drafted && !written && !last {
				written = true
				if err := errors.Join(os.WriteFile(other+".x", []byte("a stranger's"), 0o666), os.Rename(other+".x", other)); err != nil {
					t.Error(err)
				}
			}
		}
		rename := disk.Rename
		disk.Rename = func(from, to string, sync bool) error {
			last = to == other // no system keeps others out between the last look and this
			defer func() { last = false }()
			return rename(from, to, sync)
		}
		out := Run(t.Context(), groupOf(c.dir, func(*Set) { drafted = true }), Options{NoSync: true, Now: time.Now(), disk: disk})
		if !written {
			break
		}
		if out[0].Err != nil || out[1].Err != nil {
			t.Fatalf("stop %d: %v, %v", n, out[0].Err, out[1].Err)
		}
		if text := files(t, c.dir)["group chats/Else.jsonl"]; text != "a stranger's" {
			t.Fatalf("stop %d: %q, %v", n, text, out[2].Err)
		}
		if err := out[2].Err; err != nil {
			failed++
			if !errors.Is(err, safefile.ErrChanged) || !strings.Contains(err.Error(), "Else.jsonl") {
				t.Fatalf("stop %d: %v", n, err)
			}
		}
		if list := c.orphans(t); len(list) > 0 {
			t.Fatalf("stop %d: left in .stchat: %q", n, list)
		}
		if temps, _ := filepath.Glob(filepath.Join(c.dir, "*", ".stchat-*")); len(temps) > 0 {
			t.Fatalf("stop %d: left: %q", n, temps)
		}
		u, err := Undo(c.dir, "", true)
		if err != nil {
			t.Fatalf("stop %d: %v", n, err)
		}
		if out := Run(t.Context(), []Unit{u.Unit}, Options{NoSync: true, Now: time.Now()}); out[0].Err != nil {
			t.Fatalf("stop %d: %v", n, out[0].Err)
		}
		c.old = mapsWith(whole.old, "group chats/Else.jsonl", "a stranger's")
		if c.judge(t, fmt.Sprintf("stop %d, undone", n)) != "old" {
			t.Fatalf("stop %d: not undone", n)
		}
	}
	if failed < 3 {
		t.Errorf("%d failed: the stops are not where one can", failed)
	}
}

// What takes names away is committed by itself.
func TestGroupKeepsNames(t *testing.T) {
	dir := t.TempDir()
	crashWorld(t, dir)
	out := Run(t.Context(), []Unit{crashUnit(dir), replacing(dir, "worlds/Unconcerned.json", "{1}", nil), replacing(dir, "group chats/Else.jsonl", "touched", nil)},
		Options{NoSync: true, Now: time.Now()})
	for _, o := range out {
		if o.Err != nil {
			t.Error(o.Err)
		}
	}
	records, _, err := Records(dir)
	if err != nil || len(records) != 1 || len(records[0].sets) != 2 {
		t.Errorf("%+v, %v", records, err)
	}
}

func mapsWith(all map[string]string, name, text string) map[string]string {
	with := map[string]string{name: text}
	for k, v := range all {
		if k != name {
			with[k] = v
		}
	}
	return with
}

// An edit that cannot be made, and a chat that another unit relies on, are no reason for the rest
// of a group to fail.
func TestGroupApart(t *testing.T) {
	alone(t)
	dir := t.TempDir()
	crashWorld(t, dir)
	world := filepath.Join(dir, "worlds", "Unconcerned.json")
	bad := Unit{Root: dir, Draft: func(_ context.Context, s *Set) error {
		return s.Edit(filepath.Join(dir, "groups", "1.json"), safefile.Stamp{}, Bytes(func([]byte) ([]byte, error) { return nil, errKilled }), "it")
	}}
	same := Unit{Root: dir, Draft: func(_ context.Context, s *Set) error {
		return s.Edit(filepath.Join(dir, "group chats", "Child.jsonl"), safefile.Stamp{}, Bytes(func(old []byte) ([]byte, error) { return bytes.Clone(old), nil }), "it")
	}}
	relies := replacing(dir, "group chats/Else.jsonl", "touched", func(s *Set) {
		was, _ := safefile.StampPath(world)
		s.Rely(world, was)
	})
	out := Run(t.Context(), []Unit{replacing(dir, "worlds/Unconcerned.json", "{1}", nil), bad, same, relies, replacing(dir, "group chats/Old.jsonl", "new", nil)},
		Options{NoSync: true, Now: time.Now()})
	for i, o := range out {
		wants := error(nil)
		switch i {
		case 1:
			wants = errKilled
		case 3: // the file that it relied on is replaced by the first
			wants = safefile.ErrChanged
		}
		if !errors.Is(o.Err, wants) || (o.ID != "") != (i == 0 || i == 4) {
			t.Errorf("%d: %+v", i, o)
		}
	}
	if now := files(t, dir); now["group chats/Else.jsonl"] != "not touched" || now["group chats/Old.jsonl"] != "new" || now["worlds/Unconcerned.json"] != "{1}" {
		t.Errorf("%v", now)
	}
}

// What waits for a group is bounded, and committed when an interruption ends the drafting.
func TestGroupInterrupted(t *testing.T) {
	dir := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var units []Unit
	for i := range 3 * groupUnits {
		name := fmt.Sprintf("%d.jsonl", i)
		if err := os.WriteFile(filepath.Join(dir, name), []byte("old"), 0o666); err != nil {
			t.Fatal(err)
		}
		units = append(units, replacing(dir, name, "new", func(*Set) {
			if i == groupUnits+groupUnits/2 {
				stop()
			}
		}))
	}
	made := 0
	for _, o := range Run(ctx, units, Options{NoSync: true, Now: time.Now()}) {
		switch {
		case o.Err == nil && o.ID != "":
			made++
		case !errors.Is(o.Err, context.Canceled):
			t.Errorf("%+v", o)
		}
	}
	new := 0
	for _, text := range files(t, dir) {
		if text == "new" {
			new++
		}
	}
	records, _, err := Records(dir)
	if err != nil || len(records) != 1 || len(records[0].sets) != 2 || records[0].Files != made {
		t.Errorf("%+v, %v", records, err)
	}
	if new != made || made <= groupUnits || made > 2*groupUnits {
		t.Errorf("%d made, %d new", made, new)
	}
}
