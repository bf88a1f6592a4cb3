// Package choose picks messages of a chat: by index, by what they say of themselves,
// by date, and the first or last of those.
//
// A [Choice] is what was asked for. [Choice.Scan] reads the chat once, or twice where an
// index counts from the end and it need not read all, and hands out the places of the
// chosen messages in the chat's order; [ScanBeside] reads something else of all messages
// meanwhile; [Choice.Tail] reads from the end. The memory used depends on the longest line
// and the number of messages asked for with Last, not on the chat's length.
package choose
