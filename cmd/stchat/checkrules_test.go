package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stchat/internal/rules"
)

// TestRulesPage holds that docs/rules.md has a section for every rule and no
// other, and says of each what --list-rules says.
func TestRulesPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "rules.md"))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	e := env{Out: &out, Err: &out, Getenv: func(string) string { return "" }}
	if code := run(context.Background(), e, []string{"check", "--list-rules"}); code != 0 {
		t.Fatalf("exit code %d: %s", code, out.String())
	}
	listed := map[string][]string{}
	for line := range strings.Lines(out.String()) {
		words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "+ "))
		if len(words) > 2 {
			listed[words[1]] = words
		}
	}
	sections := strings.Split(string(page), "\n### ")[1:]
	if len(sections) != len(rules.All()) {
		t.Errorf("%d sections for %d rules", len(sections), len(rules.All()))
	}
	for i, section := range sections {
		r := rules.All()[i].Rule()
		name, text, _ := strings.Cut(section, "\n")
		if name != r.ID {
			t.Errorf("section %d is %s, want %s", i, name, r.ID)
			continue
		}
		if words := listed[r.ID]; len(words) == 0 || words[0] != r.Severity.String() || !strings.HasSuffix(r.Summary, words[len(words)-1]) {
			t.Errorf("%s: --list-rules says %q", r.ID, words)
		}
		mending := map[rules.Mending]string{rules.ByHand: "by hand", rules.Mended: "repair fixes it", rules.OnOrder: "repair fixes it when `--rule` names it"}
		for _, want := range []string{
			"*" + r.Severity.String() + ", " + mending[r.Mending] + "*: " + r.Summary + ".",
			"\n**What.** ", "\n**Why.** ", "\n**Example.**\n\n    ", "\n**Fix.** ", r.Effect[1:], r.Mend[1:],
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: its section lacks %q", r.ID, want)
			}
		}
	}
	if len(listed) != len(rules.All())+1 { // and the line that explains the plus
		t.Errorf("--list-rules lists %d", len(listed))
	}
}

// TestSeverities holds to SPEC.md section 8.
func TestSeverities(t *testing.T) {
	want := map[rules.Severity]string{
		rules.Error: `unfinished-change empty-file bom nul invalid-json torn-tail not-an-object too-deep no-header misplaced-header message-shape swipe-id
			recap-chat-id recap-version recap-shape prompt-shape luker-replay lorebook-unreadable chat-cycle group-unlisted`,
		rules.Warning: `name-too-long wrong-extension folder-without-card invalid-utf8 swipe-text swipe-info integrity-shared dangling-main-chat dangling-checkpoint dangling-branch
			diverged-checkpoint unsafe-name group-missing-chat group-twice group-old-layout lorebook-missing lorebook-shared-state lorebook-queue
			lorebook-mismatch registry-uid beyond-end combined-recap pending-old luker-floor luker-slug missing-attachment
			recap-scene registry-index prompt-dangling prompt-drift memory-book luker-state`,
		rules.Info: `header-only crlf duplicate-key bad-date date-order integrity-missing unlisted-branch missing-main-chat orphan-sidecar prompt-marker legacy-media`,
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
