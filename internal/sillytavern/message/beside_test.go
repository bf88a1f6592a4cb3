package message

import (
	"errors"
	"slices"
	"testing"

	"stchat/internal/jsonl/rawjson"
)

// What extensions keep for each swipe goes with the swipe, in whatever of the two shapes it is kept.
func TestRemoveSwipes(t *testing.T) {
	const message = `"swipes":["a","b","c"],"swipe_info":[{},{"send_date":"d"},{}]`
	tests := []struct {
		name, beside string
		stay         []int
		want         string // what is left of beside; "": it does not fit
	}{
		{"a list", `"v":[ 1, {"x": 2} ,3]`, []int{1}, `"v":[ {"x": 2}]`},
		{"an object", `"v":{"0":1,"1":{"x": 2},"2":3}`, []int{1}, `"v":{"0":{"x": 2}}`},
		{"an object from behind", `"v":{"2":3,"1":2,"0":1}`, []int{0, 2}, `"v":{"0":1,"1":3}`},
		{"an object with gaps", `"v":{"0":1,"2":3}`, []int{1, 2}, `"v":{"1":3}`},
		{"an object without the one that stays", `"v":{"0":1}`, []int{2}, `"v":{}`},
		{"several", `"v":[1,2,3],"w":{"1":true},"x":[null,null,0]`, []int{1}, `"v":[2],"w":{"0":true},"x":[null]`},
		{"a repeated key", `"v":[7,8],"v":[1,2,3]`, []int{2}, `"v":[7,8],"v":[3]`},
		{"no value for each swipe", `"v":{"hp":3},"w":"abc","x":[],"y":{},"z":null`, []int{2}, `"v":{"hp":3},"w":"abc","x":[],"y":{},"z":null`},
		{"keys like numbers", `"v":{"01":3,"-1":2,"1.0":1,"1e0":0}`, []int{2}, `"v":{"01":3,"-1":2,"1.0":1,"1e0":0}`},
		{"SillyTavern's own", `"extra":{"0":1},"branches":["x","y","z"]`, []int{2}, `"extra":{"0":1},"branches":["x","y","z"]`},
		{"a short list of which nothing goes", `"v":[1]`, []int{0}, `"v":[1]`},
		{"a short list", `"v":[1,2]`, []int{0}, ""},
		{"a long list", `"v":[1,2,3,4]`, []int{0}, ""},
		{"a number of no swipe", `"v":{"0":1,"3":4}`, []int{0}, ""},
		{"a number among names", `"v":{"1":4,"hp":3}`, []int{0}, ""},
		{"all stay", `"v":[1,2,3,4],"w":{"7":1}`, []int{0, 1, 2}, `"v":[1,2,3,4],"w":{"7":1}`},
	}
	for _, tt := range tests {
		line := `{` + message + `,` + tt.beside + `}`
		m, err := rawjson.ParseObject([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		keep := func(i int) bool { return slices.Contains(tt.stay, i) }

		err = RemoveSwipes(m, keep, false)
		if tt.want == "" {
			var unfit *UnfitError
			if !errors.As(err, &unfit) || unfit.Key != "v" || m.Edited() {
				t.Errorf("%s: %v, %s", tt.name, err, m.Bytes())
			}
			if err := RemoveSwipes(m, keep, true); err != nil || string(m.Bytes()) != `{"swipes":["a"],"swipe_info":[{}],`+tt.beside+`}` {
				t.Errorf("%s: with force %v, %s", tt.name, err, m.Bytes())
			}
			continue
		}
		swipes, infos := []string{`"a"`, `"b"`, `"c"`}, []string{`{}`, `{"send_date":"d"}`, `{}`}
		want := `{"swipes":[` + picked(swipes, tt.stay) + `],"swipe_info":[` + picked(infos, tt.stay) + `],` + tt.want + `}`
		if got := string(m.Bytes()); err != nil || got != want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", tt.name, err, got, want)
		}
	}
}

// picked returns some of a list's elements, with commas between them.
func picked(list []string, which []int) (text string) {
	for i, k := range which {
		if i > 0 {
			text += ","
		}
		text += list[k]
	}
	return text
}

func TestDeleteSwipeBeside(t *testing.T) {
	line := `{"mes":"b","send_date":"d","extra":{},"swipe_id":1,"swipes":["a","b","c"],"variables":[{"hp":1},{"hp":2},{"hp":3}],"is_ejs_processed":{"1":true}}`
	want := `{"mes":"b","send_date":"d","extra":{},"swipe_id":0,"swipes":["b","c"],"variables":[{"hp":2},{"hp":3}],"is_ejs_processed":{"0":true}}`
	got, err := DeleteSwipe([]byte(line), 1, false)
	if err != nil || string(got) != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, got, want)
	}
}
