package sendate

import (
	"math"
	"strconv"
	"strings"
	"time"

	"stchat/internal/rawjson"
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
	for _, shape := range [...]func(*reader) (time.Time, bool){iso, humanized, meridiem} {
		if t, ok := shape(&reader{rest: s}); ok {
			return t, true
		}
	}
	return time.Time{}, false
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

// Usual reads the shape that SillyTavern has written since 1.16, as it stands in a file
// ("2026-01-02T03:04:05.006Z" with its quotes), in milliseconds since 1970. Chats have
// millions of them, so it neither allocates nor asks package time. ok is false for all others.
func Usual(raw []byte) (ms int64, ok bool) {
	const shape = `"0000-00-00T00:00:00.000Z"`
	if len(raw) != len(shape) {
		return 0, false
	}
	for _, i := range [...]int{0, 5, 8, 11, 14, 17, 20, 24, 25} {
		if raw[i] != shape[i] {
			return 0, false
		}
	}
	year, month, day := number(raw, 1, 4), number(raw, 6, 2), number(raw, 9, 2)
	hour, minute, second, milli := number(raw, 12, 2), number(raw, 15, 2), number(raw, 18, 2), number(raw, 21, 3)
	if year < 1 || year > 9999 || month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59 || milli > 999 {
		return 0, false
	}
	last := int64(30) + (month+month/8)%2
	if month == 2 {
		last = 28
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			last = 29
		}
	}
	if day < 1 || day > last {
		return 0, false
	}
	// days since 1970 by the civil calendar, years beginning in March
	if month <= 2 {
		year, month = year-1, month+12
	}
	days := 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 719469
	return ((days*24+hour)*60+minute)*60000 + second*1000 + milli, true
}

// number returns the number of n digits at the given place, a million or more if they are none.
func number(raw []byte, at, n int) int64 {
	v := int64(0)
	for _, c := range raw[at : at+n] {
		d := int64(c) - '0'
		if d < 0 || d > 9 {
			d = 1e6
		}
		v = v*10 + d
	}
	return v
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
func iso(r *reader) (time.Time, bool) {
	var c clock
	c.year = r.number(4, 4)
	r.expect("-")
	c.month = r.number(2, 2)
	r.expect("-")
	c.day = r.number(2, 2)
	if r.end() {
		return c.in(time.Local)
	}
	if !r.accept("T") {
		r.expect(" ")
	}
	c.hour = r.number(2, 2)
	r.expect(":")
	c.minute = r.number(2, 2)
	if r.accept(":") {
		c.second = r.number(2, 2)
		if r.accept(".") || r.accept(",") {
			c.nano = r.fraction()
		}
	}
	if r.end() {
		return c.in(time.Local)
	}
	r.spaces()
	zone := r.zone()
	if !r.end() {
		return time.Time{}, false
	}
	return c.in(zone)
}

// humanized reads what the client's humanizedDateTime and the server's
// humanizedISO8601DateTime write: 2024-01-05@03h04m05s006ms, with or without
// padding and milliseconds, and with a space before each part but the first.
func humanized(r *reader) (time.Time, bool) {
	var c clock
	c.year = r.number(4, 4)
	r.expect("-")
	c.month = r.number(1, 2)
	r.expect("-")
	c.day = r.number(1, 2)
	r.spaces()
	r.expect("@")
	r.spaces()
	c.hour = r.number(1, 2)
	r.expect("h")
	r.spaces()
	c.minute = r.number(1, 2)
	r.expect("m")
	r.spaces()
	c.second = r.number(1, 2)
	r.expect("s")
	if !r.end() {
		r.spaces()
		c.nano = r.number(1, 3) * int(time.Millisecond)
		r.expect("ms")
	}
	if !r.end() {
		return time.Time{}, false
	}
	return c.in(time.UTC)
}

// meridiem reads what the client's getMessageTimeStamp wrote: June 19, 2023 2:20pm.
// Short names of months, seconds, and a space before AM or PM are taken too.
func meridiem(r *reader) (time.Time, bool) {
	var c clock
	c.month = r.month()
	r.expect(" ")
	r.spaces()
	c.day = r.number(1, 2)
	r.expect(",")
	r.spaces()
	c.year = r.number(4, 4)
	r.accept(",")
	r.expect(" ")
	r.spaces()
	c.hour = r.number(1, 2)
	r.expect(":")
	c.minute = r.number(2, 2)
	if r.accept(":") {
		c.second = r.number(2, 2)
	}
	r.spaces()
	if c.hour < 1 || c.hour > 12 {
		return time.Time{}, false
	}
	switch strings.ToLower(r.rest) {
	case "am":
		c.hour %= 12
	case "pm":
		c.hour = c.hour%12 + 12
	default:
		return time.Time{}, false
	}
	if r.bad {
		return time.Time{}, false
	}
	return c.in(time.Local)
}

// clock is a date and a time of day as they are written, before they are checked.
type clock struct{ year, month, day, hour, minute, second, nano int }

// in returns the moment in a zone; ok is false for a day or a time of day that does not
// exist, and for what RFC 3339 cannot express in UTC.
func (c clock) in(zone *time.Location) (t time.Time, ok bool) {
	if c.hour > 23 || c.minute > 59 || c.second > 59 {
		return time.Time{}, false
	}
	// time.Date rolls over what does not exist: February 31 comes back as March 3.
	if y, m, d := time.Date(c.year, time.Month(c.month), c.day, 0, 0, 0, 0, time.UTC).Date(); y != c.year || int(m) != c.month || d != c.day {
		return time.Time{}, false
	}
	t = time.Date(c.year, time.Month(c.month), c.day, c.hour, c.minute, c.second, c.nano, zone)
	if y := t.UTC().Year(); y < 1 || y > 9999 {
		return time.Time{}, false
	}
	return t, true
}
