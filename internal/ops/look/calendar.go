package look

import (
	"fmt"
	"slices"
	"time"

	"stchat/internal/text/plural"
)

// dayOf returns a local day as a number, by the calendar: days with a change of the clock count as
// any others.
func dayOf(at time.Time) int32 {
	y, m, d := at.Date()
	return int32(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / 86400)
}

// weekday returns a weekday's number in the week, 0 for any other key.
func weekday(key string) int {
	return slices.Index([]string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}, key) + 1
}

// DayText returns a day that is a number as 2026-03-01.
func DayText(day int32) string { return DayTime(day).Format(time.DateOnly) }

// DayTime returns the beginning of a day that is a number, in UTC.
func DayTime(day int32) time.Time { return time.Unix(int64(day)*86400, 0).UTC() }

// mondayOf returns the beginning of the week in which a time is.
func mondayOf(at time.Time) time.Time {
	year, month, day := at.Date()
	sinceMonday := (int(at.Weekday()) + 6) % 7
	return time.Date(year, month, day-sinceMonday, 0, 0, 0, 0, at.Location())
}

// weekKey returns what a week is called: 2026-W09.
func weekKey(at time.Time) string {
	year, week := at.ISOWeek()
	return fmt.Sprintf("%04d-W%02d", year, week)
}

// Span returns the days from the first message to the last, in local time; "" without dates.
func Span(first, last time.Time, form string) string {
	if first.IsZero() {
		return ""
	}

	from := first.Local().Format(form)
	to := last.Local().Format(form)
	if from == to {
		return from
	}
	return from + " – " + to
}

// TimeText returns a length of time for a person: 14 min, 5 h 20 min.
func TimeText(ms int64) string {
	minutes := (ms + 30_000) / 60_000
	if minutes < 120 {
		return fmt.Sprintf("%d min", minutes)
	}
	return fmt.Sprintf("%s h %d min", plural.Grouped(int(minutes/60)), minutes%60)
}

// Heat returns the level, 1 to 4, of each day with words, by quartile, and the last weeks, at most
// so many, that have them: the Monday of the first, and how many they are. There are none if first
// and last day are less than two weeks apart.
func Heat(daily map[int32]int, most int) (levels map[int32]int, from int32, weeks int) {
	var days []int32
	var counts []int
	for day, n := range daily {
		if n == 0 {
			continue
		}
		days = append(days, day)
		counts = append(counts, n)
	}

	if len(days) == 0 {
		return nil, 0, 0
	}

	firstDay := slices.Min(days)
	lastDay := slices.Max(days)
	if lastDay-firstDay < 14 {
		return nil, 0, 0
	}

	last := mondayBefore(lastDay)
	from = max(mondayBefore(firstDay), last-7*int32(most-1))
	slices.Sort(counts)
	levels = map[int32]int{}
	for _, day := range days {
		fewer, _ := slices.BinarySearch(counts, daily[day])
		levels[day] = 1 + fewer*4/len(counts)
	}
	return levels, from, int(last-from)/7 + 1
}

// mondayBefore returns the Monday of a day's week, as a number.
func mondayBefore(day int32) int32 {
	sinceMonday := int32(DayTime(day).Weekday()+6) % 7
	return day - sinceMonday
}

// MonthAbove returns the month to write above a week of a chart that begins on a Monday, "" where none
// stands: above the month's first Monday, and above the chart's first week unless that month nearly ends.
func MonthAbove(monday time.Time, isFirst bool) string {
	startsMonth := monday.Day() <= 7
	goesOn := isFirst && monday.Day() <= 14
	if startsMonth || goesOn {
		return monday.Format("Jan")
	}
	return ""
}
