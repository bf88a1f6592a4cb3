package merge

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stchat/internal/lorebook"
	"stchat/internal/ops"
)

// books is the lorebooks of a user folder in a test: by name, the entries by uid.
type books map[string]map[int]int

// live changes lorebooks in one of the ways people do.
func (b books) live(r *rand.Rand, fresh func() int) {
	all := slices.Sorted(maps.Keys(b))
	isTaken := func(name string) bool { return b[name] != nil }
	if len(all) == 0 || r.IntN(6) == 0 {
		name := []string{"W", "W", "W (1)", "W (2)", "V"}[r.IntN(5)]
		b[freeName(name, isTaken)] = map[int]int{0: fresh()}
		return
	}
	name := all[r.IntN(len(all))]
	uids := slices.Sorted(maps.Keys(b[name]))
	switch r.IntN(6) {
	case 0, 1:
		b[name][len(uids)] = fresh()
	case 2:
		b[name][uids[r.IntN(len(uids))]] = fresh()
	case 3: // SillyTavern's duplicate
		b[freeName(nextName(name, " (1)"), isTaken)] = maps.Clone(b[name])
	case 4:
		if len(uids) > 1 {
			delete(b[name], uids[len(uids)-1])
		}
	case 5:
		b[freeName("R"+strconv.Itoa(r.IntN(3)), isTaken)] = b[name]
		delete(b, name)
	}
}

func (b books) write(t *testing.T, dir string) {
	t.Helper()
	files := map[string]string{}
	for name, book := range b {
		var entries []string
		for _, uid := range slices.Sorted(maps.Keys(book)) {
			entries = append(entries, fmt.Sprintf(`"%d":{"uid":%d,"content":"text %d"}`, uid, uid, book[uid]))
		}
		files[name+lorebook.Extension] = `{"entries":{` + strings.Join(entries, ",") + `}}`
	}
	put(t, filepath.Join(dir, "worlds"), files)
}

// TestBooks merges user folders whose lorebooks live on in two places. Each of INTO keeps its entries under its name, each
// of FROM is whole in one of its own, the second run finds nothing to do, and folders that merge each other are at rest
// after two exchanges.
func TestBooks(t *testing.T) {
	for _, seed := range seedsAfter(nil, 4) {
		t.Run(strconv.Itoa(seed), func(t *testing.T) { mergeBooks(t, seed) })
	}
}

func mergeBooks(t *testing.T, seed int) {
	r := rand.New(rand.NewPCG(uint64(seed), 13))
	n := 0
	fresh := func() int { n++; return n }
	a := books{}
	for range r.IntN(4) {
		a.live(r, fresh)
	}
	b := books{}
	for name, book := range a {
		b[name] = maps.Clone(book)
	}
	for range 1 + r.IntN(6) {
		a.live(r, fresh)
		b.live(r, fresh)
	}
	into, from := t.TempDir(), t.TempDir()
	for dir, side := range map[string]books{into: a, from: b} {
		side.write(t, dir)
		put(t, filepath.Join(dir, "chats"), map[string]string{"keep": ""})
	}
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("%s\nINTO %v\nFROM %v", fmt.Sprintf(format, args...), a, b)
	}
	open := func(path string) *lorebook.Book {
		t.Helper()
		book, err := lorebook.Open(path)
		if err != nil {
			fail("%v", err)
		}
		return book
	}
	lacks := func(book *lorebook.Book, entries []lorebook.Entry) bool {
		return slices.ContainsFunc(entries, func(e lorebook.Entry) bool { return !hasEntry(book, e) })
	}
	had := map[string][]lorebook.Entry{}
	for name := range a {
		path := filepath.Join(into, "worlds", name+lorebook.Extension)
		had[path] = open(path).Entries
	}
	done := Run(context.Background(), options(into, from))
	if done.Err != nil || done.Doc.Refused > 0 {
		fail("%v, %+v", done.Err, done.Doc)
	}
	for path, entries := range had {
		if lacks(open(path), entries) {
			fail("%s is not whole", path)
		}
	}
	used := map[string]bool{}
	for _, row := range done.Rows {
		if used[row.Path] {
			fail("%s is that of two", row.Path)
		}
		used[row.Path] = true
		if lacks(open(ops.Or(row.To, row.Path)), open(row.From).Entries) {
			fail("%s is not whole", row.From)
		}
	}
	if again := Run(context.Background(), options(into, from)); again.Err != nil || again.Doc.Done > 0 {
		for _, row := range again.Rows {
			t.Logf("%+v", *row)
		}
		fail("again: %v, %+v", again.Err, again.Doc)
	}
	for turn := range 6 {
		opt := options(from, into)
		if turn%2 == 1 {
			opt = options(into, from)
		}
		if done := Run(context.Background(), opt); done.Err != nil || turn > 2 && done.Doc.Done > 0 {
			fail("turn %d: %v, %+v", turn, done.Err, done.Doc)
		}
	}
	if !maps.Equal(textsOf(t, into), textsOf(t, from)) {
		fail("the directions differ")
	}
}
