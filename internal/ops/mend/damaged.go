package mend

import (
	"bytes"
	"fmt"

	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
	"stchat/internal/rules"
)

// withoutJunk returns a line without the NUL bytes and byte order marks around it. ok is false
// if there are none, or if the rest is not a JSON object.
func withoutJunk(line []byte) (rest []byte, ok bool) {
	rest = line
	for {
		n := len(rest)
		rest = bytes.Trim(rest, "\x00 \t\r")
		rest = bytes.TrimPrefix(rest, []byte(bom))
		rest = bytes.TrimSuffix(rest, []byte(bom))
		if len(rest) == n {
			break
		}
	}
	if len(rest) == len(line) || rawjson.KindOf(rest) != rawjson.ObjectKind || jsonl.Check(rest) != nil {
		return nil, false
	}
	return rest, true
}

// junkChange describes what was taken off a line.
func junkChange(line, rest []byte) string {
	what := "NUL bytes and byte order marks"
	switch junk := bytes.Replace(line, rest, nil, 1); {
	case len(bytes.Trim(junk, "\x00 \t\r")) == 0:
		what = "NUL bytes"
	case bytes.IndexByte(junk, 0) < 0:
		what = "bytes of byte order marks"
	}
	return fmt.Sprintf("took %d %s off the line", len(line)-len(rest), what)
}

// mends reports whether a damaged line may be mended. Which invalid-json line is the torn tail
// is not known yet while lines are read.
func mends(want rules.Set, damage rules.ID) bool {
	return want.Has(damage) || damage == rules.InvalidJSON && want.Has(rules.TornTail)
}
