package names

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestShort(t *testing.T) {
	for _, tt := range []struct {
		owner, name string
		above       []string
		want        string
	}{
		{"Mira", "Mira - 2026-03-01@18h42m07s311ms", nil, "2026-03-01 18:42"},
		{"Mira", "Mira - 2024-3-1 @8h 2m 7s 31ms", nil, "2024-03-01 08:02"},
		{"Ferry", "2026-03-01@18h42m07s311ms", nil, "2026-03-01 18:42"},
		{"Mira", "Mira - 2026-03-01@18h42m07s311ms - Branch #2", []string{"x", "Mira - 2026-03-01@18h42m07s311ms"}, "… - Branch #2"},
		{"Mira", "Harbour", []string{"Har"}, "Harbour"},
		{"Mira", "Harbour", []string{"Harbour"}, "Harbour"},
		{"Mira", "odd - Branch #1", []string{"odd"}, "… - Branch #1"},
		{"Mira", "odd", []string{""}, "odd"},
		{"", "Mira - a", nil, "Mira - a"},
		{"Mira", "deep 39", []string{"deep 38", "deep 3"}, "deep 39"},
		{"Mira", "灯台の夜", []string{"灯台の"}, "…夜"},
	} {
		if got := Short(tt.owner, tt.name, tt.above...); got != tt.want {
			t.Errorf("%q is %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestShorts(t *testing.T) {
	all := []string{
		"Mira - 2026-03-01@18h42m07s311ms", "Mira - 2026-03-01@18h42m07s999ms", "Mira - 2026-03-01@18h42m09s111ms", "Mira - 2026-03-02@18h42m09s111ms",
		"Mira - 2026-03-02@18h42m09s111ms", "Mira - 2026-03-01@18h42m07s311ms - Branch #1",
	}
	got := Shorts("Mira", all, func(i int) []string { return all[:i/5] })
	want := []string{"2026-03-01 18:42:07.311", "2026-03-01 18:42:07.999", "2026-03-01 18:42:09", "2026-03-02 18:42", "2026-03-02 18:42", "… - Branch #1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
