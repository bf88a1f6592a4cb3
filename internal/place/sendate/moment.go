package sendate

import (
	"strconv"
	"strings"
	"time"
)

// ParseMoment reads a point in time as a person gives it:
//
//   - RFC 3339;
//   - a local date with a time: 2026-03-01 18:42, with or without seconds;
//   - a local date, 2026-03-01, today or yesterday, which means its end;
//   - an age, counted back from now: 90m, 2h, 3d, 2w, 1y; now itself;
//   - an age in words: 3 days ago, from minutes to years.
//
// [ParseStart] takes the start of a date.
func ParseMoment(s string, now time.Time) (t time.Time, ok bool) {
	if start, isDate := date(s, now); isDate {
		return start.AddDate(0, 0, 1).Add(-1), true
	}
	return momentOrAge(s, now)
}

// ParseStart is [ParseMoment] where a date means its start.
func ParseStart(s string, now time.Time) (t time.Time, ok bool) {
	if start, isDate := date(s, now); isDate {
		return start, true
	}
	return momentOrAge(s, now)
}

// date reads a local date, and returns its start.
func date(s string, now time.Time) (start time.Time, ok bool) {
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch strings.ToLower(s) {
	case "today":
		return today, true
	case "yesterday":
		return today.AddDate(0, 0, -1), true
	}
	start, err := time.ParseInLocation(time.DateOnly, s, now.Location())
	return start, err == nil
}

func momentOrAge(s string, now time.Time) (t time.Time, ok bool) {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, true
	}
	for _, shape := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(shape, s, now.Location()); err == nil {
			return t, true
		}
	}

	if strings.EqualFold(s, "now") {
		return now, true
	}
	n, unit, isAge := age(s)
	if !isAge {
		return t, false
	}
	return countedBack(now, n, unit)
}

// age reads a number and a unit: 3d, or 3 days ago. The unit comes without the plural's s.
func age(s string) (n int, unit string, ok bool) {
	number := s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]
	n, err := strconv.Atoi(number)
	const most = 1_000_000 // more than any unit needs, and no duration overflows
	if err != nil || n > most {
		return 0, "", false
	}

	rest := s[len(number):]
	switch rest {
	case "m":
		return n, "minute", true
	case "h":
		return n, "hour", true
	case "d":
		return n, "day", true
	case "w":
		return n, "week", true
	case "y":
		return n, "year", true
	}

	words := strings.Fields(strings.ToLower(rest))
	isWords := len(words) == 2 && words[1] == "ago" && strings.HasPrefix(rest, " ")
	if !isWords {
		return 0, "", false
	}
	return n, strings.TrimSuffix(words[0], "s"), true
}

// countedBack counts n units back from now. It does not know every unit.
func countedBack(now time.Time, n int, unit string) (t time.Time, ok bool) {
	switch unit {
	case "minute":
		return now.Add(-time.Duration(n) * time.Minute), true
	case "hour":
		return now.Add(-time.Duration(n) * time.Hour), true
	case "day":
		return now.AddDate(0, 0, -n), true
	case "week":
		return now.AddDate(0, 0, -7*n), true
	case "month":
		return monthsBefore(now, n), true
	case "year":
		return monthsBefore(now, 12*n), true
	}
	return t, false
}

// monthsBefore counts n months back from now. A month that is too short for the day gives its last
// day: a month before the 31st of March is the end of February.
func monthsBefore(now time.Time, n int) time.Time {
	t := now.AddDate(0, -n, 0)
	if t.Day() != now.Day() {
		t = t.AddDate(0, 0, -t.Day())
	}
	return t
}
