// Package progress shares work out among processors, and counts what is done for whoever
// wants to show it.
//
// The verbs add to a [Meter] from any goroutine; only the command reads it and
// draws. A nil Meter counts nothing, so that no verb has to ask.
package progress

import "sync/atomic"

// Meter counts files and bytes.
type Meter struct {
	files, done, bytes, read atomic.Int64
}

// Expect adds files, and their bytes, to what there is to do.
func (m *Meter) Expect(files int, bytes int64) {
	if m != nil {
		m.files.Add(int64(files))
		m.bytes.Add(bytes)
	}
}

// Read adds bytes to what was read.
func (m *Meter) Read(bytes int64) {
	if m != nil {
		m.read.Add(bytes)
	}
}

// Done counts one file as done.
func (m *Meter) Done() {
	if m != nil {
		m.done.Add(1)
	}
}

// State is what a meter shows.
type State struct{ Files, Done, Bytes, Read int64 }

// State returns the counts now.
func (m *Meter) State() State {
	return State{m.files.Load(), m.done.Load(), m.bytes.Load(), m.read.Load()}
}

// Follow returns a function that takes the place a reader has reached in a file,
// from 0 up, and adds what is new to the meter.
func (m *Meter) Follow() func(int64) {
	if m == nil {
		return nil
	}
	var last int64
	return func(at int64) {
		m.read.Add(at - last)
		last = at
	}
}
