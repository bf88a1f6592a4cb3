package jsondoc

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"
)

// Schema returns the JSON Schema (2020-12) of what [Write] writes of a document of this type:
// all keys are required but those with omitempty, a pointer may be null, a list never is, and
// there may be more keys. What has an encoding of its own may be anything.
func Schema(doc any) map[string]any {
	s := schemaOf(reflect.TypeOf(doc))
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	return s
}

func schemaOf(t reflect.Type) map[string]any {
	own := reflect.TypeFor[json.Marshaler]()
	var kind string
	switch {
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case t.Implements(own) || t.Kind() == reflect.Interface:
		return map[string]any{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		s := schemaOf(t.Elem())
		if kind, ok := s["type"].(string); ok {
			s["type"] = []string{kind, "null"}
		}
		return s
	case reflect.Struct:
		s := map[string]any{}
		required := properties(t, s, nil)
		return map[string]any{"type": "object", "properties": s, "required": required}
	case reflect.Map:
		return map[string]any{"type": []string{"object", "null"}, "additionalProperties": schemaOf(t.Elem())}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() != reflect.Uint8 {
			return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
		}
		kind = "string" // base64
	case reflect.Bool:
		kind = "boolean"
	case reflect.Float32, reflect.Float64:
		kind = "number"
	case reflect.String:
		kind = "string"
	default:
		kind = "integer"
	}
	return map[string]any{"type": kind}
}

// properties adds the keys of a struct to the schema of its object, and returns those that are
// always there, in their order.
func properties(t reflect.Type, into map[string]any, required []string) []string {
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || !field.IsExported() && !field.Anonymous:
			continue
		case field.Anonymous && name == "" && field.Type.Kind() == reflect.Struct:
			required = properties(field.Type, into, required)
			continue
		case name == "":
			name = field.Name
		}
		into[name] = schemaOf(field.Type)
		if !strings.Contains(options, "omitempty") {
			required = append(required, name)
		}
	}
	return required
}
