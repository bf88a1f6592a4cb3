package jsonl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// suite returns JSON inputs by name. The first letter of a name is what a parser
// must do, as in the well-known JSON parsing suites: y_ accept, n_ refuse, i_
// either, so that encoding/json alone decides.
func suite() map[string]string {
	cases := map[string]string{}
	add := func(name, input string) {
		if _, ok := cases[name]; ok {
			panic("two cases are called " + name)
		}
		cases[name] = input
	}
	addScalars(add)
	addNumbers(add)
	addStrings(add)
	addLists(add)
	addObjects(add)
	addStructure(add)
	return cases
}

func addScalars(add func(name, input string)) {
	for _, word := range []string{"true", "false", "null"} {
		add("y_scalar_"+word, word)
		add("y_scalar_spaced_"+word, " \t\r\n"+word+" \t\r\n")
		for i := 1; i < len(word); i++ {
			add(fmt.Sprintf("n_scalar_cut_%s", word[:i]), word[:i])
			add(fmt.Sprintf("n_list_cut_%s", word[:i]), "["+word[:i]+"]")
		}
		add("n_scalar_capital_"+word, strings.ToUpper(word[:1])+word[1:])
		add("n_scalar_capitals_"+word, strings.ToUpper(word))
		add("n_scalar_longer_"+word, word+"x")
		add("n_scalar_doubled_"+word, word+word)
		add("n_scalar_twice_"+word, word+" "+word)
		add("n_scalar_nul_"+word, word+"\x00")
		add("n_scalar_other_end_"+word, word[:len(word)-1]+"x")
	}
	for _, word := range []string{"undefined", "None", "nil", "yes", "NaN", "Infinity", "abc", "function(){}", "new Date()"} {
		add("n_scalar_word_"+word, word)
		add("n_list_word_"+word, "["+word+"]")
	}
	add("y_scalar_string", `"asd"`)
	add("y_scalar_empty_string", `""`)
	add("y_scalar_number", "42")
	add("y_scalar_number_then_lf", "42\n")
	add("y_scalar_negative", "-0.1")
	add("y_scalar_empty_list", "[]")
	add("y_scalar_empty_object", "{}")
}

func addNumbers(add func(name, input string)) {
	for _, n := range []string{
		"0", "-0", "1", "-1", "10", "123", "0.0", "0.1", "-0.0", "1.5", "123.456789", "1.000000000000005", "0e1", "0E1", "0e+1", "0e-1", "0.0e0", "1e1", "1E22",
		"1e-2", "1E-2", "1e+2", "1E+2", "123e45", "123e65", "123.456e78", "-123123123123123123123123123123", "100000000000000000000000",
		"20e1", "1e00", "1e007", "-0e-0", "0.00000000000000000000000000000000000000000000000000000000000000000001",
		"-9223372036854775808", "9223372036854775807", "18446744073709551615", "18446744073709551616", "4294967296", "2147483648", "9007199254740993",
	} {
		add("y_number_"+n, n)
		add("y_number_list_"+n, "["+n+"]")
		add("y_number_member_"+n, `{"a":`+n+"}")
	}
	// more than a double holds: the grammar takes it, a parser may not
	for _, n := range []string{"1e999", "-1e999", "1e-999", "0.4e00669999999999999999999999999999999999999999999999999999", "123123e100000", "-123123e100000", "1.5e+9999", "0e99999999999"} {
		add("i_number_"+n, "["+n+"]")
	}
	add("i_number_many_digits", "["+strings.Repeat("1234567890", 2000)+"]")
	add("i_number_many_zeros", "[0."+strings.Repeat("0", 20000)+"1]")
	add("i_number_many_exponent_digits", "[1e"+strings.Repeat("9", 20000)+"]")
	for _, n := range []string{
		"00", "01", "-01", "-012", "012", "-00", "00.5", "-", "--1", "-a", "- 1", "-.5", "-.", "+1", "+", "++1234", "+0", "+Inf", "+NaN", ".5", ".", ".e1", ".-1", "1.", "-2.", "0.", "1.e1", "0.e1", "2.e+3", "2.e-3",
		"1e", "1E", "1e+", "1e-", "1E+", "0e", "0e+", "0E", "0E+", "0.3e", "0.3e+", "1.0e", "1.0e+", "1.0e-", "9.e+", "1ee2", "1e1e1", "1eE2", "1e1.5", "1e.5", "1e0x1", "0.1.2", "1.2.3", "1..2", "1,000.5x", "1 000", "1_000",
		"0x1", "0x", "0X42", "0xG", "0b1", "0o7", "0_1", "1a", "0a", "1.a", "1.2a", "1.2a-3", "1.8011670033376514H-308", "1+2", "1-2", "1e1-", "NaN", "-NaN", "Inf", "-Infinity", "Infinity", "-Inf", "∞", "1/2", "1%", "$1", "#1", "1f", "1n", "1L", "\uff11", "-\uff11", "1\uff11", "1\x00", "1\xff", "0\xe5", "1e1\xe5", "\u0661",
	} {
		add(fmt.Sprintf("n_number_%q", n), n)
		add(fmt.Sprintf("n_number_list_%q", n), "["+n+"]")
		add(fmt.Sprintf("n_number_member_%q", n), `{"a":`+n+"}")
	}
}

func addStrings(add func(name, input string)) {
	// both as a value and as a key
	both := func(name, text string) {
		add(name, `["`+text+`"]`)
		add(name+"_key", `{"`+text+`":1}`)
		add(name+"_member", `{"a":"`+text+`"}`)
	}
	for c := range 256 {
		escape := "\\" + string([]byte{byte(c)})
		switch {
		case strings.IndexByte(`"\/bfnrt`, byte(c)) >= 0:
			both(fmt.Sprintf("y_string_escape_%02x", c), escape)
		default: // \u without digits too
			both(fmt.Sprintf("n_string_escape_%02x", c), escape)
		}
		raw := string([]byte{byte(c)})
		switch {
		case c < ' ':
			both(fmt.Sprintf("n_string_control_%02x", c), "a"+raw+"b")
			both(fmt.Sprintf("y_string_control_escaped_%02x", c), fmt.Sprintf(`a\u%04xb`, c))
		case c >= 0x80:
			both(fmt.Sprintf("i_string_lone_byte_%02x", c), "a"+raw+"b")
		case c != '"' && c != '\\': // DEL among them
			both(fmt.Sprintf("y_string_ascii_%02x", c), raw)
		}
		if strings.IndexByte("0123456789abcdefABCDEF", byte(c)) < 0 {
			for at := range 4 {
				add(fmt.Sprintf("n_string_hex_%d_%02x", at, c), `["\u`+"0000"[:at]+raw+"0000"[at+1:]+`"]`)
			}
		}
	}
	for name, text := range map[string]string{
		"two_characters": "é日", "emoji": "😀", "non_character": "\U0010ffff", "u_ffff": "\uffff", "line_separators": "\u2028\u2029", "bom_inside": "\ufeff", "word_joiner": "\u2060", "nbsp": "\u00a0",
		"u_escape": `\u00e9`, "u_escape_capitals": `\u00E9\uABCD`, "u_nul": `\u0000`, "u_pair": `\uD83D\uDE00`, "u_noncharacters": `\uFDD0\uFFFE\uDBFF\uDFFE`, "all_escapes": `\"\\\/\b\f\n\r\t`, "escaped_backslash_u": `\\u0000`, "escaped_backslash_a": `\\a`, "backslashes": `\\\\\\\\`, "slashes": "a/*b*/c/d//e", "brackets": "[{]}:,", "space": " ", "long": strings.Repeat("ab ", 5000), "long_escapes": strings.Repeat(`\u00e9\n`, 2000),
	} {
		both("y_string_"+name, text)
	}
	for name, text := range map[string]string{
		"lone_high": `\uD800`, "lone_low": `\uDC00`, "high_then_text": `\uD800abc`, "high_high": `\uD800\uD800`, "high_then_newline": `\uD800\n`, "low_high": `\uDE00\uD83D`, "high_then_u_e9": `\uD888\u00e9`,
		"overlong_2": "\xc0\xaf", "overlong_3": "\xe0\x80\xaf", "overlong_6": "\xfc\x83\xbf\xbf\xbf\xbf", "overlong_nul": "\xc0\x80", "surrogate_utf8": "\xed\xa0\x80", "surrogate_pair_utf8": "\xed\xa0\xbd\xed\xb8\x80",
		"too_large": "\xf4\xbf\xbf\xbf", "five_bytes": "\xf8\x88\x80\x80\x80", "cut_2": "\xc3", "cut_3": "\xe6\x97", "cut_4": "\xf0\x9f\x98", "latin1": "caf\xe9", "swapped": "\x80\xc3", "sjis": "\x93\xfa\x96{",
	} {
		both("i_string_"+name, text)
	}
	for name, text := range map[string]string{
		"u_cut_0": `\u`, "u_cut_1": `\u0`, "u_cut_2": `\u00`, "u_cut_3": `\u00A`, "u_pair_cut_1": `\uD834\u`, "u_pair_cut_2": `\uD834\uDd`, "u_pair_no_u": `\uD834\x`, "u_capital": `\U00e9`, "u_braces": `\u{e9}`, "x_escape": `\x00`, "octal": `\012`, "backslash_emoji": `\😀`, "backslash_space": `\ `, "backslash_tab": "\\\t", "backslash_newline": "\\\n", "newline": "a\nb", "tab": "a\tb", "cr": "a\rb", "nul": "a\x00b", "odd_backslashes": `\\\`, "quote": `a"b`,
	} {
		both("n_string_"+name, text)
	}
	for name, text := range map[string]string{
		"unclosed": `"`, "unclosed_text": `"a`, "unclosed_escape": `"\`, "unclosed_escaped_quote": `"\"`, "unclosed_u": `"\u`, "unclosed_u_digits": `"\u00e9`, "unclosed_multibyte": "\"é", "unclosed_lf": "\"a\n", "no_open": `a"`, "single_quotes": `'a'`, "single_quote": `'`, "backticks": "`a`", "typographic": "“a”", "bare_escape": `\n`, "bare_u": `\u0020"a"`, "bare_text": "é", "trailing": `"a"x`, "two": `"a""b"`, "plus": `"a"+"b"`, "bare_control": "\x1f", "three_quotes": `"""`,
	} {
		add("n_string_"+name, text)
		add("n_string_list_"+name, "["+text+"]")
	}
}

func addLists(add func(name, input string)) {
	for name, input := range map[string]string{
		"empty": "[]", "spaced": "[ ]", "white": " [\t1\r,\n2 ] ", "empty_string": `[""]`, "nested": "[[]]", "nested_more": "[[[],[]],[[]]]", "mixed": `[null,1,"1",{},true,false,-0.5e1]`, "nulls": "[1,null,null,null,2]", "leading_space": " [1]", "trailing_space": "[2] ", "newlines": "[1\n,2\n]",
		"long": "[" + strings.Repeat("0,", 5000) + "0]",
	} {
		add("y_list_"+name, input)
	}
	for name, input := range map[string]string{
		"open": "[", "open_twice": "[[", "close": "]", "close_twice": "[]]", "unclosed_value": "[1", "unclosed_comma": "[1,", "unclosed_string": `["a`, "unclosed_literal": "[tru", "unclosed_minus": "[-", "unclosed_object": "[{}", "unclosed_lines": "[1,\n1\n,1", "comma": "[,]", "comma_first": "[,1]", "comma_last": "[1,]", "commas": "[1,,2]", "commas_last": "[1,,]", "comma_after": "[],", "comma_before": ",[]", "only_commas": "[,,]", "no_comma": "[1 2]", "no_comma_strings": `["a" "b"]`, "no_comma_lists": "[[][]]", "no_comma_literals": "[true false]", "colon": `["a":1]`, "colon_between": "[1:2]", "semicolon": "[1;2]", "braces": "[1}", "brace_inside": "[}]", "star": "[*]", "parens": "(1)", "angle": "<1>", "angles": "<>", "spread": "[...a]", "invalid_utf8": "[\xff]", "lone_e5": "[\xe5]", "form_feed": "[\f]", "vertical_tab": "[\v]", "escaped_form_feed": `[\f]`, "nbsp": "[\u00a0]", "word_joiner": "[\u2060]", "line_separator": "[1,\u20282]", "ideographic_space": "[\u3000]", "nul": "[\x00]", "nul_after": "[1\x00]", "del": "[\x7f]", "bom_inside": "[\ufeff]", "newline_unclosed": "[\"a\",\n4\n,1,", "trailing_text": "[1]x", "trailing_list": "[][]", "trailing_number": "[]1", "trailing_quote": `[]"`, "trailing_hash": "[]#", "line_comment": "[]//", "block_comment": "[/*a*/]", "block_comment_after": "[]/**/", "hash_comment": "[1 #a\n]",
	} {
		add("n_list_"+name, input)
	}
}

func addObjects(add func(name, input string)) {
	for name, input := range map[string]string{
		"empty": "{}", "spaced": "{ }", "one": `{"a":1}`, "two": `{"a":1,"b":2}`, "white": " {\t\"a\"\r:\n1 , \"b\" : 2 } ", "empty_key": `{"":0}`, "duplicate": `{"a":1,"a":2}`, "duplicate_same": `{"a":1,"a":1}`, "escaped_key": `{"\u0061\n":1}`, "nul_in_key": `{"a\u0000b":1}`, "nested": `{"a":{"a":{"a":{}}}}`, "lists": `{"a":[],"b":[{}]}`, "proto": `{"__proto__":{"a":1}}`, "dots": `{"a.b":1,"*":2,"@":3,"#":4,"|":5}`, "long_keys": `{"` + strings.Repeat("x", 5000) + `":0}`, "newlines": "{\n\"a\": \"b\"\n}",
		"many": "{" + strings.Repeat(`"a":1,`, 5000) + `"a":1}`,
	} {
		add("y_object_"+name, input)
	}
	for name, input := range map[string]string{
		"open": "{", "close": "}", "close_twice": "{}}", "open_twice": "{{", "object_for_key": `{{}:1}`, "unclosed_key": `{"a`, "unclosed_after_key": `{"a"`, "unclosed_colon": `{"a":`, "unclosed_value": `{"a":1`, "unclosed_comma": `{"a":1,`, "unclosed_string": `{"a":"b`, "unclosed_list": `{"a":[`, "comma": "{,}", "comma_first": `{,"a":1}`, "comma_last": `{"a":1,}`, "commas_last": `{"a":1,,,}`, "commas": `{"a":1,,"b":2}`, "comma_for_colon": `{"a",1}`, "no_colon": `{"a" 1}`, "no_value": `{"a":}`, "key_alone": `{"a"}`, "value_alone": `{:1}`, "colons": `{"a"::1}`, "three": `{"a":"b":"c"}`, "equals": `{"a"=1}`, "arrow": `{"a"=>1}`, "no_comma": `{"a":1 "b":2}`, "semicolon": `{"a":1;"b":2}`, "bare_key": `{a:1}`, "single_quotes": `{'a':1}`, "number_key": `{1:1}`, "number_key_exponent": `{9999E9999:1}`, "null_key": `{null:null}`, "true_key": `{true:1}`, "list_key": `{[]:1}`, "bracket": `{"a":1]`, "bracket_open": `["a":1}`, "only_value": `{"a":1,2}`, "set": `{1,2}`, "emoji": "{😀}", "lone_continuation": "{\"\xb9\":\"0\",}", "form_feed": "{\f}", "nul": "{\x00}", "trailing_text": `{"a":"b"}x`, "trailing_hash": `{"a":"b"}#`, "trailing_hash_brace": `{"a":"b"}#{}`, "trailing_object": `{}{}`, "trailing_comma": `{},`, "trailing_string": `{"a":1}"x"`, "line_comment": `{"a":"b"}//`, "slash": `{"a":"b"}/`, "comment_open": `{"a":"b"}/*`, "comment": `{"a":/*c*/"b"}`, "comment_before": `/**/{}`, "comment_key": `{"a"/**/:1}`, "template": "{\"a\":`b`}", "parens": `({"a":1})`, "invalid_utf8_key": "{\xff:1}",
	} {
		add("n_object_"+name, input)
	}
}

func addStructure(add func(name, input string)) {
	add("n_structure_nothing", "")
	for name, c := range map[string]string{"space": " ", "tab": "\t", "cr": "\r", "lf": "\n"} {
		add("n_structure_only_"+name, c)
		add("n_structure_only_more_"+name, c+c+c)
		add("y_structure_before_"+name, c+"{}")
		add("y_structure_after_"+name, "{}"+c)
		add("y_structure_inside_"+name, `{`+c+`"a"`+c+`:`+c+`[`+c+`1`+c+`,`+c+`2`+c+`]`+c+`}`)
		add("n_structure_in_number_"+name, "[1"+c+"2]")
		add("n_structure_in_literal_"+name, "[tr"+c+"ue]")
	}
	for name, c := range map[string]string{
		"form_feed": "\f", "vertical_tab": "\v", "nul": "\x00", "backspace": "\b", "del": "\x7f", "nel": "\u0085", "nbsp": "\u00a0", "ogham": "\u1680", "mongolian": "\u180e", "en_quad": "\u2000", "zero_width": "\u200b", "line_separator": "\u2028", "paragraph_separator": "\u2029", "narrow_nbsp": "\u202f", "word_joiner": "\u2060", "ideographic": "\u3000", "bom": "\ufeff", "utf16_le_bom": "\xff\xfe", "utf16_be_bom": "\xfe\xff", "cut_bom": "\xef\xbb",
	} {
		add("n_structure_only_"+name, c)
		add("n_structure_before_"+name, c+"{}")
		add("n_structure_after_"+name, "{}"+c)
		add("n_structure_inside_"+name, `{"a":`+c+`1}`)
	}
	add("n_structure_utf16_le", "{\x00}\x00")
	add("n_structure_utf16_be", "\x00{\x00}")
	add("n_structure_bom_twice", "\ufeff\ufeff{}")
	for _, n := range []int{1, 2, 63, 64, 65, 128, 1000, MaxDepth - 1, MaxDepth} {
		add(fmt.Sprintf("y_structure_lists_%d", n), strings.Repeat("[", n)+strings.Repeat("]", n))
		add(fmt.Sprintf("y_structure_objects_%d", n), strings.Repeat(`{"a":`, n-1)+"{}"+strings.Repeat("}", n-1))
		add(fmt.Sprintf("n_structure_lists_short_%d", n), strings.Repeat("[", n)+strings.Repeat("]", n-1))
		add(fmt.Sprintf("n_structure_lists_over_%d", n), strings.Repeat("[", n)+strings.Repeat("]", n+1))
	}
	for _, n := range []int{MaxDepth + 1, 100_000} {
		add(fmt.Sprintf("i_structure_lists_%d", n), strings.Repeat("[", n)+strings.Repeat("]", n))
		add(fmt.Sprintf("i_structure_objects_%d", n), strings.Repeat(`{"a":`, n)+"1"+strings.Repeat("}", n))
	}
	add("n_structure_open_lists_100000", strings.Repeat("[", 100_000))
	add("n_structure_open_objects_100000", strings.Repeat(`{"":`, 100_000))
	add("n_structure_open_mixed_100000", strings.Repeat(`[{"":`, 50_000))
	add("n_structure_close_100000", strings.Repeat("]", 100_000))
	// the brackets close what was opened last, at each depth
	for _, n := range []int{1, 63, 64, 65, 129} {
		open, right, wrong := strings.Repeat(`[{"":`, n), strings.Repeat("}]", n), strings.Repeat("]}", n)
		add(fmt.Sprintf("y_structure_mixed_%d", n), open+"0"+right)
		add(fmt.Sprintf("n_structure_mixed_%d", n), open+"0"+wrong)
		add(fmt.Sprintf("n_structure_mixed_last_%d", n), open+"0"+right[:len(right)-1]+"}")
	}
	// a whole value that is cut anywhere is none
	const whole = `{"a":[1.5e+3,-0,true,false,null,"x\n\u00e9",{"b":[]}],"c":{}}`
	for i := range len(whole) {
		add(fmt.Sprintf("n_structure_cut_%d", i), whole[:i])
	}
	for c := range 256 { // a lone byte
		name := "n"
		if c >= '0' && c <= '9' {
			name = "y"
		}
		if strings.IndexByte(" \t\r\n", byte(c)) < 0 {
			add(fmt.Sprintf("%s_structure_byte_%02x", name, c), string([]byte{byte(c)}))
		}
	}
}

// TestSuite holds the scanner against the suite and against encoding/json: as
// one value, and as a line of a chat.
func TestSuite(t *testing.T) {
	cases := suite()
	if len(cases) < 2000 {
		t.Fatalf("only %d cases", len(cases))
	}
	for name, in := range cases {
		want := json.Valid([]byte(in))
		if name[0] == 'y' && !want || name[0] == 'n' && want {
			t.Errorf("%s: encoding/json says %v: %.100q", name, want, in)
		}
		if got := Valid([]byte(in)); got != want {
			t.Errorf("%s: Valid says %v, encoding/json %v: %.100q", name, got, want, in)
		}
		if d := Check([]byte(in)); d != nil && (d.Column < 1 || d.Column > len(in)+1 || d.Reason == "") {
			t.Errorf("%s: Check: %+v", name, d)
		}
		suiteLine(t, name, in)
	}
}

// suiteLine holds what the line scanner says of the input as the line of a
// chat, against encoding/json: as a whole, and in two reads.
func suiteLine(t *testing.T, name, in string) {
	t.Helper()
	if strings.ContainsRune(in, '\n') {
		in = strings.ReplaceAll(in, "\n", "\r") // white space alike, and no line end
	}
	line := []byte(in + "\n")
	var whole scanner
	if n, ended := whole.feed(line); n != len(line) || !ended {
		t.Fatalf("%s: took %d of %d bytes, ended %v", name, n, len(line), ended)
	}
	trimmed := bytes.TrimLeft([]byte(in), " \t\r")
	valid := json.Valid([]byte(in))
	var want Code
	switch {
	case len(trimmed) == 0: // blank
	case valid && trimmed[0] != '{':
		want = NotObject
	case !valid && whole.code == TooDeep:
		// encoding/json does not say which of both is wrong; the depth is counted here
		if strings.Count(in, "[")+strings.Count(in, "{") <= MaxDepth {
			t.Errorf("%s: too deep: %.100q", name, in)
		}
		want = TooDeep
	case !valid:
		want = InvalidJSON
	}
	if whole.code != want {
		t.Errorf("%s: the line has code %d, want %d: %.100q", name, whole.code, want, in)
	}
	if valid && whole.code == 0 && whole.text.bad == utf8.ValidString(in) {
		t.Errorf("%s: badUTF8 is %v: %.100q", name, whole.text.bad, in)
	}
	var halves scanner
	half := len(line) / 2
	halves.feed(line[:half])
	halves.feed(line[half:])
	if whole.code == NotObject {
		halves.falsy = whole.falsy // a number in two reads counts as true
	}
	if diff := cmp.Diff(whole.damage(false), halves.damage(false)); whole.code != halves.code || want != 0 && diff != "" {
		t.Errorf("%s: in two reads (-whole +halves)\n%s", name, diff)
	}
}
