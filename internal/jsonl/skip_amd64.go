//go:build !purego

package jsonl

import "golang.org/x/sys/cpu"

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
