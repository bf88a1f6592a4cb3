// Package history is the store that keeps every version of every chat: one SQLite file,
// .stchat/history.db in a user's folder.
//
// # What is stored
//
// A file is split at LF and is the join of its lines, whatever they hold; a version comes
// back equal to the byte. A [Piece] is a line without its LF; a line over 256 KiB, and any
// file that is no chat, is cut by content (FastCDC), so that a small change beside an
// inlined picture stores some 64 KiB and not the picture. Pieces are numbered from 1, and
// lie in packs of about 256 KiB of consecutive new ones, compressed together. A version is
// a list of [Run], ranges of piece numbers: a chat that went on is one or two of them.
//
// A piece is known by its key, 16 bytes of the SHA-256 of the store's salt and the piece.
// The salt is the store's own, so that nobody can make two messages that collide. Every
// key is computed again when a piece is read.
//
// # Transactions
//
// A version's row is written in the transaction of its last pack. So a crash, a full disk
// or a kill leaves whole versions and no other; what it may also leave are pieces that no
// version names, which the next snapshot finds and uses. Packs never change but by
// pruning and forgetting, which count up the store's generation: whoever keeps numbers of
// pieces between two openings, as the word index does, begins anew where it differs.
//
// # Limits
//
//   - On network disks SQLite's locks may not hold: there, let one machine write.
//   - Pruned and forgotten bytes are overwritten in the file (secure_delete), but a disk or
//     a file system may keep old blocks, and backups keep what they copied.
//   - Reading needs no right to write, unless a run that was killed left a transaction half
//     done: then whoever opens the store first takes it back.
package history
