//go:build faults

package changeset

// stopStep is how many primitives lie from one stop that is tried to the next.
const stopStep = 1
