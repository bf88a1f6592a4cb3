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
		{"", "Mira - a", nil, "Mira - a"},
	} {
		if got := Short(tt.owner, tt.name, tt.above...); got != tt.want {
			t.Errorf("%q is %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestApart(t *testing.T) {
	got := Apart("Mira", []string{"Mira - 2026-03-01@18h42m07s311ms", "Mira - 2026-03-01@18h42m07s999ms", "Mira - 2026-03-01@18h42m09s111ms", "Mira - 2026-03-02@18h42m09s111ms"})
	want := map[string]string{
		"Mira - 2026-03-01@18h42m07s311ms": "2026-03-01 18:42:07.311", "Mira - 2026-03-01@18h42m07s999ms": "2026-03-01 18:42:07.999",
		"Mira - 2026-03-01@18h42m09s111ms": "2026-03-01 18:42:09", "Mira - 2026-03-02@18h42m09s111ms": "2026-03-02 18:42",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
