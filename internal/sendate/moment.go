package sendate

import (
	"strconv"
	"time"
)

// ParseMoment reads a point in time as a person gives it: RFC 3339; a local date
// (2026-03-01), which means its end, or a local date with a time (2026-03-01 18:42,
// with or without seconds); or an age, counted back from now: 90m, 2h, 3d, 2w.
func ParseMoment(s string, now time.Time) (t time.Time, ok bool) {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, true
	}
	for _, shape := range [...]string{"2006-01-02 15:04:05", "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(shape, s, now.Location()); err == nil {
			return t, true
		}
	}
	if t, err := time.ParseInLocation(time.DateOnly, s, now.Location()); err == nil {
		return t.AddDate(0, 0, 1).Add(-1), true
	}
	return age(s, now)
}

// age reads a number and a unit.
func age(s string, now time.Time) (t time.Time, ok bool) {
	if s == "" || !isDigits(s[:len(s)-1]) {
		return t, false
	}
	n, err := strconv.Atoi(s[:len(s)-1])
	const most = 1_000_000 // more than any unit needs, and no duration overflows
	if err != nil || n > most {
		return t, false
	}
	switch s[len(s)-1] {
	case 'm':
		return now.Add(-time.Duration(n) * time.Minute), true
	case 'h':
		return now.Add(-time.Duration(n) * time.Hour), true
	case 'd':
		return now.AddDate(0, 0, -n), true
	case 'w':
		return now.AddDate(0, 0, -7*n), true
	}
	return t, false
}
