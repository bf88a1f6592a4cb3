package repair

import (
	"bytes"

	"stchat/internal/extension"
	"stchat/internal/rules"
)

// messageRepairer repairs messages by the wanted rules.
type messageRepairer struct {
	want   rules.Set
	links  *rules.LinkRepair
	follow func(line []byte) ([]byte, extension.Repaired) // what follows from the repaired metadata; nil: nothing
}

// repair returns the message with everything repaired, or line itself if there is nothing to repair.
func (m *messageRepairer) repair(line []byte) (out []byte, changes []rules.Change) {
	out = line
	if m.want&rules.OnSwipes() != 0 {
		out, changes = rules.RepairSwipes(m.want, out)
	}
	if m.want&rules.OnLinks() != 0 {
		var more []rules.Change
		out, more = m.links.Message(m.want, out)
		changes = append(changes, more...)
	}
	if m.want.Has(rules.LegacyMedia) {
		var more []rules.Change
		out, more = rules.RepairMedia(out)
		changes = append(changes, more...)
	}
	if m.follow != nil {
		if edited, did := m.follow(out); !bytes.Equal(edited, out) {
			out = edited
			changes = append(changes, changeOf(did))
		}
	}
	return out, changes
}

// onLines returns the rules that are repaired line by line.
func onLines() rules.Set {
	return rules.SetOf(rules.BOM, rules.CRLF, rules.NUL, rules.InvalidJSON, rules.TornTail, rules.NotAnObject, rules.TooDeep, rules.MisplacedHeader) |
		rules.SetOf(rules.LegacyMedia) | rules.OnSwipes() | rules.OnLinks()
}
