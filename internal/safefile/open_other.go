//go:build !unix && !windows

package safefile

import "os"

// Open opens a regular file to read.
func Open(path string) (*os.File, error) { return os.Open(path) }
