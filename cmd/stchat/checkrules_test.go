package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/folder/rules"
)

// TestRulesPage holds docs/rules.md to what --list-rules says and to testdata/rules.txt, which has
// for each rule what it looks at, an example, and perhaps more on its repair. -update writes the page.
func TestRulesPage(t *testing.T) {
	out, _, code := terminal(t, 0, "check", "--list-rules", "--json")
	if code != 0 {
		t.Fatalf("exit code %d", code)
	}
	intro, rest, _ := strings.Cut(string(read(t, filepath.Join("testdata", "rules.txt"))), "\n# ")
	told := strings.Split(rest, "\n# ")
	var page strings.Builder
	fmt.Fprintf(&page, "# The rules of `check`\n\n%s", intro)
	family := ""
	for i, line := range strings.Split(strings.TrimSpace(out), "\n") {
		var r struct{ Rule, Severity, Family, Summary, Effect, Mend, Repair string }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if i >= len(told) || !strings.HasPrefix(told[i], r.Rule+"\n") {
			t.Fatalf("testdata/rules.txt: section %d is not %s", i, r.Rule)
		}
		body, _ := strings.CutPrefix(strings.TrimSpace(told[i]), r.Rule+"\n")
		what, more, _ := strings.Cut(body, "\n    ")
		lines := strings.Split("    "+more, "\n")
		n := slices.IndexFunc(lines, func(line string) bool { return !strings.HasPrefix(line, "    ") })
		if n < 0 {
			n = len(lines)
		}
		if what == "" || more == "" {
			t.Errorf("testdata/rules.txt: %s has no text, or no example", r.Rule)
		}
		if r.Family != family {
			family = r.Family
			fmt.Fprintf(&page, "\n## %s\n", strings.ToUpper(family[:1])+family[1:])
		}
		repair := map[string]string{"no": "by hand", "yes": "repair fixes it", "asked": "repair fixes it when `--rule` names it"}[r.Repair]
		fmt.Fprintf(&page, "\n### %s\n\n*%s, %s*: %s. %s\n\n%s\n\n**Why:** %s. **Fix:** %s.", r.Rule, r.Severity, repair, r.Summary, what,
			strings.Join(lines[:n], "\n"), r.Effect, r.Mend)
		for _, line := range lines[n:] {
			fmt.Fprintf(&page, " %s", line)
		}
		page.WriteByte('\n')
	}
	path := filepath.Join("..", "..", "docs", "rules.md")
	if *update {
		if err := os.WriteFile(path, []byte(page.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(page.String(), string(read(t, path))); diff != "" {
		t.Errorf("docs/rules.md is not what -update writes (-want +got):\n%s", diff)
	}
}

// TestSeverities holds each rule to the severity that docs/rules.md gives it.
func TestSeverities(t *testing.T) {
	want := map[rules.Severity]string{
		rules.Error: `unfinished-change empty-file utf-16 json-layout joined-lines bom nul invalid-json torn-tail not-an-object too-deep no-header misplaced-header message-shape swipe-id
			recap-chat-id recap-version recap-shape prompt-shape luker-replay lorebook-unreadable chat-cycle group-unlisted`,
		rules.Warning: `name-too-long wrong-extension folder-without-card invalid-utf8 swipe-text swipe-info integrity-shared dangling-main-chat dangling-checkpoint dangling-branch
			diverged-checkpoint unsafe-name group-missing-chat group-twice group-old-layout lorebook-missing lorebook-shared-state lorebook-queue
			lorebook-mismatch registry-uid beyond-end combined-recap pending-old luker-floor luker-slug missing-attachment
			recap-scene registry-index prompt-dangling prompt-drift memory-book luker-state`,
		rules.Info: `header-only crlf duplicate-key bad-date date-order integrity-missing unlisted-branch missing-main-chat stray-chat orphan-sidecar prompt-marker legacy-media`,
	}
	n := 0
	for severity, names := range want {
		for name := range strings.FieldsSeq(names) {
			n++
			id, err := rules.Find(name)
			if err != nil {
				t.Error(err)
			} else if got := id.Rule().Severity; got != severity {
				t.Errorf("%s is %v, want %v", name, got, severity)
			}
		}
	}
	if n != len(rules.All()) {
		t.Errorf("%d rules, want %d", len(rules.All()), n)
	}
}
