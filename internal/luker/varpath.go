package luker

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"stchat/internal/jsvalue"
)

// root is getOrInitRoot of path-ops.js: the list or object that a variable holds,
// or a new one of the shape that the path's first segment asks for.
func (s *values) root(key string, steps []string) (root jsvalue.Value, exists bool, err error) {
	if v, ok := s.state[key]; ok {
		switch value := v.value.(type) {
		case *jsvalue.Object, *jsvalue.Array:
			return value, true, nil
		case string:
			if err := s.spend(len(value)); err != nil {
				return nil, false, err
			}
			parsed, _ := jsvalue.Parse([]byte(value))
			if isContainer(parsed) {
				return parsed, true, nil
			}
		}
	}
	if len(steps) == 0 || isDigits(steps[0]) {
		return &jsvalue.Array{}, false, nil
	}
	return jsvalue.NewObject(), false, nil
}

func (s *values) store(key string, root jsvalue.Value) {
	s.state[key] = &variable{value: root, tree: true}
}

// setPath is setvar with a path: lodashSetPath.
func (s *values) setPath(key string, steps []string, value jsvalue.Value, has bool) error {
	root, _, err := s.root(key, steps)
	if err != nil {
		return err
	}
	node := root
	for i, step := range steps[:len(steps)-1] {
		if node, err = s.into(node, step, isDigits(steps[i+1])); err != nil {
			return err
		}
	}
	last := steps[len(steps)-1]
	if object, ok := node.(*jsvalue.Object); ok && !has {
		object.Delete(last) // JSON.stringify drops what is undefined
	} else if err := s.set(node, last, parsed(value)); err != nil {
		return err
	}
	s.store(key, root)
	return nil
}

// addPath is incvar and decvar with a path.
func (s *values) addPath(key string, steps []string, delta float64) error {
	root, _, err := s.root(key, steps)
	if err != nil {
		return err
	}
	node := root
	for _, step := range steps[:len(steps)-1] {
		if node, err = s.into(node, step, false); err != nil {
			return err
		}
	}
	last := steps[len(steps)-1]
	var next jsvalue.Value = delta
	if current, ok := property(node, last); ok && current != nil && current != "" {
		if text, ok := current.(string); ok {
			if err := s.spend(len(text)); err != nil {
				return err
			}
		}
		if number := jsvalue.ToNumber(current); math.IsNaN(number) {
			next = jsvalue.String(current) + strconv.Itoa(int(delta))
		} else {
			next = number + delta
		}
	}
	if err := s.set(node, last, next); err != nil {
		return err
	}
	s.store(key, root)
	return nil
}

// deletePath is deletevar with a path: lodashDeletePath.
func (s *values) deletePath(key string, steps []string) error {
	root, exists, err := s.root(key, steps)
	if err != nil || !exists {
		return err
	}
	node, ok := descend(root, steps[:len(steps)-1])
	if !ok {
		return nil
	}
	last := steps[len(steps)-1]
	switch node := node.(type) {
	case *jsvalue.Array:
		at := jsvalue.ToNumber(last)
		if at != math.Trunc(at) || at < 0 || at >= float64(len(node.Items)) {
			return nil
		}
		if err := s.spend(len(node.Items) - int(at)); err != nil {
			return err
		}
		node.Items = append(node.Items[:int(at)], node.Items[int(at)+1:]...)
	case *jsvalue.Object:
		if !node.Delete(last) {
			return nil
		}
	}
	s.store(key, root)
	return nil
}

// push is pushvar: pushAtPath.
func (s *values) push(key string, steps []string, value jsvalue.Value) error {
	root, _, err := s.root(key, steps)
	if err != nil {
		return err
	}
	if len(steps) == 0 {
		list, ok := root.(*jsvalue.Array)
		if !ok {
			return nil
		}
		list.Items = append(list.Items, parsed(value))
		s.store(key, root)
		return nil
	}
	node := root
	for i, step := range steps[:len(steps)-1] {
		if next, ok := property(node, step); ok && next != nil && !isContainer(next) {
			return nil // nothing was made on the way here: below a new container there is nothing
		}
		if node, err = s.into(node, step, isDigits(steps[i+1])); err != nil {
			return err
		}
	}
	last := steps[len(steps)-1]
	switch existing, _ := property(node, last); existing := existing.(type) {
	case nil:
		if err := s.set(node, last, &jsvalue.Array{Items: []jsvalue.Value{parsed(value)}}); err != nil {
			return err
		}
	case *jsvalue.Array:
		existing.Items = append(existing.Items, parsed(value))
	default:
		return nil
	}
	s.store(key, root)
	return nil
}

// pop is popvar: popAtPath.
func (s *values) pop(key string, steps []string) error {
	root, exists, err := s.root(key, steps)
	if err != nil || !exists {
		return err
	}
	if len(steps) == 0 {
		list, ok := root.(*jsvalue.Array)
		if !ok {
			return nil
		}
		list.Items = list.Items[:max(0, len(list.Items)-1)]
	} else if node, ok := descend(root, steps[:len(steps)-1]); ok {
		last, _ := property(node, steps[len(steps)-1])
		if list, ok := last.(*jsvalue.Array); ok && len(list.Items) > 0 {
			list.Items = list.Items[:len(list.Items)-1]
		}
	}
	s.store(key, root)
	return nil
}

// into returns the container at a property of node, a new one where there is none.
func (s *values) into(node jsvalue.Value, step string, list bool) (jsvalue.Value, error) {
	if next, ok := property(node, step); ok && isContainer(next) {
		return next, nil
	}
	var next jsvalue.Value = jsvalue.NewObject()
	if list {
		next = &jsvalue.Array{}
	}
	return next, s.set(node, step, next)
}

// set is node[step] = value. A property of a list that is no index is lost when
// JSON.stringify prints the list, so it is not kept; its length is refused.
func (s *values) set(node jsvalue.Value, step string, value jsvalue.Value) error {
	switch node := node.(type) {
	case *jsvalue.Object:
		node.Set(step, value)
	case *jsvalue.Array:
		i, ok := jsvalue.Index(step)
		holes := int64(i) - int64(len(node.Items))
		switch {
		case step == "length":
			return errIndex
		case !ok:
		case holes < 0:
			node.Items[i] = value
		default:
			if err := s.hole(holes); err != nil {
				return err
			}
			node.Items = append(slices.Grow(node.Items, int(holes)+1), make([]jsvalue.Value, holes)...)
			node.Items = append(node.Items, value)
		}
	}
	return nil
}

// property is node[step], of what an operation may have put there.
func property(node jsvalue.Value, step string) (jsvalue.Value, bool) {
	if list, ok := node.(*jsvalue.Array); ok && step == "length" {
		return float64(len(list.Items)), true
	}
	return child(node, step)
}

// descend follows segments through containers.
func descend(node jsvalue.Value, steps []string) (jsvalue.Value, bool) {
	for _, step := range steps {
		next, ok := property(node, step)
		if !ok || !isContainer(next) {
			return nil, false
		}
		node = next
	}
	return node, true
}

// parsed is tryParseValue: text that is the JSON of an object, a list or a number
// is that, everything else is as it is.
func parsed(v jsvalue.Value) jsvalue.Value {
	text, ok := v.(string)
	if !ok {
		return v
	}
	value, ok := jsvalue.Parse([]byte(text))
	if _, number := value.(float64); ok && (number || isContainer(value)) {
		return value
	}
	return v
}

// segments is parsePathSegments: empty ones are dropped, and a forbidden one makes
// the whole path nothing.
func segments(path string) ([]string, error) {
	var steps []string
	for step := range strings.SplitSeq(path, ".") {
		switch {
		case step == "":
			continue
		case Unsafe(step):
			return nil, nil
		}
		if steps = append(steps, step); len(steps) > mostSteps {
			return nil, errSteps
		}
	}
	return steps, nil
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
