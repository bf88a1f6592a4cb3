package look

import (
	"time"
)

// yearWeeks is how many weeks a year has at most, the one that is not over with it.
const yearWeeks = 53

// Year is the last weeks of what was counted by week, with those in which nothing was written.
type Year struct {
	Weeks []Week
	Older int // weeks with a message before these
	Sum   Week

	Most    *Week // with the most words; nil: no words
	Longest *Week // with the most time
}

// Week is a week of a year.
type Week struct {
	Key      string // 2026-W09
	From, To time.Time
	Messages int
	Words    int
	Yours    int // words
	TimeMS   int64
	Days     int
}

// YearOf returns the last year of what was counted by week; false if nothing of it has a date.
func YearOf(rows []*Tally) (y *Year, ok bool) {
	byKey := map[string]*Tally{}
	last := time.Time{}
	for _, t := range rows {
		byKey[t.Key] = t
		if t.Last.After(last) {
			last = t.Last
		}
	}

	delete(byKey, "") // without a date
	if last.IsZero() {
		return nil, false
	}

	y = &Year{}
	monday := mondayOf(last)
	for i := yearWeeks - 1; i >= 0; i-- {
		from := monday.AddDate(0, 0, -7*i)
		key := weekKey(from)
		t := byKey[key]
		if t == nil && len(y.Weeks) == 0 {
			continue // before the first
		}
		delete(byKey, key)
		y.add(weekOf(key, from, t))
	}

	y.Older = len(byKey)
	for i := range y.Weeks {
		w := &y.Weeks[i]
		if w.Words > 0 && (y.Most == nil || w.Words > y.Most.Words) {
			y.Most = w
		}
		if w.TimeMS > 0 && (y.Longest == nil || w.TimeMS > y.Longest.TimeMS) {
			y.Longest = w
		}
	}
	return y, true
}

// add adds a week and what was written in it.
func (y *Year) add(w Week) {
	y.Weeks = append(y.Weeks, w)
	y.Sum.Messages += w.Messages
	y.Sum.Words += w.Words
	y.Sum.Yours += w.Yours
	y.Sum.TimeMS += w.TimeMS
	y.Sum.Days += w.Days
}

// weekOf returns the week that begins on a day; t is nil if nothing was written in it.
func weekOf(key string, from time.Time, t *Tally) Week {
	w := Week{Key: key, From: from, To: from.AddDate(0, 0, 6)}
	if t != nil {
		w.Messages = t.Messages
		w.Words = t.Words
		w.Yours = t.UserWords
		w.TimeMS = t.TimeMS
		w.Days = t.Days
	}
	return w
}
