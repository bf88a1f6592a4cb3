package merge

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/folder/align"
)

// TestJudge: what becomes of a chat, by what it has in common with its copy.
func TestJudge(t *testing.T) {
	three := &file{messages: 3}
	five := &file{messages: 5}
	unread := &file{err: errors.New("damaged")}
	at := func(n int) *int { return &n }
	swipes := []align.Pair{{A: 1, B: 1}}

	for _, test := range []struct {
		name  string
		match match
		want  verdict
	}{
		{"new", match{from: three}, verdict{sign: New, ownFrom: 3}},
		{"deleted here since the base", match{from: three, inBase: true}, verdict{sign: Behind, deleted: true, told: []string{deleted}}},
		{"the same bytes, read or not", match{from: unread, into: unread, twin: true}, verdict{sign: Same}},
		{"the same messages", match{from: three, into: three, relation: relation{firstDifference: 3}}, verdict{sign: Behind}},
		{"INTO has more", match{from: three, into: five, relation: relation{firstDifference: 3, kept: 2}}, verdict{sign: Behind, own: 2, at: at(3)}},
		{"FROM has more", match{from: five, into: three, relation: relation{firstDifference: 3, ownFrom: 2, keptFrom: 2}}, verdict{sign: Ahead, ownFrom: 2, at: at(3)}},
		{
			"both went on",
			match{from: five, into: five, relation: relation{firstDifference: 3, kept: 2, ownFrom: 2, keptFrom: 2, begun: true}},
			verdict{sign: Parted, own: 2, ownFrom: 2, at: at(3)},
		},
		{
			"only the greeting is shared",
			match{from: five, into: five, relation: relation{firstDifference: 1, kept: 4, ownFrom: 4, keptFrom: 4}},
			verdict{sign: Other, own: 4, ownFrom: 4, at: at(1)},
		},
		{
			"more swipes there, more messages here",
			match{from: three, into: five, relation: relation{firstDifference: 1, kept: 2, fullerFrom: swipes}},
			verdict{sign: Ahead, own: 2, ownFrom: 1, at: at(1), told: []string{"1 message has more swipes in FROM, which come; the others stay as they are here"}},
		},
		{
			"more swipes here, more messages there",
			match{from: five, into: three, relation: relation{firstDifference: 1, ownFrom: 2, keptFrom: 2, fuller: swipes}},
			verdict{sign: Ahead, own: 1, ownFrom: 2, at: at(1), told: []string{"1 message has fewer swipes in FROM and stays as it is here"}},
		},
		{
			"deleted on both sides",
			match{from: five, into: three, relation: relation{firstDifference: 2, ownFrom: 2, keptFrom: 2, gone: 1, goneFrom: 2}},
			verdict{sign: Ahead, ownFrom: 2, at: at(2), told: []string{
				"deleted here since the base, and back with FROM's lines: 1 message",
				"deleted or edited in FROM since the base, and no longer here: 2 messages",
			}},
		},
		{
			"deleted in FROM",
			match{from: three, into: five, relation: relation{firstDifference: 3, goneFrom: 2}},
			verdict{sign: Behind, at: at(3), told: []string{"deleted in FROM since the base, and still here: 2 messages"}},
		},
		{
			"a rest of the base",
			match{from: three, into: five, relation: relation{firstDifference: 0, ownFrom: 1, kept: 5, fragment: true}},
			verdict{sign: Behind, own: 5, ownFrom: 1, at: at(0), told: []string{"FROM lacks more than half of what the base has, so its 1 message is not taken"}},
		},
		{"FROM cannot be read", match{from: unread, into: three}, verdict{sign: Refused, err: unread.err}},
		{"INTO cannot be read", match{from: three, into: unread}, verdict{sign: Refused, err: unread.err}},
		{"the base cannot be read", match{from: three, baseErr: unread.err}, verdict{sign: Refused, err: unread.err}},
	} {
		got := test.match.judge()
		sameError := cmp.Comparer(func(a, b error) bool { return errors.Is(a, b) })
		if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(verdict{}), sameError); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
