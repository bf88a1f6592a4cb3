// Package ops holds inspect and diff-meta, and what all verbs share: finding the chats that
// PATHs mean, results, and output files. The other verbs are in the packages below it. A verb
// takes its options as plain values and returns a result or an error; none prints, asks or
// exits. What a verb writes, it writes whole or not at all, in an order that never leaves a
// reference to something that does not exist.
package ops
