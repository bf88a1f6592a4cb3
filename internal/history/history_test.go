package history

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// openNew makes a store in a folder of its own.
func openNew(t *testing.T) *Store {
	t.Helper()
	dir := t.TempDir()
	s, err := OpenWrite(t.Context(), filepath.Join(dir, "history.db"), dir, noon)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// take adds versions of the chat of a name, in one transaction.
func take(t *testing.T, s *Store, name string, contents ...[]byte) []Version {
	t.Helper()
	w, err := NewWriter(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	var list []Version
	for _, data := range contents {
		list = append(list, takeOne(t, w, name, noon, "", data))
	}
	if err := w.Close(false); err != nil {
		t.Fatal(err)
	}
	return list
}

// takeOne adds a version of the chat of a name, in a snapshot of its own.
func takeOne(t *testing.T, w *Writer, name string, at time.Time, note string, data []byte) Version {
	t.Helper()
	c, err := w.Read(bytes.NewReader(data), true)
	if err != nil {
		t.Fatal(err)
	}
	chats, err := w.s.Chats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	run, err := w.Take(Snapshot{At: at, Note: note})
	if err != nil {
		t.Fatal(err)
	}
	path := "chats/Mira/" + name + ".jsonl"
	i := slices.IndexFunc(chats, func(c Chat) bool { return c.Path == path })
	var chat Chat
	if i >= 0 {
		chat = chats[i]
	} else {
		if chat, err = w.Found(Chat{Slug: c.Slug, Path: path}); err != nil {
			t.Fatal(err)
		}
		if err := w.Enter(Place{Chat: chat.ID, Path: path, First: run.ID}); err != nil {
			t.Fatal(err)
		}
	}
	v, err := w.Add(Version{Chat: chat.ID, Snapshot: run.ID, Path: path, At: run.At, Source: FromSnapshot, Note: note}, c)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// back returns a version's bytes.
func back(t *testing.T, s *Store, v Version) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := s.WriteTo(t.Context(), &b, &v); err != nil {
		t.Fatalf("rev %d: %v", v.Rev, err)
	}
	return b.Bytes()
}

// shapes are files of every kind that the splitting could get wrong.
func shapes() map[string][]byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	random := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		return b
	}
	m := map[string][]byte{
		"empty": {}, "LF": []byte("\n"), "LFs": []byte("\n\n\n"), "torn": []byte(`{"a":1}` + "\n" + `{"mes":"t`),
		"BOM, CR and NUL": []byte("\xef\xbb\xbf{\"a\":1}\r\n\x00\x00\n\r\n{}"), "ends in LF": []byte("{}\n{}\n"),
		"random": random(3 << 20), "random without LF": bytes.ReplaceAll(random(3<<20), []byte("\n"), nil),
		"many lines": []byte(strings.Repeat("{\"mes\":\"hello\"}\n", 50_000)),
	}
	for _, n := range []int{1, 4096, longLine - 1, longLine, longLine + 1, readSize - 1, readSize, readSize + 1, 2 * readSize} {
		line := bytes.Repeat([]byte("x"), n)
		m[fmt.Sprintf("line of %d", n)] = line
		m[fmt.Sprintf("line of %d among others", n)] = bytes.Join([][]byte{[]byte("{}"), line, nil, random(300), line}, []byte("\n"))
		m[fmt.Sprintf("line of %d and LF", n)] = append(line, '\n')
	}
	return m
}

func TestEveryByteComesBack(t *testing.T) {
	s := openNew(t)
	versions := map[string]Version{}
	files := shapes()
	for name, data := range files {
		versions[name] = take(t, s, name, data)[0]
	}
	for name, data := range files {
		if got := back(t, s, versions[name]); !bytes.Equal(got, data) {
			t.Errorf("%s: %d bytes came back, of %d, or others", name, len(got), len(data))
		}
	}
}

// Each version of a chat's life comes back: it grows, is edited at random places, loses
// lines and ends, and holds pictures.
func TestEveryVersionComesBack(t *testing.T) {
	s := openNew(t)
	rnd := rand.New(rand.NewPCG(3, 4))
	lines := [][]byte{[]byte(`{"chat_metadata":{"integrity":"a"},"user_name":"u","character_name":"c"}`)}
	var contents [][]byte
	for i := range 200 {
		lines = append(lines, fmt.Appendf(nil, `{"name":"Mira","is_user":false,"mes":"turn %d %s"}`, i, strings.Repeat("word ", rnd.IntN(90))))
		switch rnd.IntN(12) {
		case 0:
			lines[1+rnd.IntN(len(lines)-1)] = []byte(`{"mes":"edited"}`)
		case 1:
			k := 1 + rnd.IntN(len(lines)-1)
			lines = append(lines[:k], lines[k+1:]...)
		case 2:
			if i%4 > 0 {
				break // each costs the time to hash it in all later versions
			}
			lines = append(lines, fmt.Appendf(nil, `{"mes":"%s"}`, bytes.Repeat([]byte{byte('a' + i%26)}, 300<<10)))
		case 3:
			lines = append(lines, nil)
		}
		contents = append(contents, bytes.Join(lines, []byte("\n")))
	}
	var list []Version
	for i := 0; i < len(contents); i += 7 { // some in one transaction, some alone
		list = append(list, take(t, s, "A", contents[i:min(i+7, len(contents))]...)...)
	}
	for i, v := range list {
		if got := back(t, s, v); !bytes.Equal(got, contents[i]) || v.Size != int64(len(got)) {
			t.Errorf("version %d: other bytes than were taken", i)
		}
		if v.Rev != int64(i+1) {
			t.Errorf("version %d has number %d", i, v.Rev)
		}
	}
	again, err := OpenRead(t.Context(), s.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	stored, err := again.Versions(t.Context(), list[0].Chat)
	if err != nil || len(stored) != len(list) {
		t.Fatalf("%d versions, %v", len(stored), err)
	}
	if got := back(t, again, stored[120]); !bytes.Equal(got, contents[120]) {
		t.Error("read from another opening: other bytes")
	}
}

// Lines gives what splitting at LF gives, and a line in parts in one.
func TestLines(t *testing.T) {
	s := openNew(t)
	data := bytes.Join([][]byte{[]byte("{}"), nil, bytes.Repeat([]byte("abc"), 300_000), []byte("end")}, []byte("\n"))
	v := take(t, s, "A", data)[0]
	runs, err := v.Runs()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line, err := range s.Lines(t.Context(), runs) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(line.Data))
	}
	if diff := cmp.Diff(strings.Split(string(data), "\n"), got); diff != "" {
		t.Error(diff)
	}
}

// A message more costs a message: nothing of what is known is stored again.
func TestOnlyNewPieces(t *testing.T) {
	s := openNew(t)
	var lines []string
	for i := range 1000 {
		lines = append(lines, fmt.Sprintf(`{"mes":"%x"}`, sha256.Sum256([]byte{byte(i), byte(i >> 8)})))
	}
	chat := func(lines ...string) []byte { return []byte(strings.Join(lines, "\n")) }
	take(t, s, "A", chat(lines...))
	picture := strings.Repeat("QUJD", 1<<18)
	edited := append(append(append([]string{}, lines[:400]...), "edited"), lines[401:]...)
	for _, test := range []struct {
		name   string
		data   []byte
		pieces int
	}{
		{"the same", chat(lines...), 0},
		{"one more", chat(append(lines, "x")...), 1},
		{"one edited", chat(edited...), 1},
		{"one deleted", chat(append(lines[:10:10], lines[11:]...)...), 0},
		{"a long line", chat(append(lines, picture)...), 0},
		{"turned round", chat(append(lines[500:], lines[:500]...)...), 0},
	} {
		w, err := NewWriter(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		c, err := w.Read(bytes.NewReader(test.data), true)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(false); err != nil {
			t.Fatal(err)
		}
		if c.NewPieces != test.pieces && test.name != "a long line" {
			t.Errorf("%s: %d new pieces, want %d", test.name, c.NewPieces, test.pieces)
		}
		if test.name == "one more" && len(c.Runs) > 2 || test.name == "one edited" && len(c.Runs) > 3 {
			t.Errorf("%s: %d runs", test.name, len(c.Runs))
		}
	}
}

func TestRefused(t *testing.T) {
	ctx := t.Context()
	good, err := os.ReadFile(func() string {
		s := openNew(t)
		take(t, s, "A", []byte("{}\n"+strings.Repeat("abc", 100_000)))
		s.Close()
		return s.Path()
	}())
	if err != nil {
		t.Fatal(err)
	}
	newer := bytes.Clone(good)
	newer[63]++ // user_version
	foreign := bytes.Clone(good)
	foreign[68] = 'x' // application_id
	for _, test := range []struct {
		name string
		data []byte
		want error
	}{
		{"of a newer schema", newer, ErrNewer},
		{"of another program", foreign, ErrForeign},
		{"text", []byte("not a database, but long enough to be looked at as one, so that it has to be read more than once"), ErrForeign},
		{"short", []byte("SQLite format 3\x00"), ErrForeign},
		{"cut", good[:len(good)-5000], ErrCut},
		{"empty", nil, ErrNoStore},
	} {
		path := filepath.Join(t.TempDir(), "history.db")
		if err := os.WriteFile(path, test.data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := OpenRead(ctx, path)
		if !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
		if err == nil {
			s.Close()
		}
		if errors.Is(test.want, ErrNoStore) {
			continue // becomes a store when it is written to
		}
		if s, err := OpenWrite(ctx, path, filepath.Dir(path), noon); !errors.Is(err, test.want) {
			t.Errorf("%s, to write: %v, want %v", test.name, err, test.want)
			if err == nil {
				s.Close()
			}
		}
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, test.data) {
			t.Errorf("%s: was changed", test.name)
		}
	}
	if _, err := OpenRead(ctx, filepath.Join(t.TempDir(), "history.db")); !errors.Is(err, ErrNoStore) {
		t.Errorf("no store: %v", err)
	}
	if _, err := OpenRead(ctx, t.TempDir()); !errors.Is(err, ErrForeign) {
		t.Errorf("a folder: %v", err)
	}
}

func TestBelongsToOneFolder(t *testing.T) {
	s := openNew(t)
	ctx, home, other := context.Background(), filepath.Dir(s.Path()), t.TempDir()
	if again, err := OpenWrite(ctx, s.Path(), other, noon); !errors.Is(err, ErrOtherRoot) {
		t.Errorf("another folder: %v", err)
		if err == nil {
			again.Close()
		}
	}
	s.Close()
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(home, moved); err != nil {
		t.Fatal(err)
	}
	s, err := OpenWrite(ctx, filepath.Join(moved, "history.db"), moved, noon)
	if err != nil {
		t.Fatalf("moved along with its folder: %v", err)
	}
	s.Close()
}

func TestKinds(t *testing.T) {
	for rel, want := range map[string]Kind{
		"chats/Mira/A.jsonl": Solo, "chats/Mira/A.JSONL": Solo, "chats/A.jsonl": File, "chats/Mira/old/A.jsonl": File, "group chats/G.jsonl": Group, "group chats/old/G.jsonl": File,
		"A.jsonl": File, "backups/chat_mira.jsonl": Backup, "backups/x.json": Backup, "groups/1.json": Members, "groups/G.jsonl": File, "worlds/Sea.json": World,
		"worlds/Sea.jsonl": File, "characters/Mira.png": Card, "characters/Mira.jsonl": File, "chats/Mira/A.luker-state.x.json": Sidecar,
	} {
		got := KindOf(rel)
		if isChat := want == Solo || want == Group || want == File || want == Backup; got != want || got.IsChat() != isChat {
			t.Errorf("%s is %v, a chat: %v; want %v, %v", rel, got, got.IsChat(), want, isChat)
		}
	}
}

func TestLabel(t *testing.T) {
	for rel, want := range map[string]string{
		"chats/Mira/A.jsonl": "Mira/A", "group chats/G.jsonl": "group chats/G", "A.jsonl": "A", "backups/chat_mira.jsonl": "chat_mira", "worlds/Sea.json": "worlds/Sea.json",
	} {
		if got := Label(rel); got != want {
			t.Errorf("Label(%s) = %s, want %s", rel, got, want)
		}
	}
}

// Rows of the same letters in other columns have other checksums.
func TestTags(t *testing.T) {
	s := openNew(t)
	if a, b := s.tag(&Chat{ID: 1, Slug: "ab", Main: "c"}), s.tag(&Chat{ID: 1, Slug: "a", Main: "bc"}); bytes.Equal(a, b) {
		t.Errorf("both have %x", a)
	}
}

// A store that moved along with its folder belongs to that; a dry run does not note it.
func TestFolderMoved(t *testing.T) {
	was := filepath.Join(t.TempDir(), "was")
	if err := os.Mkdir(was, 0o777); err != nil {
		t.Fatal(err)
	}
	s, err := OpenWrite(t.Context(), filepath.Join(was, "history.db"), was, noon)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	now := was + " moved"
	if err := os.Rename(was, now); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		open func(ctx context.Context, path, root string, now time.Time) (*Store, error)
		want string
	}{{OpenDry, was}, {OpenWrite, now}, {OpenDry, now}} {
		s, err := tt.open(t.Context(), filepath.Join(now, "history.db"), now, noon)
		if err != nil {
			t.Fatal(err)
		}
		if root, err := s.Root(t.Context()); root != tt.want || err != nil {
			t.Errorf("it is of %s, %v; want %s", root, err, tt.want)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// What a history knows of its files is read at once: with thousands of chats, a query that looks for
// the place of each in all places takes minutes.
func TestChatsAtOnce(t *testing.T) {
	s := openNew(t)
	err := s.db.Each(t.Context(), "EXPLAIN QUERY PLAN "+chatsQuery, nil, func(scan func(...any) error) error {
		var id, parent, unused int
		var step string
		err := scan(&id, &parent, &unused, &step)
		if strings.Contains(step, "CORRELATED") {
			t.Errorf("the plan has %q", step)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A dry run gives versions the numbers that they would get, each its own, also where the last one
// was forgotten.
func TestDryNumbers(t *testing.T) {
	s := openNew(t)
	take(t, s, "a", chatOf("a", 0, 3), chatOf("a", 0, 4))
	gone := take(t, s, "b", chatOf("b", 0, 3))[0]
	if _, err := Forget(t.Context(), s, []int64{gone.Chat}); err != nil {
		t.Fatal(err)
	}
	dry, err := OpenDry(t.Context(), s.Path(), filepath.Dir(s.Path()), noon)
	if err != nil {
		t.Fatal(err)
	}
	defer dry.Close()
	for _, s := range []*Store{dry, s} {
		for i, v := range take(t, s, "a", chatOf("a", 0, 5), chatOf("a", 0, 6)) {
			if v.Rev != int64(4+i) {
				t.Errorf("dry run %v: version %d, want %d", s.dry, v.Rev, 4+i)
			}
		}
	}
}
