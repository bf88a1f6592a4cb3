package patch

import (
	"errors"
	"fmt"
	"slices"

	"stchat/internal/json/metadiff"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
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
func Apply(raw []byte, operations []Operation) ([]byte, error) {
	d := NewDocument(raw)
	if err := d.apply(operations); err != nil {
		return nil, err
	}
	return d.Bytes(), nil
}

func (d *Document) apply(operations []Operation) error {
	for i, o := range operations {
		if err := o.apply(d); err != nil {
			return &OperationError{i, o.Op, err}
		}
	}
	return nil
}

func (o *Operation) apply(d *Document) error {
	switch o.Op {
	case "add":
		return d.add(o.Value, o.Path)
	case "replace":
		if _, ok := d.at(o.Path); !ok {
			return absent(d, o.Path)
		}
		return d.set(o.Value, o.Path)
	case "remove":
		if len(o.Path) == 0 {
			d.replace([]byte("null"))
			return nil
		}
		if o.Lenient && d.isInObject(o.Path) {
			d.unset(o.Path)
			return nil
		}
		return d.remove(o.Path)
	case "test":
		at, ok := d.at(o.Path)
		if !ok {
			return fmt.Errorf("%w: %w", ErrTest, absent(d, o.Path))
		}
		if !metadiff.Equal(at.Bytes(), o.Value) {
			return fmt.Errorf("%s: %w", o.Path, ErrTest)
		}
		return nil
	}
	return o.moveOrCopy(d)
}

// isInObject reports whether the last key of a path, which is not empty, is one of an object.
func (d *Document) isInObject(path Path) bool {
	holder, ok := d.at(path[:len(path)-1])
	return ok && holder.parse() && holder.object != nil
}

func (o *Operation) moveOrCopy(d *Document) error {
	from, ok := d.at(o.From)
	if !ok {
		return absent(d, o.From)
	}
	value := from.Bytes()

	if o.Op == "move" {
		if slices.Equal(o.From, o.Path) {
			return nil
		}
		if err := d.remove(o.From); err != nil {
			return err
		}
	}
	return d.add(value, o.Path)
}
