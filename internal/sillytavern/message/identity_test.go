package message

import (
	"testing"

	"stchat/internal/jsonl/rawjson"
)

func identity(s Seed, name, isUser, mes, date []byte) ID {
	return NewIdentifier(s).Identity(name, isUser, mes, date, false)
}

func TestIdentity(t *testing.T) {
	seed := NewSeed()
	id := func(line string) ID {
		value := func(key string) []byte {
			raw, _ := rawjson.Lookup([]byte(line), key)
			return raw
		}
		return identity(seed, value("name"), value("is_user"), value("mes"), value("send_date"))
	}
	const line = `{"name":"Mira","is_user":false,"mes":"Hé","send_date":1700000000000}`
	same := []string{
		`{"mes":"H\u00e9", "name":"\u004dira","send_date":1.7e12,"extra":{"x":1},"is_user":0}`,
		`{"name":"no","name":"Mira","mes":"Hé","send_date":1700000000000.0}`,
	}
	for _, other := range same {
		if id(other) != id(line) {
			t.Errorf("%s: another message than %s", other, line)
		}
	}
	different := []string{
		`{"name":"Mir","is_user":false,"mes":"aHé","send_date":1700000000000}`,
		`{"name":"Mira","is_user":"yes","mes":"Hé","send_date":1700000000000}`,
		`{"name":"Mira","is_user":false,"mes":"He","send_date":1700000000000}`,
		`{"name":"Mira","is_user":false,"mes":"Hé","send_date":"1700000000000"}`,
		`{"name":"Mira","is_user":false,"mes":"Hé","send_date":null}`,
		`{"name":"Mira","is_user":false,"mes":"Hé"}`,
		`{"name":"Mira","is_user":false,"mes":["Hé"],"send_date":1700000000000}`,
		`{}`,
	}
	seen := map[ID]string{id(line): line}
	for _, other := range different {
		if twin, ok := seen[id(other)]; ok {
			t.Errorf("%s: the same message as %s", other, twin)
		}
		seen[id(other)] = other
	}
	// escapes that JSON.stringify would not write, and such as it would
	for _, text := range [][2]string{
		{`"a\/b\u0022\u005c\u000a\u0009"`, `"a/b\"\\\n\t"`}, {`"\u001f\u001F"`, `"\u001F\u001f"`}, {`"\u007f"`, "\"\x7f\""}, {`"\u2028é"`, "\"\u2028\\u00e9\""}, {`"\ud83d\ude00"`, `"😀"`},
	} {
		if identity(seed, nil, nil, []byte(text[0]), nil) != identity(seed, nil, nil, []byte(text[1]), nil) {
			t.Errorf("%s and %s are not one text", text[0], text[1])
		}
	}
	plain := []byte(`"Hé \"\\\n\b\f\r\t\""`)
	if NewIdentifier(seed).Identity(plain, nil, plain, plain, true) != identity(seed, plain, nil, plain, plain) {
		t.Error("a text has another ID where it is known to be plain")
	}
	if identity(seed, nil, nil, []byte(`"\\n"`), nil) == identity(seed, nil, nil, []byte(`"\n"`), nil) {
		t.Error("a backslash and an n are a line break")
	}
	// what is not UTF-8 reads as U+FFFD
	if id("{\"mes\":\"a\xff\"}") != id(`{"mes":"a\ufffd"}`) {
		t.Error("a byte that is not UTF-8 is not U+FFFD")
	}
}
