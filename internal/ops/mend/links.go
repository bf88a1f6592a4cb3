package mend

import (
	"fmt"
	"slices"

	"stchat/internal/message"
	"stchat/internal/rules"
)

// links mends the links of messages.
type links struct {
	target  func(name string) (target string, ok bool)
	renamed func(name string) (now string, ok bool) // the current name of a missing chat; now is empty if it is not clear
	failed  error                                   // why renamed could not tell; the chat stays as it is
	remove  rules.Set                               // rules by which links that lead nowhere are removed
}

func onLinks() rules.Set {
	return rules.SetOf(rules.DanglingCheckpoint, rules.DanglingBranch, rules.UnsafeName)
}

// dangling returns the rules about names that lead nowhere.
func dangling() rules.Set {
	return rules.SetOf(rules.DanglingMainChat, rules.DanglingCheckpoint, rules.DanglingBranch)
}

// mend returns the message with its links mended. Swipes repeat the links of the message, so
// each change is listed once.
func (l *links) mend(want rules.Set, line []byte) (out []byte, changes []change) {
	out = message.EditLinks(line, func(checkpoint bool, name string) (to string, keep bool) {
		dead, what := rules.DanglingBranch, "branch"
		if checkpoint {
			dead, what = rules.DanglingCheckpoint, "checkpoint"
		}
		to, one := l.link(want, name, dead, what)
		if one.text == "" {
			return name, true
		}
		if !slices.ContainsFunc(changes, func(c change) bool { return c.text == one.text }) {
			changes = append(changes, one)
		}
		return to, to != ""
	})
	return out, changes
}

// link judges one link: a link to a renamed or differently spelled chat is corrected, and one
// to a missing chat is removed if that was asked for; then to is empty. The change has no text
// if the link stays.
func (l *links) link(want rules.Set, name string, dead rules.ID, what string) (to string, one change) {
	target, alive := l.target(name)
	switch {
	case alive && target != name && want.Has(rules.UnsafeName):
		return target, change{rule: rules.UnsafeName, text: fmt.Sprintf("the link to the %s names the file as it is called", what)}
	case alive || !want.Has(dead):
		return "", change{}
	}
	switch now, renamed := l.renamed(name); {
	case renamed && now == "":
	case renamed:
		return now, change{rule: dead, text: fmt.Sprintf("the link to the %s %q names %q, as it is called now", what, clip(name), clip(now))}
	case l.remove.Has(dead):
		return "", change{rule: dead, text: fmt.Sprintf("removed the link to the %s %q, which is not there", what, clip(name))}
	}
	return "", change{}
}

// onLines returns the rules that are mended line by line.
func onLines() rules.Set {
	return rules.SetOf(rules.BOM, rules.CRLF, rules.NUL, rules.InvalidJSON, rules.TornTail, rules.NotAnObject, rules.TooDeep, rules.MisplacedHeader) |
		rules.SetOf(rules.LegacyMedia) | onSwipes() | onLinks()
}
