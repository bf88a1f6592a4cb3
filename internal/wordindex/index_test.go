package wordindex_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/unicode/norm"

	"stchat/internal/history"
	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
	"stchat/internal/wordindex"
	"stchat/internal/words"
)

// newStore makes a history, and what adds chats to it: lines as they are, behind a header.
func newStore(t *testing.T) (*history.Store, func(name string, lines ...string)) {
	t.Helper()
	root := t.TempDir()
	s, err := history.OpenWrite(t.Context(), filepath.Join(root, "history.db"), root, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, func(name string, lines ...string) {
		t.Helper()
		w, err := history.NewWriter(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		lines = append([]string{`{"chat_metadata":{}}`}, lines...)
		c, err := w.Read(strings.NewReader(strings.Join(lines, "\n")), true)
		if err != nil {
			t.Fatal(err)
		}
		path := "chats/Mira/" + name + ".jsonl"
		chats, err := s.Chats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		run, err := w.Take(history.Snapshot{At: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		chat := history.Chat{Path: path}
		if i := slices.IndexFunc(chats, func(c history.Chat) bool { return c.Path == path }); i >= 0 {
			chat = chats[i]
		} else if chat, err = w.Found(chat); err != nil {
			t.Fatal(err)
		} else if err := w.Enter(history.Place{Chat: chat.ID, Path: path, First: run.ID}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Add(history.Version{Chat: chat.ID, Snapshot: run.ID, Path: path, At: run.At, Source: history.FromSnapshot}, c); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(false); err != nil {
			t.Fatal(err)
		}
	}
}

func says(t *testing.T, text string, swipes ...string) string {
	t.Helper()
	line, err := json.Marshal(map[string]any{"name": "Mira", "mes": text, "swipes": append([]string{text}, swipes...), "swipe_id": 0, "send_date": "2026-01-02T03:04:05.678Z"})
	if err != nil {
		t.Fatal(err)
	}
	return string(line)
}

// find returns all places of all texts that have a query.
func find(t *testing.T, s *history.Store, query string) wordindex.Uses {
	t.Helper()
	x, err := wordindex.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	q, err := words.Parse(query)
	if err != nil {
		t.Fatal(err)
	}
	m, err := x.Find(t.Context(), &wordindex.Want{Query: q, Swipes: true})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	uses, err := m.Take(t.Context(), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	return uses
}

// The index finds what reading every line of every version finds, whatever came since.
func TestFind(t *testing.T) {
	s, add := newStore(t)
	rng := rand.New(rand.NewPCG(3, 4))
	alphabet := []string{"salt", "Salz", "café", "悬", "空", "ガラス", "편지", "ทะเล", "Маяк", "42", "don't", "…", "\"", "*", "OR", "-"}
	some := func() string {
		var parts []string
		for range 1 + rng.IntN(5) {
			parts = append(parts, alphabet[rng.IntN(len(alphabet))])
		}
		return strings.Join(parts, []string{" ", ""}[rng.IntN(2)])
	}
	id, err := s.ID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for round := range 5 {
		for chat := range 3 {
			lines := []string{`{"torn`, "", `["no message"]`, `{"mes":7}`}
			for range rng.IntN(20) {
				lines = append(lines, says(t, some(), some(), some()))
			}
			add(fmt.Sprint(chat), lines...)
		}
		for range 30 {
			query := some()
			q, err := words.Parse(query)
			if err != nil {
				continue
			}
			got := map[string]int{}
			for _, u := range find(t, s, query) {
				got[fmt.Sprint(u.Piece, u.Swipe, u.Chosen, u.Text, u.At)]++
			}
			for use := range everyUse(t, s, id, q) {
				if got[use] != 1 {
					t.Fatalf("round %d, %q: %s is found %d times", round, query, use, got[use])
				}
				delete(got, use)
			}
			if len(got) > 0 {
				t.Fatalf("round %d, %q: %v are none", round, query, got)
			}
		}
	}
}

// everyUse reads all lines of all versions for a query.
func everyUse(t *testing.T, s *history.Store, id string, q *words.Query) map[string]bool {
	t.Helper()
	versions, err := s.VersionsSince(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	all, keys := map[string]bool{}, wordindex.Keys()
	var buf jsonl.Buffer
	for _, v := range versions {
		runs, err := v.Runs()
		if err != nil {
			t.Fatal(err)
		}
		for line, err := range s.Lines(t.Context(), runs) {
			if err != nil {
				t.Fatal(err)
			}
			_, err = buf.Each(jsonl.Bytes(line.Data), jsonl.MapOptions{Limit: -1, Keys: keys}, func(l *jsonl.Line) {
				if l.Damage != nil {
					return
				}
				for text := range wordindex.Texts(l) {
					said, _ := rawjson.Unquote(text.Raw)
					if q.Match(words.Append(nil, said)) {
						all[fmt.Sprint(line.Piece, text.Swipe, text.Chosen, wordindex.Hash(id, []byte(said)), wordindex.SaidIn(l).At)] = true
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return all
}

// How many texts have a word: the index, and SQLite's LIKE on the text in NFKC.
func TestFindAgainstLike(t *testing.T) {
	s, add := newStore(t)
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE t(x)"); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	alphabet := []string{"salt", "Salt", "salty", "ﬁn", "fin", "ｌａｍｐ", "lamp", "№", "no", "x", "42", "４２"}
	texts := map[string]bool{}
	var lines []string
	for range 400 {
		var parts []string
		for range 1 + rng.IntN(6) {
			parts = append(parts, alphabet[rng.IntN(len(alphabet))])
		}
		text := strings.Join(parts, []string{" ", ", ", "\n"}[rng.IntN(3)])
		lines = append(lines, says(t, text))
		if texts[text] {
			continue
		}
		texts[text] = true
		plain := strings.NewReplacer(",", " ", "\n", " ").Replace(strings.ToLower(norm.NFKC.String(text)))
		if _, err := db.Exec("INSERT INTO t VALUES(?)", " "+plain+" "); err != nil {
			t.Fatal(err)
		}
	}
	add("A", lines...)
	for _, word := range alphabet {
		found := map[uint64]bool{}
		for _, u := range find(t, s, word) {
			found[u.Text] = true
		}
		var want int
		if err := db.QueryRow("SELECT count(*) FROM t WHERE x LIKE ?", "% "+strings.ToLower(norm.NFKC.String(word))+" %").Scan(&want); err != nil {
			t.Fatal(err)
		}
		if len(found) != want || want == 0 {
			t.Errorf("%q: %d texts, LIKE finds %d", word, len(found), want)
		}
	}
}

// What is in the index's place is made an index only if it was one, or nothing.
func TestOpen(t *testing.T) {
	s, add := newStore(t)
	add("A", says(t, "salt"))
	path := filepath.Join(filepath.Dir(s.Path()), wordindex.File)
	change := func(t *testing.T, statement string) {
		t.Helper()
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name    string
		prepare func(t *testing.T)
		fails   bool
	}{
		{"nothing", func(*testing.T) {}, false},
		{"empty", func(t *testing.T) {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"of an older schema", func(t *testing.T) { find(t, s, "salt"); change(t, "PRAGMA user_version = 1; DROP TABLE use") }, false},
		{"of another history", func(t *testing.T) {
			find(t, s, "salt")
			change(t, "UPDATE meta SET v = 'x' WHERE k = 'history'; DELETE FROM use")
		}, false},
		{"of a newer schema", func(t *testing.T) { find(t, s, "salt"); change(t, "PRAGMA user_version = 99") }, true},
		{"another program's", func(t *testing.T) { change(t, "CREATE TABLE mine(x); PRAGMA application_id = 7") }, true},
		{"no database", func(t *testing.T) {
			if err := os.WriteFile(path, []byte(strings.Repeat("junk ", 100)), 0o600); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"cut short", func(t *testing.T) {
			find(t, s, "salt")
			if err := os.Truncate(path, 9000); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"a folder", func(t *testing.T) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			tt.prepare(t)
			x, err := wordindex.Open(t.Context(), s)
			if (err != nil) != tt.fails {
				t.Fatal(err)
			}
			if err != nil {
				return
			}
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && tt.name != "empty" && info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", info, err)
			}
			if uses := find(t, s, "salt"); len(uses) != 1 {
				t.Errorf("%d uses", len(uses))
			}
		})
	}
}

// A search that is stopped while the index is made leaves none that is half made.
func TestOpenStopped(t *testing.T) {
	s, add := newStore(t)
	add("A", says(t, "salt"))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if x, err := wordindex.Open(ctx, s); !errors.Is(err, context.Canceled) {
		t.Fatal(x, err)
	}
	if uses := find(t, s, "salt"); len(uses) != 1 {
		t.Errorf("%d uses", len(uses))
	}
}
