package jsonl

// damage describes what is wrong with the line that was just read. The scanner did not
// see its byte order mark, which hasBOM reports.
func (s *scanner) damage(hasBOM bool) Damage {
	if s.code == 0 {
		return bomDamage()
	}
	d := Damage{Code: s.code, Column: int(s.badAt) + 1, Byte: s.badIs}
	if hasBOM {
		d.Column += len(bom)
	}
	switch s.code {
	case TooDeep:
		d.Reason = "nested deeper than 10,000 levels"
	case NotObject:
		d.Reason = kindOf(s.first) + ", not an object"
		d.SillyTavernKeeps = !s.falsy
	default:
		d.Reason = syntax(s.badIs, s.badIn)
	}
	return d
}

// syntax describes how a byte breaks the grammar in a state; below 0 it is the line's
// end.
func syntax(is int, in state) string {
	if is < 0 {
		return "the line ends " + place(in)
	}
	c := byte(is)
	switch in {
	case stString:
		if c == 0 {
			return "NUL byte in a string"
		}
		return name(c) + " in a string, where it must be escaped"
	case stEscape:
		return "invalid escape: " + name(c) + " after a backslash"
	case stHex:
		return "invalid escape: " + name(c) + " among the four hexadecimal digits of \\u"
	default:
		return "unexpected " + name(c) + " " + place(in)
	}
}

// place describes where in the grammar a state is.
func place(st state) string {
	switch st {
	case stStart:
		return "at the start, not JSON"
	case stValue:
		return "where a value must follow"
	case stArrFirst:
		return "where a list's first value or ] must follow"
	case stObjFirst:
		return "where a key or } must follow"
	case stKey:
		return "where a key must follow"
	case stColon:
		return "where a colon must follow the key"
	case stAfter:
		return "after a value, where a comma or the closing bracket must follow"
	case stEnd:
		return "after the line's value"
	case stString, stEscape, stHex:
		return "inside a string"
	case stLiteral:
		return "in true, false or null"
	default:
		return "in a number"
	}
}

func kindOf(first byte) string {
	switch first {
	case '"':
		return "a string"
	case '[':
		return "a list"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}

// bomDamage returns the damage for a byte order mark before a line that is otherwise
// fine.
func bomDamage() Damage {
	return Damage{Code: BOM, Column: 1, Byte: int(bom[0]), Reason: "the file begins with a byte order mark (BOM)"}
}
