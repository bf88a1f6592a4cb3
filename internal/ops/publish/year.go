package publish

import (
	"fmt"
	"slices"

	"stchat/internal/ops/look"
	"stchat/internal/text/plural"
)

// The measures of the chart of a year: a column a week, words above and time below, in the columns of the heat map.
const (
	weekWidth   = 12
	weekColumn  = 10
	yearMargin  = 44
	wordsHeight = 80
	timeTop     = wordsHeight + 24
	timeHeight  = 48
)

// year draws the weeks of a year, and lists them behind the chart.
func year(p *page, y *look.Year) {
	p.print("<section><h2>The year</h2>\n")
	yearChart(p, y)
	yearAbout(p, y)
	yearTable(p, y)
	p.print("</section>\n")
}

// yearChart draws the words and the time of each week.
func yearChart(p *page, y *look.Year) {
	width := len(y.Weeks)*weekWidth + yearMargin
	p.printf(`<svg class="heat" viewBox="-%d -20 %d %d" width="%[2]d" font-size="%[4]d" role="img" aria-label="words and time a week">`,
		yearMargin, width, timeTop+timeHeight+24, max(width/33, 10))
	p.printf(`<text x="-%d" y="10">words</text><text x="-%[1]d" y="%d">time</text>`, yearMargin, timeTop+10)
	mostWords, mostTime := 1, int64(1)
	if y.Most != nil {
		mostWords = y.Most.Words
	}
	if y.Longest != nil {
		mostTime = y.Longest.TimeMS
	}

	for i, w := range y.Weeks {
		x := i * weekWidth
		if month := look.MonthAbove(w.From, i == 0); month != "" {
			p.printf(`<text x="%d" y="-5">%s</text>`, x, month)
		}
		words := float64(w.Words) * wordsHeight / float64(mostWords)
		yours := float64(w.Yours) * wordsHeight / float64(mostWords)
		spent := float64(w.TimeMS) * timeHeight / float64(mostTime)
		p.printf(`<g><title>%s: %s, %s</title>`, weekSpan(w), plural.Many(w.Words, "word"), look.TimeText(w.TimeMS))
		column(p, "w1", x, wordsHeight, words)
		column(p, "w3", x, wordsHeight, yours)
		column(p, "w2", x, timeTop+timeHeight, spent)
		p.print("</g>")
	}

	p.print("</svg>\n")
}

// column draws a column of a height above a line.
func column(p *page, class string, x, bottom int, height float64) {
	p.printf(`<rect class="%s" x="%d" y="%.1f" width="%d" height="%.1f"/>`, class, x, float64(bottom)-height, weekColumn, height)
}

// yearAbout says what the year adds up to.
func yearAbout(p *page, y *look.Year) {
	written := 0
	for _, w := range y.Weeks {
		if w.Messages > 0 {
			written++
		}
	}

	p.print(`<p class="sub"><svg viewBox="0 0 10 10" width="10" aria-hidden="true"><rect class="w3" width="10" height="10"/></svg> yours, `,
		`<svg viewBox="0 0 10 10" width="10" aria-hidden="true"><rect class="w1" width="10" height="10"/></svg> theirs</p>`, "\n")
	p.printf("<p class=\"sub\">%s – %s: %s, %s (yours %s), %s on %s in %d of %s", y.Weeks[0].From.Format(dayForm), y.Weeks[len(y.Weeks)-1].To.Format(dayForm),
		plural.Many(y.Sum.Messages, "message"), plural.Many(y.Sum.Words, "word"), plural.Grouped(y.Sum.Yours), look.TimeText(y.Sum.TimeMS),
		plural.Many(y.Sum.Days, "day"), written, plural.Many(len(y.Weeks), "week"))
	if y.Most != nil {
		p.printf("; most words %s, %s", weekSpan(*y.Most), plural.Grouped(y.Most.Words))
	}
	if y.Longest != nil {
		p.printf("; most time %s, %s", weekSpan(*y.Longest), look.TimeText(y.Longest.TimeMS))
	}
	if y.Older > 0 {
		p.printf("; %s before are not shown", plural.Many(y.Older, "week"))
	}
	p.print("</p>\n")
}

// yearTable lists the weeks, the last first.
func yearTable(p *page, y *look.Year) {
	p.print("<details><summary>weeks</summary><table><thead><tr><th>week</th><th>messages</th><th>words</th><th>yours</th><th>time</th></tr></thead><tbody>\n")
	for _, w := range slices.Backward(y.Weeks) {
		p.printf("<tr><td>%s<small>%s</small></td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n", w.Key, weekSpan(w),
			plural.Grouped(w.Messages), plural.Grouped(w.Words), plural.Grouped(w.Yours), look.TimeText(w.TimeMS))
	}
	p.print("</tbody></table></details>\n")
}

// weekSpan returns the days of a week: 23 Feb – 1 Mar.
func weekSpan(w look.Week) string {
	return fmt.Sprintf("%s – %s", w.From.Format("2 Jan"), w.To.Format("2 Jan"))
}
