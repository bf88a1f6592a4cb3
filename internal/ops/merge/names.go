package merge

import (
	"cmp"
	"path/filepath"
	"strconv"

	"golang.org/x/text/unicode/norm"

	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/text/lazyregexp"
)

// numbered is a name that ends in a number, as SillyTavern and this program number names.
var numbered = lazyregexp.New(`^(.*(?: - Branch #| - Checkpoint #))(\d{1,9})$|^(.*) \((\d{1,9})\)$`)

// nextName returns the name with the next number: "A - Branch #2", "A (3)"; one without a number
// gets first.
func nextName(name, first string) string {
	m := numbered().FindStringSubmatch(name)
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
func unnumbered(name string) string { return numbered().ReplaceAllString(name, "$1$3") }

// second follows the name of a chat that is taken.
const second = " (2)"

// freeName returns the first of a name and those that follow it that is not taken.
func freeName(name string, taken func(string) bool) string {
	for taken(name) {
		name = nextName(name, second)
	}
	return name
}

// newName returns the name of a chat that is new in INTO: its own, or, if that is here, the next one that is free.
func newName(name string, isHere, isComing func(name string) bool) string {
	if !isHere(name) {
		return name
	}
	return freeName(nextName(name, second), func(name string) bool { return isHere(name) || isComing(name) })
}

// branchName returns the name of a chat that comes as a branch beside INTO's, after the side that it is from.
func branchName(name, label string, most int, isHere, isComing func(name string) bool) string {
	branch := names.Derive(name, "__", label, most)
	return freeName(branch, func(name string) bool { return isHere(name) || isComing(name) })
}

// respelled returns the names of theirs that ours has in other code points, as a Mac may write them, by those: if neither
// side tells such names apart, they are the same.
func respelled(theirs, ours []string) map[string]string {
	byNFC := func(list []string) map[string][]string {
		all := map[string][]string{}
		for _, name := range list {
			all[norm.NFC.String(name)] = append(all[norm.NFC.String(name)], name)
		}
		return all
	}

	found := map[string]string{}
	here := byNFC(ours)
	for name, there := range byNFC(theirs) {
		if len(there) == 1 && len(here[name]) == 1 {
			found[there[0]] = here[name][0]
		}
	}
	return found
}

// label returns what tells the other side's chats apart: the nearest folder of FROM that INTO
// is not in as well.
func label(into, from string) string {
	known := map[string]bool{"chats": true, "group chats": true, "groups": true, "data": true, "default-user": true, ".": true, "": true}
	for path := userdir.RealPath(into); path != filepath.Dir(path); path = filepath.Dir(path) {
		known[userdir.ChatName(filepath.Base(path))] = true
	}
	for path := userdir.RealPath(from); path != filepath.Dir(path); path = filepath.Dir(path) {
		name := filepath.Base(path)
		if !known[name] && !userdir.HasExtension(name) && filepath.Ext(name) != ".json" {
			return labelOf(name)
		}
	}
	return "theirs"
}

// labelOf makes a label of a folder's name.
func labelOf(name string) string {
	safe, _ := names.Sanitize(name) // "" if it cannot be made safe
	return cmp.Or(safe, "theirs")
}
