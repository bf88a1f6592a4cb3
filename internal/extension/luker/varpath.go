package luker

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"stchat/internal/json/jsvalue"
)

// place is where an operation works inside a variable: the list or object that the
// variable holds, or a new one, and the path into it, which may be empty.
type place struct {
	values *values
	steps  []string
	root   jsvalue.Value
	exists bool // the variable already holds root
}

// apply applies an operation inside root, and reports whether root is the variable's value then.
// With a path, set is lodashSetPath, delete lodashDeletePath, push pushAtPath and pop popAtPath.
func (p *place) apply(verb jsvalue.Value, value jsvalue.Value, has bool) (store bool, err error) {
	if !p.exists && (verb == "deletevar" || verb == "popvar") {
		return false, nil
	}
	if len(p.steps) == 0 {
		list, ok := p.root.(*jsvalue.Array)
		switch {
		case !ok:
			return false, nil
		case verb == "pushvar":
			list.Items = append(list.Items, parsed(value))
		default:
			list.Items = list.Items[:max(0, len(list.Items)-1)]
		}
		return true, nil
	}

	node, err := p.parent(verb)
	if err != nil || node == nil {
		return verb == "popvar", err
	}
	last := p.steps[len(p.steps)-1]
	switch verb {
	case "setvar":
		if object, ok := node.(*jsvalue.Object); ok && !has {
			object.Delete(last) // JSON.stringify drops what is undefined
			return true, nil
		}
		return true, p.assign(node, last, parsed(value))
	case "incvar":
		return true, p.add(node, last, 1)
	case "decvar":
		return true, p.add(node, last, -1)
	case "deletevar":
		return p.remove(node, last)
	}

	existing, _ := property(node, last)
	list, isList := existing.(*jsvalue.Array)
	switch {
	case verb == "popvar":
		if isList && len(list.Items) > 0 {
			list.Items = list.Items[:len(list.Items)-1]
		}
	case isList:
		list.Items = append(list.Items, parsed(value))
	case existing == nil:
		return true, p.assign(node, last, &jsvalue.Array{Items: []jsvalue.Value{parsed(value)}})
	default:
		return false, nil
	}
	return true, nil
}

// parent returns the container of the path's last step, and creates those that are missing on the
// way; nil if it may not. A container is a list if the step into it is an index, but not for
// incvar and decvar.
func (p *place) parent(verb jsvalue.Value) (jsvalue.Value, error) {
	node := p.root
	for i, step := range p.steps[:len(p.steps)-1] {
		next, ok := property(node, step)
		if !ok || !isContainer(next) {
			switch {
			case verb == "deletevar", verb == "popvar", verb == "pushvar" && next != nil:
				return nil, nil
			case isDigits(p.steps[i+1]) && verb != "incvar" && verb != "decvar":
				next = &jsvalue.Array{}
			default:
				next = jsvalue.NewObject()
			}
			if err := p.assign(node, step, next); err != nil {
				return nil, err
			}
		}

		node = next
	}
	return node, nil
}

// add adds to a number, or appends to a text.
func (p *place) add(node jsvalue.Value, last string, delta float64) error {
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
	return p.assign(node, last, next)
}

// remove removes an element or a member, and reports whether there was one.
func (p *place) remove(node jsvalue.Value, last string) (bool, error) {
	list, ok := node.(*jsvalue.Array)
	if !ok {
		return node.(*jsvalue.Object).Delete(last), nil
	}
	at := jsvalue.ToNumber(last)
	if at != math.Trunc(at) || at < 0 || at >= float64(len(list.Items)) {
		return false, nil
	}
	if err := p.values.spend(len(list.Items) - int(at)); err != nil {
		return false, err
	}
	list.Items = slices.Delete(list.Items, int(at), int(at)+1)
	return true, nil
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
		case !ok: // JSON.stringify would not print it
		case holes < 0:
			node.Items[i] = value
		default:
			if err := p.values.addHoles(holes); err != nil {
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
