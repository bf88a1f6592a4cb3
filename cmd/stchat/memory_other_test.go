//go:build !linux

package main

// mainPeak is the program; how much memory it takes is measured on Linux.
func mainPeak() { main() }
