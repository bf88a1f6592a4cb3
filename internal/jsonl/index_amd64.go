//go:build !purego

package jsonl

import "golang.org/x/sys/cpu"

// canIndex reports whether the processor has what [indexWide] needs.
func canIndex() bool {
	x := &cpu.X86
	return x.HasAVX2 && x.HasPCLMULQDQ && x.HasBMI1 && x.HasBMI2 && x.HasPOPCNT
}

// indexWide goes on in p, whose length is a multiple of 64 and whose first byte has the place
// at. It writes the places of the quotes that begin and end strings, and a few more values
// behind them, for each 64 bytes a bit a byte where there are backslashes, and gives how many
// quotes there are.
//
//go:noescape
func indexWide(p []byte, at uint32, quotes *uint32, slashes *uint64, st *indexState) (count int)
