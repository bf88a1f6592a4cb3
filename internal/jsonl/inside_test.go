package jsonl

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/jsonl/rawjson"
)

// Inside finds what reading the value anew finds, whatever the line is like.
func TestInside(t *testing.T) {
	values := []string{
		`{}`, `{ }`, `[]`, `[1,{"a":2}]`, `"text"`, `null`, `7`, `{"a":1}`, `{ "a" : [1, {"b":2}] , "\u0062" : {"c":{}} }`,
		`{"type":"narrator","branches":["x","y"],"gen_id":12.5,"api":{"a":{"b":[[],{}]}},"type":false}`, `{"":"\"","a":"海"}`,
	}
	keys := []string{`"extra"`, `"extra"`, `"\u0065xtra"`, `"mes"`, `"extras"`, `"a"`}
	r := rand.New(rand.NewPCG(7, 8))
	var buf Buffer
	wanted := NewKeys("mes", "extra").Inside("extra")
	known, plain := 0, 0
	for range 2000 {
		var lines []string
		for range 40 {
			var members []string
			for range r.IntN(5) {
				members = append(members, keys[r.IntN(len(keys))]+strings.Repeat(" ", r.IntN(2))+":"+strings.Repeat(" ", r.IntN(2))+values[r.IntN(len(values))])
			}
			line := "{" + strings.Join(members, ",") + "}"
			if r.IntN(8) == 0 {
				line = line[:len(line)-1]
			}
			lines = append(lines, line)
		}
		_, err := buf.Each(Bytes([]byte(strings.Join(lines, "\n"))), MapOptions{Limit: -1, Keys: wanted}, func(l *Line) {
			if l.Damage != nil {
				return
			}
			for k := range 2 {
				raw, _ := l.Value(k)
				var got, want []string
				l.Inside(k, func(key, value []byte) { got = append(got, string(key), string(value)) })
				for key, value := range rawjson.Members(raw) {
					want = append(want, string(key), string(value))
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%s, key %d (-want +got)\n%s", l.Raw, k, diff)
				}
			}
			if l.inside.at > 0 {
				known++
			} else {
				plain++
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if plain < 1000 || canIndex() && known < 1000 {
		t.Errorf("members of %d lines known, of %d not", known, plain)
	}
}
