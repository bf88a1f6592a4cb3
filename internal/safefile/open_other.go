//go:build !unix && !windows

package safefile

import "os"

// Open opens a regular file for reading.
func Open(path string) (*os.File, error) { return os.Open(path) }
