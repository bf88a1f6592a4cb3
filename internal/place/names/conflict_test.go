package names

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConflictOf(t *testing.T) {
	for name, want := range map[string][2]string{
		"A.sync-conflict-20260304-101112-ABCDEF7":                              {"A", "conflict 2026-03-04"},
		"A (conflicted copy 2026-05-06 123456)":                                {"A", "conflict 2026-05-06"},
		"A (Mara's conflicted copy 2026-05-06)":                                {"A", "conflict 2026-05-06"},
		"2026-01-02@03h (conflicted copy)":                                     {"2026-01-02@03h", "conflict"},
		"A (2) (pc conflicted copy 2026-05-06)":                                {"A (2)", "conflict 2026-05-06"},
		"A (conflicted copy 2026-05-06).sync-conflict-20260304-101112-ABCDEF7": {"A", "conflict 2026-03-04"},
		"A.sync-conflict-20260304-101112-ABCDEF7 - Branch 1":                   {},
		"A (copy)":                              {},
		".sync-conflict-20260304-101112-ABCDEF": {},
		"A":                                     {},
		"A (1)":                                 {},
		"A-DESKTOP":                             {},
	} {
		of, label, ok := ConflictOf(name)
		if of != want[0] || label != want[1] || ok != (want[0] != "") {
			t.Errorf("%q: %q, %q, %v", name, of, label, ok)
		}
	}
}

func TestMayBeConflictOf(t *testing.T) {
	for name, want := range map[string][]string{
		"A (1)":                 {"A"},
		"A(12)":                 {"A"},
		"A (1234)":              nil,
		"(1)":                   nil,
		"A-DESKTOP":             {"A"},
		"A-DESKTOP-4KJ2Q":       {"A-DESKTOP", "A"},
		"A b-Maras_PC":          {"A b"},
		"A - Branch #1":         nil,
		"2026-01-02@03h04m":     nil,
		"A-":                    nil,
		"-A":                    nil,
		"A--B":                  {"A-"},
		"A":                     nil,
		"A-ノート":                 {"A"},
		"A (1)-DESKTOP":         {"A (1)"},
		"Mira - 2026-01-02-LAP": {"Mira - 2026-01-02", "Mira - 2026-01", "Mira - 2026"},
	} {
		if diff := cmp.Diff(want, MayBeConflictOf(name)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", name, diff)
		}
	}
}

func TestConflictsAmong(t *testing.T) {
	for _, tt := range []struct {
		chats []string
		of    string
	}{
		{[]string{"A (1)", "A", "A-DESKTOP", "A.sync-conflict-20260304-101112-ABCDEF7"}, "A"},
		{[]string{"A", "A (1)", "B"}, ""}, // the slug says nothing
		{[]string{"A (1)", "A (2)"}, ""},  // the chat itself is not there
		{[]string{"A-b", "A-b-c"}, "A-b"},
		{[]string{"A"}, ""},
		{nil, ""},
	} {
		if of, ok := ConflictsAmong(tt.chats); of != tt.of || ok != (tt.of != "") {
			t.Errorf("%q: %q, %v", tt.chats, of, ok)
		}
	}
}
