package wordindex

import (
	"errors"
	"math"
	"strings"
	"testing"

	"stchat/internal/sqlfile"
	"stchat/internal/words"
)

// indexOf makes an index of texts, without a history.
func indexOf(t *testing.T, texts []string) *Index {
	t.Helper()
	db, err := sqlfile.Open(t.Context(), ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	x := &Index{DB: db}
	t.Cleanup(func() { x.Close() })
	if err := x.Exec(t.Context(), schema); err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		if err := x.Exec(t.Context(), "INSERT INTO words(rowid, x) VALUES(?, ?)", i+1, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.Exec(t.Context(), "UPDATE meta SET v = ? WHERE k = ?", len(texts), metaTexts); err != nil {
		t.Fatal(err)
	}
	return x
}

// As many texts as allowed are ranked or listed, and not one more, wherever they stand.
func TestBound(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	const most = 100
	repeat := func(text string, n int) []string { return strings.Split(strings.Repeat(text+"\n", n), "\n")[:n] }
	for _, tt := range []struct {
		name         string
		with, before int // texts that have the word, and others
		after        int
		found        int // in the error
	}{
		{"as many as allowed", most, 0, 0, 0},
		{"as many, and others after them", most, 0, 300, 0},
		{"one more", most + 1, 0, 0, most + 1},
		{"one more, and others after them", most + 1, 0, 300, most + 1},
		{"one more, of the first", most + 1, 0, 5000, most + 1},
		{"one more, seldom", most + 1, 5000, 100, most + 1},
		{"far more", 5 * most, 0, 0, 5 * most},
		{"only the first", most / 2, 0, 5000, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			texts := append(repeat("gull", tt.before), repeat("lamp lamp gull", tt.with)...)
			texts = append(texts, repeat("gull", tt.after)...)
			if tt.found == 0 {
				texts[tt.before+7] = "lamp" // with another score
			}
			q, err := words.Parse("lamp")
			if err != nil {
				t.Fatal(err)
			}
			x := indexOf(t, texts)
			m := &Matches{x: x, want: &Want{Query: q}}
			if err := m.listTexts(t.Context(), most); err != nil {
				t.Fatal(err)
			}
			if m.Texts != min(tt.with, most+1) || tt.found == 0 && len(m.ids) != tt.with || tt.found > 0 && m.ids != nil {
				t.Errorf("%d texts, of which %d are listed, want %d", m.Texts, len(m.ids), tt.with)
			}
			r, err := rank(t.Context(), x, q, most)
			if tt.found > 0 {
				if tooMany, ok := errors.AsType[*TooManyError](err); !ok || tooMany.Found != tt.found {
					t.Fatalf("%v, want %d texts", err, tt.found)
				}
				return
			}
			if err != nil || len(r.order) != tt.with {
				t.Fatalf("%d texts are ranked, want %d; %v", len(r.order), tt.with, err)
			}
			last := float32(math.MaxFloat32)
			for c := range r.texts {
				if c.Score != r.of(c.Number) || c.Score > last {
					t.Errorf("%+v, after %v, of the text %v", c, last, r.of(c.Number))
				}
				last = c.Score
			}
		})
	}
}
