package luker

import (
	"math"
	"slices"
	"strings"

	"stchat/internal/json/jsvalue"
	"stchat/internal/jsonl/rawjson"
)

// Variables replays the operations that messages note in extra.var_ops, with the semantics of
// Luker's variable-op-log (apply.js, path-ops.js, rebuilder.js). It takes messages in order:
// [Variables.Apply] for those that count, [Variables.Mention] for others, of which only the
// names of the variables matter. The zero value is ready to use.
type Variables struct {
	values    values
	applied   names // keys of Apply
	mentioned names // keys of Mention
	failed    map[string]error
}

// names are different names, in the order in which they came.
type names struct {
	list []string
	has  map[string]bool
}

func (n *names) add(name string) {
	if n.has == nil {
		n.has = map[string]bool{}
	}
	if !n.has[name] {
		n.has[name] = true
		n.list = append(n.list, name)
	}
}

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
		s.applied.add(key)
		if s.failed == nil {
			s.values.state, s.failed = map[string]*variable{}, map[string]error{}
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
		if _, key, ok := operation(raw); ok {
			s.mentioned.add(key)
		}
	}
}

// Any reports whether any message noted an operation.
func (s *Variables) Any() bool { return len(s.applied.list)+len(s.mentioned.list) > 0 }

// Kept returns the variables that applied operations touch, in the order of first mention.
func (s *Variables) Kept() []Variable {
	list := make([]Variable, 0, len(s.applied.list))
	for _, key := range s.applied.list {
		v := Variable{Name: key, Err: s.failed[key]}
		if stored, ok := s.values.state[key]; ok && v.Err == nil {
			v.Raw = jsvalue.Stringify(stored.value)
			if stored.tree {
				v.Raw = rawjson.Quote(string(v.Raw))
			}
		}
		list = append(list, v)
	}
	return list
}

// Later returns the names of variables that were mentioned but never applied.
func (s *Variables) Later() []string {
	return slices.DeleteFunc(slices.Clone(s.mentioned.list), func(key string) bool { return s.applied.has[key] })
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

// values are the variables as operations change them, at a bounded cost.
type values struct {
	state map[string]*variable
	effort
}

// variable is a value; tree means that the JavaScript value is the string
// JSON.stringify(value), which is how Luker stores lists and objects. The string is made
// only when needed: otherwise every operation would cost as much as the whole value.
type variable struct {
	value jsvalue.Value
	tree  bool
}

// apply is applyOp of apply.js.
func (s *values) apply(o *jsvalue.Object, key string) error {
	verb, _ := o.Get("op")
	value, has := o.Get("value")
	given, _ := o.Get("path")
	path, _ := given.(string)
	steps, err := segments(path)
	if err != nil {
		return err
	}
	text := value // of operations on the whole variable
	if text == nil {
		text = ""
	}
	switch {
	case verb == "addvar":
		return s.add(key, text)
	case path != "" && len(steps) == 0: // every segment was empty or one was forbidden: Luker does nothing
		return nil
	case path != "":
	case verb == "setvar":
		s.state[key] = &variable{value: text}
		return nil
	case verb == "incvar":
		return s.add(key, 1.0)
	case verb == "decvar":
		return s.add(key, -1.0)
	case verb == "deletevar":
		delete(s.state, key)
		return nil
	}

	switch verb {
	case "setvar", "incvar", "decvar", "deletevar", "pushvar", "popvar":
	default:
		return nil
	}

	p, err := s.at(key, steps)
	if err != nil {
		return err
	}
	store, err := p.apply(verb, value, has)
	if store && err == nil {
		s.state[key] = &variable{value: p.root, tree: true}
	}
	return err
}

// at is getOrInitRoot of path-ops.js: it returns the place in the list or object that a
// variable holds, or in a new one of the kind that the path's first segment needs.
func (s *values) at(key string, steps []string) (*place, error) {
	p := &place{values: s, steps: steps, root: jsvalue.NewObject()}
	if v, ok := s.state[key]; ok {
		switch value := v.value.(type) {
		case *jsvalue.Object, *jsvalue.Array:
			p.root, p.exists = value, true
			return p, nil
		case string:
			if err := s.spend(len(value)); err != nil {
				return nil, err
			}
			parsed, _ := jsvalue.Parse([]byte(value))
			if isContainer(parsed) {
				p.root, p.exists = parsed, true
				return p, nil
			}
		}
	}

	if len(steps) == 0 || isDigits(steps[0]) {
		p.root = &jsvalue.Array{}
	}
	return p, nil
}

// add is addToVariable of apply.js.
func (s *values) add(key string, delta jsvalue.Value) error {
	current, exists := s.state[key]
	if exists {
		list, err := s.listIn(current)
		if err != nil {
			return err
		}
		if list != nil {
			list.Items = append(list.Items, delta)
			s.state[key] = &variable{value: list, tree: true}
			return nil
		}
	}

	number := math.NaN()
	text := ""
	if exists && current.value != nil {
		switch v := current.value.(type) {
		case string:
			if err := s.spend(len(v)); err != nil {
				return err
			}
			text = v
			if v != "" {
				number = jsvalue.ToNumber(v)
			}
		default:
			var err error
			if text, err = s.text(current); err != nil {
				return err
			}
			if !current.tree { // the text of an object is not a number
				number = jsvalue.ToNumber(v)
			}
		}
	}

	sum := number + jsvalue.ToNumber(delta)
	switch {
	case math.IsNaN(number) || math.IsNaN(jsvalue.ToNumber(delta)):
		s.state[key] = &variable{value: text + jsvalue.String(delta)}
	case !math.IsNaN(sum): // infinity minus infinity changes nothing
		s.state[key] = &variable{value: sum}
	}
	return nil
}

// text is String(current).
func (s *values) text(v *variable) (string, error) {
	if !v.tree {
		return jsvalue.String(v.value), nil
	}
	text := string(jsvalue.Stringify(v.value))
	return text, s.spend(len(text))
}

// listIn returns the list of which a variable is the JSON text, nil if it is not one.
func (s *values) listIn(v *variable) (*jsvalue.Array, error) {
	if v.tree {
		list, _ := v.value.(*jsvalue.Array)
		return list, nil
	}
	text, ok := v.value.(string)
	if !ok || !strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "[") {
		return nil, nil
	}
	if err := s.spend(len(text)); err != nil {
		return nil, err
	}
	parsed, _ := jsvalue.Parse([]byte(text))
	list, _ := parsed.(*jsvalue.Array)
	return list, nil
}
