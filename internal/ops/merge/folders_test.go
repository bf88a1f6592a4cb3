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
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"stchat/internal/change/changeset"
	"stchat/internal/folder/library"
	"stchat/internal/folder/rules"
	"stchat/internal/ops"
	"stchat/internal/ops/repair"
	"stchat/internal/sillytavern/message"
)

// write puts a life into files, in the bytes SillyTavern writes. luker adds a floor log and a slug
// beside each.
func (f life) write(t *testing.T, dir string, luker bool) {
	t.Helper()
	branches := map[string]map[int][]string{} // by the parent's name and the message that names them
	for _, name := range slices.Sorted(maps.Keys(f)) {
		parent := f[name].parent
		own, whole := f[name].list, f[parent].list
		at := 0
		for at < min(len(own), len(whole)) && own[at].id == whole[at].id {
			at++
		}
		if at > 0 {
			if branches[parent] == nil {
				branches[parent] = map[int][]string{}
			}
			branches[parent][at-1] = append(branches[parent][at-1], name)
		}
	}
	files := map[string]string{}
	for name, c := range f {
		md := map[string]any{"integrity": fmt.Sprint("slug-", c.slug)}
		if c.parent != "" {
			md["main_chat"] = c.parent
		}
		lines := []string{jsonOf(map[string]any{"chat_metadata": md, "user_name": "unused", "character_name": "unused"})}
		for i, l := range c.list {
			extra := map[string]any{}
			if list := branches[name][i]; list != nil {
				extra["branches"] = list
			}
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
	s, err := openSide(lib, filepath.Join(dir, "chats", "Mira"), everything)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*file{}
	for _, f := range s.files {
		if f.read(t.Context(), seed); f.err != nil {
			t.Fatal(f.err)
		}
		all[f.name] = f
	}
	return all
}

// textsOf returns all texts in the files of a folder, or in one file, those of swipes too.
func textsOf(t *testing.T, path string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, data := range tree(t, path, false) {
		for _, text := range someText.FindAllString(data, -1) {
			all[text] = true
		}
	}
	return all
}

var someText = regexp.MustCompile(`text \d+`)

// foundIn counts the errors and warnings that check finds in a folder, by rule.
func foundIn(t *testing.T, dir string) map[rules.ID]int {
	t.Helper()
	res, err := repair.Check(t.Context(), repair.CheckOptions{List: ops.List{Paths: []string{dir}}, Now: time.Now()})
	if err != nil || len(res.Errs) > 0 {
		t.Fatal(err, res.Errs)
	}
	found := map[rules.ID]int{}
	for _, f := range res.Findings {
		if f.Severity > rules.Info {
			found[f.Rule]++
		}
	}
	return found
}

// TestFolders merges folders of files as [TestLives] merges lists: the same must hold, FROM's files
// and their times stay, no main_chat leads nowhere that did not before, check finds no new error
// or warning, a dry run writes nothing, undo gives every byte back, with a base what is new on either side is
// there, and folders that merge each other are at rest after two exchanges.
func TestFolders(t *testing.T) {
	found := []int{195, 439, 447, 7012635, 7013333, 8011168, 8101616} // found links that were put anew each time, or made another chat of one
	for _, seed := range seedsAfter(found, 8) {
		t.Run(strconv.Itoa(seed), func(t *testing.T) { mergeFolders(t, seed) })
	}
}

func mergeFolders(t *testing.T, seed int) {
	r := rand.New(rand.NewPCG(uint64(seed), 11))
	n := 0
	fresh := func() int { n++; return n }
	a := life{}
	for range 3 + r.IntN(6) {
		a.live(r, fresh)
	}
	b, old := a.clone(), a.clone()
	for range r.IntN(8) {
		a.live(r, fresh)
	}
	for range r.IntN(8) {
		b.live(r, fresh)
	}
	if seed%2 == 0 {
		slims := rand.New(rand.NewPCG(uint64(seed), 17))
		a.slim(slims)
		b.slim(slims)
	}
	into, from, base := t.TempDir(), t.TempDir(), t.TempDir()
	a.write(t, into, seed%4 == 3)
	b.write(t, from, seed%4 == 3)
	old.write(t, base, seed%4 == 3)
	before, theirs := tree(t, into, false), tree(t, from, true)
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("%s\nINTO %v\nFROM %v", fmt.Sprintf(format, args...), a, b)
	}
	was, theirsWas := foundIn(t, into), foundIn(t, from)
	ids := message.NewSeed()
	had, came := printsOf(t, into, ids), printsOf(t, from, ids)
	opt := options(into, from)
	opt.BumpIntegrity = seed%8 == 5
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
		if rel := relate(c.prints, now[name].prints, judging{}); !rel.isHere() {
			fail("%s is not whole", name)
		}
	}
	for name, c := range came {
		if !slices.ContainsFunc(slices.Collect(maps.Values(now)), func(p *file) bool { rel := relate(c.prints, p.prints, judging{}); return rel.isHere() }) {
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
	for rule, n := range foundIn(t, into) {
		if n > was[rule]+theirsWas[rule] {
			fail("check finds %s %d times, before %d and %d", rule, n, was[rule], theirsWas[rule])
		}
	}
	if again := Run(context.Background(), opt); again.Err != nil || again.Doc.Done > 0 {
		for _, row := range again.Rows {
			t.Logf("%+v", *row)
		}
		fail("again: %v, %+v", again.Err, again.Doc)
	}
	undo := func(done *Result) {
		if done.ID == "" {
			return
		}
		back, err := changeset.Undo(into, done.ID, false)
		if err != nil {
			fail("%v", err)
		}
		o := changeset.Run(context.Background(), []changeset.Unit{back.Unit}, changeset.Options{NoSync: true, Now: time.Now()})[0]
		if o.Err != nil || !maps.Equal(tree(t, into, false), before) {
			fail("undo: %v", o.Err)
		}
	}
	undo(done)

	opt.Base = base
	want, known := textsOf(t, into), textsOf(t, base)
	maps.Copy(want, textsOf(t, from))
	done = Run(context.Background(), opt)
	if done.Err != nil || done.Doc.Refused > 0 {
		fail("with a base: %v, %+v", done.Err, done.Doc)
	}
	for _, row := range done.Rows { // what lacks most of the base is told, not taken
		if slices.ContainsFunc(row.Told, func(told string) bool { return strings.Contains(told, "lacks more than half") }) {
			for text := range textsOf(t, row.From) {
				delete(want, text)
			}
		}
	}
	got := textsOf(t, into)
	for text := range want {
		if !got[text] && !known[text] {
			fail("with a base, %s is lost", text)
		}
	}
	undo(done)

	opt.Base = ""
	for turn := range 6 {
		opt.Into, opt.From = into, from
		if turn%2 == 1 {
			opt.Into, opt.From = from, into
		}
		if done := Run(context.Background(), opt); done.Err != nil || turn > 3 && done.Doc.Done > 0 {
			fail("turn %d: %v, %+v", turn, done.Err, done.Doc)
		}
	}
	if !maps.Equal(textsOf(t, into), textsOf(t, from)) {
		fail("the directions differ")
	}
}
