//go:build !faults

package changeset

// stopStep is how many primitives lie from one stop that is tried to the next: every fifth one in a
// usual run of the tests, each with -tags faults (the section stops of .ci/run).
const stopStep = 5
