//go:build !windows

package main

import "syscall"

// noSpace returns the errors of a full disk or quota.
func noSpace() []error { return []error{syscall.ENOSPC, syscall.EDQUOT} }
