package lorebook

import (
	"os"
	"path/filepath"
	"testing"
)

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

// The name is the one that the folder lists.
func TestSpelled(t *testing.T) {
	for _, test := range []struct {
		name string
		list []string
		want string
	}{
		{"saltmere", []string{"Ocean", "Saltmere"}, "Saltmere"},
		{"saltmere", []string{"Saltmere", "saltmere"}, "saltmere"},
		{"ILE", []string{"Île", "ile"}, "ile"},
		{"i\u0302le", []string{"\u00cele"}, "\u00cele"}, // composed, as another system writes it
		{"Saltmere", []string{"Saltmere 2"}, "Saltmere"},
		{"Saltmere", nil, "Saltmere"},
	} {
		if got := spelled(test.list, test.name); got != test.want {
			t.Errorf("%q among %q: %q, not %q", test.name, test.list, got, test.want)
		}
	}
}

func shelve(t *testing.T, list ...string) (worlds string) {
	t.Helper()
	worlds = t.TempDir()
	for _, name := range list {
		if err := os.WriteFile(filepath.Join(worlds, name+Extension), []byte(`{"entries":{}}`), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return worlds
}

// Of a missing lorebook the one in another letter case is meant, else the only one like it.
func TestLike(t *testing.T) {
	for _, test := range []struct {
		missing string
		list    []string
		want    string
	}{
		{"saltmere", []string{"Saltmere", "Saltmere 2"}, "Saltmere"},
		{"Saltmare", []string{"Ocean", "Saltmere"}, "Saltmere"},
		{"Salt", []string{"Saltmere", "Saltmere 2"}, ""},
		{"Gull", []string{"Ocean"}, ""},
	} {
		if got := Like(shelve(t, test.list...), test.missing); got != test.want {
			t.Errorf("%q among %q: %q, not %q", test.missing, test.list, got, test.want)
		}
	}
}

// On a disk that ignores letter case a lorebook is found under another name than its own.
func TestSpelling(t *testing.T) {
	worlds := shelve(t, "Saltmere")
	path, err := Find(worlds, "Saltmere")
	if listed, exact := Spelling(path); err != nil || listed != "Saltmere" || !exact {
		t.Error(err, listed, exact)
	}
	path, err = Find(worlds, "SALTMERE")
	if err != nil {
		t.Skip("this disk tells letter case apart")
	}
	if listed, exact := Spelling(path); listed != "Saltmere" || exact {
		t.Error(listed, exact)
	}
}
