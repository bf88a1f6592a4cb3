//go:build !purego

package jsonl

import "golang.org/x/sys/cpu"

// canIndex reports whether the processor has what [indexWide] needs.
func canIndex() bool {
	x := &cpu.X86
	hasBits := x.HasBMI1 && x.HasBMI2 && x.HasPOPCNT
	return hasBits && x.HasAVX2 && x.HasPCLMULQDQ
}

// indexWide continues with p, whose length is a multiple of 64 and whose first byte is at place
// at. It writes to quotes the places of the quotes around strings, and up to [spare]
// meaningless values after them; to slashes, for every 64 bytes, a word with a bit for each
// backslash. It returns how many quotes there are. It needs AVX2.
//
//go:noescape
func indexWide(p []byte, at uint32, quotes *uint32, slashes *uint64, st *indexState) (count int)

// skipPlain is [skipPlainPortable], with AVX2 where the processor has it.
func skipPlain(p []byte) (n int, nonASCII bool) {
	if cpu.X86.HasAVX2 {
		return skipWide(p)
	}
	return skipPlainPortable(p)
}

// skipWide is skipPlainPortable, 32 bytes at a time. It needs AVX2.
//
//go:noescape
func skipWide(p []byte) (n int, nonASCII bool)
