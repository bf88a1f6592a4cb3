package message

import (
	"errors"
	"testing"
)

// Without swipe_info, and with too little, the swipe that comes next has its own extra, as in
// the page, which has filled swipe_info by then.
func TestDeleteSwipe(t *testing.T) {
	tests := []struct {
		name, line string
		number     int
		want       string
	}{
		{
			"no swipe_info",
			`{"mes":"b","send_date":"d","extra":{"k":1},"swipe_id":1,"swipes":["a","b","c"]}`, 2,
			`{"mes":"c","send_date":"d","extra":{},"swipe_id":1,"swipes":["a","c"],"swipe_info":[{"send_date":"d","extra":{}},{"send_date":"d","extra":{}}]}`,
		},
		{
			"short swipe_info, the last swipe",
			`{"mes":"b","send_date":"d","extra":{"k":1},"swipe_id":1,"swipes":["a","b"],"swipe_info":[{"send_date":"e","extra":{"a":1}}]}`, 2,
			`{"mes":"a","send_date":"e","extra":{"a":1},"swipe_id":0,"swipes":["a"],"swipe_info":[{"send_date":"e","extra":{"a":1}}]}`,
		},
		{
			"one above the chosen one",
			`{"mes":"a","extra":{"k":1},"swipe_id":0,"swipes":["a","b"]}`, 2,
			`{"mes":"a","extra":{"k":1},"swipe_id":0,"swipes":["a"]}`,
		},
		{
			"one below the chosen one",
			`{"mes":"b","extra":{"k":1},"swipe_id":1,"swipes":["a","b"]}`, 1,
			`{"mes":"b","extra":{"k":1},"swipe_id":0,"swipes":["b"]}`,
		},
		{
			"of the user",
			`{"is_user":true,"mes":"a","send_date":"d","extra":{"k":1},"swipe_id":0,"swipes":["a","b"]}`, 1,
			`{"is_user":true,"mes":"b","send_date":"d","extra":{},"swipe_id":0,"swipes":["b"],"swipe_info":[{"send_date":"d","extra":{}}]}`,
		},
	}
	for _, tt := range tests {
		got, err := DeleteSwipe([]byte(tt.line), tt.number, false)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", tt.name, err, got, tt.want)
		}
	}
}

func TestDeleteSwipeRefuses(t *testing.T) {
	for line, number := range map[string]int{
		`{"mes":"a","swipe_id":0,"swipes":["a",5]}`:     1, // the next one
		`{"mes":"a","swipe_id":2,"swipes":["a",5,"c"]}`: 3, // the one before the last
		`{"mes":"a","swipe_id":0,"swipes":["a","b"]}`:   3,
		`{"mes":"a","swipe_id":0,"swipes":"list"}`:      1,
	} {
		if _, err := DeleteSwipe([]byte(line), number, false); !isSwipeError(err) {
			t.Errorf("%s: swipe %d: %v", line, number, err)
		}
	}
}

func isSwipeError(err error) bool {
	var is *SwipeError
	return errors.As(err, &is)
}

// A swipe is added to a message only if one of its swipes is chosen.
func TestAddSwipeRefuses(t *testing.T) {
	if _, _, err := AddSwipe([]byte(`{"mes":"a","swipe_id":2,"swipes":["a"]}`), []byte(`"b"`), NewSwipeInfo([]byte(`"d"`))); !errors.Is(err, ErrChosenSwipe) {
		t.Error(err)
	}
	if _, number, err := AddSwipe([]byte(`{"mes":"a","swipe_id":0,"swipes":[]}`), []byte(`"b"`), NewSwipeInfo([]byte(`"d"`))); number != 1 || err != nil {
		t.Error(number, err)
	}
}

func TestCheckChosen(t *testing.T) {
	for line, chosen := range map[string]bool{
		`{"mes":"a"}`:                                  true,
		`{"mes":"a","swipe_id":0}`:                     true,
		`{"mes":"a","swipe_id":1}`:                     false,
		`{"mes":"a","swipes":5}`:                       false,
		`{"mes":"a","swipe_id":1,"swipes":["a","b"]}`:  true,
		`{"mes":"a","swipe_id":1,"swipes":["a",null]}`: false,
		`{"mes":"a","swipe_id":1,"swipes":["a"]}`:      false,
	} {
		if err := CheckChosen([]byte(line)); (err == nil) != chosen {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestTakeSwipe(t *testing.T) {
	const swiped = `{"mes":"b","send_date":"D","gen_started":"S","extra":{"model":"m"},"swipe_id":1,"swipes":["a","b"]`
	for name, c := range map[string]struct {
		line, text, info string
		swipe            int
	}{
		"with what is known of it": {swiped + `,"swipe_info":[{"send_date":"A","extra":{"x":1}},{}]}`, `"a"`, `{"send_date":"A","extra":{"x":1}}`, 0},
		"nothing is known":         {swiped + `}`, `"a"`, `{"send_date":"D","extra":{}}`, 0},
		"of which is not known":    {swiped + `,"swipe_info":[{"x":1}]}`, `"a"`, `{"send_date":"D","extra":{}}`, 0},
		"the text itself":          {`{"mes":"b","send_date":"D","gen_started":"S","extra":{"model":"m"}}`, `"b"`, `{"send_date":"D","gen_started":"S","extra":{"model":"m"}}`, -1},
		"without a date":           {`{"mes":"b"}`, `"b"`, `{"extra":{}}`, -1},
	} {
		text, info, err := TakeSwipe([]byte(c.line), c.swipe)
		if err != nil || string(text) != c.text || string(info) != c.info {
			t.Errorf("%s: %s with %s, %v", name, text, info, err)
		}
	}
}
