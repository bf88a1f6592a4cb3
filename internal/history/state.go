package history

import (
	"context"
	"strings"
)

// State is what a store holds.
type State struct {
	Chats, Versions int64
	Pieces          int64
	Raw             int64 // bytes of all versions, as files
}

// StateOf counts what a store holds.
func StateOf(ctx context.Context, s *Store) (st State, err error) {
	err = s.db.row(ctx, strings.Join([]string{
		"SELECT (SELECT count(*) FROM chat)", "(SELECT count(*) FROM version)", "(SELECT coalesce(sum(n), 0) FROM pack)", "(SELECT coalesce(sum(size), 0) FROM version)",
	}, ", ")).Scan(&st.Chats, &st.Versions, &st.Pieces, &st.Raw)
	return st, s.db.wrap(err)
}
