package main

import (
	"fmt"
	"time"

	"stchat/internal/progress"
)

// Progress appears once work has taken this long, and is drawn this often.
const (
	progressAfter = 500 * time.Millisecond
	progressEvery = 100 * time.Millisecond
)

// count takes over how many files are done, and how many are left, from a meter.
func (w *work) count(m *progress.Meter) {
	s := m.State()
	w.done, w.left = int(s.Done), int(s.Files-s.Done)
}

// progressLine returns a line that shows how far the work has got.
func progressLine(verb string, s progress.State) string {
	line := verb
	if s.Files > 1 {
		line += fmt.Sprintf(" %d/%d chats,", s.Done, s.Files)
	}
	line += " " + formatBytes(s.Read)
	if s.Bytes > 0 {
		line += fmt.Sprintf(" of %s, %d %%", formatBytes(s.Bytes), min(100, s.Read*100/s.Bytes))
	}
	return line
}

// formatBytes returns a size for people: 1.2 MB, by powers of 1000.
func formatBytes(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	f, unit := float64(n), 0
	for f >= 999.95 && unit < 5 {
		f /= 1000
		unit++
	}
	return fmt.Sprintf("%.1f %cB", f, " kMGTP"[unit])
}
