package history

import "context"

// Seen is a file as a snapshot found it.
type Seen struct {
	Version int64
	Size    int64
	Mtime   int64 // ns since 1970
	Ctime   int64 // likewise; 0 where the system has none
	Inode   int64
	Racy    bool // it may have changed within the same tick of the clock
}

// listSeen reads what snapshots found, by path.
func listSeen(ctx context.Context, db *database) (map[string]Seen, error) {
	rows, err := db.query(ctx, "SELECT path, version, size, mtime_ns, ctime_ns, inode, racy FROM seen")
	if err != nil {
		return nil, db.wrap(err)
	}
	defer rows.Close()
	all := map[string]Seen{}
	for rows.Next() {
		var p string
		var f Seen
		if err := rows.Scan(&p, &f.Version, &f.Size, &f.Mtime, &f.Ctime, &f.Inode, &f.Racy); err != nil {
			return nil, db.wrap(err)
		}
		all[p] = f
	}
	return all, db.wrap(rows.Err())
}
