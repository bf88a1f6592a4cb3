//go:build !purego

package jsonl

import "golang.org/x/sys/cpu"

// wide is how many bytes skipWide looks at in one step.
const wide = 32

// skipPlain is [skipPlainPortable], with AVX2 where the processor has it.
func skipPlain(p []byte) (n int, nonASCII bool) {
	if len(p) < wide || !cpu.X86.HasAVX2 {
		return skipPlainPortable(p)
	}
	if n, nonASCII = skipWide(p); len(p)-n < wide {
		// less than a step is left
		m, more := skipPlainPortable(p[n:])
		n += m
		nonASCII = nonASCII || more
	}
	return n, nonASCII
}

// skipWide does what skipPlainPortable does, but leaves the last len(p)%wide
// bytes alone. It needs AVX2.
//
//go:noescape
func skipWide(p []byte) (n int, nonASCII bool)
