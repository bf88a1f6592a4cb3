//go:build !man

package main

// forPackagers returns the commands that only a build with -tags man has: a user has the pages that
// they wrote (scripts/release/man).
func forPackagers() []named { return nil }
