package look_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/message"
	"stchat/internal/ops"
	"stchat/internal/ops/keep"
	"stchat/internal/ops/look"
	"stchat/internal/progress"
	"stchat/internal/wordindex"
	"stchat/internal/words"
)

// finds is what a search found.
type finds struct {
	Hits   []*look.SearchHit
	Found  int
	ByDate bool
}

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
	opt := look.SearchOptions{List: ops.List{Paths: []string{root}}, Want: wordindex.Want{Query: query}, Meter: new(progress.Meter), Store: func(string) string { return "" }}
	searched(t, opt, false)
	if got := opt.Meter.State(); got.Bytes != size || got.Read < size*9/10 || got.Done != 4 {
		t.Errorf("%+v, of %d bytes", got, size)
	}
}

// searched returns what a search finds by the scan or by the index.
func searched(t *testing.T, opt look.SearchOptions, noIndex bool) (all finds) {
	t.Helper()
	opt.NoIndex = noIndex
	opt.Each = func(hit *look.SearchHit) error {
		all.Hits = append(all.Hits, hit)
		return nil
	}
	res, err := look.Search(t.Context(), opt)
	if err != nil || len(res.Errs) > 0 || res.Damaged || res.Shown != len(all.Hits) {
		t.Fatal(err, res)
	}
	all.Found, all.ByDate = res.Found, res.ByDate
	return all
}

// compared returns the hits by the scan or by the index. They are in the order of their places
// if they are ranked, since the weight of a word comes from what was read.
func compared(t *testing.T, opt look.SearchOptions, noIndex bool) finds {
	t.Helper()
	res := searched(t, opt, noIndex)
	if opt.Rank {
		slices.SortFunc(res.Hits, func(a, b *look.SearchHit) int {
			return strings.Compare(fmt.Sprint(a.Path, a.Index, a.Snippet), fmt.Sprint(b.Path, b.Index, b.Snippet))
		})
	}
	return res
}

// Index and scan find the same: random queries over mixed scripts, in chats that
// were edited, deleted and made between snapshots and since.
func TestSearchIndex(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	alphabet := []string{"salt", "Salz", "café", "Cafe", "naïve", "lamp", "don't", "x-ray", "悬", "空", "引用", "ガラス", "ｶﾞ", "편지", "바다", "ทะเล", "Маяк", "ёлка", "ΟΔΟΣ", "हिन्दी", "שלום", "42", "ﬁn", "😀", "…", "\n", "\"", "*", "OR", "NEAR(", "-"}
	some := func(n int) string {
		var b strings.Builder
		for range 1 + rng.IntN(n) {
			b.WriteString(alphabet[rng.IntN(len(alphabet))])
			if rng.IntN(3) > 0 {
				b.WriteByte(' ')
			}
		}
		return b.String()
	}
	root := t.TempDir()
	write := func(name string, chats int) {
		var lines []string
		lines = append(lines, fmt.Sprintf(`{"chat_metadata":{"integrity":%q}}`, name))
		for i := range 1 + rng.IntN(chats) {
			text, other := some(6), some(4)
			line, err := json.Marshal(map[string]any{
				"name": string("MN"[rng.IntN(2)]), "is_user": i%2 == 1, "mes": text, "swipe_id": 0, "swipes": []string{text, other},
				"send_date": time.Date(2026, 1, 1+rng.IntN(300), 0, 0, 0, 0, time.UTC).Format(time.RFC3339),
			})
			if err != nil {
				t.Fatal(err)
			}
			if at := strings.LastIndex(string(line), "salt"); at > 0 && i%3 == 0 { // spelled otherwise, it is the same
				line = slices.Concat(line[:at], []byte(`\u0073alt`), line[at+4:])
			}
			lines = append(lines, string(line))
			if rng.IntN(9) == 0 {
				lines = append(lines, `{"torn`, "")
			}
		}
		path := filepath.Join(root, "chats", name+".jsonl")
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o666); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-time.Hour) // at rest, so that the snapshot trusts what it saw
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	list := ops.List{Paths: []string{root}}
	snapshot := func() {
		_, err := keep.Snapshot(context.Background(), keep.SnapshotOptions{List: list, Now: time.Now().Add(time.Hour), Each: func(keep.Taken) error { return nil }})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 12 {
		write(fmt.Sprintf("C%d/A%d", i%3, i), 20)
	}
	for round := range 4 {
		snapshot()
		for q := range 60 {
			query, err := words.Parse(some(3))
			if err != nil {
				continue
			}
			opt := look.SearchOptions{
				List: list, Want: wordindex.Want{Query: query, Swipes: q%3 == 0, Rank: q%3 == 1}, Gone: q%4 == 0,
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
			if q%5 == 0 {
				opt.List = ops.List{Paths: []string{filepath.Join(root, "chats", "C1")}}
			}
			if diff := cmp.Diff(compared(t, opt, true), compared(t, opt, false)); diff != "" {
				t.Fatalf("round %d, %s (-scan +index):\n%s", round, query.FTS(), diff)
			}
		}
		index := filepath.Join(root, ".stchat", "search.db")
		whole, err := os.ReadFile(index)
		if err != nil {
			t.Fatalf("no index: %v", err)
		}
		if h, err := keep.Verify(t.Context(), keep.HistoryOptions{Root: root}, false); err != nil || len(h.Problems) > 0 {
			t.Fatal(err, h)
		}
		for range 5 { // a damaged one changes no answer, if that is said
			data := slices.Clone(whole)
			for range 1 + rng.IntN(40) {
				data[rng.IntN(len(data))] ^= 0x55
			}
			if err := os.WriteFile(index, data, 0o600); err != nil {
				t.Fatal(err)
			}
			query, err := words.Parse("lamp OR salt OR 悬")
			if err != nil {
				t.Fatal(err)
			}
			opt := look.SearchOptions{List: list, Want: wordindex.Want{Query: query}, Store: func(root string) string { return keep.StoreOf(root, "") }}
			all := searched(t, opt, true)
			var hits []*look.SearchHit
			opt.Each = func(hit *look.SearchHit) error {
				hits = append(hits, hit)
				return nil
			}
			res, err := look.Search(t.Context(), opt)
			if err != nil {
				t.Fatal(err)
			}
			for _, list := range [][]*look.SearchHit{all.Hits, hits} { // some may have been shown before the damage was found
				slices.SortFunc(list, func(a, b *look.SearchHit) int {
					return strings.Compare(fmt.Sprint(a.Path, a.Index, a.Snippet), fmt.Sprint(b.Path, b.Index, b.Snippet))
				})
			}
			if diff := cmp.Diff(all.Hits, hits); diff != "" && res.Damaged {
				t.Fatalf("round %d (-scan +damaged):\n%s", round, diff)
			}
		}
		if err := os.WriteFile(index, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		write(fmt.Sprintf("C%d/A%d", round%3, round), 20) // rewritten
		write(fmt.Sprintf("C0/New%d", round), 10)
		if err := os.Remove(filepath.Join(root, "chats", fmt.Sprintf("C2/A%d.jsonl", 5+3*(round%2)))); err != nil && round < 2 {
			t.Fatal(err)
		}
	}
}

// Also where only the first of very many texts are shown, of which few are looked at.
func TestSearchIndexLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	rng := rand.New(rand.NewPCG(8, 8))
	root := t.TempDir()
	write := func(name string, messages, version int) {
		lines := []string{fmt.Sprintf(`{"chat_metadata":{"integrity":%q}}`, name)}
		for i := range messages {
			date := ""
			if i%9 > 0 { // of some days there are many
				date = fmt.Sprintf("2026-%02d-%02dT00:00:00Z", 1+rng.IntN(12), 1+rng.IntN(28))
			}
			lines = append(lines, fmt.Sprintf(`{"name":"%c","is_user":%t,"mes":"lamp %s%d","send_date":%q}`, "MN"[i%2], i%5 == 0, strings.Repeat("lamp ", rng.IntN(4)), i+version, date))
		}
		path := filepath.Join(root, "chats", "Mira", name+".jsonl")
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o666); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	snapshot := func() {
		_, err := keep.Snapshot(context.Background(), keep.SnapshotOptions{List: ops.List{Paths: []string{root}}, Now: time.Now().Add(time.Hour), Each: func(keep.Taken) error { return nil }})
		if err != nil {
			t.Fatal(err)
		}
	}
	write("A", 700, 0)
	write("B", 500, 0)
	snapshot()
	write("A", 700, 400) // what it had is in a version alone
	write("C", 400, 3000)
	snapshot()
	write("C", 20, 3200) // is read
	query, err := words.Parse("lamp")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		opt := look.SearchOptions{
			List: ops.List{Paths: []string{root}}, Want: wordindex.Want{Query: query, Rank: i%2 == 1}, Limit: []int{1, 20, 1300}[i%3], Gone: i%8 >= 6,
			Store: func(root string) string { return keep.StoreOf(root, "") },
		}
		switch i / 5 {
		case 1:
			opt.Roles = []message.Who{message.User}
		case 2:
			opt.Since, opt.Until = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)
		case 3:
			opt.Names = []string{"N"}
		case 4:
			opt.List.Paths = []string{filepath.Join(root, "chats", "Mira", "B.jsonl")}
		}
		all := opt
		if all.NoIndex = true; opt.Rank { // by the index alone: the first of all
			all.NoIndex, all.Limit = false, 0
		}
		want, got := searched(t, all, all.NoIndex), searched(t, opt, false)
		if opt.Rank {
			want.Hits, want.Found, want.ByDate = want.Hits[:min(opt.Limit, len(want.Hits))], got.Found, got.ByDate
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%d, limit %d (-want +index):\n%s", i, opt.Limit, diff)
		}
	}
}
