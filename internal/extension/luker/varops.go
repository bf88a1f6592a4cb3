package luker

import (
	"math"
	"strings"

	"stchat/internal/jsvalue"
)

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
	if path != "" && len(steps) == 0 && verb != "addvar" {
		return nil // every segment was empty or one was forbidden: Luker does nothing
	}
	if path == "" {
		switch verb {
		case "setvar":
			if value == nil {
				value = ""
			}
			s.state[key] = &variable{value: value}
			return nil
		case "incvar":
			return s.add(key, 1.0)
		case "decvar":
			return s.add(key, -1.0)
		case "deletevar":
			delete(s.state, key)
			return nil
		}
	}
	if verb == "addvar" {
		if value == nil {
			value = ""
		}
		return s.add(key, value)
	}
	return s.applyAt(verb, key, steps, value, has)
}

// applyAt applies the operations that work inside a list or object: those with a path,
// and pushvar and popvar without one.
func (s *values) applyAt(verb jsvalue.Value, key string, steps []string, value jsvalue.Value, has bool) error {
	switch verb {
	case "setvar", "incvar", "decvar", "deletevar", "pushvar", "popvar":
	default:
		return nil
	}
	p, err := s.at(key, steps)
	if err != nil {
		return err
	}
	switch verb {
	case "setvar":
		return p.set(value, has)
	case "incvar":
		return p.add(1)
	case "decvar":
		return p.add(-1)
	case "deletevar":
		return p.remove()
	case "pushvar":
		return p.push(value)
	default:
		return p.pop()
	}
}

// at is getOrInitRoot of path-ops.js: it returns the place in the list or object that a
// variable holds, or in a new one of the kind that the path's first segment needs.
func (s *values) at(key string, steps []string) (*place, error) {
	p := &place{values: s, key: key, steps: steps, root: jsvalue.NewObject()}
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
