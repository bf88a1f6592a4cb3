package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"strings"

	"stchat/internal/folder/rules"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/place/userdir"
)

// fingerprint identifies a finding even if lines shift or its folder moves: its rule, the
// place of its file and what is wrong.
type fingerprint struct{ rule, place, message string }

// fingerprintOf returns the fingerprint of a finding in the file that is known as place.
func fingerprintOf(f *rules.Finding, place string) fingerprint {
	return fingerprint{f.Rule.String(), text(place), text(f.Message)}
}

// pathEnd returns the end of a path, which does not depend on where the user folder is: the
// last three elements for a file below chats/, else two.
func pathEnd(path string) string {
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

// next returns the fingerprint of a finding in the file that is known as place.
func (p fingerprints) next(f *rules.Finding, place string) string {
	key := fingerprintOf(f, place)
	p[key]++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%d", key.rule, key.place, key.message, p[key]))
	return hex.EncodeToString(sum[:16])
}

// Baseline is what an earlier check found.
type Baseline struct {
	counts map[fingerprint]int
	order  []fingerprint // each once
}

// ReadBaseline reads a baseline: the JSON lines that check wrote (Documents).
// Its summary, and blank lines, are skipped. The error names the line.
func ReadBaseline(data []byte) (*Baseline, error) {
	b := &Baseline{counts: map[fingerprint]int{}}
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
		key := fingerprint{values[0], values[1], values[2]}
		if b.counts[key] == 0 {
			b.order = append(b.order, key)
		}
		b.counts[key] += max(1, n)
	}
	return b, nil
}

// New returns the findings that the baseline does not have, in their order, and
// the number of the others. Of findings that are alike as many are known as the
// baseline has.
func (b *Baseline) New(list []rules.Finding) (fresh []rules.Finding, known int) {
	left := maps.Clone(b.counts)
	for _, f := range list {
		key := fingerprintOf(&f, pathEnd(f.Path))
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

// Gone is a finding of a baseline that was not found.
type Gone struct {
	Rule    string
	Place   string // the file as the baseline knows it
	Message string
	Count   int // of those that are alike
}

// Scope is what a check looked at.
type Scope struct {
	Chats   []string               // the paths of the chats that were read
	Folders []string               // of which all chats were read
	Whole   bool                   // all that lies in the user folders was judged
	LeftOut func(rule string) bool // whether findings of a rule are not asked for
}

// Gone returns the findings of the baseline that a check in this scope would have found if they
// were still there, and did not, in the order of the baseline. list is what it found.
func (b *Baseline) Gone(list []rules.Finding, in Scope) (gone []Gone) {
	left := maps.Clone(b.counts)
	for i := range list {
		f := &list[i]
		key := fingerprintOf(f, pathEnd(f.Path))
		left[key] -= min(left[key], f.Count())
	}

	chats := map[string]bool{}
	for _, file := range in.Chats {
		chats[pathEnd(file)] = true
	}
	folders := map[string]bool{}
	for _, folder := range in.Folders {
		folders[path.Dir(pathEnd(filepath.Join(folder, "chat")))] = true
	}
	for _, key := range b.order {
		inFolder := folders[path.Dir(key.place)] && userdir.HasExtension(key.place)
		lookedAt := in.Whole || chats[key.place] || inFolder
		if left[key] > 0 && lookedAt && !in.LeftOut(key.rule) {
			gone = append(gone, Gone{Rule: key.rule, Place: key.place, Message: key.message, Count: left[key]})
		}
	}
	return gone
}
