//go:build !amd64 || purego

package jsonl

func canIndex() bool { return false }

func indexWide([]byte, uint32, *uint32, *uint64, *indexState) int { panic("not here") }

// skipPlain is [skipPlainPortable]: there is no faster one here.
func skipPlain(p []byte) (n int, nonASCII bool) { return skipPlainPortable(p) }
