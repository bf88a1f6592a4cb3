// Package history is the store that keeps every version of every chat: one SQLite file,
// .stchat/history.db in a user's folder.
//
// # What is stored
//
// A file is split at LF and is the join of its lines, whatever they hold, so a version comes
// back byte for byte. A piece is a line without its LF; a line over 256 KiB, and any file
// that is not a chat, is cut by content (FastCDC), so that a small change beside an inlined
// picture stores some 64 KiB and not the picture. Pieces are numbered from 1, and lie in
// packs of about 256 KiB of consecutive new ones, compressed together. A version is a list
// of [Run], ranges of piece numbers: a chat that only grew needs one or two.
//
// A piece is known by its key, 16 bytes of the SHA-256 of the store's salt and the piece.
// Every store has its own salt, so nobody can craft two messages that collide. Every key is
// checked when a piece is read.
//
// # Transactions
//
// A version's row is written in the transaction of its last pack. So a crash, a full disk
// or a kill leaves only whole versions, and perhaps pieces that no version names, which the
// next snapshot finds and uses. Pruning and forgetting drop pieces and increment the store's
// generation: code that keeps piece numbers between two openings must start over when it
// differs.
//
// # Limits
//
//   - On network disks SQLite's locks may not hold: let only one machine write there. A disk
//     that has none at all is refused.
//   - Pruned and forgotten bytes are overwritten in the file (secure_delete), but a disk or
//     a file system may keep old blocks, and backups keep what they copied.
//   - Reading needs no write permission, unless a killed run left a transaction half done:
//     the next opening rolls it back.
package history
