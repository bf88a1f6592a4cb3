package luker

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"stchat/internal/jsvalue"
	"stchat/internal/rawjson"
)

// Variables adds up what messages note in extra.var_ops to the variables they
// made, with the semantics of Luker's variable-op-log (apply.js, path-ops.js,
// rebuilder.js; FORMATS.md A3). Messages are given in order: [Variables.Apply] for
// those that count, [Variables.Mention] for others, of which only the names of their
// variables matter. The zero value is ready.
type Variables struct {
	state  map[string]*variable
	order  []string // keys of Apply, as first mentioned
	later  []string // keys of Mention, as first mentioned
	noted  map[string]noted
	failed map[string]error
	budget int
}

// noted says where a variable was mentioned.
type noted struct{ applied, mentioned bool }

// variable is a value; tree means that the JavaScript value is the string
// JSON.stringify(value), which is how Luker stores lists and objects. It is printed
// only when somebody asks, or every operation would cost the whole of it.
type variable struct {
	value jsvalue.Value
	tree  bool
}

// Limits of what a replay does; no chat that people wrote comes near.
const (
	mostWork  = 1 << 28 // bytes of variables' text that are copied or parsed
	mostSteps = 1000    // segments of a path
	mostHoles = 10_000  // elements that a write behind a list's end creates
)

var (
	errWork  = errors.New("its operations take too long to replay")
	errSteps = errors.New("an operation's path is too long")
	errIndex = errors.New("an operation writes far behind the end of a list")
)

// Variable is what the operations make of one variable.
type Variable struct {
	Name string
	Raw  []byte // JSON; nil: the operations leave no such variable
	Err  error  // not nil: it cannot be told
}

// Apply does a message's operations; ops is its extra.var_ops. What is not a list
// of operations is skipped, as Luker does.
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
			if err := s.apply(o, key); err != nil {
				s.failed[key] = err
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
		s.noted, s.state, s.failed = map[string]noted{}, map[string]*variable{}, map[string]error{}
	}
	return s.noted[key]
}

// Kept returns the variables that the operations applied have touched.
func (s *Variables) Kept() []Variable {
	list := make([]Variable, 0, len(s.order))
	for _, key := range s.order {
		v := Variable{Name: key, Err: s.failed[key]}
		if stored, ok := s.state[key]; ok && v.Err == nil {
			if v.Raw = jsvalue.Stringify(stored.value); stored.tree {
				v.Raw = rawjson.Quote(string(v.Raw))
			}
		}
		list = append(list, v)
	}
	return list
}

// Later returns the names of variables that were mentioned and never applied.
func (s *Variables) Later() []string {
	var names []string
	for _, key := range s.later {
		if !s.noted[key].applied {
			names = append(names, key)
		}
	}
	return names
}

// operation reads one element of var_ops. A variable called __proto__ is none:
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

// spend accounts for work on n bytes.
func (s *Variables) spend(n int) error {
	if s.budget += n; s.budget > mostWork || n < 0 {
		return errWork
	}
	return nil
}

// apply is applyOp of apply.js.
func (s *Variables) apply(o *jsvalue.Object, key string) error {
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
	switch verb {
	case "setvar":
		if path == "" {
			if value == nil {
				value = ""
			}
			s.state[key] = &variable{value: value}
			return nil
		}
		return s.setPath(key, steps, value, has)
	case "addvar":
		if value == nil {
			value = ""
		}
		return s.add(key, value)
	case "incvar", "decvar":
		delta := 1.0
		if verb == "decvar" {
			delta = -1
		}
		if path == "" {
			return s.add(key, delta)
		}
		return s.addPath(key, steps, delta)
	case "deletevar":
		if path == "" {
			delete(s.state, key)
			return nil
		}
		return s.deletePath(key, steps)
	case "pushvar":
		return s.push(key, steps, value)
	case "popvar":
		return s.pop(key, steps)
	}
	return nil
}

// add is addToVariable of apply.js.
func (s *Variables) add(key string, delta jsvalue.Value) error {
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
			if !current.tree { // the text of an object is no number
				number = jsvalue.ToNumber(v)
			}
		}
	}
	sum := number + jsvalue.ToNumber(delta)
	switch {
	case math.IsNaN(number) || math.IsNaN(jsvalue.ToNumber(delta)):
		s.state[key] = &variable{value: text + jsvalue.String(delta)}
	case !math.IsNaN(sum): // an infinity less an infinity leaves it alone
		s.state[key] = &variable{value: sum}
	}
	return nil
}

// text is String(current).
func (s *Variables) text(v *variable) (string, error) {
	if !v.tree {
		return jsvalue.String(v.value), nil
	}
	text := string(jsvalue.Stringify(v.value))
	return text, s.spend(len(text))
}

// listIn gives the list whose JSON text a variable is; nil where it is none.
func (s *Variables) listIn(v *variable) (*jsvalue.Array, error) {
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

// root is getOrInitRoot of path-ops.js: the list or object that a variable holds,
// or a new one of the shape that the path's first segment asks for.
func (s *Variables) root(key string, steps []string) (root jsvalue.Value, exists bool, err error) {
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

func (s *Variables) store(key string, root jsvalue.Value) {
	s.state[key] = &variable{value: root, tree: true}
}

// setPath is setvar with a path: lodashSetPath.
func (s *Variables) setPath(key string, steps []string, value jsvalue.Value, has bool) error {
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
func (s *Variables) addPath(key string, steps []string, delta float64) error {
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
func (s *Variables) deletePath(key string, steps []string) error {
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
func (s *Variables) push(key string, steps []string, value jsvalue.Value) error {
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
func (s *Variables) pop(key string, steps []string) error {
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

// into gives the container at a property of node, a new one where there is none.
func (s *Variables) into(node jsvalue.Value, step string, list bool) (jsvalue.Value, error) {
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
func (s *Variables) set(node jsvalue.Value, step string, value jsvalue.Value) error {
	switch node := node.(type) {
	case *jsvalue.Object:
		node.Set(step, value)
	case *jsvalue.Array:
		i, ok := jsvalue.Index(step)
		n := int64(len(node.Items))
		switch {
		case step == "length", ok && int64(i) > n+mostHoles:
			return errIndex
		case !ok:
		case int64(i) < n:
			node.Items[i] = value
		default:
			for int64(i) > int64(len(node.Items)) {
				node.Items = append(node.Items, nil)
			}
			node.Items = append(node.Items, value)
		}
	}
	return nil
}

// child gives the member or element of a container that a segment names.
func child(v jsvalue.Value, segment string) (jsvalue.Value, bool) {
	switch v := v.(type) {
	case *jsvalue.Object:
		return v.Get(segment)
	case *jsvalue.Array:
		if i, ok := jsvalue.Index(segment); ok && int64(i) < int64(len(v.Items)) {
			return v.Items[i], true
		}
	}
	return nil, false
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
		switch step {
		case "":
			continue
		case "__proto__", "constructor", "prototype":
			return nil, nil
		}
		if steps = append(steps, step); len(steps) > mostSteps {
			return nil, errSteps
		}
	}
	return steps, nil
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func isContainer(v jsvalue.Value) bool {
	switch v.(type) {
	case *jsvalue.Object, *jsvalue.Array:
		return true
	}
	return false
}
