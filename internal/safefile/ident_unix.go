//go:build unix

package safefile

import (
	"io/fs"
	"syscall"
)

func fileID(_ string, info fs.FileInfo) (dev, ino uint64, err error) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, nil
	}
	return uint64(st.Dev), uint64(st.Ino), nil //nolint:unconvert // their types are the system's
}
