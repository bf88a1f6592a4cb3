// Package rules finds what is wrong in SillyTavern chats and in what lies
// around them: the rules of check, a family a file, with the ids and severities
// of SPEC.md section 8.
//
// A chat is read once, from the first byte to the last, by [Checker.Scan]. What
// a line tells by itself is judged on the way; of the chat there remains a
// [Chat], a record whose size follows the number of its links and findings, not
// the chat's length. [Checker.Across] then judges what takes more than one
// file: parents and checkpoints, groups, lorebooks, shared slugs. Chats are read
// a second time only where a checkpoint seems to have parted from its parent.
//
// Every finding says what SillyTavern or an extension does because of it, and
// how it is mended. Facts about those programs are FORMATS.md's. The package
// reads and never writes; what repair does about a finding is internal/ops'.
package rules
