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

// TestSessions: the time spent is that of the sessions, from their first message to their last, and what rows have
// of it adds up to that.
func TestSessions(t *testing.T) {
	minute := time.Minute.Milliseconds()
	a, b := &Tally{Key: "a"}, &Tally{Key: "b"}
	s := &Statistics{}
	for _, m := range []struct {
		at  int64 // in minutes
		row *Tally
	}{{200, b}, {0, a}, {10, b}, {70, a}, {131, a}, {200, a}, {205, a}} {
		s.dated = append(s.dated, datedMessage{m.at * minute, m.row})
	}
	s.sessions(time.Hour)
	// 0 to 70; 131 alone; 200 to 205
	want := Sessions{Count: 3, MedianMS: 5 * minute, MedianMessages: 3}
	if s.Sessions != want {
		t.Errorf("got %+v, want %+v", s.Sessions, want)
	}
	if s.TimeMS != 75*minute || a.TimeMS != 65*minute || b.TimeMS != 10*minute {
		t.Errorf("%d minutes, of them %d of a and %d of b", s.TimeMS/minute, a.TimeMS/minute, b.TimeMS/minute)
	}
}

func TestTimeText(t *testing.T) {
	for ms, want := range map[int64]string{0: "0 min", 29_999: "0 min", 30_000: "1 min", 119 * 60_000: "119 min", 120 * 60_000: "2 h 0 min", 75_000 * 60_000: "1,250 h 0 min"} {
		if got := TimeText(ms); got != want {
			t.Errorf("%d ms: %q, want %q", ms, got, want)
		}
	}
}

// TestYearOf: a year ends with the week of the last message, has at most 53 weeks, and begins with one that has a
// message; the clock goes forward within it.
func TestYearOf(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	row := func(at time.Time, words int) *Tally {
		return &Tally{By: "week", Key: weekKey(at), Counts: Counts{Words: words, Messages: 1, Last: at}}
	}
	last := time.Date(2026, 6, 7, 23, 59, 0, 0, zone) // a Sunday
	rows := []*Tally{{By: "week"}, row(last, 3), row(last.AddDate(0, 0, -7*52), 2), row(last.AddDate(0, 0, -7*53), 9), row(last.AddDate(-3, 0, 0), 9)}
	y, ok := YearOf(rows)
	if !ok || len(y.Weeks) != 53 || y.Older != 2 || y.Sum.Words != 5 || y.Most.Words != 3 || y.Longest != nil {
		t.Fatalf("%t, %+v", ok, y)
	}
	first, end := y.Weeks[0], y.Weeks[52]
	if first.Key != "2025-W23" || first.From.Format(time.DateTime) != "2025-06-02 00:00:00" || end.Key != "2026-W23" || end.To.Format(time.DateOnly) != "2026-06-07" {
		t.Errorf("from %+v to %+v", first, end)
	}
	if y, ok := YearOf(rows[:2]); !ok || len(y.Weeks) != 1 {
		t.Errorf("one week: %t, %+v", ok, y)
	}
	if _, ok := YearOf(rows[:1]); ok {
		t.Error("there is a year without dates")
	}
}
