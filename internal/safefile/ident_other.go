//go:build !unix && !windows

package safefile

import "io/fs"

func fileID(string, fs.FileInfo) (dev, ino uint64, err error) { return 0, 0, nil }
