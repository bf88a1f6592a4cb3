package lost

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// linesOf makes the lines of a chat of words such as u02:b, or c01:a|b: who says it, the date, the swipes. One
// without a number has no date.
func linesOf(text string) (list []Line) {
	for word := range strings.FieldsSeq(text) {
		who, said, _ := strings.Cut(word, ":")
		swipes := strings.Split(said, "|")
		line := fmt.Sprintf(`{"name":"%s","is_user":%v,"mes":"%s"`, who[:1], who[0] == 'u', swipes[0])
		if who[1:] != "" {
			line += fmt.Sprintf(`,"send_date":"2026-01-01T00:00:%s.000Z"`, who[1:])
		}
		if len(swipes) > 1 {
			line += `,"swipe_id":0,"swipes":["` + strings.Join(swipes, `","`) + `"]`
		}
		list = append(list, ReadLine([]byte(line+"}")))
	}
	return list
}

func TestThread(t *testing.T) {
	for name, c := range map[string]struct {
		live     string
		versions []string // the newest first
		copied   bool
		want     string // what is lost: kind, number, swipe behind a dot, and behind which live message
	}{
		"nothing":                          {"c01:a u02:b", []string{"c01:a u02:b", "c01:a"}, false, ""},
		"one in the middle":                {"c01:a u02:b u04:d", []string{"c01:a u02:b c03:c u04:d"}, false, "message 2 >1"},
		"the first":                        {"u02:b c03:c", []string{"c01:a u02:b c03:c"}, false, "message 0 >-1"},
		"the end, twice":                   {"c01:a", []string{"c01:a u02:b c03:c u04:d", "c01:a u02:b c03:c"}, false, "message 1 >0, message 2 >0, message 3 >0"},
		"no neighbour":                     {"u08:x c09:y", []string{"u01:a u02:b"}, false, "message 0 >1 stray, message 1 >1 stray"},
		"edited":                           {"c01:a u02:B c03:c", []string{"c01:a u02:b c03:c"}, false, "wording 1 of 1"},
		"regenerated at the end":           {"c01:a u02:b c09:x", []string{"c01:a u02:b c03:c"}, false, "wording 2 of 2"},
		"continued elsewhere":              {"c01:a u02:b c09:x", []string{"c01:a u02:b c03:c"}, true, "message 2 >1"},
		"written anew from there":          {"c01:a u07:x c08:y", []string{"c01:a u02:b c03:c"}, false, "message 1 >0, message 2 >0"},
		"another role in its place":        {"c01:a c08:x u04:d", []string{"c01:a u02:b u04:d"}, false, "message 1 >0"},
		"a swipe":                          {"c01:a|c u02:b", []string{"c01:a|b|c u02:b"}, false, "swipe 0.1 of 0"},
		"a swipe that was edited":          {"c01:a|B|c u02:b", []string{"c01:a|b|c u02:b"}, false, "wording 0.1 of 0"},
		"swiped, which changes the date":   {"c01:a c05:d|c u06:e", []string{"c01:a c02:c u06:e"}, false, ""},
		"a greeting over it":               {"c09:z", []string{"c01:a u02:b c03:c"}, false, "wording 0 of 0, message 1 >0, message 2 >0"},
		"moved":                            {"c01:a c03:c u02:b", []string{"c01:a u02:b c03:c"}, false, ""},
		"said again":                       {"c01:a u02:ok c03:c u05:e", []string{"c01:a u02:ok c03:c u04:ok u05:e"}, false, "message 3 >2"},
		"without dates":                    {"c:a u:d", []string{"c:a u:b c:c u:d"}, false, "message 1 >0, message 2 >0"},
		"an older wording of a lost one":   {"c01:a u04:d", []string{"c01:a u02:b c03:C u04:d", "c01:a u02:b c03:c u04:d"}, false, "message 1 >0, message 2 >0, wording 2 of lost 2"},
		"a lost one with swipes":           {"c01:a u04:d", []string{"c01:a c03:c|e u04:d", "c01:a c03:c|x|e u04:d"}, false, "message 1 >0, swipe 1.1 of lost 1"},
		"a third version knows the order":  {"c01:a u09:z", []string{"c01:a u04:y u09:z", "c01:a c02:x u09:z", "c01:a u04:y c02:x u09:z"}, false, "message 1 >0, message 1 >0"},
		"a wording is no message as well":  {"c01:a u02:b c09:x", []string{"c01:a u02:b c03:c", "c01:a c03:c u05:e u06:f"}, false, "wording 2 of 2, message 2 >2, message 3 >2"},
		"a swipe that a swiped one had":    {"c01:a u04:d", []string{"c01:a c07:f|e u04:d", "c01:a c05:c|e u04:d"}, false, "message 1 >0, wording 1.0 of lost 1"},
		"no text, and what the program is": {"c01:a", []string{"c01:a c02:"}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			thread := NewThread(linesOf(c.live), 1)
			for i, version := range c.versions {
				thread.Add(i, linesOf(version), c.copied)
			}
			var got []string
			for _, f := range thread.Found() {
				text := fmt.Sprint(f.Kind, " ", f.Number)
				if f.Swipe >= 0 {
					text += fmt.Sprint(".", f.Swipe)
				}
				switch {
				case f.Kind == Message:
					text += fmt.Sprint(" >", f.Live)
				case f.Of != nil:
					text += fmt.Sprint(" of lost ", f.Of.Number)
				default:
					text += fmt.Sprint(" of ", f.Live)
				}
				if f.Stray {
					text += " stray"
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(c.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestThreadOrder: which of two lost messages came first is known from a third version.
func TestThreadOrder(t *testing.T) {
	thread := NewThread(linesOf("c01:a u09:z"), 1)
	for i, version := range []string{"c01:a u04:y u09:z", "c01:a c02:x u09:z", "c01:a u04:y c02:x u09:z"} {
		thread.Add(i, linesOf(version), false)
	}
	var got []int
	for _, f := range thread.Found() {
		got = append(got, f.Version)
	}
	if diff := cmp.Diff([]int{0, 1}, got); diff != "" {
		t.Errorf("y does not come before x (-want +got):\n%s", diff)
	}
}

func TestReadLine(t *testing.T) {
	for line, want := range map[string]bool{
		`{"name":"Mira","mes":"Hello"}`: true,
		`{"name":"Mira","mes":""}`:      false,
		`{"name":"Mira"}`:               false,
		`{"name":"Note","is_system":true,"mes":"x","extra":{"type":"narrator"}}`:     true,
		`{"name":"Note","is_system":true,"mes":"x","extra":{"type":"comment"}}`:      true,
		`{"name":"System","is_system":true,"mes":"x","extra":{"type":"help"}}`:       false,
		`{"name":"System","is_system":true,"mes":"x","extra":{"isSmallSys":true}}`:   false,
		`{"name":"Mira","is_system":true,"mes":"hidden from the prompt","extra":{}}`: true,
		`{"name":"Mira",`: false,
	} {
		l := ReadLine([]byte(line))
		if l.Counts != want {
			t.Errorf("%s counts: %v", line, l.Counts)
		}
	}
}
