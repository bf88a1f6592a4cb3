package jsonl

import "math/bits"

func trailingBytes(hit uint64) int { return bits.TrailingZeros64(hit) >> 3 }

func skipPlain(p []byte) (int, bool) { return skipPlainPortable(p) }
