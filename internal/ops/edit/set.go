package edit

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"stchat/internal/json/patch"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/sillytavern/choose"
	"stchat/internal/sillytavern/message"
)

// SetOptions says how to change messages.
type SetOptions struct {
	Options
	Choice choose.Choice
	Values patch.Changes
	Sub    []Substitution
	// AllSwipes makes the substitutions in every swipe.
	AllSwipes bool
	// One refuses a choice of several messages with [choose.ErrNotOne].
	One bool
}

var (
	// ErrShape means that an edit would leave something that is not a message.
	ErrShape = error(&ops.Kind{Code: "usage", Text: "SillyTavern could not show the message"})
	// ErrChosenGone means that an edit takes the chosen swipe from the list of swipes.
	ErrChosenGone = error(&ops.Kind{Code: "usage", Text: "swipes would lack the chosen one, or it would not be text"})
	// ErrSwipeID means that an edit sets swipe_id.
	ErrSwipeID = error(&ops.Kind{Code: "usage", Text: "swipe_id cannot be set: the text and the dates belong to the chosen swipe", Hint: "swipe"})
)

// Set changes the chosen messages. If the text changes, so does the chosen swipe.
func Set(ctx context.Context, opt SetOptions) []*Result {
	return run(ctx, opt.Options, func(ctx context.Context, o *open) (*Plan, error) {
		subs := prepared(opt.Sub)
		chosen, err := o.chosen(ctx, scanning{Choice: opt.Choice})
		if err == nil && opt.One && len(chosen) > 1 {
			err = o.chat.Errorf("%w, not %d", choose.ErrNotOne, len(chosen))
		}
		if err != nil {
			return nil, err
		}
		err = o.warnOfKeys(nearMessageKeys(opt.Values.Edits), o.lacking(chosen))
		found := new(placesByLine)
		edits := found.counting(func(line []byte) ([]byte, places, error) { return opt.line(line, subs) })
		return &Plan{Taints: true, Change: chosen, Edits: edits, Found: found}, err
	})
}

// Line makes the changes in one message.
func (opt *SetOptions) Line(line []byte) ([]byte, error) {
	edited, _, err := opt.line(line, prepared(opt.Sub))
	return edited, err
}

// line makes the changes in one message, and counts what substitutions found in its text and its swipes.
func (opt *SetOptions) line(line []byte, subs []substituting) (edited []byte, found places, err error) {
	line, err = setValues(&opt.Values, line)
	if err != nil || len(subs) == 0 {
		return line, found, err
	}
	// substitutions keep a message a message
	if opt.AllSwipes {
		line, found, err = inSwipes(line, subs)
		if err != nil {
			return nil, found, err
		}
	}

	old := rawjson.Value(line, "mes")
	text, inText := substituted(old, subs)
	found.add(inText)
	if bytes.Equal(text, old) {
		return line, found, nil
	}
	line, err = rawjson.SetPath(line, text, "mes")
	return message.SyncText(line), found, err
}

// inSwipes makes substitutions in all swipes of a message. The chosen one, which repeats the text of the
// message, is counted with that.
func inSwipes(line []byte, subs []substituting) (edited []byte, found places, err error) {
	swipes := rawjson.Value(line, "swipes")
	changed := rawjson.EditList(swipes, func(i int, swipe []byte) ([]byte, bool) {
		text, inSwipe := substituted(swipe, subs)
		if !message.RepeatsText(line, swipe, i) {
			found.add(inSwipe)
		}
		return text, true
	})

	if bytes.Equal(changed, swipes) {
		return line, found, nil
	}
	edited, err = rawjson.SetPath(line, changed, "swipes")
	return edited, found, err
}

// setValues makes changes in a message.
func setValues(c *patch.Changes, line []byte) ([]byte, error) {
	edited, err := c.Apply(line)
	if err != nil {
		return nil, err
	}
	return judged(line, edited)
}

// judged refuses an edit that leaves something other than a message, and copies an edited text
// to the chosen swipe.
func judged(line, edited []byte) ([]byte, error) {
	if bytes.Equal(line, edited) {
		return line, nil
	}
	if kind := rawjson.KindOf(edited); kind != rawjson.ObjectKind {
		return nil, fmt.Errorf("%w: it would be %s, not an object", ErrShape, kind)
	}
	keys := [...]string{"mes", "name", "is_user", "swipe_id", "swipes", "chat_metadata"}
	kinds := [...]rawjson.Kind{rawjson.String, rawjson.String, rawjson.Bool}
	var was, is [len(keys)]rawjson.Span
	rawjson.Places(line, was[:], keys[:]...)
	rawjson.Places(edited, is[:], keys[:]...)
	same := func(i int) bool {
		return (was[i].End > 0) == (is[i].End > 0) && bytes.Equal(line[was[i].At:was[i].End], edited[is[i].At:is[i].End])
	}
	if !same(3) {
		return nil, ErrSwipeID
	}
	for i, want := range kinds {
		if kind := rawjson.KindOf(edited[is[i].At:is[i].End]); !same(i) && kind != want {
			if is[i].End == 0 {
				return nil, fmt.Errorf("%w: %s would be missing", ErrShape, keys[i])
			}
			return nil, fmt.Errorf("%w: %s would be %s", ErrShape, keys[i], kind)
		}
	}

	if !same(5) && is[5].End > 0 {
		return nil, fmt.Errorf("%w: with chat_metadata it would be a header", ErrShape)
	}
	if !same(4) && message.CheckChosen(edited) != nil {
		return nil, ErrChosenGone
	}
	if same(0) {
		return edited, nil
	}
	return message.SyncText(edited), nil
}

// Substitution replaces every match of a regular expression in a message's text.
type Substitution struct {
	Match *regexp.Regexp
	With  string // may name groups: $1, ${name}
	Words bool   // only a match that no letter or digit touches

	Everywhere bool // also in addresses of pictures, files and pages
}

// GroupError means that the text of a substitution names a group that its expression lacks.
type GroupError struct {
	Group string // as the text names it, without the dollar sign
}

// Error says how a dollar sign and a group are written.
func (e *GroupError) Error() string {
	return fmt.Sprintf("RE has no group %q: write $$ for a dollar sign, and ${1} for a group that letters or digits follow", e.Group)
}

// NewSubstitution returns the substitution of text for what the expression matches. The error is a
// [*GroupError].
func NewSubstitution(match *regexp.Regexp, with string) (Substitution, error) {
	for _, group := range groupsIn(with) {
		number, err := strconv.Atoi(group)
		isNumber := err == nil && strconv.Itoa(number) == group // "01" is a name
		switch {
		case isNumber && number <= match.NumSubexp():
		case !isNumber && match.SubexpIndex(group) >= 0:
		default:
			return Substitution{}, &GroupError{Group: group}
		}
	}
	return Substitution{Match: match, With: with}, nil
}

// groupsIn returns the groups that the text of a substitution names, as [regexp.Regexp.Expand] reads
// it: $$ is a dollar sign, and so is a $ that neither a name nor a name in braces follows; a name without
// braces is as long as it can be.
func groupsIn(text string) (groups []string) {
	reference := regexp.MustCompile(`\$(?:\$|([\pL\p{Nd}_]+)|\{([\pL\p{Nd}_]+)\})`)
	for _, found := range reference.FindAllStringSubmatch(text, -1) {
		group := found[1] + found[2]
		if group != "" {
			groups = append(groups, group)
		}
	}
	return groups
}

// substituting makes a substitution in many texts, in several goroutines.
type substituting struct {
	Substitution
	prefix  string       // what every match begins with, if without \u it has only one spelling; else ""
	literal []byte       // what takes its place, raw, if it is the whole match; else nil
	words   *wordMatcher // if only whole words count; else nil
}

// prepared returns the substitutions as they are made in many texts.
func prepared(list []Substitution) []substituting {
	all := make([]substituting, len(list))
	for i, s := range list {
		all[i].Substitution = s
		if s.Words {
			all[i].words = newWordMatcher(s.Match)
		}
		prefix, _ := s.Match.LiteralPrefix()
		if !onlySpelling(prefix) {
			continue
		}
		all[i].prefix = prefix
		isText := prefix != "" && s.Match.String() == regexp.QuoteMeta(prefix) // without anchors, which LiteralPrefix does not tell
		if isText && !s.Words {
			all[i].literal = all[i].replacement([]byte(prefix), []int{0, len(prefix)})
		}
	}
	return all
}

// replacement returns what takes the place of a match, raw, without quotes. It is not nil.
func (s *substituting) replacement(text []byte, match []int) []byte {
	with := rawjson.Quote(string(s.Match.Expand(nil, []byte(s.With), text, match)))
	return with[1 : len(with)-1]
}

// substituted makes substitutions in a raw text, one after the other. They leave valid JSON: whole characters
// of a string give way to others. found is how many they are.
func substituted(raw []byte, list []substituting) (text []byte, found places) {
	for i := range list {
		splices := list[i].splices(raw)
		if !list[i].Everywhere {
			kept, left := outside(raw, splices)
			found.left += left
			splices = kept
		}
		found.replaced += len(splices)
		raw = rawjson.Splices(raw, splices)
	}
	return raw, found
}

// matches returns the matches in a decoded text, as [regexp.Regexp.FindAllSubmatchIndex] does: all, or those
// that are whole words.
func (s *substituting) matches(text []byte) [][]int {
	if s.words != nil {
		return s.words.all(text)
	}
	return s.Match.FindAllSubmatchIndex(text, -1)
}

// splices returns the substitution in one raw text as splices. What does not match keeps its
// spelling. Bytes that are not UTF-8, and halves of surrogate pairs, match nothing: the text
// before and the text after them are matched separately.
func (s *substituting) splices(raw []byte) (list []rawjson.Splice) {
	if rawjson.KindOf(raw) != rawjson.String {
		return nil
	}
	body := raw[1 : len(raw)-1]
	// a prefix with only one spelling is found without decoding
	if !bytes.Contains(body, []byte(`\u`)) {
		switch {
		case s.literal != nil:
			return s.literals(raw)
		case !bytes.Contains(body, []byte(s.prefix)):
			return nil
		}
	}

	for part := range decodedParts(body) {
		for _, match := range s.matches(part.text) {
			from := part.in(match[0])
			to := part.in(match[1])
			list = append(list, rawjson.Splice{At: int64(1 + from), Len: int64(to - from), Data: s.replacement(part.text, match)})
		}
	}
	return list
}

// onlySpelling reports whether a text can be written in only one way, as long as nothing is
// escaped as \uXXXX.
func onlySpelling(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == '/' })
}

// literals is splices for a raw text in which every match is spelled as the prefix, which is the
// whole expression.
func (s *substituting) literals(raw []byte) (list []rawjson.Splice) {
	for at := 1; ; {
		n := bytes.Index(raw[at:], []byte(s.prefix))
		if n < 0 {
			return list
		}
		at += n
		before := at
		for raw[before-1] == '\\' {
			before--
		}
		if (at-before)%2 == 1 { // its first letter belongs to an escape
			at++
			continue
		}
		list = append(list, rawjson.Splice{At: int64(at), Len: int64(len(s.prefix)), Data: s.literal})
		at += len(s.prefix)
	}
}
