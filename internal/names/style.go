package names

import (
	"fmt"
	"strings"
)

// Kind is the kind of chat that a name is for.
type Kind uint8

// The two kinds of chat that are made from another one.
const (
	Checkpoint Kind = iota
	Branch
)

// String returns "checkpoint" or "branch".
func (k Kind) String() string {
	if k == Branch {
		return "branch"
	}
	return "checkpoint"
}

// token returns the word that SillyTavern numbers such chats with (bookmarks.js,
// bookmarkNameToken).
func (k Kind) token() string {
	if k == Branch {
		return "Branch #"
	}
	return "Checkpoint #"
}

// Style is a convention for naming checkpoints and branches; the zero value is
// the default.
type Style uint8

// The styles, with the names that [ParseStyle] knows them by.
const (
	Suffix      Style = iota // "suffix": <chat>__<name>
	SillyTavern              // "sillytavern": as SillyTavern 1.16 and later
	Classic                  // "classic": as SillyTavern up to 1.15
	Version                  // "version": <chat>-v<i>
)

// Styles returns the styles' names in their order, for help texts and completion.
func Styles() []string {
	return []string{"suffix", "sillytavern", "classic", "version"}
}

// ParseStyle returns the style called name; the error lists the styles.
func ParseStyle(name string) (Style, error) {
	for i, known := range Styles() {
		if name == known {
			return Style(i), nil
		}
	}
	return Suffix, fmt.Errorf("no naming style %q; the styles are %s", name, strings.Join(Styles(), ", "))
}

// String returns the name that [ParseStyle] reads.
func (s Style) String() string {
	if all := Styles(); int(s) < len(all) {
		return all[s]
	}
	return fmt.Sprintf("Style(%d)", uint8(s))
}
