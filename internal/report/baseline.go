package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
	"stchat/internal/rules"
)

// fingerprint identifies a finding even if lines shift or its folder moves: its rule, the
// place of its file and what is wrong.
type fingerprint struct{ rule, place, message string }

func fingerprintOf(f *rules.Finding) fingerprint {
	return fingerprint{f.Rule.String(), text(place(f.Path)), text(f.Message)}
}

// place returns the end of a path, which does not depend on where the user folder is: the
// last three elements for a file below chats/, else two.
func place(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	parts := strings.Split(slashed(path), "/")
	keep := 2
	if n := len(parts); n > 3 && parts[n-3] == "chats" {
		keep = 3
	}
	return strings.Join(parts[max(0, len(parts)-keep):], "/")
}

// text returns s as it comes back from JSON: U+FFFD for each byte that is not UTF-8.
func text(s string) string { return strings.Map(func(r rune) rune { return r }, s) }

// fingerprints numbers findings that are alike, so that each has a fingerprint of
// its own.
type fingerprints map[fingerprint]int

func newFingerprints() fingerprints { return fingerprints{} }

func (p fingerprints) next(f *rules.Finding) string {
	key := fingerprintOf(f)
	p[key]++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%d", key.rule, key.place, key.message, p[key]))
	return hex.EncodeToString(sum[:16])
}

// Baseline is the findings of an earlier check.
type Baseline struct{ known map[fingerprint]int }

// ReadBaseline reads a baseline: the JSON lines that check wrote (WriteJSON).
// Its summary, and blank lines, are skipped. The error names the line.
func ReadBaseline(data []byte) (*Baseline, error) {
	b := &Baseline{known: map[fingerprint]int{}}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if damage := jsonl.Check(line); damage != nil {
			return nil, fmt.Errorf("%d:%d: %s", number, damage.Column, damage.Reason)
		}
		if rawjson.Truthy(rawjson.Value(line, "summary")) {
			continue
		}
		var values [3]string
		for i, key := range [...]string{"rule", "place", "message"} {
			s, ok := rawjson.Unquote(rawjson.Value(line, key))
			if !ok {
				return nil, fmt.Errorf("%d: no finding: it has no %s", number, key)
			}
			values[i] = s
		}
		n, _ := rawjson.Int(rawjson.Value(line, "count"))
		b.known[fingerprint{values[0], values[1], values[2]}] += max(1, n)
	}
	return b, nil
}

// New returns the findings that the baseline does not have, in their order, and
// the number of the others. Of findings that are alike as many are known as the
// baseline has.
func (b *Baseline) New(list []rules.Finding) (fresh []rules.Finding, known int) {
	left := maps.Clone(b.known)
	for _, f := range list {
		key := fingerprintOf(&f)
		n := min(left[key], f.Count())
		left[key] -= n
		known += n
		if n == f.Count() {
			continue
		}
		if f.More > 0 {
			f.More -= n
		}
		fresh = append(fresh, f)
	}
	return fresh, known
}
