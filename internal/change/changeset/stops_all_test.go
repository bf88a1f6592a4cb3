//go:build faults

package changeset

// stopStep returns how many primitives lie from one stop that is tried to the next.
func stopStep() int { return 1 }
