package merge

import (
	"regexp"
	"strconv"

	"stchat/internal/names"
)

// numbered is a name that ends in a number, as SillyTavern and this program number names.
var numbered = regexp.MustCompile(`^(.*(?: - Branch #| - Checkpoint #))(\d{1,9})$|^(.*) \((\d{1,9})\)$`)

// nextName returns the name with the next number: "A - Branch #2", "A (2)".
func nextName(name string) string {
	m := numbered.FindStringSubmatch(name)
	switch {
	case m == nil:
		return names.Derive(name, "", " (2)", names.MaxBytes)
	case m[2] != "":
		n, _ := strconv.Atoi(m[2])
		return m[1] + strconv.Itoa(n+1)
	default:
		n, _ := strconv.Atoi(m[4])
		return names.Derive(m[3], "", " ("+strconv.Itoa(n+1)+")", names.MaxBytes)
	}
}

// freeName returns the first of a name and those that follow it that is not taken.
func freeName(name string, taken func(string) bool) string {
	for taken(name) {
		name = nextName(name)
	}
	return name
}
