// Package ops holds the verbs: checkpoint and branch, inspect, clone-lorebook,
// diff-meta, check and repair. Each takes its options as plain values and
// gives a result or an error; none prints, asks or exits. What a verb writes
// it writes whole or not at all, in the order that leaves nothing pointing at
// what does not exist.
package ops
