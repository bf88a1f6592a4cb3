package merge

import (
	"cmp"
	"fmt"

	"stchat/internal/text/plural"
)

// Sign says what becomes of a chat of FROM.
type Sign string

// The signs.
const (
	Same    Sign = "="
	Behind  Sign = "<" // INTO has all of it
	Ahead   Sign = ">" // INTO's gets its lines; see [work.takesLines]
	New     Sign = "+"
	Parted  Sign = "Y" // comes as a branch
	Other   Sign = "2" // another chat of that name
	Refused Sign = "!"
)

// sign judges a match.
func (m *match) sign() Sign {
	switch {
	case m.into == nil:
		return New
	case m.twin:
		return Same
	case m.isHere():
		return Behind
	case m.ownFrom == 0 || m.kept == 0:
		return Ahead
	case m.begun:
		return Parted
	}
	return Other
}

// verdict is what becomes of a chat of FROM.
type verdict struct {
	sign    Sign
	own     int      // messages that only INTO's has
	ownFrom int      // messages that only FROM's has
	at      *int     // the first message that differs; nil: none does
	told    []string // what a person should know besides
	deleted bool     // it was deleted in INTO since the base
	err     error    // why it is refused
}

// deleted is told of what only the base and FROM have.
const deleted = "it was deleted here since the base, and is as it was in FROM: it does not come"

// judge decides what becomes of a chat, by its messages alone.
func (m *match) judge() verdict {
	if m.twin {
		return verdict{sign: Same}
	}
	if err := m.unreadable(); err != nil {
		return verdict{sign: Refused, err: err}
	}
	switch {
	case m.into == nil && m.inBase:
		return verdict{sign: Behind, deleted: true, told: []string{deleted}}
	case m.into == nil:
		return verdict{sign: New, ownFrom: m.from.messages}
	}

	v := verdict{
		sign:    m.sign(),
		own:     m.kept + len(m.fuller),
		ownFrom: m.ownFrom + len(m.fullerFrom),
	}

	if m.firstDifference < max(m.from.messages, m.into.messages) {
		v.at = &m.firstDifference
	}
	if m.ownFrom > 0 && m.fragment {
		v.sign = Behind
		v.told = []string{fmt.Sprintf("FROM lacks more than half of what the base has, so its %s not taken", plural.Of(m.ownFrom, "message is", "messages are"))}
		return v
	}

	v.told = m.differences(v.sign)
	return v
}

// unreadable returns why a chat, its copy or the base cannot be read.
func (m *match) unreadable() error {
	err := m.from.err
	if m.into != nil {
		err = cmp.Or(err, m.into.err)
	}
	return cmp.Or(err, m.baseErr)
}

// differences tells what one side has that is not as it was, and of which messages the line of the other side stays.
func (m *match) differences(sign Sign) (told []string) {
	if sign == Behind && m.ownFrom == 0 && m.goneFrom > 0 {
		told = append(told, "deleted in FROM since the base, and still here: "+plural.S(m.goneFrom, "message"))
	}
	if sign != Ahead {
		return told
	}
	if !takesLines(sign, m.kept) {
		more := plural.Of(len(m.fullerFrom), "message has", "messages have")
		return append(told, more+" more swipes in FROM, which come; the others stay as they are here")
	}
	if m.gone > 0 {
		told = append(told, "deleted here since the base, and back with FROM's lines: "+plural.S(m.gone, "message"))
	}
	if m.goneFrom > 0 {
		told = append(told, "deleted or edited in FROM since the base, and no longer here: "+plural.S(m.goneFrom, "message"))
	}
	if len(m.fuller) > 0 {
		told = append(told, plural.Of(len(m.fuller), "message has fewer swipes in FROM and stays as it is here", "messages have fewer swipes in FROM and stay as they are here"))
	}
	return told
}
