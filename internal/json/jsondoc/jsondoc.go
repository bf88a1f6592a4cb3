// Package jsondoc writes results as JSON documents.
//
// It follows encoding/json and its struct tags, but for five things. A list is never null,
// but empty. Fields with the tag `is:"path"` have / between folders on every system. A lone
// surrogate in a string (see package rawjson) is spelled \udXXX, as the file that
// it comes from spells it, where encoding/json would lose it. No character of HTML
// is escaped. And nothing in a document drives a terminal that it is printed to
// (see package visible).
package jsondoc

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"iter"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"stchat/internal/jsonl/rawjson"
	"stchat/internal/text/visible"
)

// Write writes a document and an LF, in one call of w. With an indent each value
// gets a line of its own, without one there is only one line.
func Write(w io.Writer, doc any, indent string) error { return new(Encoder).Write(w, doc, indent) }

// Encoder writes many documents, and looks at each of their types once. It is not safe for use by
// several goroutines at once; its zero value is ready.
type Encoder struct {
	out   []byte
	known map[reflect.Type][]field
}

// field is a field of a struct that goes into its object.
type field struct {
	key            string
	index          []int
	optional, path bool
}

// Write is [Write].
func (e *Encoder) Write(w io.Writer, doc any, indent string) error {
	out, err := e.value(e.out[:0], reflect.ValueOf(doc))
	if err != nil {
		return err
	}
	e.out = append(out, '\n')

	if indent != "" {
		var b bytes.Buffer
		if err := json.Indent(&b, e.out, "", indent); err != nil {
			return err
		}
		e.out = b.Bytes()
	}

	_, err = w.Write(visible.JSON(e.out))
	return err
}

// value appends a value as JSON.
func (e *Encoder) value(out []byte, v reflect.Value) ([]byte, error) {
	if !v.IsValid() {
		return append(out, "null"...), nil
	}
	if _, own := reflect.TypeAssert[json.Marshaler](v); own {
		return appendMarshalled(out, v)
	}

	switch v.Kind() {
	case reflect.String:
		return rawjson.AppendQuoted(out, v.String()), nil
	case reflect.Bool:
		return strconv.AppendBool(out, v.Bool()), nil
	case reflect.Int, reflect.Int64:
		return strconv.AppendInt(out, v.Int(), 10), nil
	case reflect.Pointer, reflect.Interface:
		return e.value(out, v.Elem())
	case reflect.Struct:
		return e.object(out, e.fieldsOf(v))
	case reflect.Map:
		if !v.IsNil() && v.Type().Key().Kind() == reflect.String {
			return e.object(out, entriesOf(v))
		}
	case reflect.Slice, reflect.Array:
		isBytes := v.Type().Elem().Kind() == reflect.Uint8
		if !isBytes {
			return e.list(out, v)
		}
	}
	return appendMarshalled(out, v)
}

// list appends the elements of a slice or an array.
func (e *Encoder) list(out []byte, v reflect.Value) ([]byte, error) {
	out = append(out, '[')
	for i := range v.Len() {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = e.value(out, v.Index(i)); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

// fieldsOf returns the keys and values of a struct's object.
func (e *Encoder) fieldsOf(v reflect.Value) iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		for _, f := range e.fields(v.Type()) {
			value := v.FieldByIndex(f.index)
			if f.optional && isEmpty(value) {
				continue
			}
			if f.path {
				value = withSlashes(value, string(filepath.Separator))
			}
			if !yield(f.key, value) {
				return
			}
		}
	}
}

// entriesOf returns the keys and values of a map, sorted by key.
func entriesOf(v reflect.Value) iter.Seq2[string, reflect.Value] {
	values := map[string]reflect.Value{}
	for key, value := range v.Seq2() {
		values[key.String()] = value
	}

	return func(yield func(string, reflect.Value) bool) {
		for _, key := range slices.Sorted(maps.Keys(values)) {
			if !yield(key, values[key]) {
				return
			}
		}
	}
}

// object appends an object.
func (e *Encoder) object(out []byte, members iter.Seq2[string, reflect.Value]) ([]byte, error) {
	out = append(out, '{')
	first := len(out)
	for key, value := range members {
		if len(out) > first {
			out = append(out, ',')
		}
		out = append(rawjson.AppendQuoted(out, key), ':')
		var err error
		if out, err = e.value(out, value); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

// fields returns the fields of a struct that go into its object.
func (e *Encoder) fields(t reflect.Type) []field {
	list, ok := e.known[t]
	if ok {
		return list
	}

	fields(t, nil, func(key string, f reflect.StructField, optional bool) {
		list = append(list, field{key, f.Index, optional, f.Tag.Get("is") == "path"})
	})

	if e.known == nil {
		e.known = map[reflect.Type][]field{}
	}
	e.known[t] = list
	return list
}

// appendMarshalled leaves a value to encoding/json.
func appendMarshalled(out []byte, v reflect.Value) ([]byte, error) {
	b := bytes.NewBuffer(out)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v.Interface())
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
}

// fields calls do with the fields of a struct that go into its object, with their keys, and those of
// a struct in it that has no key. optional says whether one is left out when it is empty.
func fields(t reflect.Type, at []int, do func(name string, field reflect.StructField, optional bool)) {
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if len(at) > 0 {
			field.Index = slices.Concat(at, field.Index)
		}
		switch {
		case name == "-" || !field.IsExported() && !field.Anonymous:
		case field.Anonymous && name == "" && field.Type.Kind() == reflect.Struct:
			fields(field.Type, field.Index, do)
		default:
			do(cmp.Or(name, field.Name), field, strings.Contains(options, "omitempty"))
		}
	}
}

// withSlashes returns a path, a pointer to one, or a list of them with / between
// folders instead of another separator.
func withSlashes(v reflect.Value, separator string) reflect.Value {
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil():
		return withSlashes(v.Elem(), separator)
	case v.Kind() == reflect.String:
		return reflect.ValueOf(strings.ReplaceAll(v.String(), separator, "/"))
	case v.Kind() == reflect.Slice && !v.IsNil():
		paths := make([]string, v.Len())
		for i := range paths {
			paths[i] = withSlashes(v.Index(i), separator).String()
		}
		return reflect.ValueOf(paths)
	}
	return v
}

// isEmpty reports whether omitempty leaves v out: false, 0, nil, and what has no length.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.Array:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}
