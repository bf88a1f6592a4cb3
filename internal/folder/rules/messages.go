package rules

import (
	"fmt"
	"time"

	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/place/sendate"
	"stchat/internal/text/plural"
)

// judgeShape judges what every message must have.
func judgeShape(l *jsonl.Line, b *batch) {
	text := func(key int, name string) {
		raw, ok := l.Value(key)
		switch {
		case !ok:
			b.add(MessageShape, l, nil, name+" is missing")
		case rawjson.KindOf(raw) != rawjson.String:
			b.add(MessageShape, l, raw, fmt.Sprintf("%s is %v, not text", name, rawjson.KindOf(raw)))
		}
	}

	text(keyName, "name")
	text(keyMes, "mes")
	// any other value counts as true or false, as in JavaScript
	if user, ok := l.Value(keyIsUser); !ok || rawjson.KindOf(user) == rawjson.Null {
		b.findings.add(Finding{Rule: MessageShape, Severity: Warning, Line: l.Number, Index: l.Index, Message: "is_user is missing: the message counts as the character's"})
	}
}

// judgeKeys judges the message's own keys.
func judgeKeys(l *jsonl.Line, b *batch) {
	var r repeats
	suspect := false
	members := l.Members()
	for i := range members {
		m := &members[i]
		suspect = suspect || m.Escaped || r.next(l.Raw[m.Key:m.KeyEnd])
	}

	if !suspect {
		return
	}
	if first, n := duplicates(l.Raw); n > 0 {
		b.add(DuplicateKey, l, nil, duplicateMessage("", first, n))
	}
}

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
	ms, isUsual := sendate.Usual(raw)
	d.ms = ms
	if !isUsual {
		t, isReadable := sendate.ParseRaw(raw)
		if !isReadable {
			b.add(BadDate, l, raw, "send_date cannot be read: "+clip(string(raw)))
			return
		}
		d.ms = t.UnixMilli()
		d.local = t.Location() == time.Local
	}

	if !b.firstDate.known {
		d.column = column(l, raw)
		b.firstDate = d
	} else if before(d, b.lastDate) {
		b.add(DateOrder, l, raw, orderMessage(d, b.lastDate))
	}

	b.lastDate = d
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
		return plural.S(int(d/time.Minute), "minute")
	}
}
