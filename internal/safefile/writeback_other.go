//go:build !linux

package safefile

import "os"

// startWriteBack has no counterpart here; the sync does it all.
func startWriteBack(*os.File, int64, int64) {}

// reserve has none either.
func reserve(*os.File, int64, int64) {}
