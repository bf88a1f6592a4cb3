package main

import (
	"slices"
	"testing"

	"stchat/internal/folder/rules"
)

// A rule that is named again and again is read once each time: a stranger's .stchatrc of forty thousand
// lines once took twenty seconds, since each line read all the lines above it.
func TestRuleWordsReadEachOnce(t *testing.T) {
	var ids []rules.ID
	v := ruleWords(&ids)
	for _, list := range []string{"torn-tail", "bad-date,crlf", "torn-tail"} {
		if err := v.set(list); err != nil {
			t.Fatal(err)
		}
	}
	want := []rules.ID{rules.Named("torn-tail"), rules.Named("bad-date"), rules.Named("crlf"), rules.Named("torn-tail")}
	if !slices.Equal(ids, want) {
		t.Errorf("got %v, want %v", ids, want)
	}
	const lines = 300
	perLine := testing.AllocsPerRun(lines, func() {
		if err := v.set("torn-tail"); err != nil {
			t.Fatal(err)
		}
	})
	if perLine > 5 {
		t.Errorf("a line allocates %v times, with %d lines above it", perLine, lines)
	}
}
