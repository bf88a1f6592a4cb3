package main

import "golang.org/x/sys/windows"

// noSpace are the errors of a full disk.
func noSpace() []error {
	return []error{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED}
}
