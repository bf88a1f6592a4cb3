package backups

// Belongs returns the index of the chat that a backup is of: the only one with its slug,
// the header's integrity; if several or none have it, the one that shares most with it, of
// equals the first; -1 if none shares anything. slugs are those of the chats that may own
// it, empty where a chat has none, and shared counts what chat i has in common with the
// backup: lines, or texts.
//
// A slug alone is no proof: up to 1.18 a branch inherits it.
func Belongs(slug string, slugs []string, shared func(i int) int) int {
	same := 0
	only := -1
	for i, s := range slugs {
		if slug != "" && s == slug {
			same++
			only = i
		}
	}
	if same == 1 {
		return only
	}
	best, most := -1, 0
	for i, s := range slugs {
		if same > 1 && s != slug {
			continue
		}
		if n := shared(i); n > most {
			best, most = i, n
		}
	}
	return best
}
