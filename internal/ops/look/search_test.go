package look_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"stchat/internal/history"
	"stchat/internal/history/sqlfile"
	"stchat/internal/ops"
	"stchat/internal/ops/keep"
	"stchat/internal/ops/look"
	"stchat/internal/sillytavern/message"
	"stchat/internal/text/progress"
	"stchat/internal/text/words"
)

// A search knows how far it is in the chats that it reads, if it reads no old versions.
func TestSearchProgress(t *testing.T) {
	root := t.TempDir()
	size := int64(0)
	for i := range 4 {
		chat := `{"chat_metadata":{}}` + strings.Repeat("\n"+`{"name":"Mira","mes":"a lamp"}`, 1+i*50_000)
		if err := os.WriteFile(filepath.Join(root, fmt.Sprint(i, ".jsonl")), []byte(chat), 0o666); err != nil {
			t.Fatal(err)
		}
		size += int64(len(chat))
	}
	query, err := words.Parse("door")
	if err != nil {
		t.Fatal(err)
	}
	opt := look.SearchOptions{List: ops.List{Paths: []string{root}}, Query: query, Meter: new(progress.Meter), Store: func(string) string { return "" }}
	searched(t, opt)
	if got := opt.Meter.State(); got.Bytes != size || got.Read < size*9/10 || got.Done != 4 {
		t.Errorf("%+v, of %d bytes", got, size)
	}
}

// searched returns what a search finds.
func searched(t *testing.T, opt look.SearchOptions) (hits []*look.SearchHit) {
	t.Helper()
	opt.Each = func(hit *look.SearchHit) error {
		hits = append(hits, hit)
		return nil
	}
	res, err := look.Search(t.Context(), opt)
	if err != nil || len(res.Errs) > 0 || res.Shown != len(hits) {
		t.Fatal(err, res)
	}
	return hits
}

// folder is a user folder whose chats are known, now and in the versions that were kept.
type folder struct {
	t       *testing.T
	root    string
	rng     *rand.Rand
	chats   map[string][]string // lines by name
	kept    []string            // lines of any version, in no order
	letters []string
}

// some returns a text of hard words.
func (f *folder) some(n int) string {
	var b strings.Builder
	for range 1 + f.rng.IntN(n) {
		b.WriteString(f.letters[f.rng.IntN(len(f.letters))])
		if f.rng.IntN(3) > 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// write makes a chat, or makes it anew.
func (f *folder) write(name string, most int) {
	lines := []string{fmt.Sprintf(`{"chat_metadata":{"integrity":%q}}`, name)}
	for i := range 1 + f.rng.IntN(most) {
		text, other := f.some(6), f.some(4)
		line, err := json.Marshal(map[string]any{
			"name": string("MN"[f.rng.IntN(2)]), "is_user": i%2 == 1, "mes": text, "swipe_id": 0, "swipes": []string{text, other},
			"send_date": time.Date(2026, 1, 1+f.rng.IntN(300), 0, 0, 0, 0, time.UTC).Format(time.RFC3339),
		})
		if err != nil {
			f.t.Fatal(err)
		}
		if at := strings.LastIndex(string(line), "salt"); at > 0 && i%3 == 0 { // spelled otherwise, it is the same
			line = slices.Concat(line[:at], []byte(`\u0073alt`), line[at+4:])
		}
		lines = append(lines, string(line))
		if f.rng.IntN(9) == 0 {
			lines = append(lines, `{"torn`, "")
		}
	}
	f.chats[name] = lines
	path := filepath.Join(f.root, "chats", name+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o666); err != nil {
		f.t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour) // at rest, so that the snapshot trusts what it saw
	if err := os.Chtimes(path, old, old); err != nil {
		f.t.Fatal(err)
	}
}

func (f *folder) remove(name string) {
	delete(f.chats, name)
	if err := os.Remove(filepath.Join(f.root, "chats", name+".jsonl")); err != nil {
		f.t.Fatal(err)
	}
}

func (f *folder) snapshot() {
	sum, err := keep.Snapshot(context.Background(), keep.SnapshotOptions{List: ops.List{Paths: []string{f.root}}, Now: time.Now().Add(time.Hour), Each: func(keep.Taken) error { return nil }})
	if err != nil || len(sum.Errs) > 0 {
		f.t.Fatal(err, sum.Errs)
	}
	for _, lines := range f.chats {
		f.kept = append(f.kept, lines...)
	}
}

// said is a text that was found, as the model tells it.
type said struct {
	Text string
	Gone bool
}

// expected returns the texts that a search must find, by splitting every one into words.
func (f *folder) expected(opt *look.SearchOptions) map[said]bool {
	found := map[said]bool{}
	present := map[string]bool{}
	each := func(lines []string, do func(text string, wanted bool)) {
		for _, line := range lines {
			var m struct {
				Name   string
				User   bool `json:"is_user"`
				Mes    *string
				Swipes []string
				Date   time.Time `json:"send_date"`
			}
			if json.Unmarshal([]byte(line), &m) != nil || m.Mes == nil {
				continue
			}
			wanted := (len(opt.Roles) == 0 || m.User) && (len(opt.Names) == 0 || m.Name == opt.Names[0]) && !m.Date.Before(opt.Since)
			do(*m.Mes, wanted)
			for _, swipe := range m.Swipes {
				if swipe != *m.Mes {
					do(swipe, wanted && opt.Swipes)
				}
			}
		}
	}
	matches := func(text string) bool { return opt.Query.Match(words.Append(nil, text)) }
	for _, lines := range f.chats {
		each(lines, func(text string, wanted bool) {
			present[text] = true
			if wanted && matches(text) && !opt.Gone {
				found[said{text, false}] = true
			}
		})
	}
	each(f.kept, func(text string, wanted bool) {
		switch {
		case !wanted || !matches(text):
		case !present[text]:
			found[said{text, true}] = true
		case !opt.Gone:
			found[said{text, false}] = true // excluded where it stands now, but not where it stood
		}
	})
	return found
}

// A search finds what splitting every text into words finds: random queries over mixed scripts, in chats
// that were edited, deleted and made between snapshots and since.
func TestSearchModel(t *testing.T) {
	f := &folder{t: t, root: t.TempDir(), rng: rand.New(rand.NewPCG(7, 7)), chats: map[string][]string{}}
	f.letters = []string{"salt", "Salz", "café", "Cafe", "naïve", "lamp", "LAMP", "lamp's", "don't", "x-ray", "悬", "空", "引用", "ガラス", "ｶﾞ", "편지", "바다", "ทะเล", "Маяк", "ёлка", "ΟΔΟΣ", "हिन्दी", "שלום", "42", "ﬁn", "😀", "…", "\n", "\"", "*", "OR", "NEAR(", "-"}
	for i := range 12 {
		f.write(fmt.Sprintf("C%d/A%d", i%3, i), 20)
	}
	rounds := 4
	if testing.Short() {
		rounds = 2
	}
	for round := range rounds {
		f.snapshot()
		f.write(fmt.Sprintf("C%d/A%d", round%3, round), 20) // rewritten
		f.write(fmt.Sprintf("C0/New%d", round), 10)
		if round < 2 {
			f.remove(fmt.Sprintf("C2/A%d", 5+3*round))
		}
		for q := range 80 {
			text := f.some(3)
			query, err := words.Parse(text)
			if err != nil {
				continue
			}
			opt := look.SearchOptions{
				List: ops.List{Paths: []string{f.root}}, Query: query, Swipes: q%3 == 0, Gone: q%4 == 0, Meter: new(progress.Meter),
				Store: func(root string) string { return keep.StoreOf(root, "") },
			}
			switch q % 7 {
			case 0:
				opt.Roles = []message.Who{message.User}
			case 1:
				opt.Since = time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
			case 2:
				opt.Names = []string{"N"}
			}
			got := map[said]bool{}
			hits := searched(t, opt)
			for _, hit := range hits {
				got[said{f.textOf(hit, &opt), hit.Gone}] = true
			}
			if diff := gocmp.Diff(f.expected(&opt), got); diff != "" {
				t.Fatalf("round %d, %q, %+v (-model +search):\n%s", round, text, opt, diff)
			}
			if len(got) != len(hits) {
				t.Errorf("%d texts come as %d", len(got), len(hits))
			}
			isNewer := func(a, b *look.SearchHit) int { return cmp.Compare(*b.Date, *a.Date) }
			if !slices.IsSortedFunc(hits, isNewer) {
				t.Errorf("%q: not by date", text)
			}
		}
	}
}

// textOf returns the whole text of a hit, which the model knows: it has the hit's snippet.
func (f *folder) textOf(hit *look.SearchHit, opt *look.SearchOptions) string {
	lines := f.kept
	if hit.Rev == nil {
		path, err := filepath.Rel(filepath.Join(f.root, "chats"), hit.Path)
		if err != nil {
			f.t.Fatal(err)
		}
		lines = f.chats[strings.TrimSuffix(filepath.ToSlash(path), ".jsonl")]
	}
	for _, line := range lines {
		var m struct {
			Mes    *string
			Swipes []string
			Date   string `json:"send_date"`
		}
		if json.Unmarshal([]byte(line), &m) != nil || m.Mes == nil || !strings.HasPrefix(*hit.Date, m.Date[:10]) {
			continue
		}
		for _, text := range append([]string{*m.Mes}, m.Swipes...) {
			snippet, _ := opt.Query.Snippet(text)
			if snippet == hit.Snippet && opt.Query.Match(words.Append(nil, text)) {
				return text
			}
		}
	}
	f.t.Errorf("nothing has %q of %s", hit.Snippet, hit.Path)
	return ""
}

// Messages around a text come with it, of a version as of a chat, without what is no message.
func TestSearchAround(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "chats", "Mira", "A.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	write := func(words ...string) {
		lines := []string{`{"chat_metadata":{}}`}
		for i, word := range words {
			lines = append(lines, fmt.Sprintf(`{"name":"M","is_user":%t,"mes":%q}`, i%2 == 1, word))
			if i == 1 {
				lines = append(lines, `{"torn`, "")
			}
		}
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("zero", "one", "two", "three", "four", "five")
	_, err := keep.Snapshot(context.Background(), keep.SnapshotOptions{List: ops.List{Paths: []string{root}}, Now: time.Now(), Each: func(keep.Taken) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	write("zero", "one", "two")
	for word, want := range map[string]string{
		"zero": "[] 0 [1 one user 2 two character]", "one": "[0 zero character] 1 [2 two character]", "two": "[0 zero character 1 one user] 2 []",
		"three": "[1 one user 2 two character] 3 [4 four character 5 five user]", "five": "[3 three user 4 four character] 5 []",
	} {
		query, err := words.Parse(word)
		if err != nil {
			t.Fatal(err)
		}
		opt := look.SearchOptions{List: ops.List{Paths: []string{root}}, Query: query, Around: 2, Meter: new(progress.Meter), Store: func(root string) string { return keep.StoreOf(root, "") }}
		told := func(list []look.Neighbour) (all []string) {
			for _, n := range list {
				all = append(all, fmt.Sprint(n.Index), *n.Text, n.Role)
			}
			return all
		}
		for _, hit := range searched(t, opt) {
			if got := fmt.Sprint(told(hit.Before), hit.Index, told(hit.After)); strings.Join(strings.Fields(got), " ") != want {
				t.Errorf("%s: %s, not %s", word, got, want)
			}
		}
	}
}

// A history whose table of versions is gone is an error of its own: those of other users are searched.
func TestSearchDamagedHistory(t *testing.T) {
	data := t.TempDir()
	for _, user := range []string{"a", "b", "c"} {
		root := filepath.Join(data, user)
		path := filepath.Join(root, "chats", "Mira", "A.jsonl")
		for _, dir := range []string{"characters", "worlds", filepath.Join("chats", "Mira")} {
			if err := os.MkdirAll(filepath.Join(root, dir), 0o777); err != nil {
				t.Fatal(err)
			}
		}
		write := func(text string) {
			line := fmt.Sprintf(`{"name":"M","mes":%q}`, text)
			if err := os.WriteFile(path, []byte(line), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		write("the " + user + " heron")
		f := &folder{t: t, root: root}
		f.snapshot()
		write("nothing")
	}

	broken := keep.StoreOf(filepath.Join(data, "b"), "")
	db, err := sqlfile.Open(t.Context(), sqlfile.Source(broken, "rw"), "foreign_keys = OFF")
	if err == nil {
		err = errors.Join(db.Exec(t.Context(), "DROP TABLE version"), db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}

	query, err := words.Parse("heron")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	res, err := look.Search(t.Context(), look.SearchOptions{
		List: ops.List{Paths: []string{data}}, Query: query, Gone: true, Meter: new(progress.Meter),
		Store: func(root string) string { return keep.StoreOf(root, "") },
		Each:  func(hit *look.SearchHit) error { found = append(found, hit.Snippet); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"the a heron", "the c heron"}; !slices.Equal(found, want) {
		t.Errorf("found %q, not %q", found, want)
	}
	if len(res.Errs) != 1 || !errors.Is(res.Errs[0], history.ErrBroken) || !strings.HasPrefix(res.Errs[0].Error(), broken) {
		t.Errorf("errors: %v", res.Errs)
	}
}
