// Package progress spreads work over the processors, and counts what is done so that it
// can be shown.
//
// The verbs add to a [Meter] from any goroutine; only the command reads it and draws. A
// nil Meter counts nothing, so that no verb has to check for one.
package progress

import "sync/atomic"

// Meter counts files and bytes.
type Meter struct {
	files, done, bytes, read atomic.Int64
}

// Expect adds files and their bytes to the work ahead.
func (m *Meter) Expect(files int, bytes int64) {
	if m != nil {
		m.files.Add(int64(files))
		m.bytes.Add(bytes)
	}
}

// Read adds to the bytes read.
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

// State holds a meter's counts: of the work ahead, files and bytes; of what is done,
// files and bytes read.
type State struct{ Files, Done, Bytes, Read int64 }

// State returns the current counts. The meter must not be nil.
func (m *Meter) State() State {
	return State{m.files.Load(), m.done.Load(), m.bytes.Load(), m.read.Load()}
}

// Follow returns a function that takes the byte offset that a reader has reached in a
// file, and adds the progress since its last call to the meter. It returns nil for a nil
// Meter.
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
