package report

import (
	"io"
	"path/filepath"

	"stchat/internal/jsondoc"
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
	Mend     string `json:"mend"`
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
		Schema: Schema, Rule: f.Rule.String(), Severity: f.Severity.String(), Path: f.Path, Place: place(f.Path), Count: f.Count(),
		Line: positive(f.Line), Column: positive(f.Column), Message: f.Message, Effect: f.Effect(), Mend: c.mend(f),
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
	Command  func(f *rules.Finding) string // what mends a finding, "" where no command does; may be nil
}

// WriteJSON writes one document per line, the summary last.
func (c *Check) WriteJSON(w io.Writer) error {
	for i := range c.Findings {
		if err := jsondoc.Write(w, c.document(&c.Findings[i]), ""); err != nil {
			return err
		}
	}
	return jsondoc.Write(w, Sum(len(c.Chats), c.Findings), "")
}

// slashed returns a path as reports name it.
func slashed(path string) string { return filepath.ToSlash(filepath.Clean(path)) }
