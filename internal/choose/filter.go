package choose

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"stchat/internal/jsonl"
	"stchat/internal/message"
	"stchat/internal/patch"
	"stchat/internal/rawjson"
	"stchat/internal/sendate"
)

// Filter says what a message must be. The zero Filter lets every message through.
type Filter struct {
	Roles  []string       // any of [Roles]
	Names  []string       // any of them, exactly
	Hidden *bool          // hidden, or not hidden
	Has    []patch.Path   // all of these exist
	Match  *regexp.Regexp // matches mes
	Since  time.Time      // not before, unless zero
	Until  time.Time      // not after, unless zero
}

// Roles returns the roles that a filter knows: those of inspect, and two from
// extra.type.
func Roles() []string {
	return []string{string(message.User), string(message.Character), string(message.System), "narrator", "comment"}
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
	return len(f.Roles)+len(f.Names)+len(f.Has) == 0 && f.Hidden == nil && f.Match == nil && f.Since.IsZero() && f.Until.IsZero()
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
	if f.Hidden != nil && Hidden(l) != *f.Hidden {
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
		if !ok || date.Before(f.Since) || !f.Until.IsZero() && date.After(f.Until) {
			return false
		}
	}
	if f.Match != nil {
		raw, _ := l.Value(keyText)
		if text, ok := rawjson.Unquote(raw); !ok || !f.Match.MatchString(text) {
			return false
		}
	}
	return true
}

func (f *Filter) matchRole(l *jsonl.Line) bool {
	user, _ := l.Value(keyIsUser)
	system, _ := l.Value(keyIsSystem)
	if slices.Contains(f.Roles, string(message.Role(user, system))) {
		return true
	}
	kind, ok := rawjson.Unquote(kindOf(l))
	return ok && (kind == "narrator" || kind == "comment") && slices.Contains(f.Roles, kind)
}

// kindOf returns the raw value of extra.type.
func kindOf(l *jsonl.Line) []byte {
	extra, _ := l.Value(keyExtra)
	return rawjson.Value(extra, "type")
}

// Hidden reports whether the message was hidden by its user: it is a system message
// without extra.type.
func Hidden(l *jsonl.Line) bool {
	system, _ := l.Value(keyIsSystem)
	return rawjson.Truthy(system) && !rawjson.Truthy(kindOf(l))
}
