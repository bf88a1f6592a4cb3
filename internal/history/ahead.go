package history

import (
	"context"
	"iter"
)

// packsAhead is how many packs wait to be read.
const packsAhead = 2

// unpacked is what is read of a pack, or an error instead.
type unpacked struct {
	stretch
	err error
}

// ahead yields the pieces of runs as [unpacker.pieces] does, but unpacks the next packs while
// pieces are compared with their keys, which takes about as long. Nothing else may use the
// store meanwhile.
func (c *unpacker) ahead(ctx context.Context, runs []Run) iter.Seq2[part, error] {
	return func(yield func(part, error) bool) {
		ready, stop := make(chan unpacked, packsAhead), make(chan struct{})
		read := make(chan *pack, packsAhead+2) // those of ready, one that is read, and one that waits for ready
		go func() {
			defer close(ready)
			for st, err := range c.stretches(ctx, runs) {
				select {
				case ready <- unpacked{st, err}:
				case <-stop:
					st.unpin()
					return
				}
				for more := true; more; {
					select {
					case p := <-read:
						p.pins--
					default:
						more = false
					}
				}
			}
		}()
		defer func() {
			close(stop)
			var rest []unpacked
			for u := range ready {
				rest = append(rest, u)
			}
			// the other goroutine has ended
			for _, u := range rest {
				u.unpin()
			}
			close(read)
			for p := range read {
				p.pins--
			}
		}()
		keys := newKeyer(c.s.salt)
		for u := range ready {
			if u.err != nil {
				yield(part{}, u.err)
				return
			}
			goesOn := u.each(keys, yield)
			read <- u.p
			if !goesOn {
				return
			}
		}
	}
}

// unpin lets the memory of the stretch's pack be used again, if there is one.
func (st *stretch) unpin() {
	if st.p != nil {
		st.p.pins--
	}
}
