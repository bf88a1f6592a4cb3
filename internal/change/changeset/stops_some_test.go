//go:build !faults

package changeset

import "testing"

// stopStep returns how many primitives lie from one stop that is tried to the next: every fifth one in
// a usual run of the tests, every tenth with -short, each with -tags faults (the section stops of
// .ci/run).
func stopStep() int {
	if testing.Short() {
		return 10
	}
	return 5
}
