package publish

import (
	"fmt"
	"io"
	"slices"
	"time"

	"stchat/internal/ops/look"
	"stchat/internal/plural"
)

// Stats writes what was counted as a page without script: charts, and a table behind each.
func Stats(w io.Writer, s *look.Statistics) error {
	p := &page{w: w}
	p.head("What was written", false)
	p.print("<main class=\"index\"><h1>What was written</h1>\n<p class=\"sub\">")
	if !s.First.IsZero() {
		p.printf("%s – %s · ", s.First.Local().Format(dayForm), s.Last.Local().Format(dayForm))
	}
	p.printf("%s, %s, %s (yours %s, theirs %s)</p>\n", plural.Many(s.Chats, "chat"), plural.Many(s.Messages, "message"),
		plural.Many(s.Words, "word"), plural.Grouped(s.UserWords), plural.Grouped(s.Words-s.UserWords))
	heat(p, s)
	by := look.By("owner")
	if len(s.Rows) > 0 {
		by = s.Rows[0].By
	}
	p.printf("<section><h2>Who</h2>\n<table><thead><tr><th>%s</th><th>words</th><th>messages</th><th>chats</th><th class=\"share\">share</th></tr></thead><tbody>\n", by)
	for _, t := range s.Rows {
		share := float64(t.Words) * 100 / float64(max(s.Words, 1))
		p.printf("<tr><td>%s</td><td>%s</td><td>%s</td><td>%d</td><td class=\"share\">%s %.0f %%</td></tr>\n", bdi(t.Key), plural.Grouped(t.Words), plural.Grouped(t.Messages), t.Chats, bar(share), share)
	}
	p.print("</tbody></table></section>\n<section><h2>When</h2>\n<table><thead><tr><th>hour</th><th>messages</th><th class=\"share\">share</th></tr></thead><tbody>\n")
	most := max(slices.Max(s.Hours), 1)
	for hour, n := range s.Hours {
		p.printf("<tr><td>%02d</td><td>%s</td><td class=\"share\">%s</td></tr>\n", hour, plural.Grouped(n), bar(float64(n)*100/float64(most)))
	}
	p.print("</tbody></table></section>\n")
	if s.Sessions.Count > 0 {
		p.printf("<p class=\"sub\">%s, median %s and %s", plural.Many(s.Sessions.Count, "session"),
			plural.Many(int((s.Sessions.MedianMS+30_000)/60_000), "minute"), plural.Many(s.Sessions.MedianMessages, "message"))
		if s.Streak != nil {
			p.printf("; longest streak %s", plural.Many(s.Streak.Days, "day"))
		}
		p.print("</p>\n")
	}
	p.print("</main>\n")
	p.foot(false)
	return p.err
}

// bar draws a part of a hundred.
func bar(percent float64) string {
	return fmt.Sprintf(`<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect width="%.0f" height="10"/></svg>`, percent)
}

// heat draws a square for each day, a column a week, and lists the months behind it.
func heat(p *page, s *look.Statistics) {
	levels := look.Heat(s.Daily)
	if levels == nil {
		return
	}
	var days []int32
	for day := range s.Daily {
		days = append(days, day)
	}
	slices.Sort(days)
	last := days[len(days)-1]
	monday := func(day int32) int32 { return day - int32((look.DayTime(day).Weekday()+6)%7) }
	from := max(monday(days[0]), monday(last)-52*7)
	weeks := int(monday(last)-from)/7 + 1
	p.printf("<section><h2>Days</h2>\n<svg class=\"heat\" viewBox=\"0 0 %d 84\" width=\"%[1]d\" role=\"img\" aria-label=\"words a day\">", weeks*12)
	months := map[string]int{}
	var order []string
	for day := from; day <= last; day++ {
		words := s.Daily[day]
		month := look.DayTime(day).Format("2006-01")
		if _, ok := months[month]; !ok {
			order = append(order, month)
		}
		months[month] += words
		at := int(day - from)
		p.printf("<rect class=\"w%d\" x=\"%d\" y=\"%d\" width=\"10\" height=\"10\"><title>%s: %s words</title></rect>", levels[day], at/7*12, at%7*12, look.DayText(day), plural.Grouped(words))
	}
	p.print("</svg>\n<details><summary>months</summary><table><thead><tr><th>month</th><th>words</th></tr></thead><tbody>\n")
	for _, month := range order {
		at, _ := time.Parse("2006-01", month)
		p.printf("<tr><td>%s</td><td>%s</td></tr>\n", at.Format("January 2006"), plural.Grouped(months[month]))
	}
	p.print("</tbody></table></details></section>\n")
}
