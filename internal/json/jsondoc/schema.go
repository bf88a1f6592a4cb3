package jsondoc

import (
	"encoding/json"
	"reflect"
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
		properties := map[string]any{}
		var required []string
		fields(t, nil, func(name string, field reflect.StructField, optional bool) {
			properties[name] = schemaOf(field.Type)
			if !optional {
				required = append(required, name)
			}
		})
		return map[string]any{"type": "object", "properties": properties, "required": required}
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
