package report

import (
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"stchat/internal/folder/rules"
	"stchat/internal/json/jsondoc"
	"stchat/internal/text/visible"
)

// The part of SARIF 2.1.0 that is written (OASIS, sections 3.13 to 3.51).
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		Invocations [1]sarifInvocation `json:"invocations"`
		Results     []sarifResult      `json:"results"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Home    string      `json:"informationUri,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string       `json:"id"`
		Short   sarifText    `json:"shortDescription"`
		Full    sarifText    `json:"fullDescription"`
		Help    sarifText    `json:"help"`
		HelpURI string       `json:"helpUri,omitempty"`
		Default sarifDefault `json:"defaultConfiguration"`
		Props   sarifTags    `json:"properties"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifDefault struct {
		Level string `json:"level"`
	}
	sarifTags struct {
		Tags []string `json:"tags"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    [1]sarifLocation  `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region struct {
				StartLine int `json:"startLine"`
			} `json:"region"`
		} `json:"physicalLocation"`
	}
)

const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// WriteSARIF writes a SARIF log with one run. A finding about a whole file
// is placed at its first line, since some readers need one.
func (c *Check) WriteSARIF(w io.Writer) error {
	run := sarifRun{Results: make([]sarifResult, len(c.Findings))}
	run.Tool.Driver = sarifDriver{Name: "stchat", Version: c.Version, Home: c.Home, Rules: sarifRules(c.Home)}
	run.Invocations[0].Successful = len(c.Errs) == 0
	for _, err := range c.Errs {
		note := sarifNotification{"error", sarifText{visible.Text(err.Error())}}
		run.Invocations[0].Notifications = append(run.Invocations[0].Notifications, note)
	}

	prints := fingerprints{}
	for i := range c.Findings {
		f := &c.Findings[i]
		result := sarifResult{
			RuleID:       f.Rule.String(),
			RuleIndex:    int(f.Rule),
			Level:        level(f.Severity, "note"),
			Message:      sarifText{c.explain(f)},
			Fingerprints: map[string]string{"stchat/v1": prints.next(f, pathEnd(f.Path))},
		}
		at := &result.Locations[0].Physical
		at.Artifact.URI = uri(c.inTree(f.Path))
		at.Region.StartLine = max(1, f.Line)
		run.Results[i] = result
	}
	return jsondoc.Write(w, sarifLog{sarifSchema, "2.1.0", []sarifRun{run}}, "  ")
}

// sarifRules lists the rules; home is the program's page, or "".
func sarifRules(home string) []sarifRule {
	var list []sarifRule
	for _, id := range rules.All() {
		r := id.Rule()
		rule := sarifRule{
			ID:      r.ID,
			Short:   sarifText{sentence(r.Summary)},
			Full:    sarifText{sentence(r.Effect)},
			Help:    sarifText{sentence(r.Repair)},
			Default: sarifDefault{level(r.Severity, "note")},
			Props:   sarifTags{[]string{r.Family}},
		}
		if home != "" {
			rule.HelpURI = home + "/blob/HEAD/docs/rules.md#" + r.ID
		}
		list = append(list, rule)
	}
	return list
}

// level returns what SARIF and GitHub call a severity; info is the name of the least.
func level(s rules.Severity, info string) string {
	if s == rules.Info {
		return info
	}
	return s.String()
}

// uri returns a path as a URI reference: a relative one stays relative.
func uri(path string) string {
	path = slashed(path)
	u := url.URL{Path: path}
	switch {
	case strings.HasPrefix(path, "/"):
		u.Scheme = "file"
	case filepath.VolumeName(filepath.FromSlash(path)) != "":
		u.Scheme = "file"
		u.Path = "/" + strings.TrimPrefix(path, "//")
	}
	return u.String()
}
