package luker

import (
	"stchat/internal/jsvalue"
	"stchat/internal/rawjson"
)

// Variables replays the operations that messages note in extra.var_ops, with the semantics of
// Luker's variable-op-log (apply.js, path-ops.js, rebuilder.js). It takes messages in order:
// [Variables.Apply] for those that count, [Variables.Mention] for others, of which only the
// names of the variables matter. The zero value is ready to use.
type Variables struct {
	values values
	order  []string // keys of Apply, as first mentioned
	later  []string // keys of Mention, as first mentioned
	noted  map[string]noted
	failed map[string]error
}

// noted records how a variable was mentioned.
type noted struct{ applied, mentioned bool }

// Variable is one variable after the operations.
type Variable struct {
	Name string
	Raw  []byte // JSON; nil: the operations leave no such variable
	Err  error  // not nil: its value is unknown
}

// Apply applies a message's operations; ops is its extra.var_ops. It skips what is not
// a list of operations, as Luker does.
func (s *Variables) Apply(ops []byte) {
	for raw := range rawjson.Elements(ops) {
		o, key, ok := operation(raw)
		if !ok {
			continue
		}
		if n := s.note(key); !n.applied {
			s.noted[key] = noted{true, n.mentioned}
			s.order = append(s.order, key)
		}
		if s.failed[key] == nil {
			if err := s.values.apply(o, key); err != nil {
				s.failed[key] = err
				delete(s.values.state, key)
			}
		}
	}
}

// Mention notes the variables of a message that does not count.
func (s *Variables) Mention(ops []byte) {
	for raw := range rawjson.Elements(ops) {
		_, key, ok := operation(raw)
		if !ok {
			continue
		}
		if n := s.note(key); !n.mentioned {
			s.noted[key] = noted{n.applied, true}
			s.later = append(s.later, key)
		}
	}
}

// Any reports whether any message noted an operation.
func (s *Variables) Any() bool { return len(s.noted) > 0 }

func (s *Variables) note(key string) noted {
	if s.noted == nil {
		s.noted, s.values.state, s.failed = map[string]noted{}, map[string]*variable{}, map[string]error{}
	}
	return s.noted[key]
}

// Kept returns the variables that applied operations touch, in the order of first mention.
func (s *Variables) Kept() []Variable {
	list := make([]Variable, 0, len(s.order))
	for _, key := range s.order {
		v := Variable{Name: key, Err: s.failed[key]}
		if stored, ok := s.values.state[key]; ok && v.Err == nil {
			if v.Raw = jsvalue.Stringify(stored.value); stored.tree {
				v.Raw = rawjson.Quote(string(v.Raw))
			}
		}
		list = append(list, v)
	}
	return list
}

// Later returns the names of variables that were mentioned but never applied.
func (s *Variables) Later() []string {
	var names []string
	for _, key := range s.later {
		if !s.noted[key].applied {
			names = append(names, key)
		}
	}
	return names
}

// operation reads one element of var_ops. ok is false for a variable called __proto__:
// JavaScript would set the prototype, and Luker's replay finds nothing there.
func operation(raw []byte) (o *jsvalue.Object, key string, ok bool) {
	v, _ := jsvalue.Parse(raw)
	if o, ok = v.(*jsvalue.Object); !ok {
		return nil, "", false
	}
	name, _ := o.Get("key")
	key, _ = name.(string)
	return o, key, key != "" && key != "__proto__"
}
