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

// meter returns a meter, which is drawn on stderr while work runs, and the
// function that ends that. Nothing is drawn where stderr is no terminal, or with
// quiet.
func (c *console) meter(verb string, silent bool) (*progress.Meter, func()) {
	m := new(progress.Meter)
	if silent || c.quiet || !c.ErrTTY {
		return m, func() {}
	}
	done, gone := make(chan struct{}), make(chan struct{})
	shown := false
	clear := func() {
		if shown {
			fmt.Fprint(c.Err, "\r\x1b[K")
			shown = false
		}
	}
	c.redraw = clear
	go func() {
		defer close(gone)
		wait := time.NewTimer(progressAfter)
		defer wait.Stop()
		for {
			select {
			case <-done:
				return
			case <-wait.C:
				wait.Reset(progressEvery)
			}
			c.mu.Lock()
			clear()
			fmt.Fprint(c.Err, progressLine(verb, m.State()))
			shown = true
			c.mu.Unlock()
		}
	}()
	return m, func() {
		close(done)
		<-gone
		c.mu.Lock()
		defer c.mu.Unlock()
		clear()
		c.redraw = nil
	}
}

// workOf returns how many files a meter has counted, and how many are left.
func workOf(m *progress.Meter) (done, left int) {
	s := m.State()
	return int(s.Done), int(s.Files - s.Done)
}

// progressLine tells how far the work is.
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
