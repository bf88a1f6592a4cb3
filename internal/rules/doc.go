// Package rules finds problems in SillyTavern chats and in the files around them.
// It holds the rules of check, one file per family, with the ids and severities of
// SPEC.md section 8.
//
// [Checker.Scan] reads a chat once, from the first byte to the last, and judges each
// line on the way. What remains is a [Chat], a record whose size follows the number
// of its links and findings, not the chat's length. [Checker.Across] then judges
// what takes more than one file: parents and checkpoints, groups, lorebooks, shared
// slugs. Chats are read a second time only where a checkpoint seems to have parted
// from its parent.
//
// Every finding says what SillyTavern or an extension does because of it, and how
// to mend it. The facts about those programs are in FORMATS.md. The package only
// reads; internal/ops does the repairs.
package rules
