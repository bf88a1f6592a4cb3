package changeset

// firstStop returns the first primitive, from 1, before which a recovery is stopped that ends a
// change that was itself stopped before primitive n: another one for each n, so that over
// all of them every stop of a recovery is met.
func firstStop(n int) int { return 1 + n%stopStep() }
