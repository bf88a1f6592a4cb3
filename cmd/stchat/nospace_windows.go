package main

import "golang.org/x/sys/windows"

// noSpace returns the errors of a full disk or quota.
func noSpace() []error {
	return []error{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED}
}
