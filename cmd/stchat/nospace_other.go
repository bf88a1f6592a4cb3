//go:build !windows

package main

import "syscall"

// noSpace are the errors of a full disk.
func noSpace() []error { return []error{syscall.ENOSPC, syscall.EDQUOT} }
