package history

import "context"

// ID gives what tells this store from all others.
func (s *Store) ID(ctx context.Context) (id string, err error) {
	return id, s.told(s.row(ctx, "SELECT v FROM meta WHERE k = ?", metaID).Scan(&id))
}
