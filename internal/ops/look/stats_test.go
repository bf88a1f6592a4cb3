package look

import (
	"testing"
	"time"
)

// TestSpan: one day is not told as from and to.
func TestSpan(t *testing.T) {
	day := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	for _, test := range []struct {
		first, last time.Time
		want        string
	}{
		{time.Time{}, time.Time{}, ""},
		{day, day.Add(time.Hour), "1 Mar 2026"},
		{day, day.AddDate(0, 0, 1), "1 Mar 2026 – 2 Mar 2026"},
	} {
		if got := Span(test.first, test.last, "2 Jan 2006"); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
