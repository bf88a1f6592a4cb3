// Package sendate reads the dates of messages: send_date, gen_started, gen_finished,
// create_date. SillyTavern has written them in many shapes over the years and reads
// them all (public/scripts/utils.js, parseTimestamp):
//
//	2026-01-02T03:04:05.000Z      ISO 8601, since 1.16 and in imported chats
//	June 19, 2023 2:20pm          the client's, up to 1.15
//	2023-5-12 @21h 32m 29s 224ms  the server's, in headers and imported chats
//	2024-1-5@3h04m05s             humanizedDateTime, and padded since 1.12.6
//	2024-01-05@03h04m05s006ms     humanizedDateTime since 1.16
//	1687184400000                 milliseconds since 1970, of the first versions
//
// What is no such date, or a day or an hour that does not exist, is not ok: the caller
// shows such a text as it stands. No date is ever guessed or rolled over to the next
// month.
//
// # Time zones
//
// Most shapes name no zone. As SillyTavern reads them, those with @ are in UTC and
// the others in the zone of the machine, time.Local.
package sendate

import (
	"math"
	"strconv"
	"strings"
	"time"

	"stchat/internal/jsonl/rawjson"
)

// Parse reads a date in any of the shapes that the package comment lists. White space
// around it is ignored.
func Parse(s string) (t time.Time, ok bool) {
	// Longer than any shape; no need to look at a megabyte of text.
	const longest = 80
	s = strings.TrimSpace(s)
	if s == "" || len(s) > longest {
		return time.Time{}, false
	}
	if isDigits(s) {
		n, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return time.Time{}, false
		}
		return ofNumber(n)
	}

	switch {
	case strings.Contains(s, "@"):
		t, ok = humanized(withoutSpaces(s))
	case s[0] >= '0' && s[0] <= '9':
		t, ok = iso(s)
	default:
		t, ok = meridiem(withoutSpaces(s))
	}

	year := t.UTC().Year()
	inRange := year >= 1 && year <= 9999 // RFC 3339 has no others
	if !ok || !inRange {
		return time.Time{}, false
	}
	return t, true
}

// ParseRaw reads a date from its JSON value: a string as [Parse] does, a number as
// milliseconds or seconds since 1970.
func ParseRaw(raw []byte) (t time.Time, ok bool) {
	switch rawjson.KindOf(raw) {
	case rawjson.String:
		if ms, ok := Usual(raw); ok {
			return time.UnixMilli(ms).UTC(), true
		}
		s, ok := rawjson.Unquote(raw)
		if !ok {
			return time.Time{}, false
		}
		return Parse(s)
	case rawjson.Number:
		n, ok := rawjson.Float(raw)
		if !ok {
			return time.Time{}, false
		}
		return ofNumber(n)
	}
	return time.Time{}, false
}

// Format writes a time as SillyTavern has since 1.13, and as documents have it: RFC 3339 in UTC, with
// milliseconds.
func Format(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// Usual reads the shape that SillyTavern has written since 1.16, as it stands in a file
// ("2026-01-02T03:04:05.006Z" with its quotes), in milliseconds since 1970. Chats have
// millions of them, so it neither allocates nor parses by a layout. ok is false for all others.
func Usual(raw []byte) (ms int64, ok bool) {
	const shape = `"0000-00-00T00:00:00.000Z"`
	if len(raw) != len(shape) {
		return 0, false
	}
	var n [10]int // the number before each sign; before the quote there is none
	at := 0
	for i, c := range raw {
		if shape[i] != '0' {
			if c != shape[i] {
				return 0, false
			}
			at++
			continue
		}
		digit := c - '0'
		if digit > 9 {
			return 0, false
		}
		n[at] = n[at]*10 + int(digit)
	}

	year, month := n[1], n[2]
	day, hour := n[3], n[4]
	minute, second := n[5], n[6]
	milli := n[7]
	isTime := hour < 24 && minute < 60 && second < 60
	isMonth := year > 0 && month >= 1 && month <= 12
	if !isTime || !isMonth || day < 1 {
		return 0, false
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, milli*1e6, time.UTC)
	const inEveryMonth = 28
	if day > inEveryMonth && t.Day() != day { // it rolled over to the next month
		return 0, false
	}
	return t.UnixMilli(), true
}

// ofNumber reads the milliseconds since 1970 that SillyTavern writes, or the seconds
// that other programs do: what has no more than ten digits before the point would, in
// milliseconds, lie in the first months of 1970. Less than nine digits are no date at
// all (as seconds: before March 1973). The time is in UTC.
func ofNumber(n float64) (time.Time, bool) {
	const (
		leastSeconds      = 1e8
		leastMilliseconds = 1e10
		mostMilliseconds  = 253402300799999 // the end of 9999, the last that RFC 3339 can express
	)

	switch {
	case math.IsNaN(n) || n < leastSeconds || n > mostMilliseconds:
		return time.Time{}, false
	case n < leastMilliseconds:
		n *= 1000
	}

	ms := math.Floor(n)
	micros := math.Floor((n - ms) * 1000)
	return time.UnixMilli(int64(ms)).Add(time.Duration(micros) * time.Microsecond).UTC(), true
}

// iso reads ISO 8601: a date, or a date and a time from the minute to the
// nanosecond, joined by T or a space, with or without a zone.
func iso(s string) (t time.Time, ok bool) {
	const (
		day    = len("2006-01-02")
		hour   = len("2006-01-02T15")
		minute = len("2006-01-02T15:04")
	)

	hasTime := len(s) >= minute && (s[day] == 'T' || s[day] == ' ') && s[hour] == ':'
	if !hasTime {
		t, err := time.ParseInLocation(time.DateOnly, s, time.Local)
		return t, err == nil
	}

	layout := "2006-01-02 15:04"
	if len(s) > minute && s[minute] == ':' {
		layout += ":05"
	}
	clock := s[day+1:]
	zone := ""
	if i := strings.LastIndexAny(clock, "+-Z"); i >= 0 {
		zone = clock[i:]
		clock = strings.TrimRight(clock[:i], spaces)
	}
	zoneLayout, ok := layoutOfZone(zone)
	if !ok {
		return t, false
	}
	t, err := time.ParseInLocation(layout+zoneLayout, s[:day]+" "+clock+zone, time.Local)
	if err != nil {
		return t, false
	}
	_, offset := t.Zone()
	const most = 24 * 60 * 60
	isZone := offset > -most && offset < most && t.Format(zoneLayout) == zone // not +05:60, which Parse takes
	return t, isZone
}

// layoutOfZone returns the layout of a zone, "" for none.
func layoutOfZone(zone string) (layout string, ok bool) {
	switch len(zone) {
	case 0:
		return "", true
	case len("Z"):
		return "Z07:00", true
	case len("+01"):
		return "-07", true
	case len("+0100"):
		return "-0700", true
	case len("+01:00"):
		return "-07:00", true
	}
	return "", false
}

// humanized reads what the client's humanizedDateTime and the server's
// humanizedISO8601DateTime write: 2024-01-05@03h04m05s006ms, with or without
// padding and milliseconds; with a space before each part but the first, which are out.
func humanized(s string) (t time.Time, ok bool) {
	before, after, found := strings.Cut(s, "s")
	digits, hasUnit := strings.CutSuffix(after, "ms")
	isMillis := hasUnit && digits != "" && len(digits) <= 3 && isDigits(digits)
	if !found || after != "" && !isMillis {
		return t, false
	}
	ms, _ := strconv.Atoi(digits)
	t, err := time.Parse("2006-1-2@15h4m5", before)
	return t.Add(time.Duration(ms) * time.Millisecond), err == nil
}

// meridiem reads what the client's getMessageTimeStamp wrote: June 19, 2023 2:20pm, without the
// spaces. Short names of months, seconds, and a comma after the year are taken too.
func meridiem(s string) (t time.Time, ok bool) {
	date, rest, _ := strings.Cut(strings.ToUpper(s), ",")
	const year = len("2006")
	if len(rest) < year {
		return t, false
	}
	clock := strings.TrimPrefix(rest[year:], ",")
	monthLayout := "January"
	if strings.IndexAny(date, "0123456789") == len("Jan") {
		monthLayout = "Jan"
	}
	clockLayout := "3:04PM"
	if strings.Count(clock, ":") == 2 {
		clockLayout = "3:04:05PM"
	}
	t, err := time.ParseInLocation(monthLayout+"2,2006,"+clockLayout, date+","+rest[:year]+","+clock, time.Local)
	if err != nil {
		return t, false
	}
	hour, _, _ := strings.Cut(clock, ":")
	isZero := strings.Trim(hour, "0") == "" // which no clock of twelve hours has
	return t, !isZero
}

// spaces are what dates have between their parts. U+202F is what newer browsers put before AM.
const spaces = " \u00a0\u202f"

func withoutSpaces(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(spaces, r) }), "")
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }
