package patch

import (
	"errors"
	"fmt"
	"slices"

	"stchat/internal/jsonl"
	"stchat/internal/metadiff"
	"stchat/internal/rawjson"
)

// ErrTest means that a test operation of a patch does not hold.
var ErrTest = errors.New("the test does not hold")

// ErrMalformed means that something is not an RFC 6902 patch.
var ErrMalformed = errors.New("not a JSON patch")

// Operation is one operation of an RFC 6902 patch.
type Operation struct {
	Op    string // add, remove, replace, move, copy or test
	Path  Path
	From  Path   // of move and copy
	Value []byte // of add, replace and test

	// Lenient makes a remove of a key that its object lacks change nothing, as in Luker.
	Lenient bool
}

// ParseOperations reads an RFC 6902 patch, a list of operations. The error wraps
// [ErrMalformed] and names the operation, from 0.
func ParseOperations(raw []byte) ([]Operation, error) {
	if damage := jsonl.Check(raw); damage != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, damage)
	}
	if kind := rawjson.KindOf(raw); kind != rawjson.Array {
		return nil, fmt.Errorf("%w: %s, not a list", ErrMalformed, kind)
	}
	var list []Operation
	for element := range rawjson.Elements(raw) {
		o, err := ParseOperation(element)
		if err != nil {
			return nil, fmt.Errorf("operation %d: %w", len(list), err)
		}
		list = append(list, o)
	}
	return list, nil
}

// ParseOperation reads one operation. The error wraps [ErrMalformed].
func ParseOperation(raw []byte) (o Operation, err error) {
	object, err := rawjson.ParseObject(raw)
	if err != nil {
		return o, fmt.Errorf("%w: %s, not an object", ErrMalformed, rawjson.KindOf(raw))
	}
	o.Op, _ = rawjson.Unquote(object.Value("op"))
	if !slices.Contains([]string{"add", "remove", "replace", "move", "copy", "test"}, o.Op) {
		return o, fmt.Errorf("%w: op must be add, remove, replace, move, copy or test", ErrMalformed)
	}
	if o.Path, err = pointerAt(object, "path"); err != nil {
		return o, err
	}
	switch o.Op {
	case "move", "copy":
		if o.From, err = pointerAt(object, "from"); err != nil {
			return o, err
		}
		if o.Op == "move" && o.Path.within(o.From) {
			return o, fmt.Errorf("%w: %s cannot move into itself", ErrMalformed, o.From)
		}
	case "remove":
	default:
		value, ok := object.Get("value")
		if !ok {
			return o, fmt.Errorf("%w: %s needs a value", ErrMalformed, o.Op)
		}
		o.Value = rawjson.Compact(value)
	}
	return o, nil
}

func pointerAt(object *rawjson.Object, key string) (Path, error) {
	text, ok := rawjson.Unquote(object.Value(key))
	if !ok {
		return nil, fmt.Errorf("%w: %s is not text", ErrMalformed, key)
	}
	path, err := ParsePointer(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrMalformed, key, err)
	}
	return path, nil
}

// OperationError says which operation of a patch cannot be applied to a value, and why. It
// wraps [ErrTest], [ErrMissing] or [ErrNoPlace].
type OperationError struct {
	Number int // from 0
	Op     string
	Err    error
}

func (e *OperationError) Error() string {
	return fmt.Sprintf("operation %d, %s: %v", e.Number, e.Op, e.Err)
}

func (e *OperationError) Unwrap() error { return e.Err }

// Apply returns raw with the operations applied one after another. The error is an
// [*OperationError].
func Apply(raw []byte, operations []Operation) (_ []byte, err error) {
	for i, o := range operations {
		if raw, err = o.apply(raw); err != nil {
			return nil, &OperationError{i, o.Op, err}
		}
	}
	return raw, nil
}

func (o *Operation) apply(raw []byte) ([]byte, error) {
	switch o.Op {
	case "add":
		return add(raw, o.Value, o.Path)
	case "replace":
		if _, ok := Get(raw, o.Path); !ok {
			return nil, absent(raw, o.Path)
		}
		return Set(raw, o.Value, o.Path)
	case "remove":
		if len(o.Path) == 0 {
			return []byte("null"), nil
		}
		if last := len(o.Path) - 1; o.Lenient {
			holder, _ := Get(raw, o.Path[:last])
			if _, there := Get(holder, o.Path[last:]); !there && rawjson.KindOf(holder) == rawjson.ObjectKind {
				return raw, nil
			}
		}
		return remove(raw, o.Path)
	case "test":
		value, ok := Get(raw, o.Path)
		if !ok {
			return nil, fmt.Errorf("%w: %w", ErrTest, absent(raw, o.Path))
		}
		if !metadiff.Equal(value, o.Value) {
			return nil, fmt.Errorf("%s: %w", o.Path, ErrTest)
		}
		return raw, nil
	}
	value, ok := Get(raw, o.From)
	if !ok {
		return nil, absent(raw, o.From)
	}
	if o.Op == "move" {
		if slices.Equal(o.From, o.Path) {
			return raw, nil
		}
		var err error
		if raw, err = remove(raw, o.From); err != nil {
			return nil, err
		}
	}
	return add(raw, value, o.Path)
}

// add returns raw with value added at path: in an object under its key, in a list before the
// element with the index, or at its end.
func add(raw, value []byte, path Path) ([]byte, error) {
	if len(path) == 0 {
		return value, nil
	}
	return edit(raw, path, nil, false, func(container []byte, at Path) ([]byte, error) {
		key := at[len(at)-1]
		switch rawjson.KindOf(container) {
		case rawjson.ObjectKind:
			return setMember(container, key, value), nil
		case rawjson.Array:
			return insert(container, value, at)
		}
		return nil, noPlace(container, at)
	})
}

func insert(list, value []byte, at Path) ([]byte, error) {
	key := at[len(at)-1]
	n, ok := Index(key)
	if !ok && key != "-" {
		return nil, noPlace(list, at)
	}
	count := 0
	out := rawjson.EditList(list, func(i int, old []byte) ([]byte, bool) {
		count++
		if ok && i == n {
			return slices.Concat(value, []byte{','}, old), true
		}
		return old, true
	})
	switch {
	case !ok || n == count:
		return rawjson.Append(list, value), nil
	case n > count:
		return nil, fmt.Errorf("%s: %w: the list has %d", at, ErrMissing, count)
	}
	return out, nil
}
