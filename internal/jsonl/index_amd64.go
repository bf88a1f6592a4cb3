//go:build !purego

package jsonl

import "golang.org/x/sys/cpu"

// canIndex reports whether the processor has what [index256] needs.
func canIndex() bool {
	x := &cpu.X86
	return x.HasAVX2 && x.HasPCLMULQDQ && x.HasBMI1 && x.HasBMI2 && x.HasPOPCNT
}

// canIndex512 reports whether the processor also has what [index512] needs.
func canIndex512() bool {
	x := &cpu.X86
	return x.HasAVX512F && x.HasAVX512BW && x.HasAVX512VL && x.HasAVX512VBMI2
}

// indexWide continues with p, whose length is a multiple of 64 and whose first byte is at place
// at. It writes to quotes the places of the quotes around strings, and up to [spare]
// meaningless values after them; to slashes, for every 64 bytes, a word with a bit for each
// backslash. It returns how many quotes there are.
func indexWide(p []byte, at uint32, quotes *uint32, slashes *uint64, st *indexState) (count int) {
	if canIndex512() {
		return index512(p, at, quotes, slashes, st)
	}
	return index256(p, at, quotes, slashes, st)
}

// index256 is indexWide with AVX2.
//
//go:noescape
func index256(p []byte, at uint32, quotes *uint32, slashes *uint64, st *indexState) (count int)

// index512 is indexWide with AVX-512.
//
//go:noescape
func index512(p []byte, at uint32, quotes *uint32, slashes *uint64, st *indexState) (count int)
