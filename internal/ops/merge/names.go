package merge

import (
	"regexp"
	"strconv"

	"stchat/internal/names"
)

// numbered is a name that ends in a number, as SillyTavern and this program number names.
var numbered = regexp.MustCompile(`^(.*(?: - Branch #| - Checkpoint #))(\d{1,9})$|^(.*) \((\d{1,9})\)$`)

// nextName returns the name with the next number: "A - Branch #2", "A (3)"; one without a number
// gets first.
func nextName(name, first string) string {
	m := numbered.FindStringSubmatch(name)
	switch {
	case m == nil:
		return names.Derive(name, "", first, names.MaxBytes)
	case m[2] != "":
		n, _ := strconv.Atoi(m[2])
		return m[1] + strconv.Itoa(n+1)
	default:
		n, _ := strconv.Atoi(m[4])
		return names.Derive(m[3], "", " ("+strconv.Itoa(n+1)+")", names.MaxBytes)
	}
}

// unnumbered returns a name without its number.
func unnumbered(name string) string {
	if m := numbered.FindStringSubmatch(name); m != nil {
		return m[1] + m[3]
	}
	return name
}

// second follows the name of a chat that is taken.
const second = " (2)"

// freeName returns the first of a name and those that follow it that is not taken.
func freeName(name string, taken func(string) bool) string {
	for taken(name) {
		name = nextName(name, second)
	}
	return name
}
