package all_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/extension"
	"stchat/internal/extension/all"
	"stchat/internal/jsonl/rawjson"
)

// messages is how many the chat of the tests has.
const messages = 10

// gone stands for a number that is of no message any more.
const gone = -1

// examples are rows of kinds that no extension of the list has.
func examples() []extension.Row {
	return []extension.Row{
		{Extension: "example", Path: "example/index", Holds: extension.Index},
		{Extension: "example", Path: "example/null", Holds: extension.Index, None: "null"},
		{Extension: "example", Path: "exampleFirst", Holds: extension.First},
		{Extension: "example", Path: "exampleLast", Holds: extension.Last},
		{Extension: "example", Path: "example/deep/count", Holds: extension.Count},
		{Extension: "example", Path: "example/*/at", Holds: extension.Index, What: "example"},
	}
}

// extensions returns those of the list, and one of the examples.
func extensions() []extension.Extension {
	list := all.New()
	for _, plain := range extension.Plains(examples()) {
		list = append(list, plain)
	}
	return list
}

// numbers returns the rows of numbers in the metadata.
func numbers() (rows []extension.Row) {
	for _, r := range extension.TableOf(extensions()) {
		if r.File == extension.Metadata && r.Holds >= extension.Index && r.Holds <= extension.Count {
			rows = append(rows, r)
		}
	}
	return rows
}

func isMany(r extension.Row) bool {
	return strings.ContainsAny(r.Path, extension.Each+extension.Numbered)
}

// change is something that is done to a chat of ten messages, and what becomes of the number 5, by
// what a row holds.
type change struct {
	name string
	do   func(t *testing.T, r extension.Row, metadata *rawjson.Object) []extension.Change
	want map[extension.Holds]int
}

func changes() []change {
	return []change{
		{"isolate at 7", isolate(7), wants(5, 5, 5, 5, 5)},
		{"isolate at 5", isolate(5), wants(5, 5, 5, 5, 5)},
		{"isolate at 4", isolate(4), wants(gone, gone, gone, 4, 5)},
		{"isolate at 2", isolate(2), wants(gone, gone, gone, 2, 3)},
		{"delete before it", follow(extension.Shift{Gone: []int{1}}), wants(4, gone, 4, 4, 4)},
		{"delete it", follow(extension.Shift{Gone: []int{5}}), wants(gone, gone, 5, 4, 5)},
		{"delete behind it", follow(extension.Shift{Gone: []int{7}}), wants(5, 5, 5, 5, 5)},
		{"delete the end", follow(extension.Shift{Gone: []int{4, 5, 6, 7, 8, 9}}), wants(gone, gone, gone, 3, 4)},
		{"delete the beginning", follow(extension.Shift{Gone: []int{0, 1, 2, 3, 4, 5}}), wants(gone, gone, 0, gone, 0)},
		{"insert before it", follow(insertAt(2)), wants(6, gone, 6, 6, 6)},
		{"insert at it", follow(insertAt(5)), wants(6, gone, 6, 6, 5)},
		{"insert behind it", follow(insertAt(6)), wants(5, 5, 5, 5, 5)},
		{"add at the end", follow(insertAt(10)), wants(5, 5, 5, 5, 5)},
		{"hide it", follow(extension.Shift{Hidden: []int{5}}), wants(5, 5, 5, 5, 5)},
	}
}

func wants(index, place, first, last, count int) map[extension.Holds]int {
	return map[extension.Holds]int{
		extension.Index: index, extension.Place: place, extension.First: first, extension.Last: last, extension.Count: count,
	}
}

func insertAt(at int) extension.Shift {
	return extension.Shift{Inserted: []extension.Insert{{At: at}}}
}

func isolate(at int) func(*testing.T, extension.Row, *rawjson.Object) []extension.Change {
	return func(t *testing.T, r extension.Row, metadata *rawjson.Object) []extension.Change {
		b := &extension.Branch{Metadata: metadata, At: at, Visible: at + 1, Chat: "new"}
		owner(t, r).Isolate(b)
		return b.Changes
	}
}

func follow(s extension.Shift) func(*testing.T, extension.Row, *rawjson.Object) []extension.Change {
	s.Messages = messages
	return func(t *testing.T, r extension.Row, metadata *rawjson.Object) []extension.Change {
		f := &extension.Following{Shift: &s, Metadata: metadata}
		owner(t, r).Follow(f)
		return f.Changes
	}
}

// owner returns the extension of a row.
func owner(t *testing.T, r extension.Row) extension.Extension {
	t.Helper()
	for _, e := range extensions() {
		if e.About().Name == r.Extension {
			return e
		}
	}
	t.Fatalf("%s: no such extension: %s", r.Path, r.Extension)
	return nil
}

// TestNumbers: every row of numbers is what it holds, whatever is done to the chat.
func TestNumbers(t *testing.T) {
	for _, r := range numbers() {
		for _, c := range changes() {
			t.Run(r.Path+"/"+c.name, func(t *testing.T) {
				want := c.want[r.Holds]
				if r.Stays != "" {
					want = 5
				}
				metadata := with(t, r, 5)
				said := c.do(t, r, metadata)
				if got := read(t, r, metadata); got != want {
					t.Errorf("%d, want %d: %s", got, want, metadata.Bytes())
				}
				told := slices.ContainsFunc(said, func(s extension.Change) bool { return s.Extension == r.Extension })
				missing := c.want[r.Holds] != 5
				tells := missing && (r.Stays == "" || strings.HasPrefix(c.name, "isolate"))
				if told != tells {
					t.Errorf("told: %v", said)
				}
				before := string(metadata.Bytes())
				if strings.HasPrefix(c.name, "isolate") && (c.do(t, r, metadata) != nil) != (missing && r.Stays != "") {
					t.Error("isolating a second time says something else")
				}
				if after := string(metadata.Bytes()); strings.HasPrefix(c.name, "isolate") && after != before {
					t.Errorf("isolating a second time: %s → %s", before, after)
				}
			})
		}
	}
}

// TestBeyondTheEnd: check finds a number beyond the end, unless that does no harm; repair makes it
// what isolating makes of it, and then check is content.
func TestBeyondTheEnd(t *testing.T) {
	for _, r := range numbers() {
		for _, number := range []int{5, 9, 10, 12, 1 << 30} {
			t.Run(fmt.Sprintf("%s/%d", r.Path, number), func(t *testing.T) {
				metadata := with(t, r, number)
				most := messages - 1
				if r.Holds == extension.Count {
					most = messages
				}
				var want []string
				if number > most && r.Stays == "" && !r.Heals {
					want = []string{"beyond-end"}
					if r.Rule != "" {
						want = []string{r.Rule}
					}
				}
				if diff := cmp.Diff(want, judge(t, r, metadata)); diff != "" {
					t.Fatalf("check (-want +got):\n%s", diff)
				}
				repaired := repair(t, r, metadata)
				if diff := cmp.Diff(want, repaired); diff != "" {
					t.Errorf("repair (-want +got):\n%s", diff)
				}
				if left := judge(t, r, metadata); left != nil {
					t.Errorf("after repair: %q: %s", left, metadata.Bytes())
				}
				if want == nil {
					return
				}
				isolated := with(t, r, number)
				isolate(messages-1)(t, r, isolated)
				if diff := cmp.Diff(string(isolated.Bytes()), string(metadata.Bytes())); diff != "" {
					t.Errorf("repair is not what isolating is (-isolated +repaired):\n%s", diff)
				}
			})
		}
	}
}

// judge returns the rules that a chat's metadata breaks.
func judge(t *testing.T, r extension.Row, metadata *rawjson.Object) (broken []string) {
	before := string(metadata.Bytes())
	owner(t, r).Judge(&extension.Judging{
		Metadata: metadata, Messages: messages,
		Find: func(f extension.Finding) { broken = append(broken, f.Rule) },
	})
	if after := string(metadata.Bytes()); after != before {
		t.Errorf("check edits: %s → %s", before, after)
	}
	return broken
}

// repair repairs a chat's metadata, and returns by which rules something was.
func repair(t *testing.T, r extension.Row, metadata *rawjson.Object) (rules []string) {
	owner(t, r).Repair(&extension.Repairing{
		Metadata: metadata, Messages: messages,
		Wants: func(string) bool { return true },
		Note: func(m extension.Repaired) {
			rules = append(rules, m.Rule)
			if len(m.Lost) == 0 || m.What == "" {
				t.Errorf("%s: what was there is not kept", m.Text)
			}
		},
	})
	return rules
}

// What is no number of a message stays as it is, byte for byte.
func TestOtherValues(t *testing.T) {
	for _, r := range numbers() {
		for _, value := range []string{`-1`, `null`, `"12"`, `1.5`, `[12]`, `{}`, `true`} {
			path := strings.Split(r.Path, "/")
			if path[len(path)-1] == extension.Numbered {
				path[len(path)-1], value = "-1", `{"a":`+value+`}`
			}
			text := document(path, value)
			metadata := parse(t, text)
			isolate(2)(t, r, metadata)
			follow(extension.Shift{Gone: []int{0}})(t, r, metadata)
			repair(t, r, metadata)
			if got := string(metadata.Bytes()); got != text {
				t.Errorf("%s: %s → %s", r.Path, text, got)
			}
		}
	}
}

// Many values in one row move side by side.
func TestMany(t *testing.T) {
	for _, r := range numbers() {
		if !isMany(r) {
			continue
		}
		text := document(strings.Split(r.Path, "/"), strings.Join([]string{"0", "3", "5", "9"}, ","))
		metadata := parse(t, text)
		follow(extension.Shift{Gone: []int{3, 4}, Inserted: []extension.Insert{{At: 0}}})(t, r, metadata)
		want := map[extension.Holds]string{extension.Index: "1,4,8", extension.Place: ""}[r.Holds]
		if got := string(metadata.Bytes()); got != document(strings.Split(r.Path, "/"), want) {
			t.Errorf("%s: %s", r.Path, got)
		}
	}
}

// TestRowsAreComplete: a row says all that a person must be told.
func TestRowsAreComplete(t *testing.T) {
	for _, r := range all.Table() {
		inMessage := r.File == extension.Extra || r.File == extension.Line
		switch {
		case r.Extension == "":
			t.Errorf("%s is of no extension", r.Path)
		case r.Holds == extension.Text != inMessage:
			t.Errorf("%s: a text is in a message, and nothing else is", r.Path)
		case r.Holds == extension.Text && !strings.HasPrefix(r.What, "the "):
			t.Errorf("%s: what does a message lose? %q", r.Path, r.What)
		case r.Holds >= extension.Index && r.Holds <= extension.Count && isMany(r) && r.What == "":
			t.Errorf("%s: what is one of them?", r.Path)
		case isMany(r) && (r.Holds == extension.First || r.Holds == extension.Last || r.Holds == extension.Count):
			t.Errorf("%s: only a single number moves on", r.Path)
		}
	}
}

// with returns metadata in which a row holds a number.
func with(t *testing.T, r extension.Row, number int) *rawjson.Object {
	t.Helper()
	return parse(t, document(strings.Split(r.Path, "/"), strconv.Itoa(number)))
}

// document returns an object with a value at the end of a path; where a row has many values, with
// these, between commas.
func document(path []string, value string) string {
	last := path[len(path)-1]
	if last == extension.Numbered {
		var members []string
		for _, key := range strings.FieldsFunc(value, func(c rune) bool { return c == ',' }) {
			members = append(members, `"`+key+`":{"n":1}`)
		}
		return document(path[:len(path)-1], "{"+strings.Join(members, ",")+"}")
	}
	if at := slices.Index(path, extension.Each); at >= 0 {
		var elements []string
		for one := range strings.SplitSeq(value, ",") {
			if one != "" {
				elements = append(elements, document(path[at+1:], one))
			}
		}
		return document(path[:at], "["+strings.Join(elements, ",")+"]")
	}
	for _, key := range slices.Backward(path) {
		value = fmt.Sprintf("{%q:%s}", key, value)
	}
	return value
}

func parse(t *testing.T, text string) *rawjson.Object {
	t.Helper()
	metadata, err := rawjson.ParseObject([]byte(text))
	if err != nil {
		t.Fatal(err, text)
	}
	return metadata
}

// read returns the number that a row holds.
func read(t *testing.T, r extension.Row, metadata *rawjson.Object) int {
	t.Helper()
	path := strings.Split(r.Path, "/")
	for number := range 20 {
		if string(metadata.Bytes()) == document(path, strconv.Itoa(number)) {
			return number
		}
	}
	none := r.None
	if isMany(r) {
		none = ""
	} else if none == "" {
		return isGone(t, r, metadata)
	}
	if want := document(path, none); string(metadata.Bytes()) != want {
		t.Fatalf("%s, want %s", metadata.Bytes(), want)
	}
	return gone
}

// isGone checks that the last key of a path is not there.
func isGone(t *testing.T, r extension.Row, metadata *rawjson.Object) int {
	t.Helper()
	if _, found := rawjson.Lookup(metadata.Bytes(), strings.Split(r.Path, "/")...); found {
		t.Fatalf("%s", metadata.Bytes())
	}
	return gone
}
