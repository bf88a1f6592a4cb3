package align

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// edited returns a copy of a list of messages with a few random edits.
func edited(r *rand.Rand, list []Near) []Near {
	list = slices.Clone(list)
	for range r.IntN(6) {
		i := r.IntN(len(list) + 1)
		n := Near{User: r.IntN(2) == 0, Date: string(rune('a' + r.IntN(20))), Text: uint64(r.IntN(30))}
		switch {
		case r.IntN(3) == 0 || i == len(list):
			list = slices.Insert(list, i, n)
		case r.IntN(2) == 0:
			list = slices.Delete(list, i, i+1)
		default:
			list[i].Swipes = []uint64{list[i].Text}
			list[i].Text = n.Text
		}
	}
	return list
}

func side(list []Near) Side {
	s := Side{Near: func(i int) Near { return list[i] }}
	for _, n := range list {
		s.Keys = append(s.Keys, n.Text*2+map[bool]uint64{true: 1}[n.User])
	}
	return s
}

func TestMessagesRiseAndSwap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		first := edited(r, edited(r, nil))
		a, b := edited(r, first), edited(r, first)
		for _, rest := range []bool{false, true} {
			pairs := Messages(side(a), side(b), rest)
			last := Pair{-1, -1}
			for _, p := range pairs {
				if p.A <= last.A || p.B <= last.B {
					t.Fatalf("pairs do not rise: %v", pairs)
				}
				if x, y := a[p.A], b[p.B]; x.Text != y.Text && x.User != y.User {
					t.Fatalf("%v pairs a user's message with another's", p)
				}
				last = p
			}
			swapped := Messages(side(b), side(a), rest)
			for i, p := range swapped {
				swapped[i] = Pair{p.B, p.A}
			}
			if diff := cmp.Diff(pairs, swapped); diff != "" {
				t.Fatalf("the sides swapped:\n%s\n%v\n%v", diff, a, b)
			}
			var left, right []Near
			for p := range Rows(pairs, len(a), len(b)) {
				if p.A >= 0 {
					left = append(left, a[p.A])
				}
				if p.B >= 0 {
					right = append(right, b[p.B])
				}
			}
			if !cmp.Equal(left, a, cmpopts.EquateEmpty()) || !cmp.Equal(right, b, cmpopts.EquateEmpty()) {
				t.Fatalf("rows are not all messages in order: %v", pairs)
			}
		}
	}
}

func TestMessages(t *testing.T) {
	m := func(user bool, date string, text uint64, swipes ...uint64) Near {
		return Near{User: user, Date: date, Text: text, Swipes: swipes}
	}
	same := m(true, "1", 1)
	for _, tt := range []struct {
		name string
		a, b []Near
		rest bool
		want []Pair
	}{
		{"edited", []Near{same, m(false, "2", 2)}, []Near{same, m(false, "2", 3)}, false, []Pair{{0, 0}, {1, 1}}},
		{"another swipe", []Near{same, m(false, "2", 2)}, []Near{same, m(false, "9", 3, 2, 3)}, false, []Pair{{0, 0}, {1, 1}}},
		{"another role", []Near{same, m(true, "2", 2)}, []Near{same, m(false, "2", 3)}, true, []Pair{{0, 0}}},
		{"a new reply", []Near{same, m(false, "2", 2)}, []Near{same, m(false, "3", 3)}, true, []Pair{{0, 0}, {1, 1}}},
		{"not without the rest", []Near{same, m(false, "2", 2)}, []Near{same, m(false, "3", 3)}, false, []Pair{{0, 0}}},
		{"two ends part", []Near{same, m(false, "2", 2), m(true, "4", 4)}, []Near{same, m(false, "3", 3)}, true, []Pair{{0, 0}}},
		{"regenerated between", []Near{same, m(false, "2", 2), m(true, "4", 4)}, []Near{same, m(false, "3", 3), m(true, "4", 4)}, true, []Pair{{0, 0}, {1, 1}, {2, 2}}},
		{"unreadable", []Near{same, {Broken: true}}, []Near{same, m(false, "3", 3)}, false, []Pair{{0, 0}, {1, 1}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Messages(side(tt.a), side(tt.b), tt.rest)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLongGap(t *testing.T) {
	var a, b []Near
	for i := range 3000 {
		date := string(rune(0x4e00 + i))
		a, b = append(a, Near{Date: date, Text: uint64(i) * 2}), append(b, Near{Date: date, Text: uint64(i)*2 + 1})
	}
	if got := len(Messages(side(a), side(b), true)); got != 3000 {
		t.Errorf("%d of 3000 paired", got)
	}
}

func TestWords(t *testing.T) {
	for _, tt := range []struct{ a, b, want string }{
		{"", "", ""},
		{"the green one", "the red one", "the [-green-]{+red+} one"},
		{"a b c", "a c", "a [-b -]c"},
		{"灯台の光", "灯台の影", "[-灯台の光-]{+灯台の影+}"},
		{"one two", "three four", "[-one two-]{+three four+}"},
		{"She nods.\n\nYes.", "She nods.\n\nNo.", "She nods.\n\n[-Yes-]{+No+}."},
	} {
		var got strings.Builder
		for _, p := range Words(tt.a, tt.b) {
			got.WriteString(map[Op]string{Removed: "[-", Added: "{+"}[p.Op] + p.Text + map[Op]string{Removed: "-]", Added: "+}"}[p.Op])
		}
		if got.String() != tt.want {
			t.Errorf("Words(%q, %q) = %q, want %q", tt.a, tt.b, got.String(), tt.want)
		}
	}
}

func FuzzWords(f *testing.F) {
	f.Add("the green one", "the red  one.")
	f.Add("a\nb", "\nb\xff")
	f.Fuzz(func(t *testing.T, a, b string) {
		var x, y string
		for _, p := range Words(a, b) {
			if p.Op != Added {
				x += p.Text
			}
			if p.Op != Removed {
				y += p.Text
			}
		}
		if x != a || y != b {
			t.Errorf("%q, %q came out as %q, %q", a, b, x, y)
		}
	})
}

// TestMessagesOfOneMoment: messages of one date and one text, said by others, are paired the same
// whichever side comes first.
func TestMessagesOfOneMoment(t *testing.T) {
	line := func(name string) []byte {
		return []byte(`{"name":"` + name + `","is_user":false,"send_date":"2026-03-01T10:00:00.000Z","mes":"..."}`)
	}
	side := func(names ...string) Side {
		keys := make([]uint64, len(names))
		for i, name := range names {
			keys[i] = uint64(name[0])
		}
		return Side{Keys: keys, Near: func(i int) Near { return ReadNear(line(names[i])) }}
	}
	for _, names := range [][2][]string{{{"x", "y"}, {"y", "x"}}, {{"x", "y", "z"}, {"z", "x", "q"}}, {{"a", "x", "y"}, {"a", "y", "x"}}} {
		there, back := Messages(side(names[0]...), side(names[1]...), true), Messages(side(names[1]...), side(names[0]...), true)
		for i, p := range back {
			back[i] = Pair{p.B, p.A}
		}
		if diff := cmp.Diff(there, back); diff != "" {
			t.Errorf("%v (-there +back):\n%s", names, diff)
		}
	}
}
