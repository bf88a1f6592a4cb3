// Package jsonl reads a chat file as a stream of lines, each one JSON object,
// and copies a prefix of them.
//
// It knows lines, not messages: what a header is and what a message means are
// other packages' business. What it promises:
//
//   - A line that is kept is kept byte for byte. Nothing is decoded and
//     encoded again; only the line end (LF, or CR LF) is not part of a line.
//   - A line is accepted exactly if encoding/json.Valid accepts it and it is an
//     object nested at most [MaxDepth] deep. Everything else except blank lines
//     is [Damage], with its line, its column and the reason.
//   - There is no limit on a line's length. Lines that fit a block (256 or 512
//     KiB) are scanned in place; a longer one is validated as it streams by,
//     and held in memory only where its contents are asked for ([Map]).
//   - The result does not depend on the number of goroutines: blocks are
//     scanned in any order and handed on in the file's order.
//
// The reading rules are those of SillyTavern (src/endpoints/chats.js,
// getChatData: split at LF, drop what is blank or does not parse), except
// that nothing is dropped in silence.
package jsonl
