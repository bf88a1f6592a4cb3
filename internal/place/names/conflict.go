package names

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"stchat/internal/text/lazyregexp"
)

// conflicted are the names of the files that Syncthing, Dropbox and others make of a file that
// was changed in two places.
var conflicted = lazyregexp.New(`^(.+)\.sync-conflict-(\d{4})(\d\d)(\d\d)-\d{6}-[A-Za-z0-9]+$|^(.+) \((?:.* )?conflicted copy(?: .*)?\)$`)

// dated finds the date in such a name.
var dated = lazyregexp.New(`\d{4}-\d\d-\d\d`)

// ConflictOf returns the name of the chat of which one with this name is the other version, made by a
// program that keeps folders in step, be it a version of a version, and a label for it. ok is false if
// the name is not made by such a program.
func ConflictOf(name string) (of, label string, ok bool) {
	m := conflicted().FindStringSubmatch(name)
	if m == nil {
		return "", "", false
	}
	of = m[1] + m[5] // one of them is empty
	date := dated().FindString(name[len(of):])
	if m[1] != "" { // Syncthing's
		date = fmt.Sprintf("%s-%s-%s", m[2], m[3], m[4])
	}
	label = strings.TrimSpace("conflict " + date)
	if first, _, ok := ConflictOf(of); ok {
		of = first
	}
	return of, label, true
}

// numbered is what OneDrive and browsers put behind a name that is taken.
var numbered = lazyregexp.New(`^(.+) ?\(\d{1,3}\)$`)

// MayBeConflictOf returns the names of the chats of which one with this name may be the other version:
// OneDrive puts the computer's name behind a hyphen, or a number in parentheses. People name chats like
// that, too: see [ConflictsAmong].
func MayBeConflictOf(name string) (of []string) {
	if m := numbered().FindStringSubmatch(name); m != nil {
		of = append(of, strings.TrimRight(m[1], " "))
	}
	for i := len(name) - 1; i > 0; i-- {
		if name[i] == '-' && isHost(name[i+1:]) {
			of = append(of, name[:i])
		}
	}
	return of
}

// isHost reports whether a computer may be called like that.
func isHost(name string) bool {
	const longest = 63 // bytes, of a label of the DNS
	if name == "" || name[0] == '-' || len(name) > longest {
		return false
	}
	isOther := func(r rune) bool {
		isSign := r == '_' || r == '-'
		return !isSign && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	return !strings.ContainsFunc(name, isOther)
}

// ConflictsAmong returns the chat of which all others are versions by their names, as [ConflictOf] or
// [MayBeConflictOf] has them. The chats are all that share one integrity slug, and have one parent or
// none: before 1.19 SillyTavern gave a chat's slug to its branches, too, so a name proves nothing where
// there are others. ok is false if there is no such chat.
func ConflictsAmong(chats []string) (of string, ok bool) {
	if len(chats) < 2 {
		return "", false
	}
	for _, first := range chats {
		isOther := func(name string) bool { return name != first && !isVersion(name, first) }
		if !slices.ContainsFunc(chats, isOther) {
			return first, true
		}
	}
	return "", false
}

// isVersion reports whether a chat may be another version of one by its name.
func isVersion(name, of string) bool {
	first, _, ok := ConflictOf(name)
	isCertain := ok && first == of
	return isCertain || slices.Contains(MayBeConflictOf(name), of)
}
