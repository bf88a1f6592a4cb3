package history

import "context"

// intake assigns pieces their numbers: the ones they have, or the next ones.
type intake struct {
	find finder
	pack packer
	next int64 // the number of the next new piece
	dry  bool  // nothing is packed
}

// begin reads the store's state, which others may have changed.
func (in *intake) begin(ctx context.Context) error {
	in.find.forget()
	err := in.find.db.row(ctx, "SELECT max(coalesce((SELECT max(first + n) FROM pack), 1), (SELECT v FROM meta WHERE k = ?))", metaFloor).Scan(&in.next)
	if in.next == 1 {
		in.find.filter = newFilter(0) // complete, since the store is empty
	}
	return err
}

// piece returns the number of a piece, and adds it if it is new. likely is the number to try
// first, the one after the previous piece's.
func (in *intake) piece(ctx context.Context, c *Content, data []byte, k key, likely int64) (int64, error) {
	if id, ok := in.pack.pending[k]; ok {
		return id, nil
	}
	if likely > 1 && likely < in.next {
		if ok, err := in.find.is(ctx, likely, k); ok || err != nil {
			return likely, err
		}
	}
	if id, ok, err := in.find.find(ctx, k); ok || err != nil {
		return id, err
	}
	if in.find.filter != nil {
		in.find.filter.add(k)
	}
	id := in.next
	in.next++
	in.pack.pending[k] = id
	c.NewPieces++
	if in.dry {
		return id, nil
	}
	return id, in.pack.add(c, data, k, id)
}
