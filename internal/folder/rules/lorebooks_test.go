package rules

import "testing"

func TestLikeName(t *testing.T) {
	for _, test := range []struct {
		was, now string
		want     bool
	}{
		{"Saltmere", "Saltmere v2", true},
		{"Saltmere v2", "saltmere", true},
		{"Saltmere", "Saltmare", true},
		{"Saltmere", "salt-mere!", true},
		{"汐見の町と灯台", "汐見の町と灯台 (新)", true},
		{"Saltmere", "Ocean", false},
		{"Sea", "Seals", false}, // too short for a part to mean anything
		{"Sea", "SEA", true},
		{"灯", "灯台", false},
		{"!", "?", false},
		{"Gull Rock", "Bull Dock", true},
		{"Gull Rock", "Full Dark", false},
	} {
		if got := likeName(test.was, test.now); got != test.want {
			t.Errorf("%q is like %q: %t", test.now, test.was, got)
		}
	}
}
