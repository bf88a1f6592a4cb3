// Package report writes what check found in the formats that other programs
// read: JSON lines, SARIF 2.1.0, GitHub workflow commands and JUnit XML. It
// also reads findings back as a baseline, so that only new ones count.
//
// Everything in a finding that came out of a chat is a stranger's text: no
// format lets a control or bidirectional character through as it is. Columns
// are bytes, which neither SARIF nor GitHub can express, so only JSON lines
// and JUnit have them.
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

// Schema is the version of the JSON documents.
const Schema = 1

// Document is a finding as JSON; what is absent is null.
type Document struct {
	Schema   int    `json:"schema"`
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Path     string `json:"path" is:"path"`
	Line     *int   `json:"line"`
	Column   *int   `json:"column"`
	Index    *int   `json:"index"`
	Message  string `json:"message"`
	Effect   string `json:"effect"`
	Repair   string `json:"mend"`
	Place    string `json:"place"` // the path as a baseline knows it
	Count    int    `json:"count"` // how many findings this one stands for
}

// document returns the document of a finding.
func (c *Check) document(f *rules.Finding) Document {
	positive := func(n int) *int {
		if n <= 0 {
			return nil
		}
		return &n
	}
	d := Document{
		Schema: Schema, Rule: f.Rule.String(), Severity: f.Severity.String(), Path: f.Path, Place: pathEnd(f.Path), Count: f.Count(),
		Line: positive(f.Line), Column: positive(f.Column), Message: f.Message, Effect: f.Effect(), Repair: c.repair(f),
	}
	if f.Index >= 0 {
		d.Index = &f.Index
	}
	return d
}

// Summary is the last JSON document of a check.
type Summary struct {
	Schema   int  `json:"schema"`
	Summary  bool `json:"summary"`
	Chats    int  `json:"chats"`
	Findings int  `json:"findings"`
	Errors   int  `json:"errors"`
	Warnings int  `json:"warnings"`
	Infos    int  `json:"infos"`
}

// Sum counts findings by severity.
func Sum(chats int, list []rules.Finding) Summary {
	s := Summary{Schema: Schema, Summary: true, Chats: chats}
	for i := range list {
		n := list[i].Count()
		s.Findings += n
		switch list[i].Severity {
		case rules.Error:
			s.Errors += n
		case rules.Warning:
			s.Warnings += n
		case rules.Info:
			s.Infos += n
		}
	}
	return s
}

// Check is the result of a check, for the writers.
type Check struct {
	Chats    []string // the paths of the chats that were read
	Findings []rules.Finding
	Known    int                           // findings that a baseline has
	Errs     []error                       // what could not be read
	Fail     rules.Severity                // the least severity that fails the check
	Version  string                        // of the program
	Home     string                        // the program's page; empty: not known
	Command  func(f *rules.Finding) string // what repairs a finding, "" where no command does; may be nil
}

// Documents calls each with a document for each finding, and then with the summary.
func (c *Check) Documents(each func(doc any) error) error {
	for i := range c.Findings {
		if err := each(c.document(&c.Findings[i])); err != nil {
			return err
		}
	}
	return each(Sum(len(c.Chats), c.Findings))
}

// slashed returns a path as reports name it.
func slashed(path string) string { return filepath.ToSlash(filepath.Clean(path)) }

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

// Baseline is how often an earlier check found what.
type Baseline map[fingerprint]int

// ReadBaseline reads a baseline: the JSON lines that check wrote (Documents).
// Its summary, and blank lines, are skipped. The error names the line.
func ReadBaseline(data []byte) (Baseline, error) {
	b := Baseline{}
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
		b[fingerprint{values[0], values[1], values[2]}] += max(1, n)
	}
	return b, nil
}

// New returns the findings that the baseline does not have, in their order, and
// the number of the others. Of findings that are alike as many are known as the
// baseline has.
func (b Baseline) New(list []rules.Finding) (fresh []rules.Finding, known int) {
	left := maps.Clone(b)
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
