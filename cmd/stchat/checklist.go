package main

import (
	"bufio"
	"fmt"

	"stchat/internal/jsondoc"
	"stchat/internal/rules"
)

// listedRule is a rule as --list-rules --json gives it.
type listedRule struct {
	Schema   int    `json:"schema"`
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Family   string `json:"family"`
	Summary  string `json:"summary"`
	Effect   string `json:"effect"`
	Mend     string `json:"mend"`
	Repair   string `json:"repair"` // yes, asked or no
}

// runList lists the rules.
func (o *checkOptions) runList(a *app) error {
	if o.format != "text" && o.format != "json" {
		return usagef("--list-rules knows --format text and json, not %s", o.format)
	}
	c := a.console()
	w := bufio.NewWriter(c.Out)
	family := ""
	for _, id := range rules.All() {
		r := id.Rule()
		if o.format == "json" {
			doc := listedRule{1, r.ID, r.Severity.String(), r.Family, r.Summary, r.Effect, r.Mend, repairWord(r.Mending)}
			if err := jsondoc.Write(w, doc, ""); err != nil {
				return err
			}
			continue
		}
		if r.Family != family {
			if family != "" {
				fmt.Fprintln(w)
			}
			family = r.Family
			fmt.Fprintln(w, paint(c.outColor, bold, family))
		}
		mark := " "
		if r.Mending != rules.ByHand {
			mark = "+"
		}
		fmt.Fprintf(w, "  %s %s %-21s %s\n", mark, paint(c.outColor, severityColor(r.Severity), fmt.Sprintf("%-7s", r.Severity)), r.ID, r.Summary)
	}
	if o.format == "text" {
		fmt.Fprintln(w, "\n+ stchat repair mends it")
	}
	return w.Flush()
}

func repairWord(m rules.Mending) string {
	switch m {
	case rules.Mended:
		return "yes"
	case rules.OnOrder:
		return "asked"
	default:
		return "no"
	}
}
