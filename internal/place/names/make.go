// Package names makes the names that checkpoints and branches get.
//
// A chat's name is its file's name without ".jsonl", and it is also what
// main_chat, bookmark_link, branches and a group's list say. So a name must work
// everywhere at once: [Sanitize] makes one safe exactly as SillyTavern's server
// does, and [Make] builds a whole one of a given [Kind] in a given [Style] that
// is free. Names come from people and from strangers' files; what this package
// returns is valid UTF-8, never empty, never a path, never a device of Windows,
// and with ".jsonl" at most 255 bytes long.
//
// The package does not access the disk: the caller reports which names are
// taken. It does not normalise Unicode, since SillyTavern does not.
package names

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"stchat/internal/text/lazyregexp"
)

// tries is how many numbers or times are tried before giving up, as in
// SillyTavern's getUniqueName.
const tries = 1000

var (
	// ErrTaken means that a chat of the given name exists already.
	ErrTaken = errors.New("a chat of this name exists already")
	// ErrNoFree means that a thousand generated names were all taken.
	ErrNoFree = errors.New("a thousand names in a row are taken; give one")
	// ErrNoRoom means that the longest name allowed is too short for the style.
	ErrNoRoom = errors.New("the longest name allowed has no room for this style")
)

// Request is what a name is made from.
type Request struct {
	Kind  Kind
	Style Style
	// Chat is the source's name, without ".jsonl".
	Chat string
	// Name is the name that was given; empty means that one is generated.
	Name string
	// At is the index of the last message taken, from 0. Names of branches contain
	// it.
	At int
	// Now is the time that names contain, in its own location.
	Now time.Time
	// Chats is the number of chats in the source's folder or in its group's list,
	// from which Classic starts to count.
	Chats int
	// Max is the longest name allowed, in bytes without ".jsonl"; 0 means
	// [MaxBytes], and so does more.
	Max int
	// Taken reports whether a name is in use. It must itself compare folded names
	// ([Fold]). nil means that none is taken.
	Taken func(name string) bool
}

// Name is a name that was made.
type Name struct {
	// File is the chat's name: safe, and without ".jsonl".
	File string
	// Label is the part that distinguishes this chat from its source, without the
	// source's name and what joins them: the name given, made safe, or what was
	// generated, such as "Checkpoint #1", "Branch #12 - <time>", "v2". Clones of
	// lorebooks are named with it.
	Label string
	// Generated reports that no name was given.
	Generated bool
	// Shortened reports that File does not contain the whole of the source's name.
	Shortened bool
}

// Make builds a name in one of the styles. A generated number is the first
// that is free, a time is advanced by milliseconds until the name is free, and after
// 1000 tries the error is [ErrNoFree]. A name that is too long loses the middle of
// the chat's name; a given name is cut only if it does not fit by itself, a
// generated number or time never.
//
// The error is [ErrEmptyName] for a given name that is empty once made safe,
// [ErrBlankName] for one of white space, [ErrReserved] for a device's name and
// [ErrNoRoom] if Max is too short for the style. For a given name that is taken it
// is [ErrTaken], and the Name is returned as well, for a caller that may replace
// that chat.
func Make(r Request) (Name, error) {
	if r.Max <= 0 || r.Max > MaxBytes {
		r.Max = MaxBytes
	}
	if r.Name != "" {
		return given(r)
	}
	return generated(r)
}

// given builds a name from the one that was given.
func given(r Request) (Name, error) {
	// The whole is made safe below, but an empty name must not go unnoticed beside
	// the chat's.
	safe := strip(r.Name)
	label, err := New(r.Name, r.Max)
	if err != nil {
		return Name{}, err
	}
	at := r.Now
	for range tries {
		p := parts{given: safe}
		switch r.Style {
		case Suffix, "":
			p.chat = strip(r.Chat)
			p.join = "__"
		case Classic:
			p.tail = " - " + Humanized(at)
		}

		name, err := p.fit(r.Max)
		if err != nil {
			return Name{}, err
		}
		name.Label = label
		if !r.taken(name.File) {
			return name, nil
		}
		hasTime := r.Style == Classic
		if !hasTime {
			return name, fmt.Errorf("%q: %w", name.File, ErrTaken)
		}
		at = at.Add(time.Millisecond)
	}
	return Name{}, fmt.Errorf("%q: %w", clip(r.Name), ErrNoFree)
}

// generated builds a name if none was given.
func generated(r Request) (Name, error) {
	next := generator(r)
	for i := range tries {
		p, label := next(i)
		name, err := p.fit(r.Max)
		if err != nil {
			return Name{}, err
		}
		if !r.taken(name.File) {
			name.Label = label
			name.Generated = true
			return name, nil
		}
	}
	return Name{}, fmt.Errorf("%s of %q: %w", r.Kind, clip(r.Chat), ErrNoFree)
}

// generator returns a function that returns the i-th name to try, from 0, and its
// label.
func generator(r Request) func(i int) (parts, string) {
	chat := strip(r.Chat)
	numbered := func(i int) string { return r.Kind.token() + strconv.Itoa(1+i) }
	at := r.Kind.token() + strconv.Itoa(r.At)

	switch r.Style {
	case Version:
		return labelled(chat, "-", func(i int) string { return "v" + strconv.Itoa(2+i) })
	case SillyTavern:
		return labelled(Clean(chat, r.Kind), " - ", numbered)
	case Classic:
		if r.Kind == Branch {
			return labelled("", "", r.timed(at))
		}
		return labelled("", "", r.timed(r.classicToken()))
	}

	if r.Kind == Branch {
		return labelled(chat, "__", r.timed(at))
	}
	return labelled(chat, "__", numbered)
}

// labelled returns a function as generator does: chat's name, join, and one label after the other.
func labelled(chat, join string, label func(i int) string) func(i int) (parts, string) {
	return func(i int) (parts, string) {
		own := label(i)
		return parts{chat: chat, tail: join + own}, own
	}
}

// timed returns labels that are a head and the time, each a millisecond after the one before.
func (r Request) timed(head string) func(i int) string {
	return func(i int) string {
		at := r.Now.Add(time.Duration(i) * time.Millisecond)
		return head + " - " + Humanized(at)
	}
}

// classicToken returns the head of an unnamed checkpoint's name in SillyTavern up to
// 1.15: counted from the number of chats on, skipping chats with exactly that name
// (bookmarks.js, getBookmarkName).
func (r Request) classicToken() string {
	for i := range tries {
		if head := r.Kind.token() + strconv.Itoa(r.Chats+i); !r.taken(head) {
			return head
		}
	}
	return r.Kind.token() + strconv.Itoa(r.Chats)
}

func (r Request) taken(name string) bool {
	return r.Taken != nil && r.Taken(name)
}

// parts holds the pieces of a name in their order; tail is never cut.
type parts struct{ chat, join, given, tail string }

// fit puts the pieces together in at most maxBytes bytes, and makes sure that the
// whole is as safe as its pieces: "con.x" with "__y" is a device's name.
func (p parts) fit(maxBytes int) (Name, error) {
	room := maxBytes - len(p.tail)
	given := cut(p.given, room)
	isLost := given == "" && p.given != ""
	if room < 0 || isLost {
		return Name{}, fmt.Errorf("%d bytes: %w", maxBytes, ErrNoRoom)
	}
	whole := Derive(p.chat, p.join, given, room) + p.tail
	file, err := SanitizeMax(whole, maxBytes)
	return Name{File: file, Shortened: !strings.HasPrefix(whole, p.chat)}, err
}

// Humanized returns t as SillyTavern's humanizedDateTime does since 1.16:
// YYYY-MM-DD@HHhMMmSSsNNNms, in t's own location.
func Humanized(t time.Time) string {
	return fmt.Sprintf("%s%03dms", t.Format("2006-01-02@15h04m05s"), t.Nanosecond()/int(time.Millisecond))
}

// Clean returns the name to which SillyTavern 1.16 and later adds a new number: chat
// without one suffix of its own kind (" - Checkpoint #7" or " - Branch #7"), then
// without one prefix that older versions wrote ("Checkpoint #7 - " or "Branch #7 -
// ").
func Clean(chat string, kind Kind) string {
	if head := strings.TrimRight(chat, "0123456789"); head != chat {
		if stem, ok := strings.CutSuffix(head, " - "+kind.token()); ok {
			chat = stem
		}
	}

	for _, k := range [...]Kind{Checkpoint, Branch} {
		after, ok := strings.CutPrefix(chat, k.token())
		if !ok {
			continue
		}
		rest := strings.TrimLeft(after, "0123456789")
		if stem, ok := strings.CutPrefix(rest, " - "); ok && rest != after {
			return stem
		}
	}
	return chat
}

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

// Style is a convention for naming checkpoints and branches; "" is [Suffix].
type Style string

// The styles.
const (
	Suffix      Style = "suffix"      // <chat>__<name>
	SillyTavern Style = "sillytavern" // as SillyTavern 1.16 and later
	Classic     Style = "classic"     // as SillyTavern up to 1.15
	Version     Style = "version"     // <chat>-v<i>
)

// Styles returns the styles, the default first.
func Styles() []Style { return []Style{Suffix, SillyTavern, Classic, Version} }

// humanized is a time as SillyTavern writes it into names: since 1.16, and with spaces before
// (humanizedDateTime in public/scripts/RossAscends-mods.js).
var humanized = lazyregexp.New(`^(\d{4})-(\d{1,2})-(\d{1,2}) ?@(\d{1,2})h ?(\d{1,2})m ?(\d{1,2})s(?: ?(\d{1,3})ms)?`)

// Short returns a chat's name as it is shown below its owner's: of "OWNER - TIME", and of a time
// alone, the time to the minute, and "…" in place of the nearest of the chats above it that it
// begins with, in whole words. What it returns tells a person which chat it is, and no program.
func Short(owner, name string, above ...string) string {
	for _, up := range above {
		rest, ok := strings.CutPrefix(name, up)
		if ok && isBetweenWords(up, rest) {
			return "…" + rest
		}
	}
	return shortTime(owner, name, toMinutes)
}

// isBetweenWords reports whether a name is cut between two words, and not at one of its ends.
func isBetweenWords(before, after string) bool {
	if before == "" || after == "" {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	return !inWord(last) || !inWord(first)
}

// inWord reports whether c is a part of a word; beyond come the scripts without spaces.
func inWord(c rune) bool { return c < '\u2e80' && (unicode.IsLetter(c) || unicode.IsDigit(c)) }

// Shorts returns the short names of an owner's chats, with seconds and milliseconds where two would
// look alike. above returns the names of the chats above one of them, the nearest first; nil: none.
func Shorts(owner string, all []string, above func(i int) []string) []string {
	if above == nil {
		above = func(int) []string { return nil }
	}
	short := make([]string, len(all))
	for i, name := range all {
		short[i] = Short(owner, name, above(i)...)
	}
	for _, precision := range []precision{toSeconds, toMillis} {
		alike := alikeAmong(short, all)
		for i, name := range all {
			if alike[short[i]] && !strings.HasPrefix(short[i], "…") {
				short[i] = shortTime(owner, name, precision)
			}
		}
	}
	return short
}

// alikeAmong returns those of the short names that more than one name has.
func alikeAmong(short, all []string) map[string]bool {
	of := map[string]string{}
	alike := map[string]bool{}
	for i, s := range short {
		other, ok := of[s]
		if ok && other != all[i] {
			alike[s] = true
		}
		of[s] = all[i]
	}
	return alike
}

// precision is how exactly a short name has a time.
type precision int

const (
	toMinutes precision = iota
	toSeconds
	toMillis
)

// shortTime shortens a name that is its owner's and a time, or a time alone.
func shortTime(owner, name string, to precision) string {
	rest := strings.TrimPrefix(name, owner+" - ")
	m := humanized().FindStringSubmatch(rest)
	if m == nil {
		return name
	}
	n := make([]int, len(m)-1)
	for i := range n {
		n[i], _ = strconv.Atoi(m[i+1])
	}
	text := fmt.Sprintf("%04d-%02d-%02d %02d:%02d", n[0], n[1], n[2], n[3], n[4])
	if to >= toSeconds {
		text += fmt.Sprintf(":%02d", n[5])
	}
	if to >= toMillis && m[7] != "" {
		text += fmt.Sprintf(".%03d", n[6])
	}
	return text + rest[len(m[0]):]
}
