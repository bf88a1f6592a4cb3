package jsvalue

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStringify(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"b":1,"2":0,"a":2,"1":0,"b":3}`, `{"1":0,"2":0,"b":3,"a":2}`},
		{`{"01":1,"4294967295":2,"4294967294":3,"-1":4}`, `{"4294967294":3,"01":1,"4294967295":2,"-1":4}`},
		{` [ 1.0 , 1e2 , -0 , 1e21 , 1e-7 , 0.000001 , 1e999, 9007199254740993 ] `, `[1,100,0,1e+21,1e-7,0.000001,null,9007199254740992]`},
		{`"\u0041\ud83d\ude00\ud800\/\u2028"`, "\"A😀\\ud800/\u2028\""},
		{`{"__proto__":{"a":[]},"x":[{}, null, true, false]}`, `{"__proto__":{"a":[]},"x":[{},null,true,false]}`},
		{strings.Repeat("[", 10000) + strings.Repeat("]", 10000), strings.Repeat("[", 10000) + strings.Repeat("]", 10000)},
	} {
		v, ok := Parse([]byte(c.in))
		if !ok {
			t.Errorf("%.40q: not parsed", c.in)
			continue
		}
		if diff := cmp.Diff(c.want, string(Stringify(v))); diff != "" {
			t.Errorf("%.40q (-want +got):\n%s", c.in, diff)
		}
	}
	for _, in := range []string{"", "{", "01", "[1,]", strings.Repeat("[", 10001) + strings.Repeat("]", 10001)} {
		if _, ok := Parse([]byte(in)); ok {
			t.Errorf("%.40q: parsed", in)
		}
	}
}

// The expectations are what Node prints for Number(s).
func TestToNumber(t *testing.T) {
	nan := math.NaN()
	for s, want := range map[string]float64{
		"": 0, "  ": 0, "\u00a012\u3000": 12, "5.": 5, ".5": 0.5, "+3": 3, "-3e2": -300, "0x1F": 31, "0b101": 5, "0o17": 15,
		"Infinity": math.Inf(1), "-Infinity": math.Inf(-1), "1e999": math.Inf(1), "infinity": nan, "--Infinity": nan, "nan": nan,
		"1_000": nan, "0x": nan, "-0x1": nan, "0x1p-2": nan, "1 2": nan, ".": nan, "e5": nan, "12px": nan, "０": nan, "0x1\x10": nan,
	} {
		got := ToNumber(s)
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("Number(%q) = %v, want %v", s, got, want)
		}
	}
	if got := ToNumber(&Array{Items: []Value{"7"}}); got != 7 {
		t.Errorf(`Number(["7"]) = %v`, got)
	}
	if got := String(&Array{Items: []Value{1.5, nil, "a", &Array{Items: []Value{true}}, NewObject()}}); got != "1.5,,a,true,[object Object]" {
		t.Errorf("String(list) = %q", got)
	}
}

func TestDelete(t *testing.T) {
	o := NewObject()
	for _, key := range []string{"a", "b", "c"} {
		o.Set(key, key)
	}
	if !o.Delete("b") || o.Delete("b") || o.Len() != 2 {
		t.Fatal("delete")
	}
	o.Set("b", 1.0)
	if got := string(Stringify(o)); got != `{"a":"a","c":"c","b":1}` {
		t.Errorf("got %s", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,2,{"b":"\ud800"}],"a":null}`, `[1e5,-0.5]`, `"x`, `{"a" : true , "b":false}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, ok := Parse(raw)
		if !ok {
			return
		}
		out := Stringify(v)
		if !json.Valid(out) {
			t.Fatalf("%q gave %q", raw, out)
		}
		again, ok := Parse(out)
		if !ok || !bytes.Equal(Stringify(again), out) {
			t.Fatalf("%q is not stable: %q", raw, out)
		}
	})
}
