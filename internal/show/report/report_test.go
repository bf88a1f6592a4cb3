package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"stchat/internal/folder/rules"
	"stchat/internal/json/jsondoc"
	"stchat/internal/show/report"
)

// hostile is text that would break each format, were it not escaped.
const hostile = "a%b\r\n::error::x\x1b[2J\u202e]]>&<\"'\u0085\xff"

func sample() *report.Check {
	return &report.Check{
		Chats: []string{"chats/A b.jsonl", "chats/" + hostile + ".jsonl", "/abs/C.jsonl"},
		Findings: []rules.Finding{
			{Rule: rules.TornTail, Severity: rules.Error, Path: "chats/A b.jsonl", Line: 12, Column: 5, Index: -1, Message: "the line ends inside a string"},
			{Rule: rules.SwipeText, Severity: rules.Warning, Path: "chats/A b.jsonl", Line: 7, Column: 88, Index: 5, Message: "swipe 1 is chosen"},
			{Rule: rules.LorebookQueue, Severity: rules.Info, Path: "chats/" + hostile + ".jsonl", Index: -1, Message: hostile},
			{Rule: rules.LorebookQueue, Severity: rules.Info, Path: "chats/" + hostile + ".jsonl", Index: -1, Message: hostile},
			{Rule: rules.EmptyFile, Severity: rules.Error, Path: "/abs/C.jsonl", Index: -1, Message: "the file is empty"},
		},
		Errs: []error{errors.New("chats/D: permission denied " + hostile)},
		Fail: rules.Warning, Version: "v1.2.3",
	}
}

func write(t *testing.T, f func(io.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f(&b); err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexAny(b.String(), "\x1b\u202e\u0085\r\x00"); i >= 0 {
		t.Errorf("control or bidirectional character at %d of\n%q", i, b.String())
	}
	return b.Bytes()
}

// inJSON returns what writes the documents of a check.
func inJSON(c *report.Check) func(io.Writer) error {
	return func(w io.Writer) error {
		return c.Documents(func(doc any) error { return jsondoc.Write(w, doc, "") })
	}
}

func TestJSON(t *testing.T) {
	out := write(t, inJSON(sample()))
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	want := []string{
		`{"schema":1,"rule":"torn-tail","severity":"error","path":"chats/A b.jsonl","line":12,"column":5,"index":null,"message":"the line ends inside a string"`,
		`{"schema":1,"rule":"swipe-text","severity":"warning","path":"chats/A b.jsonl","line":7,"column":88,"index":5,"message":"swipe 1 is chosen"`,
		`{"schema":1,"rule":"lorebook-queue","severity":"info","path":"chats/a%b\r\n::error::x\u001b[2J\u202e]]>&<\"'\u0085` + "\ufffd" + `.jsonl","line":null,"column":null,"index":null`,
	}
	for i, prefix := range want {
		if !bytes.HasPrefix(lines[i], []byte(prefix)) {
			t.Errorf("line %d:\n got %s\nwant %s…", i+1, lines[i], prefix)
		}
	}
	const sum = `{"schema":1,"summary":true,"chats":3,"findings":5,"errors":2,"warnings":1,"infos":2}`
	if got := string(lines[len(lines)-1]); got != sum {
		t.Errorf("summary %s", got)
	}
}

// TestSARIF validates against the part of the standard's schema that concerns
// what is written, with the properties that it requires and allows
// (testdata/sarif-subset.json).
func TestSARIF(t *testing.T) {
	schema := compile(t, filepath.Join("testdata", "sarif-subset.json"))
	for name, c := range map[string]*report.Check{"sample": sample(), "nothing": {}, "home": {Home: "https://example.org/stchat"}} {
		out := write(t, c.WriteSARIF)
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(out))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	var log struct {
		Runs []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID    string
				RuleIndex int
				Locations []struct {
					PhysicalLocation struct{ ArtifactLocation struct{ URI string } }
				}
				PartialFingerprints map[string]string
			}
		}
	}
	if err := json.Unmarshal(write(t, sample().WriteSARIF), &log); err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	prints := map[string]bool{}
	for i, r := range run.Results {
		if id := run.Tool.Driver.Rules[r.RuleIndex].ID; id != r.RuleID {
			t.Errorf("result %d: rule %s at the index of %s", i, r.RuleID, id)
		}
		prints[r.PartialFingerprints["stchat/v1"]] = true
	}
	if len(prints) != len(run.Results) {
		t.Errorf("%d fingerprints for %d results", len(prints), len(run.Results))
	}
	for i, want := range map[int]string{0: "chats/A%20b.jsonl", 4: "file:///abs/C.jsonl"} {
		if got := run.Results[i].Locations[0].PhysicalLocation.ArtifactLocation.URI; got != want {
			t.Errorf("uri %q, want %q", got, want)
		}
	}
}

func compile(t *testing.T, path string) *jsonschema.Schema {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func TestGitHub(t *testing.T) {
	out := string(write(t, sample().WriteGitHub))
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != 6 {
		t.Fatalf("%d lines, want a command an error and a finding:\n%s", len(lines), out)
	}
	for i, prefix := range []string{
		"::error title=stchat::chats/D: permission denied a%25b",
		"::error file=chats/A b.jsonl,line=12,title=torn-tail::The line ends inside a string. ",
		"::warning file=chats/A b.jsonl,line=7,title=swipe-text::Swipe 1 is chosen. ",
		`::notice file=chats/a%25b\r\n%3A%3Aerror%3A%3Ax\x1b[2J\u202e`,
	} {
		if !strings.HasPrefix(lines[i], prefix) {
			t.Errorf("line %d:\n got %s\nwant %s…", i+1, lines[i], prefix)
		}
	}
}

func TestJUnit(t *testing.T) {
	out := write(t, sample().WriteJUnit)
	var doc struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Suites   []struct {
			Name     string `xml:"name,attr"`
			Tests    int    `xml:"tests,attr"`
			Failures int    `xml:"failures,attr"`
			Cases    []struct {
				Name    string    `xml:"name,attr"`
				Failure *struct{} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(out, &doc); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if doc.Tests != 6 || doc.Failures != 3 || doc.Errors != 1 || len(doc.Suites) != 4 {
		t.Errorf("%+v", doc)
	}
	if s := doc.Suites[1]; s.Failures != 0 || s.Tests != 2 {
		t.Errorf("an info counts as a failure: %+v", s)
	}
	clean := &report.Check{Chats: []string{"a.jsonl"}}
	if out := string(write(t, clean.WriteJUnit)); !strings.Contains(out, `<testcase name="check" classname="a.jsonl"></testcase>`) {
		t.Errorf("a chat without findings: %s", out)
	}
}

func TestBaseline(t *testing.T) {
	c := sample()
	known := write(t, inJSON(c))
	b, err := report.ReadBaseline(known)
	if err != nil {
		t.Fatal(err)
	}
	if left, known := b.New(c.Findings); len(left) > 0 || known != 5 {
		t.Errorf("left of what is known: %+v", left)
	}
	moved := c.Findings[0]
	moved.Line, moved.Column, moved.Path = 40, 1, "./chats/../chats/A b.jsonl"
	other := c.Findings[1]
	other.Message = "swipe 2 is chosen"
	third := c.Findings[2]
	list := []rules.Finding{moved, other, third, third, third}
	want := []rules.Finding{other, third}
	for _, when := range []string{"first", "again"} {
		if got, _ := b.New(list); !cmp.Equal(want, got, cmp.AllowUnexported(rules.Finding{})) {
			t.Errorf("%s (-want +got):\n%s", when, cmp.Diff(want, got, cmp.AllowUnexported(rules.Finding{})))
		}
	}
}

// Of what is not found any more only that is gone which the check looked for.
func TestBaselineGone(t *testing.T) {
	inMira := rules.Finding{Rule: rules.TornTail, Severity: rules.Error, Path: "me/chats/Mira/A.jsonl", Index: -1, Message: "torn"}
	another := rules.Finding{Rule: rules.BadDate, Severity: rules.Info, Path: "me/chats/Mira/B.jsonl", Index: -1, Message: "date", More: 3}
	sidecar := rules.Finding{Rule: rules.OrphanSidecar, Severity: rules.Info, Path: "me/chats/Mira/B.luker-state.x.json", Index: -1, Message: "orphan"}
	group := rules.Finding{Rule: rules.GroupMissingChat, Severity: rules.Warning, Path: "me/groups/1.json", Index: -1, Message: "missing"}
	all := []rules.Finding{inMira, another, sidecar, group}
	b, err := report.ReadBaseline(write(t, inJSON(&report.Check{Findings: all})))
	if err != nil {
		t.Fatal(err)
	}
	one := another
	one.More = 1
	for name, tc := range map[string]struct {
		found []rules.Finding
		scope report.Scope
		want  []string
	}{
		"all is there":     {all, report.Scope{Whole: true}, nil},
		"whole":            {nil, report.Scope{Whole: true}, []string{"torn-tail 1", "bad-date 3", "orphan-sidecar 1", "group-missing-chat 1"}},
		"fewer":            {[]rules.Finding{inMira, one, sidecar, group}, report.Scope{Whole: true}, []string{"bad-date 2"}},
		"one chat":         {nil, report.Scope{Chats: []string{"chats/Mira/B.jsonl"}}, []string{"bad-date 3"}},
		"a chat elsewhere": {nil, report.Scope{Chats: []string{"chats/Ines/B.jsonl"}}, nil},
		"folder":           {nil, report.Scope{Folders: []string{"x/chats/Mira"}}, []string{"torn-tail 1", "bad-date 3"}},
		"folder elsewhere": {nil, report.Scope{Folders: []string{"x/chats/Ines", "x/Mira"}}, nil},
		"some rules":       {nil, report.Scope{Whole: true, LeftOut: func(rule string) bool { return rule != "bad-date" }}, []string{"bad-date 3"}},
	} {
		if tc.scope.LeftOut == nil {
			tc.scope.LeftOut = func(string) bool { return false }
		}
		var got []string
		for _, g := range b.Gone(tc.found, tc.scope) {
			got = append(got, fmt.Sprint(g.Rule, " ", g.Count))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestBaselineCounts holds that of findings which are only counted those that
// came to be are new.
func TestBaselineCounts(t *testing.T) {
	many := rules.Finding{Rule: rules.BadDate, Severity: rules.Info, Path: "chats/M/A.jsonl", Index: -1, Message: "more", More: 900}
	b, err := report.ReadBaseline(write(t, inJSON(&report.Check{Findings: []rules.Finding{many}})))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ now, fresh int }{{899, 0}, {900, 0}, {950, 50}} {
		many.More = tc.now
		fresh, known := b.New([]rules.Finding{many})
		if got := report.Sum(1, fresh).Findings; got != tc.fresh || known != tc.now-tc.fresh {
			t.Errorf("%d: %d new and %d known, want %d new", tc.now, got, known, tc.fresh)
		}
	}
}

// TestJUnitNames holds that no two test cases of a suite are alike.
func TestJUnitNames(t *testing.T) {
	f := rules.Finding{Rule: rules.DuplicateKey, Severity: rules.Info, Path: "a.jsonl", Line: 2, Index: 0, Message: "x"}
	at := f
	at.Column = 7
	whole := f
	whole.Line = 0
	c := &report.Check{Findings: []rules.Finding{f, f, at, at, whole, whole}, Errs: []error{errors.New("a"), errors.New("b")}}
	seen := map[string]bool{}
	for _, name := range regexp.MustCompile(`<testcase name="[^"]*" classname="[^"]*"`).FindAllString(string(write(t, c.WriteJUnit)), -1) {
		if seen[name] {
			t.Errorf("twice: %s", name)
		}
		seen[name] = true
	}
	if len(seen) != 8 {
		t.Errorf("%d cases, want 8", len(seen))
	}
}

func TestBaselineBad(t *testing.T) {
	for data, want := range map[string]string{
		"{\"rule\":\"bom\"}":      "1: no finding: it has no place",
		"\n{":                     "2:2: ",
		"[]\n":                    "1: no finding: it has no rule",
		"{\"version\":\"2.1.0\"}": "1: no finding: it has no rule",
	} {
		if _, err := report.ReadBaseline([]byte(data)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", data, err, want)
		}
	}
	if b, err := report.ReadBaseline(nil); err != nil {
		t.Error(err)
	} else if fresh, _ := b.New(sample().Findings); len(fresh) != 5 {
		t.Error("an empty baseline knows something")
	}
}
