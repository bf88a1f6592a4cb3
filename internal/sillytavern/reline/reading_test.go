package reline_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/jsonl"
	"stchat/internal/sillytavern/reline"
)

const (
	header = `{"chat_metadata":{"a":[[1],[{}]]},"user_name":"unused","character_name":"unused"}`
	one    = `{"name":"Mira","is_user":false,"mes":"one }{ [,] \" \\","n":1.50e+1}`
	two    = `{"name":"Ines","is_user":true,"mes":"two 😀 ü","extra":{"x":[{"a":1},{"b":2}]}}`
)

// read returns what a reading makes of a file, and the reading.
func read(t *testing.T, data []byte) (string, *reline.Reading) {
	t.Helper()
	src := jsonl.Bytes(data)
	r, err := reline.Read(context.Background(), src)
	if err != nil {
		t.Fatal(err)
	}
	over := r.Over(src)
	whole, err := io.ReadAll(io.NewSectionReader(over.R, 0, over.Size+10))
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(whole)) != over.Size {
		t.Errorf("%q: %d bytes were read, and the size is %d", data, len(whole), over.Size)
	}
	steps := []int{1, 3, 7}
	if len(whole) > 10_000 {
		steps = []int{4099, 70_001}
	}
	for _, step := range steps { // every part reads the same alone
		for at := 0; at < len(whole); at += step {
			part := make([]byte, min(step, len(whole)-at))
			if _, err := over.R.ReadAt(part, int64(at)); err != nil || !bytes.Equal(part, whole[at:at+len(part)]) {
				t.Fatalf("%q: at %d stands %q, %v", data, at, part, err)
			}
		}
	}
	return string(whole), r
}

func pretty(t *testing.T, objects ...string) string {
	t.Helper()
	var out bytes.Buffer
	for _, o := range objects {
		if err := json.Indent(&out, []byte(o), "", "  "); err != nil {
			t.Fatal(err)
		}
		out.WriteByte('\n')
	}
	return out.String()
}

func prettyList(t *testing.T, objects ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, []byte("["+strings.Join(objects, ",")+"]"), "", "\t"); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func lines(list ...string) string { return strings.Join(list, "\n") }

func TestLayout(t *testing.T) {
	all := lines(header, one, two)
	const torn = `{"name":"Mira","is_user":false,"mes":"to`
	for name, c := range map[string]struct{ in, want string }{
		"list":                 {"[" + header + "," + one + ", " + two + "]", all},
		"list in list":         {"[[" + header + "],\n[" + one + "," + two + "]]\n", all},
		"list, a line each":    {"[\n" + header + ",\n" + one + ",\n" + two + "\n]\n", all + "\n"},
		"list, comma in front": {"[ " + header + "\n, " + one + "\n, " + two + "\n]", all},
		"list after a mark":    {"\xef\xbb\xbf[" + header + "," + one + "," + two + "]", "\xef\xbb\xbf" + all},
		"list after NUL":       {"\x00\x00[" + header + "," + one + "," + two + "]", "\x00\x00\n" + all},
		"list before NUL":      {"[" + header + "," + one + "," + two + "]\x00\x00", all + "\n\x00\x00"},
		"list, torn":           {"[" + header + "," + one + "," + two + "," + torn, all + "\n" + torn},
		"list, one broken":     {"[" + header + "," + torn + "," + one + "," + two + "]", lines(header, torn+",", one, two)},
		"pretty":               {pretty(t, header, one, two), all},
		"pretty, CR LF":        {strings.ReplaceAll(pretty(t, header, one, two), "\n", "\r\n"), strings.ReplaceAll(all, "\n", "\r\n")},
		"pretty, joined":       {strings.ReplaceAll(pretty(t, header, one, two), "}\n{", "}{"), all},
		"pretty list":          {prettyList(t, header, one, two), all},
		"pretty list, joined":  {strings.ReplaceAll(prettyList(t, header, one, two), "},\n\t{", "}, {"), all},
		"pretty, flat":         {strings.ReplaceAll(pretty(t, header, one, two), "  ", ""), all},
		"pretty, torn":         {pretty(t, header, one) + `{` + "\n" + `  "name": "Mira",` + "\n" + `  "extra": {` + "\n" + `  }`, lines(header, one)},
		"pretty, one broken":   {pretty(t, header, two) + "{\n  \"a\": [\n{}\n],,\n  }\n" + pretty(t, one), lines(header, two, one)},
		"commas":               {header + ",\n" + one + " ,\n" + two + ",", all},
		"comma behind one":     {header + "\n" + one + ",\n" + two + "\n", all + "\n"},
		"joined":               {header + one + "\n" + two + "\n", all + "\n"},
		"joined by a blank":    {header + "\n" + one + " " + two + "\n", all},
		"joined by a comma":    {header + "\n" + one + "," + two + "\n", all},
		"joined, CR LF":        {header + "\r\n" + one + two + "\r\n", header + "\r\n" + one + "\r\n" + two},
		"joined, torn":         {header + "\n" + one + torn, lines(header, one, torn)},
		"torn, joined":         {header + "\n" + torn + one + "\n" + two, lines(header, torn, one, two)},
		"junk behind":          {header + "\n" + one + "junk\n" + two, lines(header, one, "junk", two)},
	} {
		got, r := read(t, []byte(c.in))
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if r == nil {
			t.Errorf("%s: read as it stands", name)
		}
		if _, again := read(t, []byte(got)); again != nil {
			t.Errorf("%s: %q is not lines: %+v", name, got, again)
		}
	}
}

func TestAsItStands(t *testing.T) {
	for _, in := range []string{
		"", "\n\n", " \r\n", header, lines(header, one, two), lines(header, one, two) + "\n",
		lines(header, one, "torn"), lines(header, `{"name":"Mira","mes":"to`, one),
		lines(header, `{"name":"Mira",`, one), lines(header, "{", one), lines(header, "{\n{", one),
		lines(header, "[1,2,3]", one, "[]", "[", "]", "null", "5", `"x"`), lines(header, "[[1],{", one),
		lines(header, "\x00\x00"+one, one+"\x00", "\xef\xbb\xbf"+two), "\xef\xbb\xbf" + header,
		lines("  "+header, "\t"+one+" "), lines(header, `{"name":"Mira"},"mes":"stray bracket"}`, one),
		lines(header, `{"a":1}x`, one), lines(`{"a":{"name":"x","mes":"y"},`, one), "{", "[", "[[", "]", ",", "{\n", "[\n",
		lines(header, "}", "  }", one), lines(header, `{"deep":`+strings.Repeat("[", 10_001)+strings.Repeat("]", 10_001)+`}`, one),
	} {
		if got, r := read(t, []byte(in)); r != nil {
			t.Errorf("%.200q is read as %.200q: %+v", in, got, r)
		}
	}
}

// encode returns a text in UTF-16.
func encode(order binary.AppendByteOrder, text string) (out []byte) {
	for _, unit := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, unit)
	}
	return out
}

func TestUTF16(t *testing.T) {
	long := lines(header, one, two, `{"name":"Mira","mes":"`+strings.Repeat("😀aé漢", 20_000)+`"}`)
	for _, text := range []string{lines(header, one, two), strings.ReplaceAll(lines(header, one, two), "\n", "\r\n"), long, "x" + long} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			for _, mark := range []string{"", "\ufeff"} {
				got, r := read(t, encode(order, mark+text))
				if got != text {
					t.Errorf("%v%q: got %.100q", order, mark, got)
				}
				if want := map[string]reline.Encoding{"LittleEndian": reline.UTF16LE, "BigEndian": reline.UTF16BE}[order.(interface{ String() string }).String()]; r.Encoding != want {
					t.Errorf("%v%q: taken for %v", order, mark, r.Encoding)
				}
			}
		}
	}
}

func TestUTF16Damaged(t *testing.T) {
	little := binary.LittleEndian
	half := append(encode(little, `{"mes":"a`), 0x3d, 0xd8) // the first half of a pair
	for name, c := range map[string]struct {
		in         []byte
		want, tail string
	}{
		"half a pair":            {append(bytes.Clone(half), encode(little, `b"}`)...), `{"mes":"a\ud83db"}`, ""},
		"half a pair at the end": {half, `{"mes":"a\ud83d`, ""},
		"second half alone":      {append(append(encode(little, `{"mes":"`), 0x00, 0xde), encode(little, `"}`)...), `{"mes":"\ude00"}`, ""},
		"an odd byte":            {append(encode(little, one+"\n"), '\n'), one + "\n", "\n"},
		"zero bytes in front":    {append(make([]byte, 6), encode(little, one)...), "\x00\x00\x00" + one, ""},
		"zero bytes behind":      {append(encode(little, one), make([]byte, 4)...), one + "\x00\x00", ""},
		"a list":                 {encode(little, "["+one+","+two+"]"), lines(one, two), ""},
		"pretty":                 {encode(little, pretty(t, one, two)), lines(one, two), ""},
	} {
		got, r := read(t, c.in)
		if got != c.want || string(r.Tail) != c.tail {
			t.Errorf("%s: got %q, tail %q", name, got, r.Tail)
		}
	}
}

// TestPlaces compares the lines of what is read with those of the file.
func TestPlaces(t *testing.T) {
	in := lines(header, one+two, one, "[", two+",", one, "]", "{", `"a":1}`, one)
	_, r := read(t, []byte(in))
	type place struct {
		Line int
		Same bool
	}
	var got []place
	for line := 1; line <= 9; line++ {
		var p place
		p.Line, p.Same = r.Place(line)
		got = append(got, p)
	}
	want := []place{{1, true}, {2, false}, {2, false}, {3, true}, {5, false}, {6, true}, {8, false}, {10, true}, {11, true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestLarge reads pieces that are larger than what is read at once; one, with a picture inside, is read
// in a hundred parts.
func TestLarge(t *testing.T) {
	picture := strings.Repeat("iVBORw0KGgo=", 1<<20)
	big := `{"name":"Mira","mes":"` + strings.Repeat(`say \"x  y\\\" : , `, 40_000) + `","list":[` + strings.Repeat(`{"a":[1,2]},`, 40_000) + `0],"image":"` + picture + `"}`
	want := lines(header, big, one)
	for _, in := range []string{prettyList(t, header, big, one), "[" + header + "," + big + "," + one + "]"} {
		if got, _ := read(t, []byte(in)); got != want {
			t.Error("a large object was not kept")
		}
	}
}

// bytesOf counts each byte but those that may be between objects.
func bytesOf(data []byte) (counts [256]int) {
	for _, c := range data {
		if !strings.ContainsRune(" \t\r\n,[]", rune(c)) {
			counts[c]++
		}
	}
	return counts
}

// TestMessages holds that messages are counted wherever they stand.
func TestMessages(t *testing.T) {
	for name, tt := range map[string]struct {
		file string
		want int
	}{
		"lines":                  {lines(header, one, two), 2},
		"a list":                 {"[" + header + "," + one + "," + two + "]", 2},
		"joined":                 {header + one + two, 2},
		"commas":                 {header + ",\n" + one + ",\n" + two + ",\n", 2},
		"UTF-16":                 {string(encode(binary.LittleEndian, lines(header, one, two))), 2},
		"UTF-16 without a byte":  {string(encode(binary.LittleEndian, header)[1:]) + string(encode(binary.LittleEndian, lines(one, two, ""))), 2},
		"junk between them":      {header + ",;" + one + ",;" + two + ",;", 2},
		"behind a bracket":       {"{[" + one + "," + two + "]", 2},
		"behind a torn message":  {`{"name":"Mira","mes":"to` + one + "\n" + two, 2},
		"within a message":       {`{"name":"Mira","mes":"","extra":` + one + "}", 1},
		"within a torn message":  {`{"name":"Mira","mes":"","extra":` + one + `,"swipes":["a`, 0},
		"no message":             {header + `{"mes":1,"name":"Mira"}` + "{}", 0},
		"nothing but brackets":   {strings.Repeat("{", 100_000), 0},
		"a text that looks like": {`{"name":"Mira","mes":"{\"mes\":\"\",\"name\":\"\"}"}`, 1},
	} {
		n, err := reline.Messages(t.Context(), jsonl.Bytes([]byte(tt.file)))
		if err != nil || n != tt.want {
			t.Errorf("%s: %d, %v; want %d", name, n, err, tt.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"[" + header + "," + one + "]", one + two, one + ",\n" + two, "{\n\"a\":\n1}\n{", "[{\n", "}, {\n\"mes\":\"\"", "{\n{}\n{\n\"mes\":\"x\",\"name\":1\n}",
		"{\x00\"\x00a\x00\"\x00:\x001\x00}\x00", "\x00{\x00\"\x00a\x00\"\x00:\xd8\x3d\x00}", "{\n[\n{}\n]]\n" + one,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, r := read(t, data)
		if r == nil {
			return
		}
		if r.Encoding == reline.UTF8 {
			out := []byte(got)
			for _, torn := range r.Torn {
				part, err := r.Section(jsonl.Bytes(data), torn)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, part...)
			}
			if bytesOf(data) != bytesOf(out) {
				t.Errorf("%q becomes %q, and %d parts are left out: something is lost", data, got, len(r.Torn))
			}
		}
		// What has been read as lines is lines: without those that are damaged, nothing is left to do.
		var kept []string
		for line := range strings.SplitSeq(got, "\n") {
			if jsonl.Valid([]byte(line)) && strings.HasPrefix(strings.TrimLeft(line, " \t\r"), "{") {
				kept = append(kept, line)
			}
		}
		if len(kept) == 0 {
			return
		}
		if again, r := read(t, []byte(lines(kept...))); r != nil && r.Encoding == reline.UTF8 {
			t.Errorf("%q becomes %q, and that %q", data, got, again)
		}
	})
}
