package wordindex_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stchat/internal/wordindex"
	"stchat/internal/words"
)

// A byte of the index is changed: it is found, or no query has another answer.
func TestVerifyFlips(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	s, add := newStore(t)
	rng := rand.New(rand.NewPCG(3, 3))
	some := []string{"salt", "lamp", "harbour", "悬空", "ガラス", "ทะเล", "naïve", "x-ray", "gull", "storm"}
	for c := range 4 {
		var lines []string
		for i := range 60 {
			var said []string
			for range 1 + rng.IntN(8) {
				said = append(said, some[rng.IntN(len(some))])
			}
			text := strings.Join(said, " ")
			lines = append(lines, fmt.Sprintf(`{"name":"A","is_user":%v,"mes":%q,"swipes":[%q,"%s again"],"send_date":"2026-01-%02dT10:00:00Z"}`, i%2 == 0, text, text, said[0], 1+rng.IntN(28)))
		}
		add(fmt.Sprint(c), append(lines, `{"torn`, `{"name":"A","mes":""}`)...)
	}
	answers := func() (all string, err error) {
		x, err := wordindex.Open(t.Context(), s)
		if err != nil {
			return "", err
		}
		defer x.Close()
		for _, query := range []string{"salt", "lamp storm", "空", "harbour OR gull", "-salt x-ray", "nai*"} {
			q, err := words.Parse(query)
			if err != nil {
				t.Fatal(err)
			}
			for _, rank := range []bool{false, true} {
				m, err := x.Find(t.Context(), &wordindex.Want{Query: q, Rank: rank, Swipes: true})
				if err != nil {
					return "", err
				}
				uses, err := m.Take(t.Context(), 1000)
				m.Close()
				if err != nil {
					return "", err
				}
				all += fmt.Sprintln(query, rank, uses)
			}
		}
		return all, nil
	}
	want, err := answers()
	if err != nil {
		t.Fatal(err)
	}
	verify := func() string {
		t.Helper()
		wrong, err := wordindex.Verify(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		return wrong
	}
	if wrong := verify(); wrong != "" {
		t.Fatal(wrong)
	}
	path := filepath.Join(filepath.Dir(s.Path()), wordindex.File)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flips, found, missed := 80, 0, 0
	for range flips {
		data := append([]byte(nil), whole...)
		data[100+rng.IntN(len(data)-100)] ^= 1 << rng.IntN(8)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if verify() != "" {
			found++
			continue
		}
		if got, err := answers(); err == nil && got != want {
			missed++
		}
	}
	if missed > 0 || found == 0 {
		t.Errorf("of %d flips %d were found, and %d change answers silently", flips, found, missed)
	}
	t.Logf("%d of %d flips were found", found, flips)
}
