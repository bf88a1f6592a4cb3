//go:build !amd64 || purego

package jsonl

// skipPlain is [skipPlainPortable]: there is no faster one here.
func skipPlain(p []byte) (n int, nonASCII bool) { return skipPlainPortable(p) }
