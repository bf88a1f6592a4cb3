//go:build linux || dragonfly || openbsd

package safefile

import (
	"io/fs"
	"syscall"
)

// changeTime returns the inode's change time, in ns since 1970.
func changeTime(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctim.Nano()
	}
	return 0
}
