package jsonl

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// filler is a line that is whole, of any length from 2 on.
func filler(n int) string { return "{" + strings.Repeat(" ", n-2) + "}" }

// told is what a scanner says of a line.
type told struct {
	At      int64
	Line    string
	Damage  *Damage
	BadUTF8 bool
	Plain   bool // only of an indexed line
	Members []Member
}

// isPlain reports whether a whole line is UTF-8 with none but the escapes that
// JSON.stringify writes.
func isPlain(line string) bool {
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' {
			if i++; !strings.ContainsRune(`"\bfnrt`, rune(line[i])) {
				return false
			}
		}
	}
	return utf8.ValidString(line)
}

func tell(s *scanner, at int64, line []byte, d *Damage) told {
	t := told{At: at, Line: string(line), BadUTF8: s.text.bad}
	if d != nil {
		t.Damage, t.BadUTF8 = new(*d), false
		return t
	}
	t.Plain = s.plain
	t.Members = append(t.Members, s.found...)
	return t
}

// indexedLines is what scanLines says of data.
func indexedLines(data []byte) (list []told) {
	s := scanner{keys: NewKeys("mes")}
	b := block{off: 1, data: data}
	s.scanLines(&b, false, func(line []byte, d *Damage, at int64, _ int, _ bool) { list = append(list, tell(&s, at, line, d)) })
	return list
}

// fedLines is what the scanner says that reads byte by byte.
func fedLines(data []byte) (list []told) {
	s := scanner{keys: NewKeys("mes")}
	for i := 0; i < len(data); {
		s.reset()
		n, _ := s.feed(data[i:])
		line := bytes.TrimSuffix(data[i:i+n-1], []byte("\r"))
		if s.code != 0 || s.first != 0 {
			list = append(list, tell(&s, int64(i), line, s.lineDamage(false)))
		}
		i += n
	}
	return list
}

// checkIndex holds the index against the scanner, and both against encoding/json, with data
// at a place in its 64 bytes and behind so much else that it is indexed.
func checkIndex(t *testing.T, data []byte, before, behind int) {
	t.Helper()
	all := []byte(filler(before+2) + "\n" + string(data) + "\n" + filler(behind+indexPays) + "\n")
	got := indexedLines(all)
	if diff := cmp.Diff(fedLines(all), got, cmpopts.IgnoreFields(told{}, "Plain")); diff != "" {
		t.Fatalf("%q, %d bytes behind: (-fed +indexed)\n%s", data, before, diff)
	}
	for _, line := range got {
		if line.Plain && !isPlain(line.Line) {
			t.Fatalf("%q, %d bytes behind, is plain", line.Line, before)
		}
		first := strings.TrimLeft(line.Line, " \t\r")
		if valid := json.Valid([]byte(line.Line)) && strings.HasPrefix(first, "{"); valid != (line.Damage == nil) {
			t.Fatalf("%q: damage %v, encoding/json %v", line.Line, line.Damage, valid)
		}
	}
}

// parts are what lines are put together from, and spoilt with.
func parts() []string {
	return []string{
		`"`, `\`, `\\`, `\"`, `\\\"`, `\u00e9`, `\u00`, `\ud83d\uDE00`, `\uGGGG`, `\/`, `\b`, `\x`, "\x00", "\x1f", "\t", " ", "\r", "\n",
		"é", "\xc3", "\xa9", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\xaf", "海", "😀", "\xff", "\x7f", "\xef\xbb\xbf", "\u2028",
		"{", "}", "[", "]", ",", ":", "1", "-", "0", "1.5e+7", "01", "1.", ".5", "1e", "-0.0E-0", "true", "fals", "null", "[[[[", `{"a":1}`, `"a":`, `,"b":[1, 2 ,{"c":null}]`,
	}
}

func sound() []string {
	return []string{
		`{"name":"x","mes":"y\n","extra":{"a":[1,2.5,-0,{"q":"\u00ff"}]},"s":["a","b"],"t":true}`,
		`{ "a" : [ 1 , 2 ] , "b" : { } , "c" : [] , "d" : [ ] }`,
		`{"a":"海の音","\u0061":"\\","x":{"y":{"z":[[],{}]}}}`, `{}`, ` {"mes":"",	"n":null,"f":false} `, ``, `5`, `"s"`, `[1,"2"]`,
		`{"` + strings.Repeat(`\"`, 70) + `":"` + strings.Repeat(`\\`, 33) + `"}`,
		`{"mes":"` + strings.Repeat("海", 50) + strings.Repeat("a", 70) + `é"}`, `{"a":[` + strings.Repeat(`"",`, 60) + `""]}`,
	}
}

// Random lines, most of them spoilt, at every place in a run of 64 bytes.
func TestIndexAgainstScanner(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	lines := map[bool]int{}
	for k := range 6000 {
		var data []byte
		for range 1 + r.IntN(4) {
			line := []byte(sound()[r.IntN(len(sound()))])
			for m := r.IntN(3); m > 0 && len(line) > 0; m-- {
				part, at := parts()[r.IntN(len(parts()))], r.IntN(len(line))
				switch r.IntN(4) {
				case 0:
					line = append(line[:at:at], append([]byte(part), line[at:]...)...)
				case 1:
					line = append(line[:at:at], line[min(len(line), at+1+r.IntN(5)):]...)
				case 2:
					line[at] = byte(r.IntN(256))
				default:
					line = append(line[:at:at], append([]byte(part), line[min(len(line), at+1):]...)...)
				}
			}
			data = append(append(data, line...), '\n')
		}
		checkIndex(t, data, k%64, r.IntN(64))
		for _, line := range fedLines(data) {
			lines[line.Damage == nil]++
		}
	}
	if lines[true] < 1000 || lines[false] < 1000 {
		t.Errorf("whole and damaged: %v", lines)
	}
}

// A line is plain unless an escape that JSON.stringify would not write stands anywhere in
// its stretch.
func TestPlainLines(t *testing.T) {
	if !canIndex() {
		t.Skip("this processor knows of no line whether it is plain")
	}
	for at := range 130 {
		for escape, want := range map[string]bool{`\n`: true, `\\`: true, `\"`: true, `\b\f\r\t`: true, `\\u0041`: true, `\\/`: true, `é`: true, `\u0041`: false, `\/`: false, `\\\u0041`: false} {
			line := `{"mes":"` + strings.Repeat("x", at) + escape + `"}`
			for _, got := range indexedLines([]byte(line + "\n" + filler(indexPays) + "\n")) {
				if got.Plain != want {
					t.Fatalf("%.40q is plain: %t", got.Line, got.Plain)
				}
			}
		}
	}
}

// A stretch ends at a line's end: lines of all lengths about it are read as they are.
func TestIndexStretches(t *testing.T) {
	line := `{"name":"Mira","mes":"` + strings.Repeat(`a\n`, 300) + `"}` + "\n"
	bad := `{"mes":"torn` + "\n"
	for _, size := range []int{stretch - 1, stretch, stretch + 1, 2 * stretch} {
		for _, at := range []int{0, 1, 3} {
			all := []byte(strings.Repeat(line, at) + filler(size) + "\n" + bad + strings.Repeat(line, 2*stretch/len(line)) + bad + line)
			if diff := cmp.Diff(fedLines(all), indexedLines(all), cmpopts.IgnoreFields(told{}, "Plain")); diff != "" {
				t.Fatalf("%d, %d: (-fed +indexed)\n%.2000s", size, at, diff)
			}
		}
	}
}

func FuzzIndex(f *testing.F) {
	for _, line := range append(sound(), parts()...) {
		f.Add([]byte(line), uint8(0))
		f.Add([]byte(`{"mes":"`+line+`"}`), uint8(41))
	}
	f.Fuzz(func(t *testing.T, data []byte, before uint8) { checkIndex(t, data, int(before)%64, int(before)/4) })
}

// All pairs of bytes, and the characters at every border of UTF-8, with ASCII before them so
// that each lies across a step once: what is indexed is UTF-8.
func TestIndexUTF8(t *testing.T) {
	if !canIndex() {
		t.Skip("strings are not indexed here")
	}
	var x index
	check := func(s string) {
		t.Helper()
		if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' }) {
			return
		}
		for _, before := range []int{0, 29, 30, 31} {
			line := `{"mes":"` + strings.Repeat("a", 24+before) + s + `"}`
			data := []byte(line + strings.Repeat(" ", indexPays-len(line)) + "\n")
			if got := x.fill(data, 0); got != utf8.ValidString(s) {
				t.Fatalf("%q behind %d bytes: %v", s, before, got)
			}
		}
	}
	for i := range 1 << 16 {
		check(string([]byte{byte(i >> 8), byte(i)}))
	}
	for _, r := range []rune{0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xfffd, 0xffff, 0x10000, 0x10ffff} {
		s := string(r)
		check(s)
		for i := range s {
			check(s[:i] + s[i+1:])
			check(s[:i] + "a" + s[i:])
		}
	}
	for _, s := range []string{"\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf0\x8f\xbf\xbf", "\xe0\x9f\xbf", "\xf8\x88\x80\x80\x80", strings.Repeat("\x80", 40)} {
		check(s)
	}
}
