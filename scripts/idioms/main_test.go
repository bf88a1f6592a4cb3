package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCount counts a source that has each form once, beside what looks like it.
func TestCount(t *testing.T) {
	const source = `package p

func f() int { return 1 }

func g(a, b, c, d, e bool) bool {
	var x int
	if x = f(); a {
	}
	if x = f(); x > 0 {
	}
	if y := f(); a && y > 0 {
	}
	if f(); a {
	}
	one, two, three := 1, 2, 3
	left, right := one, two
	_, _, _ = left, right, three
	if a && (b || c) && d || e {
	}
	if a && b && c && d {
	}
	switch {
	case a:
	case b:
	case c:
	case d:
	case e:
	case !a:
	default:
	}
	switch x {
	case 1:
	case 2:
	case 3:
	case 4:
	case 5:
	case 6:
	case 7:
	}
	return a && b && c && d && e
}
`
	folder := t.TempDir()
	for _, name := range []string{"a.go", "a_test.go"} { // tests are not counted
		err := os.WriteFile(filepath.Join(folder, name), []byte(source), 0o666)
		if err != nil {
			t.Fatal(err)
		}
	}
	counted, err := count([]string{folder})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]int{}
	for form, places := range counted {
		for _, at := range places {
			got[form] = append(got[form], at.Line)
		}
	}
	want := map[string][]int{
		"if x = f(); condition without x":                {7},
		"if call(); condition":                           {13},
		"three or more values assigned at once":          {15, 17},
		"condition of five or more terms":                {18, 40},
		"switch without a value, of seven or more cases": {22},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines of each form (-want +got):\n%s", diff)
	}
}
