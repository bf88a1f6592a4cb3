package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"

	"stchat/internal/jsonl"
	"stchat/internal/rawjson"
	"stchat/internal/rules"
)

// fingerprint is what stays of a finding when lines shift: its rule, its file
// and what is wrong.
type fingerprint struct{ rule, path, message string }

func fingerprintOf(rule, path, message string) fingerprint {
	return fingerprint{rule, text(slashed(path)), text(message)}
}

// text is s as it comes back from JSON: U+FFFD for each byte that is not UTF-8.
func text(s string) string { return strings.Map(func(r rune) rune { return r }, s) }

// fingerprints numbers findings that are alike, so that each has a print of
// its own.
type fingerprints map[fingerprint]int

func newFingerprints() fingerprints { return fingerprints{} }

func (p fingerprints) next(f *rules.Finding) string {
	key := fingerprintOf(f.Rule.String(), f.Path, f.Message)
	p[key]++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%d", key.rule, key.path, key.message, p[key]))
	return hex.EncodeToString(sum[:16])
}

// Baseline is the findings of an earlier check.
type Baseline struct{ known map[fingerprint]int }

// ReadBaseline reads a baseline: the JSON lines that check wrote (WriteJSON).
// Its summary, and blank lines, are passed over. The error names the line.
func ReadBaseline(data []byte) (*Baseline, error) {
	b := &Baseline{known: map[fingerprint]int{}}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if damage := jsonl.Check(line); damage != nil {
			return nil, fmt.Errorf("%d:%d: %s", n, damage.Column, damage.Reason)
		}
		if raw, _ := rawjson.Lookup(line, "summary"); rawjson.Truthy(raw) {
			continue
		}
		var values [3]string
		for i, key := range [...]string{"rule", "path", "message"} {
			raw, _ := rawjson.Lookup(line, key)
			s, ok := rawjson.Unquote(raw)
			if !ok {
				return nil, fmt.Errorf("%d: no finding: it has no %s", n, key)
			}
			values[i] = s
		}
		b.known[fingerprintOf(values[0], values[1], values[2])]++
	}
	return b, nil
}

// New gives the findings that the baseline does not have, in their order. Of
// findings that are alike as many are known as the baseline has.
func (b *Baseline) New(list []rules.Finding) []rules.Finding {
	left := maps.Clone(b.known)
	var out []rules.Finding
	for i := range list {
		f := &list[i]
		key := fingerprintOf(f.Rule.String(), f.Path, f.Message)
		if left[key] > 0 {
			left[key]--
			continue
		}
		out = append(out, *f)
	}
	return out
}
