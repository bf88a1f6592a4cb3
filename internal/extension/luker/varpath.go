package luker

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"stchat/internal/jsvalue"
)

// place is where an operation works inside a variable: the list or object that the
// variable holds, or a new one, and the path into it, which may be empty.
type place struct {
	values *values
	key    string
	steps  []string
	root   jsvalue.Value
	exists bool // the variable already holds root
}

// store makes root the variable's value.
func (p *place) store() { p.values.state[p.key] = &variable{value: p.root, tree: true} }

// set is setvar with a path: lodashSetPath.
func (p *place) set(value jsvalue.Value, has bool) (err error) {
	node := p.root
	for i, step := range p.steps[:len(p.steps)-1] {
		if node, err = p.into(node, step, isDigits(p.steps[i+1])); err != nil {
			return err
		}
	}
	last := p.steps[len(p.steps)-1]
	if object, ok := node.(*jsvalue.Object); ok && !has {
		object.Delete(last) // JSON.stringify drops what is undefined
	} else if err := p.assign(node, last, parsed(value)); err != nil {
		return err
	}
	p.store()
	return nil
}

// add is incvar and decvar with a path.
func (p *place) add(delta float64) (err error) {
	node := p.root
	for _, step := range p.steps[:len(p.steps)-1] {
		if node, err = p.into(node, step, false); err != nil {
			return err
		}
	}
	last := p.steps[len(p.steps)-1]
	var next jsvalue.Value = delta
	if current, ok := property(node, last); ok && current != nil && current != "" {
		if text, ok := current.(string); ok {
			if err := p.values.spend(len(text)); err != nil {
				return err
			}
		}
		if number := jsvalue.ToNumber(current); math.IsNaN(number) {
			next = jsvalue.String(current) + strconv.Itoa(int(delta))
		} else {
			next = number + delta
		}
	}
	if err := p.assign(node, last, next); err != nil {
		return err
	}
	p.store()
	return nil
}

// remove is deletevar with a path: lodashDeletePath.
func (p *place) remove() (err error) {
	if !p.exists {
		return nil
	}
	node, ok := descend(p.root, p.steps[:len(p.steps)-1])
	if !ok {
		return nil
	}
	last := p.steps[len(p.steps)-1]
	switch node := node.(type) {
	case *jsvalue.Array:
		at := jsvalue.ToNumber(last)
		if at != math.Trunc(at) || at < 0 || at >= float64(len(node.Items)) {
			return nil
		}
		if err := p.values.spend(len(node.Items) - int(at)); err != nil {
			return err
		}
		node.Items = append(node.Items[:int(at)], node.Items[int(at)+1:]...)
	case *jsvalue.Object:
		if !node.Delete(last) {
			return nil
		}
	}
	p.store()
	return nil
}

// push is pushvar: pushAtPath.
func (p *place) push(value jsvalue.Value) (err error) {
	if len(p.steps) == 0 {
		list, ok := p.root.(*jsvalue.Array)
		if !ok {
			return nil
		}
		list.Items = append(list.Items, parsed(value))
		p.store()
		return nil
	}
	node := p.root
	for i, step := range p.steps[:len(p.steps)-1] {
		if next, ok := property(node, step); ok && next != nil && !isContainer(next) {
			return nil // no container was created on the way, since a new one would be empty
		}
		if node, err = p.into(node, step, isDigits(p.steps[i+1])); err != nil {
			return err
		}
	}
	last := p.steps[len(p.steps)-1]
	switch existing, _ := property(node, last); existing := existing.(type) {
	case nil:
		if err := p.assign(node, last, &jsvalue.Array{Items: []jsvalue.Value{parsed(value)}}); err != nil {
			return err
		}
	case *jsvalue.Array:
		existing.Items = append(existing.Items, parsed(value))
	default:
		return nil
	}
	p.store()
	return nil
}

// pop is popvar: popAtPath.
func (p *place) pop() error {
	if !p.exists {
		return nil
	}
	if len(p.steps) == 0 {
		list, ok := p.root.(*jsvalue.Array)
		if !ok {
			return nil
		}
		list.Items = list.Items[:max(0, len(list.Items)-1)]
	} else if node, ok := descend(p.root, p.steps[:len(p.steps)-1]); ok {
		last, _ := property(node, p.steps[len(p.steps)-1])
		if list, ok := last.(*jsvalue.Array); ok && len(list.Items) > 0 {
			list.Items = list.Items[:len(list.Items)-1]
		}
	}
	p.store()
	return nil
}

// into returns the container at a property of node; it creates one if there is none.
func (p *place) into(node jsvalue.Value, step string, list bool) (jsvalue.Value, error) {
	if next, ok := property(node, step); ok && isContainer(next) {
		return next, nil
	}
	var next jsvalue.Value = jsvalue.NewObject()
	if list {
		next = &jsvalue.Array{}
	}
	return next, p.assign(node, step, next)
}

// assign is node[step] = value. A property of a list that is no index is lost when
// JSON.stringify prints the list, so it is not kept; its length is refused.
func (p *place) assign(node jsvalue.Value, step string, value jsvalue.Value) error {
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
			if err := p.values.hole(holes); err != nil {
				return err
			}
			node.Items = append(slices.Grow(node.Items, int(holes)+1), make([]jsvalue.Value, holes)...)
			node.Items = append(node.Items, value)
		}
	}
	return nil
}

// property is node[step], limited to what an operation may have put there.
func property(node jsvalue.Value, step string) (jsvalue.Value, bool) {
	if list, ok := node.(*jsvalue.Array); ok && step == "length" {
		return float64(len(list.Items)), true
	}
	return child(node, step)
}

// descend follows segments through containers, and reports whether all of them exist.
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

// parsed is tryParseValue: text that is the JSON of an object, a list or a number is
// parsed, everything else stays as it is.
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

// segments is parsePathSegments: empty segments are dropped, and a forbidden one makes
// the whole path empty.
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
