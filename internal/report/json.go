package report

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"

	"stchat/internal/rules"
	"stchat/internal/visible"
)

// Schema is the version of the JSON documents.
const Schema = 1

// Document is a finding as JSON (SPEC.md section 7); what is absent is null.
type Document struct {
	Schema   int    `json:"schema"`
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Path     string `json:"path"`
	Line     *int   `json:"line"`
	Column   *int   `json:"column"`
	Index    *int   `json:"index"`
	Message  string `json:"message"`
	Effect   string `json:"effect"`
	Mend     string `json:"mend"`
}

// Describe gives the document of a finding.
func Describe(f *rules.Finding) Document {
	positive := func(n int) *int {
		if n <= 0 {
			return nil
		}
		return &n
	}
	d := Document{
		Schema: Schema, Rule: f.Rule.String(), Severity: f.Severity.String(), Path: f.Path,
		Line: positive(f.Line), Column: positive(f.Column), Message: f.Message, Effect: f.Effect(), Mend: f.Mend(),
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
	s := Summary{Schema: Schema, Summary: true, Chats: chats, Findings: len(list)}
	for i := range list {
		switch list[i].Severity {
		case rules.Error:
			s.Errors++
		case rules.Warning:
			s.Warnings++
		case rules.Info:
			s.Infos++
		}
	}
	return s
}

// Check is what a check gave, for the writers.
type Check struct {
	Chats    []string // the paths of the chats that were read
	Findings []rules.Finding
	Errs     []error        // what could not be read
	Fail     rules.Severity // from where on a finding fails the check
	Version  string         // of the program
}

// WriteJSON writes a document a line, the summary last.
func (c *Check) WriteJSON(w io.Writer) error {
	for i := range c.Findings {
		if err := writeDocument(w, Describe(&c.Findings[i]), ""); err != nil {
			return err
		}
	}
	return writeDocument(w, Sum(len(c.Chats), c.Findings), "")
}

// writeDocument writes one JSON document, on one line without an indent, with
// nothing in it that a terminal would obey.
func writeDocument(w io.Writer, doc any, indent string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(doc); err != nil {
		return err
	}
	_, err := w.Write(visible.JSON(b.Bytes()))
	return err
}

// slashed gives a path as reports name it.
func slashed(path string) string { return filepath.ToSlash(filepath.Clean(path)) }
