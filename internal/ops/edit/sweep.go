package edit

import (
	"slices"
	"sync"
)

// sweep walks over the messages and finds the operations that name each.
type sweep struct {
	list     *Operations
	opt      *Options
	greeting bool
	rest     targets  // sorted
	active   []*doing // those whose range has begun, in the list's order
}

// doing is an operation on some messages. It is read when the first of them is edited, as there
// may be millions, and dropped after the last.
type doing struct {
	target
	once sync.Once
	edit Edit
	err  error
}

// at returns the operations that name a message, in the list's order. Calls must be in the
// chat's order.
func (s *sweep) at(index int) []*doing {
	s.active = slices.DeleteFunc(s.active, func(d *doing) bool { return int(d.to) < index })
	for ; len(s.rest) > 0 && int(s.rest[0].from) <= index; s.rest = s.rest[1:] {
		t := s.rest[0]
		if int(t.to) < index {
			continue
		}
		behind, _ := slices.BinarySearchFunc(s.active, t.op+1, func(d *doing, op int) int { return d.op - op })
		s.active = slices.Insert(s.active, behind, &doing{target: t})
	}
	return slices.Clone(s.active)
}

// edit returns the edit of a message: all its operations, one after the other.
func (s *sweep) edit(index int) Edit {
	doings := s.at(index)
	return func(line []byte) ([]byte, error) {
		for _, d := range doings {
			edit, err := d.read(s, len(doings) == 1)
			if err != nil {
				return nil, err
			}
			if line, err = edit(line); err != nil {
				return nil, s.list.errorf(d.op, "%w", err)
			}
		}
		return line, nil
	}
}

// read returns the edit of the operation. It is kept if the operation is on several messages, or
// alone on one: of those that meet on one message there may be a million.
func (d *doing) read(s *sweep, alone bool) (Edit, error) {
	if d.from == d.to && !alone {
		return s.read(d.op)
	}
	d.once.Do(func() { d.edit, d.err = s.read(d.op) })
	return d.edit, d.err
}

// read reads the operation that begins at an offset.
func (s *sweep) read(op int) (Edit, error) {
	o, err := s.list.at(op)
	if err != nil {
		return nil, err
	}
	return o.edit(s.opt, s.greeting)
}
