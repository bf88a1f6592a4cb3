//go:build !unix

package safefile

import "os"

// openPlain opens a regular file for reading, but not a link.
func openPlain(path string) (*os.File, error) {
	if err := CheckPlain(path); err != nil {
		return nil, err
	}
	return Open(path)
}
