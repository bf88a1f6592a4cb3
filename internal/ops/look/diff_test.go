package look

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// writeChat writes a chat of texts; a text of the user begins with u.
func writeChat(t *testing.T, name string, texts []string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"chat_metadata":{},"user_name":"unused","character_name":"unused"}` + "\n")
	for _, text := range texts {
		fmt.Fprintf(&b, `{"name":"N","is_user":%v,"is_system":false,"send_date":"2026-03-01T18:42:%s.000Z","mes":%q}`+"\n", text[0] == 'u', text[1:3], text)
	}
	path := filepath.Join(t.TempDir(), name+".jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func diffOf(t *testing.T, a, b string) (rows []Difference, sum Diffed) {
	t.Helper()
	d, err := Diff(context.Background(), DiffOptions{A: DiffSide{Path: a}, B: DiffSide{Path: b}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Each(func(row Difference) error { rows = append(rows, row); return nil }); err != nil {
		t.Fatal(err)
	}
	return rows, d.Diffed
}

// TestDiffApplied edits chats at random: the rows, applied to A, give B, and with A and B swapped
// the signs are.
func TestDiffApplied(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	said := func() string { return string("uc"[r.IntN(2)]) + fmt.Sprintf("%02d %d", r.IntN(60), r.IntN(3)) }
	edited := func(list []string) []string {
		list = slices.Clone(list)
		for range r.IntN(6) {
			i := r.IntN(len(list) + 1)
			switch {
			case i == len(list) || r.IntN(2) == 0:
				list = slices.Insert(list, i, said())
			case r.IntN(2) == 0:
				list = slices.Delete(list, i, i+1)
			default:
				list[i] += "!"
			}
		}
		return list
	}
	for range 300 {
		first := edited(edited(nil))
		texts := [2][]string{edited(first), edited(first)}
		a, b := writeChat(t, "a", texts[0]), writeChat(t, "b", texts[1])
		rows, sum := diffOf(t, a, b)
		got := slices.Clone(texts[0])
		for _, row := range slices.Backward(rows) {
			if row.Op == "remove" {
				got = slices.Delete(got, *row.A, *row.A+1)
			}
		}
		for _, row := range rows { // B's indexes rise
			switch row.Op {
			case "add":
				got = slices.Insert(got, *row.B, *row.To)
			case "change":
				got[*row.B] = *row.To
			}
		}
		if diff := cmp.Diff(texts[1], got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%v → %v by %+v:\n%s", texts[0], texts[1], rows, diff)
		}
		back, swapped := diffOf(t, b, a)
		if len(back) != len(rows) || swapped.Added != sum.Removed || swapped.Removed != sum.Added || swapped.Common != sum.Common {
			t.Fatalf("%v → %v: %+v, and back %+v", texts[0], texts[1], sum, swapped)
		}
	}
}
