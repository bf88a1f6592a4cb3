// Package choose picks messages of a chat: by index, by what they say of themselves,
// by date, and the first or last of those.
//
// A [Choice] is what was asked for. [Choice.Scan] reads the chat once, or twice where an
// index counts from the end and it need not read all, and hands out the places of the
// chosen messages in the chat's order; [ScanBeside] reads something else of all messages
// meanwhile; [Choice.Tail] reads from the end. The memory used depends on the longest line
// and the number of messages asked for with Last, not on the chat's length.
package choose

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"stchat/internal/json/patch"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/place/sendate"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/message"
)

// Filter says what a message must be. The zero Filter lets every message through.
type Filter struct {
	Roles  []string         // any of [Roles]
	Names  []string         // any of them, exactly
	Hidden *bool            // hidden, or not hidden
	Has    []patch.Path     // all of these exist
	Match  []*regexp.Regexp // all of these match mes
	Since  time.Time        // not before, unless zero
	Until  time.Time        // not after, unless zero
}

// Roles returns the roles that a filter knows.
func Roles() (list []string) {
	for _, who := range message.Roles() {
		list = append(list, string(who))
	}
	return list
}

// ParseRoles reads a list of roles separated by commas. The error names an unknown one.
func ParseRoles(text string) ([]string, error) {
	list := strings.Split(text, ",")
	for _, role := range list {
		if !slices.Contains(Roles(), role) {
			return nil, fmt.Errorf("unknown role %q; choose from %s", role, strings.Join(Roles(), ", "))
		}
	}
	return list, nil
}

// Empty reports whether the filter lets every message through.
func (f *Filter) Empty() bool {
	lists := len(f.Roles) + len(f.Names) + len(f.Has) + len(f.Match)
	anyDate := f.Since.IsZero() && f.Until.IsZero()
	return lists == 0 && f.Hidden == nil && anyDate
}

// Keys that a filter reads of a line, by number.
const (
	keyName = iota
	keyIsUser
	keyIsSystem
	keyExtra
	keyText
	keyDate
)

func lineKeys() []string {
	return []string{"name", "is_user", "is_system", "extra", "mes", "send_date"}
}

// match reports whether a message passes; it may run in several goroutines.
func (f *Filter) match(l *jsonl.Line) bool {
	if len(f.Roles) > 0 && !f.matchRole(l) {
		return false
	}
	if f.Hidden != nil && hidden(l) != *f.Hidden {
		return false
	}
	if len(f.Names) > 0 {
		raw, _ := l.Value(keyName)
		if name, ok := rawjson.Unquote(raw); !ok || !slices.Contains(f.Names, name) {
			return false
		}
	}

	for _, path := range f.Has {
		in := l.Raw
		if len(path) > 1 && path[0] == "extra" { // already found
			in, _ = l.Value(keyExtra)
			path = path[1:]
		}
		if _, ok := patch.Get(in, path); !ok {
			return false
		}
	}

	if !f.Since.IsZero() || !f.Until.IsZero() {
		raw, _ := l.Value(keyDate)
		date, ok := sendate.ParseRaw(raw)
		tooLate := !f.Until.IsZero() && date.After(f.Until)
		if !ok || date.Before(f.Since) || tooLate {
			return false
		}
	}

	if len(f.Match) == 0 {
		return true
	}
	raw, _ := l.Value(keyText)
	text, ok := rawjson.Unquote(raw)
	return ok && !slices.ContainsFunc(f.Match, func(re *regexp.Regexp) bool { return !re.MatchString(text) })
}

func (f *Filter) matchRole(l *jsonl.Line) bool {
	name, _ := l.Value(keyName)
	user, _ := l.Value(keyIsUser)
	system, _ := l.Value(keyIsSystem)
	extra, _ := l.Value(keyExtra)
	return slices.Contains(f.Roles, string(message.Role(name, user, system, extra)))
}

// hidden reports whether the message was hidden by its user.
func hidden(l *jsonl.Line) bool {
	system, _ := l.Value(keyIsSystem)
	extra, _ := l.Value(keyExtra)
	return message.Hidden(system, extra)
}

// Choice says which messages are meant. The zero Choice is all of them.
type Choice struct {
	Ranges []Range // empty: all
	Filter Filter
	First  int // only so many of what Ranges, Filter and Only choose, from the front; 0: all
	Last   int // only so many of that from the end; 0: all

	// Only, if not nil, narrows the choice like Ranges: it reports whether a message is
	// chosen. It is called in the messages' order.
	Only func(index int) bool
	// Clip lets a range end at the last message where it goes beyond it.
	Clip bool
	// Whole reads on behind the last message that can be meant, so that all are counted.
	Whole bool
}

// All reports whether nothing narrows the choice.
func (c *Choice) All() bool {
	anyNumber := c.First == 0 && c.Last == 0
	return len(c.Ranges) == 0 && c.Filter.Empty() && anyNumber && c.Only == nil
}

// Source is where a chat's messages lie.
type Source struct {
	jsonl.Source
	Body    int64 // offset at which they begin, behind the header
	Line    int   // physical lines before Body
	Workers int   // goroutines at most; 0: as many as processors

	Progress func(int64) // unless nil, is called with the offset reached
}

// SourceOf returns where the messages of an open chat lie.
func SourceOf(c *chat.Chat) Source { return Source{Source: c.Source, Body: c.Body, Line: c.BodyLine} }

// Place is where a chosen message lies.
type Place struct {
	Index    int // below 0: not known
	Off, Len int64
}

// Scanned is what a scan found besides the chosen messages.
type Scanned struct {
	Messages int           // number of messages read
	Chosen   int           // number of messages handed out
	Whole    bool          // the whole chat was read
	Clipped  bool          // a range ends at the last message instead of beyond it
	Last     Place         // of the last message read; its Len is 0 if there is none
	Damage   jsonl.Damages // of the lines read
}

// errEnough ends a scan early.
var errEnough = errors.New("enough")

var (
	// ErrNone means that no message is chosen.
	ErrNone = errors.New("no message is chosen")
	// ErrNotOne means that several messages are chosen instead of one.
	ErrNotOne = errors.New("choose one message")
)

// One returns the only message that is chosen. The error is that of [Choice.Scan] or
// [ErrNone], or wraps [ErrNotOne].
func (c *Choice) One(ctx context.Context, src Source) (one Place, scanned Scanned, err error) {
	scanned, err = c.Scan(ctx, src, func(p Place) error {
		one = p
		return nil
	})
	switch {
	case err != nil:
	case scanned.Chosen == 0:
		err = ErrNone
	case scanned.Chosen > 1:
		err = fmt.Errorf("%w, not %d", ErrNotOne, scanned.Chosen)
	}
	return one, scanned, err
}

// Scan calls each with the places of the chosen messages, in the chat's order. Unless
// Whole is set, it reads no further than the last message that can be meant. It skips
// damaged lines and does not count them. The error is a [*OutOfRangeError] if a range
// names a message that the chat lacks, that of each, or that of reading.
func (c *Choice) Scan(ctx context.Context, src Source, each func(Place) error) (Scanned, error) {
	return ScanBeside(ctx, c, src, each, Beside[struct{}]{})
}
