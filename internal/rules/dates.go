package rules

import (
	"fmt"
	"time"

	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
	"stchat/internal/sendate"
)

// date is when a message was sent, and where the date stands.
type date struct {
	ms     int64 // since 1970
	local  bool  // written without a time zone
	known  bool
	number int // of the line; this and index are counted in the batch
	index  int
	column int
}

// judgeDate judges the message's date. A missing one is no finding: SillyTavern
// takes the file's.
func judgeDate(l *jsonl.Line, b *batch) {
	raw, ok := l.Value(keyDate)
	if !ok || rawjson.KindOf(raw) == rawjson.Null {
		return
	}
	d := date{known: true, number: l.Number, index: l.Index}
	if d.ms, ok = isoMillis(raw); !ok {
		t, ok := sendate.ParseRaw(raw)
		if !ok {
			b.add(BadDate, l, raw, "send_date cannot be read: "+clip(string(raw)))
			return
		}
		d.ms, d.local = t.UnixMilli(), t.Location() == time.Local
	}
	if !b.first.known {
		d.column = column(l, raw)
		b.first = d
	} else if before(d, b.latest) {
		b.add(DateOrder, l, raw, orderMessage(d, b.latest))
	}
	b.latest = d
}

// before reports whether d is certainly earlier than the date in front of it.
// Dates without a zone are in some computer's local time: compared with a date that
// has one they may be off by 26 hours, and the oldest have no seconds.
func before(d, front date) bool {
	const day, minute = 26 * 3600 * 1000, 60 * 1000
	if d.local != front.local {
		return d.ms < front.ms-day
	}
	if d.local && d.ms%minute == 0 {
		return d.ms < front.ms-front.ms%minute
	}
	return d.ms < front.ms
}

func orderMessage(d, front date) string {
	gap := time.Duration(front.ms-d.ms) * time.Millisecond
	if gap < time.Minute {
		return "dated before the message in front of it"
	}
	return fmt.Sprintf("dated %s before the message in front of it", span(gap))
}

// span returns a duration in its largest unit.
func span(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d hours", d/time.Hour)
	default:
		return fmt.Sprintf("%d minutes", d/time.Minute)
	}
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

// isoMillis reads the one form that SillyTavern has written since 1.16,
// "2026-01-02T03:04:05.006Z", without allocating. ok is false for all others.
func isoMillis(raw []byte) (ms int64, ok bool) {
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
