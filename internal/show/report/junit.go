package report

import (
	"encoding/xml"
	"fmt"
	"io"

	"stchat/internal/folder/rules"
	"stchat/internal/text/visible"
)

// The part of JUnit's XML that CI servers read.
type (
	junitSuites struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		junitCounts
		Suites []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name string `xml:"name,attr"`
		junitCounts
		Cases []junitCase `xml:"testcase"`

		names map[string]int // how many cases have a name
	}
	junitCounts struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Failure *junitFailure `xml:"failure"`
		Error   *junitFailure `xml:"error"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes one test suite per file and one test per finding: one that fails
// the check is a failure, a milder one has its text as output. A chat without
// findings is a suite with one test that passes.
func (c *Check) WriteJUnit(w io.Writer) error {
	suites := map[string]*junitSuite{}
	var order []string
	suite := func(path string) *junitSuite {
		s := suites[path]
		if s == nil {
			s = &junitSuite{Name: visible.Text(c.inTree(path))}
			suites[path] = s
			order = append(order, path)
		}
		return s
	}

	for _, path := range c.Chats {
		suite(path)
	}
	for i := range c.Findings {
		f := &c.Findings[i]
		s := suite(f.Path)
		s.add(c.junitCase(f, s.Name))
	}

	all := junitSuites{Name: "stchat check"}
	finish := func(s *junitSuite) {
		all.Suites = append(all.Suites, *s)
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Errors += s.Errors
	}

	for _, path := range order {
		s := suites[path]
		if len(s.Cases) == 0 {
			s.add(junitCase{Name: "check", Class: s.Name})
		}
		finish(s)
	}

	if len(c.Errs) > 0 {
		s := &junitSuite{Name: "stchat"}
		for _, err := range c.Errs {
			text := visible.Text(err.Error())
			s.add(junitCase{Name: "read", Class: s.Name, Error: &junitFailure{Message: text, Type: "trouble", Text: text}})
		}
		finish(s)
	}

	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (c *Check) junitCase(f *rules.Finding, class string) junitCase {
	t := junitCase{Name: f.Rule.String(), Class: class}
	switch {
	case f.More > 0:
		t.Name += " more"
	case f.Column > 0:
		t.Name += fmt.Sprintf(" line %d:%d", f.Line, f.Column)
	case f.Line > 0:
		t.Name += fmt.Sprintf(" line %d", f.Line)
	}

	if f.Severity < c.Fail {
		t.Out = f.Severity.String() + ": " + c.explain(f)
		return t
	}
	t.Failure = &junitFailure{Message: visible.Text(f.Text()), Type: f.Severity.String(), Text: c.explain(f)}
	return t
}

// add adds a case. One with the name of another in the suite gets a number, or readers
// would take both for one.
func (s *junitSuite) add(t junitCase) {
	if s.names == nil {
		s.names = map[string]int{}
	}
	s.names[t.Name]++
	if n := s.names[t.Name]; n > 1 {
		t.Name += fmt.Sprintf(" (%d)", n)
	}

	s.Cases = append(s.Cases, t)
	s.Tests++
	if t.Failure != nil {
		s.Failures++
	}
	if t.Error != nil {
		s.Errors++
	}
}
