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
	"path/filepath"

	"stchat/internal/folder/rules"
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
		Schema:   Schema,
		Rule:     f.Rule.String(),
		Severity: f.Severity.String(),
		Path:     f.Path,
		Place:    pathEnd(f.Path),
		Count:    f.Count(),
		Line:     positive(f.Line),
		Column:   positive(f.Column),
		Message:  f.Message,
		Effect:   f.Effect(),
		Repair:   c.repair(f),
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
	Gone     []Gone                        // what a baseline has and was not found
	Errs     []error                       // what could not be read
	Fail     rules.Severity                // the least severity that fails the check
	Version  string                        // of the program
	Home     string                        // the program's page; empty: not known
	Command  func(f *rules.Finding) string // what repairs a finding, "" where no command does; may be nil
	InTree   func(path string) string      // a path as SARIF, GitHub and JUnit name it: from the top of the work tree; nil: as it is
}

// inTree returns a path as programs name it that know the work tree.
func (c *Check) inTree(path string) string {
	if c.InTree != nil {
		path = c.InTree(path)
	}
	return slashed(path)
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
