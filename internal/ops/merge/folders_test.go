package merge

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stchat/internal/changeset"
	"stchat/internal/library"
	"stchat/internal/message"
)

// write puts a life into files, in the bytes SillyTavern writes. luker adds a floor log and a slug
// beside each.
func (f life) write(t *testing.T, dir string, luker bool) {
	t.Helper()
	files := map[string]string{}
	for name, c := range f {
		md := map[string]any{"integrity": fmt.Sprint("slug-", c.slug)}
		if parent, _, ok := strings.Cut(name, " - Branch #"); ok {
			md["main_chat"] = parent
		}
		lines := []string{jsonOf(map[string]any{"chat_metadata": md, "user_name": "unused", "character_name": "unused"})}
		for _, l := range c.list {
			extra := map[string]any{}
			if l.value > 0 {
				extra["note"] = l.value
			}
			m := map[string]any{"name": "A", "is_user": l.user, "mes": fmt.Sprint("text ", l.id), "send_date": "2026", "extra": extra}
			if len(l.swipes) > 0 {
				var swipes []string
				for _, s := range l.swipes {
					swipes = append(swipes, fmt.Sprint("text ", s))
				}
				m["swipes"], m["swipe_id"] = append(swipes, m["mes"].(string)), len(swipes)
			}
			lines = append(lines, jsonOf(m))
		}
		files[name+".jsonl"] = strings.Join(lines, "\n")
		if luker {
			files[name+".luker-state.hp__floor_log.json"] = `{"version":1,"commits":[]}`
			files[name+".luker-state.chat_sync.json"] = `{"integrity":"x"}`
		}
	}
	put(t, filepath.Join(dir, "chats", "Mira"), files)
}

func jsonOf(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// tree returns the files of a folder, with their times if stamps is set, but those of stchat's own.
func tree(t *testing.T, dir string, stamps bool) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == ".stchat":
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		all[rel] = string(data)
		if info, err := e.Info(); stamps && err == nil {
			all[rel] += fmt.Sprint(info.ModTime(), info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// prints reads the chats of a folder.
func printsOf(t *testing.T, dir string, seed message.Seed) map[string]*file {
	t.Helper()
	lib := new(library.Library)
	s, err := openSide(context.Background(), lib, filepath.Join(dir, "chats", "Mira"), everything)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*file{}
	for _, f := range s.files {
		if f.read(context.Background(), lib, seed); f.err != nil {
			t.Fatal(f.err)
		}
		all[f.name] = f
	}
	return all
}

// TestFolders merges folders of files as [TestLives] merges lists: the same must hold, FROM's files
// and their times stay, no main_chat leads nowhere that did not before, a dry run writes nothing, and
// undo gives every byte back.
func TestFolders(t *testing.T) {
	for seed := range max(*lives/8, 1) {
		r := rand.New(rand.NewPCG(uint64(seed), 11))
		n := 0
		fresh := func() int { n++; return n }
		a := life{}
		for range 3 + r.IntN(6) {
			a.live(r, fresh)
		}
		b := a.clone()
		for range r.IntN(8) {
			a.live(r, fresh)
		}
		for range r.IntN(8) {
			b.live(r, fresh)
		}
		into, from := t.TempDir(), t.TempDir()
		a.write(t, into, seed%4 == 3)
		b.write(t, from, seed%4 == 3)
		before, theirs := tree(t, into, false), tree(t, from, true)
		fail := func(format string, args ...any) {
			t.Helper()
			t.Fatalf("seed %d: %s\nINTO %v\nFROM %v", seed, fmt.Sprintf(format, args...), a, b)
		}
		ids := message.NewSeed()
		had, came := printsOf(t, into, ids), printsOf(t, from, ids)
		opt := options(into, from)
		opt.Changes.DryRun = true
		if dry := Run(context.Background(), opt); dry.Err != nil || !maps.Equal(tree(t, into, false), before) {
			fail("a dry run: %v", dry.Err)
		}
		opt.Changes.DryRun = false
		done := Run(context.Background(), opt)
		if done.Err != nil || done.Doc.Refused > 0 {
			fail("%v, %+v", done.Err, done.Doc)
		}
		if !maps.Equal(tree(t, from, true), theirs) {
			fail("FROM changed")
		}
		now := printsOf(t, into, ids)
		for name, c := range had {
			if rel := relate(c.prints, now[name].prints, judging{}); rel.ownFrom > 0 {
				fail("%s is not whole", name)
			}
		}
		for name, c := range came {
			if !slices.ContainsFunc(slices.Collect(maps.Values(now)), func(p *file) bool { rel := relate(c.prints, p.prints, judging{}); return rel.ownFrom == 0 }) {
				fail("%s is nowhere whole", name)
			}
		}
		for name, c := range now {
			there := came // where the name led before
			if had[name] != nil {
				there = had
			}
			if now[c.mainChat] == nil && there[c.mainChat] != nil {
				fail("%s: main_chat %q leads nowhere", name, c.mainChat)
			}
		}
		if again := Run(context.Background(), opt); again.Err != nil || again.Doc.Done > 0 {
			for _, row := range again.Rows {
				t.Logf("%+v", *row)
			}
			fail("again: %v, %+v", again.Err, again.Doc)
		}
		if done.ID == "" {
			continue
		}
		undo, err := changeset.Undo(into, done.ID, false)
		if err != nil {
			fail("%v", err)
		}
		if o := changeset.Run(context.Background(), []changeset.Unit{undo.Unit}, changeset.Options{NoSync: true, Now: time.Now()})[0]; o.Err != nil || !maps.Equal(tree(t, into, false), before) {
			fail("undo: %v", o.Err)
		}
	}
}
