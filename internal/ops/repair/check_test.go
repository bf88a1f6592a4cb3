package repair_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/folder/rules"
	"stchat/internal/ops"
	"stchat/internal/ops/repair"
)

// now is when the checks of these tests run.
var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

const plainHeader = `{"chat_metadata":{"integrity":"11111111-0000-4000-8000-000000000000"},"user_name":"unused","character_name":"unused"}`

// head is a header with more metadata and a slug of its own; more is members of
// an object.
func head(slug int, more string) string {
	if more != "" {
		more = "," + more
	}
	return fmt.Sprintf(`{"chat_metadata":{"integrity":"%08d-0000-4000-8000-000000000000"%s},"user_name":"unused","character_name":"unused"}`, slug, more)
}

// say is message i, with more members.
func say(i int, more string) string {
	if more != "" {
		more = "," + more
	}
	return fmt.Sprintf(`{"name":"%s","is_user":%v,"is_system":false,"send_date":"2026-01-02T03:04:%02d.000Z","mes":"line %d"%s}`,
		[]string{"Mira", "Ines"}[i%2], i%2 == 1, i, i, more)
}

// chat joins lines as SillyTavern does.
func chat(lines ...string) string { return strings.Join(lines, "\n") }

// indented is objects as an editor formats them.
func indented(objects ...string) string {
	var out bytes.Buffer
	for _, o := range objects {
		if err := json.Indent(&out, []byte(o), "", "  "); err != nil {
			panic(err)
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// utf16Text is a text as Windows' editor saves it.
func utf16Text(text string) string {
	var out []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		out = binary.LittleEndian.AppendUint16(out, unit)
	}
	return string(out)
}

// talk is a chat of n messages under a header.
func talk(header string, n int) string {
	lines := []string{header}
	for i := range n {
		lines = append(lines, say(i, ""))
	}
	return chat(lines...)
}

const solo = "chats/Mira/"

// tree is files by their slashed paths.
type tree map[string]string

// plant writes the files into a new user folder.
func plant(t *testing.T, files tree) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "me")
	for _, dir := range []string{"chats", "worlds"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for name, data := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// found tells findings as "rule path:line#index", the path below root.
func found(root string, list []rules.Finding) []string {
	var out []string
	for i := range list {
		f := &list[i]
		rel, _ := filepath.Rel(root, f.Path)
		place := fmt.Sprintf("%s %s:%d", f.Rule, filepath.ToSlash(rel), f.Line)
		if f.Index >= 0 {
			place += fmt.Sprintf("#%d", f.Index)
		}
		out = append(out, place)
	}
	return out
}

func check(t *testing.T, paths ...string) *repair.CheckResult {
	t.Helper()
	res, err := repair.Check(context.Background(), repair.CheckOptions{List: ops.List{Paths: paths}, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range res.Errs {
		t.Error(err)
	}
	return res
}

func groupFile(more string, chats ...string) string {
	for i := range chats {
		chats[i] = fmt.Sprintf("%q", chats[i])
	}
	if more != "" {
		more = "," + more
	}
	return fmt.Sprintf(`{"id":"1","name":"Supper","chat_id":%s,"chats":[%s]%s}`, chats[0], strings.Join(chats, ","), more)
}

// oldGroup is a group as up to SillyTavern 1.14, whose file holds the metadata of its chats: those of K
// are past. G notes K as a checkpoint on its message 2, and K shares so many messages with it.
func oldGroup(past string, shared int) tree {
	lines := []string{say(0, ""), say(1, ""), say(2, `"extra":{"bookmark_link":"K"}`)}
	checkpoint := slices.Clone(lines[:shared])
	for i := shared; i < len(lines); i++ {
		checkpoint = append(checkpoint, say(i+10, ""))
	}
	return tree{
		"group chats/G.jsonl": chat(lines...), "group chats/K.jsonl": chat(checkpoint...),
		"groups/1.json": groupFile(`"chat_metadata":{},"past_metadata":{`+past+`}`, "G", "K"),
	}
}

func book(entries string) string { return `{"entries":{` + entries + `}}` }

const queueEntry = `"9":{"uid":9,"comment":"__operation_queue","content":"{\"queue\":[%s]}"}`

func queue(operations string) string { return fmt.Sprintf(queueEntry, operations) }

// ruleCase is a chat that breaks a rule, with all that check finds there, and
// one that nearly does.
type ruleCase struct {
	rule   string
	has    tree
	want   []string
	almost tree
}

// ruleCases has at least one for every rule.
func ruleCases() []ruleCase {
	const A = solo + "A.jsonl"
	swiped := func(more string) string { return talkWith(head(1, ""), say(0, more)) }
	return append(stateCases(), []ruleCase{
		{"empty-file", tree{A: ""}, []string{"empty-file " + A + ":0"}, tree{A: talk(plainHeader, 1)}},
		{"empty-file", tree{A: "\n \r\n"}, []string{"empty-file " + A + ":0"}, tree{A: talk(plainHeader, 1) + "\n\n"}},
		{"header-only", tree{A: plainHeader + "\n"}, []string{"header-only " + A + ":1"}, tree{A: talk(plainHeader, 1)}},
		{
			"utf-16",
			tree{A: utf16Text("\ufeff" + strings.ReplaceAll(talk(plainHeader, 2), "\n", "\r\n"))},
			[]string{"utf-16 " + A + ":1", "crlf " + A + ":1"},
			tree{A: talk(plainHeader, 1) + "\n" + say(1, `"x":"{\u0000\""`)},
		},
		{
			"utf-16", // cut off in a character, and nothing tells the encoding
			tree{A: utf16Text(chat(plainHeader, say(0, `"x":"😀"`), `{"name":"M`)) + "i"},
			[]string{"utf-16 " + A + ":1", "torn-tail " + A + ":3"},
			tree{A: talk(plainHeader, 2)},
		},
		{
			"json-layout",
			tree{A: "[" + plainHeader + ", " + say(0, `"x":["}{",[1]]`) + ",\n " + say(1, "") + "]"},
			[]string{"json-layout " + A + ":1"},
			tree{A: chat(plainHeader, say(0, `"x":[{"mes":"one","name":"two"},{}]`))},
		},
		{
			"json-layout",
			tree{A: indented(plainHeader, say(0, ""), say(1, `"x":[{},{"a":"b"}]`))},
			[]string{"json-layout " + A + ":1"},
			tree{A: chat("  "+plainHeader, "\t"+say(0, "")+"\t")},
		},
		{
			"json-layout", // and damage in it
			tree{A: indented(plainHeader) + "{\n  \"name\": \"Mira\",\n  \"swipes\": [\n    {}\n" + indented(say(0, ""))},
			[]string{"json-layout " + A + ":1", "invalid-json " + A + ":8"},
			tree{A: chat(plainHeader, "{", say(0, ""))},
		},
		{
			"json-layout",
			tree{A: chat(plainHeader+",", say(0, "")+",", say(1, ""))},
			[]string{"json-layout " + A + ":1"},
			tree{A: chat(plainHeader, say(0, ""), "x,")},
		},
		{
			"joined-lines",
			tree{A: chat(plainHeader, say(0, "")+say(1, ""), say(2, ""), say(3, "")+" "+say(4, `"swipe_id":2`))},
			[]string{"joined-lines " + A + ":2", "joined-lines " + A + ":4", "swipe-id " + A + ":4#4"},
			tree{A: chat(plainHeader, say(0, `"x":"}{"`))},
		},
		{
			"joined-lines", // torn, too
			tree{A: chat(plainHeader, say(0, "")+`{"name":"Mi`)},
			[]string{"joined-lines " + A + ":2", "torn-tail " + A + ":2"},
			tree{A: chat(plainHeader, say(0, ""), `{"name":"Mi`)},
		},
		{
			"bom",
			tree{A: "\ufeff" + talk(plainHeader, 2)},
			[]string{"bom " + A + ":1"},
			tree{A: chat(plainHeader, `{"name":"Mira","is_user":false,"mes":"`+"\ufeff"+`"}`)},
		},
		{
			"crlf",
			tree{A: strings.ReplaceAll(talk(plainHeader, 2), "\n", "\r\n")},
			[]string{"crlf " + A + ":1"},
			tree{A: chat(plainHeader, `{"name":"Mira","is_user":false,"mes":"a\r\n"}`)},
		},
		{
			"crlf",
			tree{A: chat(plainHeader, say(0, "")+"\r", say(1, ""))},
			[]string{"crlf " + A + ":2"},
			tree{A: chat(plainHeader, `{"name":"Mira","is_user":false,"mes":"\r\n"}`)},
		},
		{
			"nul",
			tree{A: chat(plainHeader, say(0, ""), "\x00\x00\x00", say(1, ""))},
			[]string{"nul " + A + ":3"},
			tree{A: chat(plainHeader, `{"name":"Mira","is_user":false,"mes":"\u0000"}`)},
		},
		{"nul", tree{A: talk(plainHeader, 2) + "\n\x00\x00"}, []string{"nul " + A + ":4"}, tree{A: talk(plainHeader, 2) + "\n"}},
		{
			"invalid-utf8",
			tree{A: chat(plainHeader, `{"name":"Mira","is_user":false,"mes":"`+"\xff"+`"}`)},
			[]string{"invalid-utf8 " + A + ":2#0"},
			tree{A: chat(plainHeader, `{"name":"Mira","is_user":false,"mes":"\ud83d"}`)},
		},
		{
			"invalid-json",
			tree{A: chat(plainHeader, say(0, ""), `{"name":"Mi`, say(1, ""))},
			[]string{"invalid-json " + A + ":3"},
			tree{A: chat(plainHeader, say(0, ""), "  ", say(1, ""))},
		},
		{
			"torn-tail",
			tree{A: chat(plainHeader, say(0, ""), `{"name":"Mi`, `{"na`) + "\n\n"},
			[]string{"invalid-json " + A + ":3", "torn-tail " + A + ":4"},
			tree{A: chat(plainHeader, say(0, "")) + "\n  \n"},
		},
		{
			"not-an-object",
			tree{A: chat(plainHeader, say(0, ""), `[1]`, say(1, ""))},
			[]string{"not-an-object " + A + ":3"},
			tree{A: chat(plainHeader, say(0, ""), " "+say(1, "")+" ")},
		},
		{
			"not-an-object",
			tree{A: chat(`{"chat_metadata":"x","user_name":"unused"}`, say(0, ""))},
			[]string{"not-an-object " + A + ":1", "integrity-missing " + A + ":1"},
			tree{A: chat(`{"chat_metadata":{"integrity":"i"},"user_name":"unused"}`, say(0, ""))},
		},
		{
			"too-deep",
			tree{A: chat(plainHeader, say(0, `"x":`+strings.Repeat("[", 10000)+strings.Repeat("]", 10000)), say(1, ""))},
			[]string{"too-deep " + A + ":2"},
			tree{A: chat(plainHeader, say(0, `"x":`+strings.Repeat("[", 9999)+strings.Repeat("]", 9999)))},
		},
		{
			"duplicate-key",
			tree{A: chat(plainHeader, say(0, `"mes":"line 0"`))},
			[]string{"duplicate-key " + A + ":2#0"},
			tree{A: chat(plainHeader, say(0, `"swipe_info":[{"a":1,"a":2}],"mes2":1`))},
		},
		{
			"duplicate-key",
			tree{A: chat(plainHeader, say(0, `"\u006des":"line 0"`))},
			[]string{"duplicate-key " + A + ":2#0"},
			tree{A: chat(plainHeader, say(0, `"\u006dez":"line 0"`))},
		},
		{
			"duplicate-key",
			tree{A: chat(plainHeader, say(0, `"extra":{"a":1,"b":1,"a":2}`))},
			[]string{"duplicate-key " + A + ":2#0"},
			tree{A: chat(plainHeader, say(0, `"extra":{"a":1,"b":{"a":1,"a":2}}`))},
		},
		{
			"duplicate-key",
			tree{A: chat(plainHeader, say(0, `"extra":{"a":1,"b":1,"a":2,"b":2,"c":1,"c":2}`))},
			[]string{"duplicate-key " + A + ":2#0"},
			tree{A: chat(plainHeader, say(0, `"extra":{"a":1,"b":1,"c":1}`))},
		},
		{
			"duplicate-key",
			tree{A: chat(`{"user_name":"Ines","user_name":"Ines","chat_metadata":{"integrity":"i"}}`, say(0, ""))},
			[]string{"duplicate-key " + A + ":1"},
			tree{A: chat(`{"user_name":"Ines","chat_metadata":{"integrity":"i","user_name":"Ines"}}`, say(0, ""))},
		},
		{"duplicate-key", tree{A: talk(head(1, `"x":1,"x":2`), 1)}, []string{"duplicate-key " + A + ":1"}, tree{A: talk(head(1, `"x":1,"X":2`), 1)}},
		{
			"no-header",
			tree{A: chat(say(0, ""), say(1, ""))},
			[]string{"no-header " + A + ":1"},
			tree{A: chat(`{"user_name":"Ines","character_name":"Mira","create_date":"2023-5-12 @21h 32m 29s 224ms","chat_metadata":{"integrity":"x"}}`, say(0, ""))},
		},
		{
			"no-header",
			tree{A: chat(`{"chat_meta`, say(0, ""))},
			[]string{"invalid-json " + A + ":1", "no-header " + A + ":2"},
			tree{A: chat("", plainHeader, say(0, ""))},
		},
		{
			"no-header", // of a file without a single line that can be read
			tree{A: "\n\n{\n{\n"},
			[]string{"invalid-json " + A + ":3", "no-header " + A + ":3", "torn-tail " + A + ":4"},
			tree{A: "\n\n"},
		},
		{
			"misplaced-header",
			tree{A: chat(plainHeader, say(0, ""), plainHeader, say(1, ""))},
			[]string{"misplaced-header " + A + ":3#1"},
			tree{A: chat(plainHeader, say(0, ""), say(1, `"user_name":"Ines"`))},
		},
		{
			"misplaced-header",
			tree{A: chat(say(0, ""), plainHeader, say(1, ""))},
			[]string{"no-header " + A + ":1", "misplaced-header " + A + ":2#1"},
			tree{A: chat(plainHeader, say(0, ""), say(1, ""))},
		},

		{
			"message-shape",
			tree{A: chat(plainHeader, `{"mes":3}`)},
			[]string{"message-shape " + A + ":2#0", "message-shape " + A + ":2#0", "message-shape " + A + ":2#0"},
			tree{A: chat(plainHeader, `{"name":"","is_user":1,"mes":""}`, `{"name":"","is_user":"yes","mes":""}`)},
		},
		{ // what is missing is told by its name
			"message-shape",
			tree{A: chat(plainHeader, `{"name":1,"is_user":null}`)},
			[]string{"message-shape " + A + ":2#0", "message-shape " + A + ":2#0", "message-shape " + A + ":2#0"},
			tree{A: chat(plainHeader, `{"name":"","is_user":0,"mes":""}`)},
		},
		{
			"swipe-id",
			tree{A: swiped(`"swipe_id":2,"swipes":["line 0","b"]`)},
			[]string{"swipe-id " + A + ":2#0"},
			tree{A: swiped(`"swipe_id":1,"swipes":["b","line 0"]`)},
		},
		{
			"swipe-id",
			tree{A: swiped(`"swipe_id":-1,"swipes":["line 0"]`)},
			[]string{"swipe-id " + A + ":2#0"},
			tree{A: swiped(`"swipe_id":0.0,"swipes":["line 0"]`)},
		},
		{
			"swipe-id",
			tree{A: swiped(`"swipe_id":"0","swipes":["line 0"]`)},
			[]string{"swipe-id " + A + ":2#0"},
			tree{A: swiped(`"swipe_id":null,"swipes":["line 0"]`)},
		},
		{"swipe-id", tree{A: swiped(`"swipe_id":1,"swipes":[]`)}, []string{"swipe-id " + A + ":2#0"}, tree{A: swiped(`"swipe_id":0,"swipes":[]`)}},
		{"swipe-id", tree{A: swiped(`"swipe_id":1`)}, []string{"swipe-id " + A + ":2#0"}, tree{A: swiped(`"swipe_id":0,"swipes":null`)}},
		{
			"swipe-text",
			tree{A: swiped(`"swipe_id":1,"swipes":["line 0","b","line 0"]`)},
			[]string{"swipe-text " + A + ":2#0"},
			tree{A: swiped(`"swipe_id":1,"swipes":["a","line\u00200","b"]`)},
		},
		{
			"swipe-text",
			tree{A: swiped(`"swipe_id":0,"swipes":["a\"line 0"]`)},
			[]string{"swipe-text " + A + ":2#0"},
			tree{A: swiped(`"swipe_id":0,"swipes":[ "line 0" , "b"]`)},
		},
		{
			"swipe-text",
			tree{A: swiped(`"swipe_id":0,"swipes":{"0":"line 0"}`)},
			[]string{"swipe-text " + A + ":2#0"},
			tree{A: swiped(`"swipes":["line 0","b"]`)},
		},
		{ // a greeting keeps its macros in the swipe
			"swipe-text",
			tree{A: swiped(`"swipe_id":0,"swipes":["{{char}} 1","line 0"]`)},
			[]string{"swipe-text " + A + ":2#0"},
			tree{A: swiped(`"swipe_id":0,"swipes":["line {{random::0::1}}","b"],"swipe_info":[]`)},
		},
		{
			"swipe-text",
			tree{A: chat(plainHeader, say(0, ""), say(1, `"swipe_id":0,"swipes":["line {{random::0::1}}"]`))},
			[]string{"swipe-text " + A + ":3#1"},
			tree{A: chat(plainHeader, say(0, ""), say(1, `"swipe_id":0,"swipes":["line 1"]`))},
		},
		{
			"swipe-info",
			tree{A: chat(plainHeader, say(0, ""), say(1, `"swipe_id":0,"swipes":["line 1"],"swipe_info":[]`))},
			[]string{"swipe-info " + A + ":3#1"},
			tree{A: swiped(`"swipe_id":0,"swipes":["line 0"],"swipe_info":[]`)},
		},
		{ // what is in front of it becomes message 0
			"swipe-text",
			tree{A: chat(plainHeader, say(2, "")+"\x00", say(4, `"swipe_id":0,"swipes":["line {{random::0::4}}"],"swipe_info":[]`))},
			[]string{"nul " + A + ":2"},
			tree{A: talk(plainHeader, 1)},
		},
		{
			"swipe-info",
			tree{A: swiped(`"swipe_id":0,"swipes":["line 0","b"],"swipe_info":[{}]`)},
			[]string{"swipe-info " + A + ":2#0"},
			tree{A: swiped(`"swipe_id":0,"swipes":["line 0","b"],"swipe_info":null`)},
		},
		{
			"swipe-info",
			tree{A: swiped(`"swipe_id":0,"swipes":["line 0"],"swipe_info":{}`)},
			[]string{"swipe-info " + A + ":2#0"},
			tree{A: swiped(`"swipe_id":0,"swipes":["line 0"],"swipe_info":[{}]`)},
		},
		{
			"bad-date",
			tree{A: chat(plainHeader, `{"name":"M","is_user":false,"mes":"","send_date":"yesterday"}`)},
			[]string{"bad-date " + A + ":2#0"},
			tree{A: chat(plainHeader, `{"name":"M","is_user":false,"mes":"","send_date":"June 19, 2023 2:20pm"}`, `{"name":"M","is_user":false,"mes":"","send_date":null}`)},
		},
		{
			"bad-date",
			tree{A: chat(plainHeader, `{"name":"M","is_user":false,"mes":"","send_date":"2026-02-30T00:00:00.000Z"}`)},
			[]string{"bad-date " + A + ":2#0"},
			tree{A: chat(plainHeader, `{"name":"M","is_user":false,"mes":"","send_date":"2024-02-29T00:00:00.000Z"}`, `{"name":"M","is_user":false,"mes":"","send_date":"2024-03-31T00:00:00.000Z"}`)},
		},
		{
			"date-order",
			tree{A: chat(plainHeader, say(3, ""), say(2, ""), say(4, ""))},
			[]string{"date-order " + A + ":3#1"},
			tree{A: chat(plainHeader, say(2, ""), say(2, ""), `{"name":"M","is_user":false,"mes":""}`, say(3, ""))},
		},
		{
			"date-order",
			tree{A: chat(plainHeader, `{"name":"M","is_user":false,"mes":"","send_date":"June 19, 2023 2:20pm"}`, `{"name":"M","is_user":false,"mes":"","send_date":"June 19, 2023 2:19pm"}`)},
			[]string{"date-order " + A + ":3#1"},
			tree{A: chat(plainHeader, `{"name":"M","is_user":false,"mes":"","send_date":"2023-6-19@14h20m30s"}`, `{"name":"M","is_user":false,"mes":"","send_date":"June 19, 2023 2:20pm"}`)},
		},

		{"integrity-missing", tree{A: talk(`{"chat_metadata":{"integrity":""},"user_name":"unused"}`, 1)}, []string{"integrity-missing " + A + ":1"}, tree{A: talk(plainHeader, 1)}},
		{"integrity-missing", tree{A: talk(`{"character_name":"Mira"}`, 1)}, []string{"integrity-missing " + A + ":1"}, tree{A: talk(`{"chat_metadata":{"integrity":"i"}}`, 1)}},
		{ // the chat that began first keeps it
			"integrity-shared",
			tree{A: chat(plainHeader, say(1, "")), solo + "B.jsonl": chat(plainHeader, say(0, "")), solo + "C.jsonl": chat(plainHeader, say(2, ""))},
			[]string{"integrity-shared " + A + ":1", "integrity-shared " + solo + "C.jsonl:1"},
			tree{A: talk(head(1, ""), 1), solo + "B.jsonl": talk(head(2, ""), 1)},
		},
		{
			"integrity-shared",
			tree{A: talk(plainHeader, 2), solo + "B.jsonl": talk(strings.Replace(plainHeader, `"},`, `","main_chat":"A"},`, 1), 2)},
			[]string{"integrity-shared " + solo + "B.jsonl:1", "unlisted-branch " + solo + "B.jsonl:1"},
			tree{A: talk(plainHeader, 2), "chats/Ines/B.jsonl": talk(plainHeader, 2)},
		},

		{ // files that OneDrive and others leave where a chat was changed in two places are left to merge --conflicts
			"integrity-shared",
			tree{
				A: talk(head(1, ""), 2), solo + "A (1).jsonl": talk(head(1, ""), 3), solo + "A-DESKTOP-1.jsonl": chat(head(1, ""), say(0, ""), say(5, "")),
				solo + "A.sync-conflict-20260304-101112-ABCDEF7.jsonl": talk(head(1, ""), 1),
			},
			[]string{"integrity-shared " + solo + "A (1).jsonl:1", "integrity-shared " + solo + "A-DESKTOP-1.jsonl:1", "integrity-shared " + solo + "A.sync-conflict-20260304-101112-ABCDEF7.jsonl:1"},
			tree{A: talk(head(1, ""), 2), solo + "A (1).jsonl": talk(head(2, ""), 3)},
		},
		{ // but a name proves nothing where SillyTavern gave the slug to branches, too
			"integrity-shared",
			tree{
				A: chat(head(1, ""), say(0, `"extra":{"branches":["A-b"]}`), say(1, "")), solo + "A-b.jsonl": talk(head(1, `"main_chat":"A"`), 1),
				solo + "A (conflicted copy 2026-05-06).jsonl": talk(head(1, ""), 1),
			},
			[]string{"integrity-shared " + solo + "A (conflicted copy 2026-05-06).jsonl:1", "integrity-shared " + solo + "A-b.jsonl:1"},
			tree{A: talk(head(1, ""), 2), solo + "A-b.jsonl": talk(head(2, ""), 3)},
		},

		{"dangling-main-chat", tree{A: talk(head(1, `"main_chat":"B"`), 1)}, []string{"dangling-main-chat " + A + ":1"}, tree{A: talk(head(1, `"main_chat":""`), 1)}},
		{
			"dangling-main-chat",
			tree{A: talk(head(1, `"main_chat":"../../Ines/B"`), 1), "chats/Ines/B.jsonl": talk(head(2, ""), 1)},
			[]string{"dangling-main-chat " + A + ":1"},
			tree{A: talk(head(1, ""), 1)},
		},
		{
			"dangling-checkpoint",
			tree{A: chat(plainHeader, say(0, `"extra":{"bookmark_link":"B"}`))},
			[]string{"dangling-checkpoint " + A + ":2#0"},
			tree{A: chat(plainHeader, say(0, `"extra":{"bookmark_link":""}`))},
		},
		{
			"dangling-branch",
			tree{A: chat(plainHeader, say(0, `"extra":{"branches":["A","B"]}`))},
			[]string{"dangling-branch " + A + ":2#0"},
			tree{A: chat(plainHeader, say(0, `"extra":{"branches":["A"]}`))},
		},
		{
			"dangling-checkpoint", // of a swipe
			tree{A: chat(plainHeader, say(0, `"extra":{},"swipes":["line 0","other"],"swipe_info":[{"extra":{}},{"extra":{"bookmark_link":"B"}}],"swipe_id":0`))},
			[]string{"dangling-checkpoint " + A + ":2#0"},
			tree{A: chat(plainHeader, say(0, `"extra":{},"swipes":["line 0","other"],"swipe_info":[{"extra":{}},{"extra":{"bookmark_link":"A"}}],"swipe_id":0`))},
		},
		{
			"dangling-branch", // each once, also where the chosen swipe repeats what its message says
			tree{A: chat(plainHeader, say(0, `"extra":{"branches":["B"]},"swipes":["line 0","other"],"swipe_info":[{"extra":{"branches":["B"]}},{"extra":{"branches":["C","B","C"]}}],"swipe_id":0`))},
			[]string{"dangling-branch " + A + ":2#0", "dangling-branch " + A + ":2#0"},
			tree{A: chat(plainHeader, say(0, `"swipes":["line 0"],"swipe_info":[{"extra":{"branches":["A"]}}],"swipe_id":0`))},
		},
		{
			"unlisted-branch", // a link out of sight lists nothing
			tree{A: chat(head(1, ""), say(0, `"extra":{},"swipes":["line 0"],"swipe_info":[{"extra":{"branches":["B"]}}],"swipe_id":0`)), solo + "B.jsonl": talk(head(2, `"main_chat":"A"`), 1)},
			[]string{"unlisted-branch " + solo + "B.jsonl:1"},
			tree{A: chat(head(1, ""), say(0, `"extra":{"branches":["B"]},"swipes":["line 0"],"swipe_info":[{"extra":{"branches":["B"]}}],"swipe_id":0`)), solo + "B.jsonl": talk(head(2, `"main_chat":"A"`), 1)},
		},
		{
			"unlisted-branch",
			tree{A: talk(head(1, ""), 2), solo + "B.jsonl": talk(head(2, `"main_chat":"A"`), 1)},
			[]string{"unlisted-branch " + solo + "B.jsonl:1"},
			tree{A: chat(head(1, ""), say(0, `"extra":{"branches":["C","B"]}`)), solo + "B.jsonl": talk(head(2, `"main_chat":"A"`), 1), solo + "C.jsonl": talk(head(3, ""), 1)},
		},
		{"chat-cycle", tree{A: talk(head(1, `"main_chat":"A"`), 1)}, []string{"chat-cycle " + A + ":1"}, tree{A: talk(head(1, `"main_chat":"a "`), 1)}},
		{
			"chat-cycle",
			tree{A: talk(head(1, `"main_chat":"B"`), 1), solo + "B.jsonl": talk(head(2, `"main_chat":"A"`), 1), solo + "C.jsonl": talk(head(3, `"main_chat":"A"`), 1)},
			[]string{"chat-cycle " + A + ":1", "chat-cycle " + solo + "B.jsonl:1", "unlisted-branch " + solo + "C.jsonl:1"},
			tree{A: talk(head(1, ""), 1), solo + "B.jsonl": talk(head(2, `"main_chat":"A"`), 1), solo + "C.jsonl": talk(head(3, `"main_chat":"B"`), 1)},
		},
		{
			"diverged-checkpoint",
			tree{A: chat(head(1, ""), say(0, ""), say(1, ""), say(2, `"extra":{"bookmark_link":"B"}`)), solo + "B.jsonl": chat(head(2, `"main_chat":"A"`), say(0, ""), strings.Replace(say(1, ""), "line 1", "another", 1), strings.Replace(say(2, ""), "line 2", "another", 1))},
			[]string{"diverged-checkpoint " + solo + "B.jsonl:1"},
			tree{A: chat(head(1, ""), say(0, ""), say(1, `"extra":{"bookmark_link":"B"}`), say(2, "")), solo + "B.jsonl": chat(head(2, `"main_chat":"A"`), strings.Replace(say(0, `"x":1`), "line 0", "edited", 1), strings.Replace(say(1, ""), "line 1", `line\u00201`, 1), say(3, ""))},
		},
		{
			"diverged-checkpoint",
			tree{A: chat(head(1, ""), say(0, ""), say(1, ""), say(2, `"extra":{"bookmark_link":"B"}`)), solo + "B.jsonl": talk(head(2, `"main_chat":"A"`), 1)},
			[]string{"diverged-checkpoint " + solo + "B.jsonl:1"},
			tree{A: chat(head(1, ""), say(0, ""), say(1, ""), say(2, `"extra":{"bookmark_link":"B"}`)), solo + "B.jsonl": talk(head(2, `"main_chat":"A"`), 2)},
		},
		{
			"diverged-checkpoint", // the message is there, but in another order
			tree{A: chat(head(1, ""), say(0, ""), say(1, ""), say(2, ""), say(3, `"extra":{"bookmark_link":"B"}`)), solo + "B.jsonl": chat(head(2, `"main_chat":"A"`), say(3, ""), say(0, ""), say(1, ""))},
			[]string{"diverged-checkpoint " + solo + "B.jsonl:1", "date-order " + solo + "B.jsonl:3#1"},
			tree{A: chat(head(1, ""), say(0, ""), say(1, ""), say(2, ""), say(3, `"extra":{"bookmark_link":"B"}`)), solo + "B.jsonl": chat(head(2, `"main_chat":"A"`), say(0, ""), say(9, ""), say(1, ""), strings.Replace(say(3, ""), "line 3", "swiped", 1), say(2, ""))},
		},
		{
			"diverged-checkpoint", // nothing is shared
			tree{A: chat(head(1, ""), say(0, ""), say(1, `"extra":{"bookmark_link":"B"}`)), solo + "B.jsonl": talk(head(2, `"main_chat":"A"`), 0)},
			[]string{"header-only " + solo + "B.jsonl:1", "diverged-checkpoint " + solo + "B.jsonl:1"},
			tree{A: chat(head(1, ""), say(0, `"extra":{"bookmark_link":"B"}`)), solo + "B.jsonl": chat(head(2, `"main_chat":"A"`), strings.Replace(say(0, ""), "line 0", "edited", 1))},
		},
		{
			"unsafe-name",
			tree{A: chat(head(1, ""), say(0, `"extra":{"bookmark_link":"B: two"}`)), solo + "B two.jsonl": talk(head(2, `"main_chat":"A"`), 1)},
			[]string{"unsafe-name " + A + ":2#0"},
			tree{A: chat(head(1, ""), say(0, `"extra":{"bookmark_link":"B.. two"}`)), solo + "B.. two.jsonl": talk(head(2, `"main_chat":"A"`), 1)},
		},

		{
			"name-too-long",
			tree{solo + strings.Repeat("n", 239) + ".jsonl": talk(plainHeader, 1), "worlds/" + strings.Repeat("w", 240) + ".json": book("")},
			[]string{"name-too-long " + solo + strings.Repeat("n", 239) + ".jsonl:0", "name-too-long worlds/" + strings.Repeat("w", 240) + ".json:0"},
			tree{solo + strings.Repeat("n", 238) + ".jsonl": talk(plainHeader, 1), "worlds/" + strings.Repeat("w", 239) + ".json": book("")},
		},
		{
			"wrong-extension",
			tree{solo + "A.JSONL": talk(head(1, ""), 1), solo + ".jsonl": talk(head(2, ""), 1), solo + "B.jsonl.txt": "", "group chats/G.jsonl.txt": ""},
			[]string{"wrong-extension " + solo + ".jsonl:0", "wrong-extension " + solo + "A.JSONL:0", "wrong-extension " + solo + "B.jsonl.txt:0", "wrong-extension group chats/G.jsonl.txt:0"},
			tree{solo + "A.jsonl": talk(head(1, ""), 1), solo + "B.txt": "", "group chats/notes.txt": ""},
		},
		{
			"folder-without-card",
			tree{A: talk(plainHeader, 1), "characters/Mira1.png": ""},
			[]string{"folder-without-card chats/Mira:0"},
			tree{A: talk(plainHeader, 1), "characters/Mira.png": "", "chats/empty/x": ""},
		},
		{
			"missing-main-chat",
			tree{A: chat(head(1, ""), say(0, `"extra":{"branches":["B"]}`)), solo + "B.jsonl": talk(head(2, ""), 1)},
			[]string{"missing-main-chat " + solo + "B.jsonl:1"},
			tree{solo + "Story__a.jsonl": chat(head(1, ""), say(0, `"extra":{"branches":["B"]}`)), solo + "B.jsonl": talk(head(2, ""), 1)},
		},
		{
			"missing-main-chat",
			tree{
				solo + "A - Branch #2.jsonl": chat(head(1, `"main_chat":"A"`), say(0, `"extra":{"branches":["B"]}`)), solo + "B.jsonl": talk(head(2, `"main_chat":""`), 1),
				A: chat(head(3, ""), say(0, `"extra":{"branches":["A - Branch #2"]}`)),
			},
			[]string{"missing-main-chat " + solo + "B.jsonl:1"},
			tree{
				solo + "A - Branch #2.jsonl": chat(head(1, ""), say(0, `"extra":{"branches":["B"]}`)), solo + "B.jsonl": talk(head(2, ""), 1),
				solo + "C.jsonl": chat(head(3, `"main_chat":"A - Branch #2"`), say(0, `"extra":{"branches":["B"]}`)),
			},
		},
		{
			"missing-main-chat",
			tree{A: chat(head(1, ""), say(0, `"extra":{"branches":["B"]}`)), solo + "B.jsonl": talk(head(2, ""), 1)},
			[]string{"missing-main-chat " + solo + "B.jsonl:1"},
			tree{A: chat(head(1, ""), say(0, `"extra":{"branches":["A","B"]}`)), solo + "B.jsonl": chat(head(2, `"main_chat":"A"`), say(0, `"extra":{"bookmark_link":"A"}`))},
		},
		{
			"unfinished-change",
			tree{A: talk(plainHeader, 1), ".stchat/20261121T203325-4f1c9a02.journal": "{"},
			[]string{"unfinished-change .stchat:0"},
			tree{A: talk(plainHeader, 1), ".stchat/20261121T203325-4f1c9a02.done": "{"},
		},

		{
			"stray-chat",
			tree{A: talk(plainHeader, 1), "chats/B.jsonl": talk(head(2, ""), 1), "group chats/New folder/C.jsonl": chat(say(0, ""))},
			[]string{"stray-chat chats/B.jsonl:0", "stray-chat group chats/New folder/C.jsonl:0"},
			tree{A: talk(plainHeader, 1), "chats/log.jsonl": `{"time":1,"text":"x"}`, "chats/Mira/backups/B.jsonl": talk(head(2, ""), 1), "B.jsonl": talk(head(2, ""), 1)},
		},
		{
			"group-unlisted",
			tree{"group chats/G.jsonl": talk(plainHeader, 1), "groups/1.json": groupFile("", "H"), "group chats/H.jsonl": talk(head(2, ""), 1)},
			[]string{"group-unlisted group chats/G.jsonl:0"},
			tree{"group chats/G.jsonl": talk(plainHeader, 1), "groups/1.json": groupFile("", "G:")},
		},
		{
			"group-unlisted",
			tree{"group chats/G.jsonl": talk(head(1, `"main_chat":"H"`), 1), "groups/1.json": groupFile("", "H"), "group chats/H.jsonl": talk(head(2, ""), 1)},
			[]string{"group-unlisted group chats/G.jsonl:0", "unlisted-branch group chats/G.jsonl:1"},
			tree{"group chats/G.jsonl": talk(head(1, `"main_chat":"H"`), 1), "groups/1.json": groupFile("", "H", "G"), "group chats/H.jsonl": talk(head(2, ""), 1)},
		},
		{
			"group-missing-chat",
			tree{"group chats/G.jsonl": talk(plainHeader, 1), "groups/1.json": groupFile("", "G", "H")},
			[]string{"group-missing-chat groups/1.json:0"},
			tree{"group chats/G.jsonl": talk(plainHeader, 1), "groups/1.json": groupFile("", "H", "G")},
		},
		{
			"group-twice",
			tree{"group chats/G.jsonl": talk(plainHeader, 1), "groups/1.json": groupFile("", "G"), "groups/2.json": groupFile("", "G")},
			[]string{"group-twice group chats/G.jsonl:0"},
			tree{"group chats/G.jsonl": talk(plainHeader, 1), "groups/1.json": groupFile("", "G", "G")},
		},
		{ // so many that not all are named
			"group-twice",
			tree{
				"group chats/G.jsonl": talk(plainHeader, 1), "groups/1.json": groupFile("", "G"), "groups/2.json": groupFile("", "G"), "groups/3.json": groupFile("", "G"),
				"groups/4.json": groupFile("", "G"), "groups/5.json": groupFile("", "G"), "groups/6.json": groupFile("", "G"), "groups/7.json": groupFile("", "G"),
			},
			[]string{"group-twice group chats/G.jsonl:0"},
			tree{"group chats/G.jsonl": talk(plainHeader, 1), "groups/1.json": groupFile("", "G")},
		},
		{
			"group-old-layout",
			tree{"group chats/G.jsonl": talk(plainHeader, 1), "groups/1.json": groupFile(`"past_metadata":{"G":{}},"chat_metadata":{}`, "G")},
			[]string{"group-old-layout group chats/G.jsonl:1"},
			tree{"group chats/G.jsonl": talk(plainHeader, 1), "groups/1.json": groupFile(`"past_metadata":{"H":{}}`, "G")},
		},
		{
			"group-old-layout",
			tree{"group chats/G.jsonl": chat(say(0, "")), "groups/1.json": groupFile(`"chat_metadata":{"x":1}`, "G")},
			[]string{"group-old-layout group chats/G.jsonl:1"},
			tree{"group chats/G.jsonl": talk(plainHeader, 1), "groups/1.json": groupFile("", "G")},
		},
		{ // the parents are in the group file, as there are no headers
			"missing-main-chat",
			oldGroup(`"K":{"main_chat":""}`, 2),
			[]string{"group-old-layout group chats/G.jsonl:1", "missing-main-chat group chats/K.jsonl:0", "group-old-layout group chats/K.jsonl:1"},
			oldGroup(`"K":{"main_chat":"G"}`, 2),
		},
		{
			"dangling-main-chat",
			oldGroup(`"K":{"main_chat":"L"}`, 0),
			[]string{"group-old-layout group chats/G.jsonl:1", "dangling-main-chat group chats/K.jsonl:0", "group-old-layout group chats/K.jsonl:1"},
			oldGroup(`"K":{"main_chat":"G"},"L":{"main_chat":"M"}`, 2),
		},
		{
			"diverged-checkpoint",
			oldGroup(`"K":{"main_chat":"G","world_info":"Sea",`+recapOf("K", 1, 7)+`}`, 0),
			[]string{
				"group-old-layout group chats/G.jsonl:1",
				"diverged-checkpoint group chats/K.jsonl:0", "lorebook-missing group chats/K.jsonl:0", "beyond-end group chats/K.jsonl:0", "group-old-layout group chats/K.jsonl:1",
			},
			oldGroup(`"K":{"main_chat":"G"}`, 2),
		},
		{ // of a chat with a header the group file's are ignored
			"missing-main-chat",
			tree{
				"group chats/G.jsonl": chat(say(0, ""), say(1, ""), say(2, `"extra":{"bookmark_link":"K"}`)), "group chats/K.jsonl": talk(plainHeader, 3),
				"groups/1.json": groupFile(`"chat_metadata":{},"past_metadata":{"K":{"main_chat":"L"}}`, "G", "K"),
			},
			[]string{"group-old-layout group chats/G.jsonl:1", "missing-main-chat group chats/K.jsonl:1", "group-old-layout group chats/K.jsonl:1"},
			oldGroup(`"K":{"main_chat":"G"}`, 2),
		},
		{ // the slug in the group file is the chat's; repair gives it another once it has a header
			"integrity-shared",
			tree{
				"group chats/G.jsonl": talk(plainHeader, 3), "group chats/K.jsonl": chat(say(1, ""), say(2, "")),
				"groups/1.json": groupFile(`"past_metadata":{"K":{"integrity":"11111111-0000-4000-8000-000000000000"}}`, "G", "K"),
			},
			[]string{"integrity-shared group chats/K.jsonl:0", "group-old-layout group chats/K.jsonl:1"},
			tree{
				"group chats/G.jsonl": talk(plainHeader, 3), "group chats/K.jsonl": chat(say(1, ""), say(2, "")),
				"groups/1.json": groupFile(`"past_metadata":{"K":{"integrity":"22222222-0000-4000-8000-000000000000"}}`, "G", "K"),
			},
		},

		{
			"lorebook-missing",
			tree{A: talk(head(1, `"world_info":"Sea"`), 1)},
			[]string{"lorebook-missing " + A + ":1"},
			tree{A: talk(head(1, `"world_info":"Sea"`), 1), "worlds/Sea.json": book("")},
		},
		{ // renamed in SillyTavern's page: one has a name like that
			"lorebook-missing",
			tree{A: talk(head(1, `"world_info":"Gull-Rock"`), 1), "worlds/gull_rock2.json": book(""), "worlds/Other.json": book("")},
			[]string{"lorebook-missing " + A + ":1"},
			tree{A: talk(head(1, `"world_info":"gull_rock2"`), 1), "worlds/gull_rock2.json": book(""), "worlds/Other.json": book("")},
		},
		{ // two have
			"lorebook-missing",
			tree{A: talk(head(1, `"world_info":"Gull Rock"`), 1), "worlds/Gull Rock 2.json": book(""), "worlds/Gull Rick.json": book("")},
			[]string{"lorebook-missing " + A + ":1"},
			tree{A: talk(head(1, ""), 1), "worlds/Gull Rock 2.json": book(""), "worlds/Gull Rick.json": book("")},
		},
		{
			"lorebook-unreadable",
			tree{A: talk(head(1, `"world_info":"Sea"`), 1), "worlds/Sea.json": `{"entries":`},
			[]string{"lorebook-unreadable worlds/Sea.json:1"},
			tree{A: talk(head(1, `"world_info":"Sea"`), 1), "worlds/Sea.json": `{"entries":[]}`},
		},
		{
			"lorebook-unreadable",
			tree{A: talk(head(1, `"world_info":"Sea"`), 1), "worlds/Sea.json": book(queue(`{`))},
			[]string{"lorebook-unreadable worlds/Sea.json:0"},
			tree{A: talk(head(1, `"world_info":"Sea"`), 1), "worlds/Sea.json": book(queue(""))},
		},
		{
			"lorebook-mismatch",
			tree{A: talk(head(1, `"world_info":"Sea","auto_lorebooks":{"lorebookName":"Land"}`), 1), "worlds/Sea.json": book("")},
			[]string{"lorebook-mismatch " + A + ":1"},
			tree{A: talk(head(1, `"world_info":"Sea","auto_lorebooks":{"lorebookName":"Sea"}`), 1), "worlds/Sea.json": book("")},
		},
		{
			"lorebook-shared-state",
			tree{A: talk(head(1, `"world_info":"Sea"`), 1), "chats/Ines/B.jsonl": chat(head(2, `"world_info":"Sea"`), say(1, "")), "worlds/Sea.json": book(queue(""))},
			[]string{"lorebook-shared-state chats/Ines/B.jsonl:1"},
			tree{A: talk(head(1, `"world_info":"Sea"`), 1), "chats/Ines/B.jsonl": talk(head(2, `"world_info":"Sea"`), 1), "worlds/Sea.json": book(`"0":{"uid":0,"comment":"sea"}`)},
		},
		{
			"lorebook-queue",
			tree{A: talk(head(1, `"world_info":"Sea"`), 1), "worlds/Sea.json": book(queue(`{\"status\":\"retrying\"}`))},
			[]string{"lorebook-queue worlds/Sea.json:0"},
			tree{A: talk(head(1, `"world_info":"Sea"`), 1), "worlds/Sea.json": book(queue(`{\"status\":\"completed\"}`))},
		},
		{
			"registry-uid",
			tree{A: talk(head(1, `"world_info":"Sea"`), 1), "worlds/Sea.json": book(`"3":{"uid":3,"comment":"_registry_place","content":"[Registry: place]\n- UID=4 | name: X"}`)},
			[]string{"registry-uid worlds/Sea.json:0"},
			tree{A: talk(head(1, `"world_info":"Sea"`), 1), "worlds/Sea.json": book(`"3":{"uid":3,"comment":"_registry_place","content":"[Registry: place]\n- uid: 3 | name: X"}`)},
		},

		{"recap-chat-id", tree{A: talkWith(head(1, recapOf("B", 1, 0)), say(0, recapped))}, []string{"recap-chat-id " + A + ":1"}, tree{A: talkWith(head(1, recapOf("A", 1, 0)), say(0, recapped))}},
		{"recap-chat-id", tree{A: talkWith(head(1, recapOf("B", 1, 0)), say(0, recapped))}, []string{"recap-chat-id " + A + ":1"}, tree{A: talkWith(head(1, recapOf("B", 1, 0)+`,"world_info":"Gone"`), say(0, recapped))}},
		{
			"recap-version",
			tree{A: talkWith(head(1, recapOf("A", 2, 0)), say(0, recapped))},
			[]string{"recap-version " + A + ":1"},
			tree{A: talk(head(1, `"auto_recap_running_scene_recaps":{"chat_id":"B","current_version":4,"versions":[]}`), 1)},
		},
		{"beyond-end", tree{A: talk(head(1, recapOf("A", 1, 3)), 3)}, []string{"beyond-end " + A + ":1"}, tree{A: talk(head(1, recapOf("A", 1, 3)), 4)}},
		{
			"beyond-end",
			tree{A: talk(head(1, `"auto_illustrator":{"promptRegistry":{"nodes":{"p":{"id":"p","messageId":2}},"imageToPromptId":{},"rootPromptIds":["p"]}}`), 2)},
			[]string{"beyond-end " + A + ":1"},
			tree{A: talk(head(1, `"auto_illustrator":{"promptRegistry":{"nodes":{"p":{"id":"p","messageId":1}},"imageToPromptId":{},"rootPromptIds":["p"]}}`), 2)},
		},
		{
			"combined-recap",
			tree{A: talk(head(1, `"auto_recap":{"combined_recap":{"chat_id":"B","message_count":3}}`), 2)},
			[]string{"combined-recap " + A + ":1", "combined-recap " + A + ":1"},
			tree{A: talk(head(1, `"auto_recap":{"combined_recap":{"chat_id":"A","message_count":2}}`), 2)},
		},
		{"pending-old", tree{A: talk(head(1, pendingOp(now.Add(-25*time.Hour))), 1)}, []string{"pending-old " + A + ":1"}, tree{A: talk(head(1, pendingOp(now.Add(-23*time.Hour))), 1)}},
		{
			"luker-floor",
			tree{A: talk(plainHeader, 2), solo + "A.luker-state.g__floor_log.json": `{"version":1,"commits":[{"floor":2}]}`},
			[]string{"luker-floor " + solo + "A.luker-state.g__floor_log.json:0"},
			tree{A: talk(plainHeader, 2), solo + "A.luker-state.g__floor_log.json": `{"version":1,"commits":[{"floor":1}]}`, solo + "A2.luker-state.g__floor_log.json": `{"version":1,"commits":[{"floor":2}]}`},
		},
		{ // floor logs are told of before the other sidecars, whatever their names
			"luker-state",
			tree{A: talk(plainHeader, 2), solo + "A.luker-state.a.json": `[]`, solo + "A.luker-state.g__floor_log.json": `{"version":1,"commits":[{"floor":1,"swipeId":0,"patches":[{"op":"add","path":"/n","value":1}]},{"floor":0,"swipeId":0,"patches":[{"op":"add","path":"/n","value":1}]}]}`},
			[]string{"luker-state " + solo + "A.luker-state.g__floor_log.json:0", "luker-state " + solo + "A.luker-state.a.json:0"},
			tree{A: talk(plainHeader, 2), solo + "A.luker-state.a.json": `{}`, solo + "A.luker-state.g__floor_log.json": `{"version":1,"commits":[{"floor":0,"swipeId":0,"patches":[{"op":"add","path":"/n","value":1}]},{"floor":1,"swipeId":0,"patches":[{"op":"add","path":"/n","value":1}]}]}`},
		},
		{
			"luker-slug",
			tree{A: talk(plainHeader, 2), solo + "A.luker-state.chat_sync.json": `{"integrity":7}`},
			[]string{"luker-slug " + A + ":1"},
			tree{A: talk(plainHeader, 2), solo + "A.luker-state.chat_sync.json": `{"integrity":"not the header's"}`},
		},
		{
			"orphan-sidecar",
			tree{A: talk(plainHeader, 2), solo + "B.luker-state.x.json": `{}`},
			[]string{"orphan-sidecar " + solo + "B.luker-state.x.json:0"},
			tree{A: talk(plainHeader, 2), solo + "A.luker-state.x.json": `{}`},
		},

		{ // one file, as before there were lists of them
			"missing-attachment",
			tree{A: chat(plainHeader, say(0, `"extra":{"file":{"url":"/user/files/c.txt"},"media":["/user/images/d.png"]}`))},
			[]string{"missing-attachment " + A + ":2#0", "missing-attachment " + A + ":2#0", "legacy-media " + A + ":2#0"},
			tree{A: chat(plainHeader, say(0, `"extra":{"file":{"name":"/user/files/c.txt"},"media":[7]}`))},
		},
		{ // the chat's Data Bank
			"missing-attachment",
			tree{A: talk(head(1, `"attachments":[{"url":"/user/files/a.txt","name":"a"},{"url":"/user/files/b.txt"},7,{"name":"c"}]`), 1), "user/files/b.txt": ""},
			[]string{"missing-attachment " + A + ":1"},
			tree{A: talk(head(1, `"attachments":[{"url":"https://example.org/a.txt"},{"url":"/user/files/b.txt"}]`), 1), "user/files/b.txt": ""},
		},
		{ // a picture in the address itself
			"missing-attachment",
			tree{A: chat(plainHeader, say(0, `"extra":{"media":[{"url":"/user/images/data:image/svg+xml,a"}]}`))},
			[]string{"missing-attachment " + A + ":2#0"},
			tree{A: chat(plainHeader, say(0, `"extra":{"media":[{"url":"data:image/svg+xml,<svg width='60' height='60'></svg>"},{"url":"\u0064ata:image/svg+xml,%3Csvg width='60'"}],"files":[{"url":"DATA:text/plain,/user/files/a b"}]}`))},
		},
		{
			"missing-attachment",
			tree{A: chat(plainHeader, say(0, `"extra":{"image":"/user/images/M/a.png","files":[{"url":"/user/files/b.txt"}],"media":[{"url":"user/images/M/../../../../x"}]}`)), "user/images/M/b.png": ""},
			[]string{"missing-attachment " + A + ":2#0", "missing-attachment " + A + ":2#0", "missing-attachment " + A + ":2#0", "legacy-media " + A + ":2#0"},
			tree{A: chat(plainHeader, say(0, `"extra":{"image":"/user/images/M%20x/a.png?t=1","files":[{"url":"https://example.org/b"}],"media":[{"url":"data:image/png;base64,x"},{"url":"/img/ai4.png"}]}`)), "user/images/M x/a.png": ""},
		},
	}...)
}

func TestRules(t *testing.T) {
	covered := map[string]bool{}
	for i, tt := range ruleCases() {
		covered[tt.rule] = true
		t.Run(fmt.Sprintf("%s/%d", tt.rule, i), func(t *testing.T) {
			root := plant(t, tt.has)
			res := check(t, root)
			if diff := cmp.Diff(tt.want, found(root, res.Findings)); diff != "" {
				t.Errorf("has it (-want +got):\n%s", diff)
			}
			for _, f := range res.Findings {
				if f.Message == "" || f.Effect() == "" || f.Repair() == "" {
					t.Errorf("%v lacks a text: %+v", f.Rule, f)
				}
			}
			root = plant(t, tt.almost)
			for _, f := range found(root, check(t, root).Findings) {
				if strings.HasPrefix(f, tt.rule+" ") {
					t.Errorf("almost has it, but: %s", f)
				}
			}
		})
	}
	for _, id := range rules.All() {
		if !covered[id.String()] {
			t.Errorf("no chat here breaks %s", id)
		}
	}
}

var update = flag.Bool("update", false, "rewrite the files in testdata that tests are held to")

// TestFindings holds what a person reads of each chat of ruleCases, and of its repair, to
// testdata/findings.txt.
func TestFindings(t *testing.T) {
	var told strings.Builder
	for _, tt := range ruleCases() {
		fmt.Fprintf(&told, "# %s\n", tt.rule)
		root := plant(t, tt.has)
		res := check(t, root)
		for i := range res.Findings {
			f, usual := &res.Findings[i], res.Findings[i].Rule.Rule()
			rel, _ := filepath.Rel(root, f.Path)
			fmt.Fprintf(&told, "%s:%d:%d: %v: %s\n", filepath.ToSlash(rel), f.Line, f.Column, f.Severity, f.Text())
			if f.Effect() != usual.Effect || f.Repair() != usual.Repair {
				repair := strings.ReplaceAll(f.Repair(), root+string(filepath.Separator), "")
				fmt.Fprintf(&told, "\t%s\n\t%s\n", f.Effect(), filepath.ToSlash(repair))
			}
		}
		for _, r := range runRepair(t, false, repair.Options{Rules: withDangling()}, root).Results {
			for _, a := range r.Doc.Actions {
				fmt.Fprintf(&told, "repair: %s: %s\n", a.Rule, a.Change)
			}
		}
	}
	golden(t, "findings.txt", told.String())
}

// golden compares a text with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// talkWith is a chat of one message.
func talkWith(header, message string) string { return chat(header, message) }

func recapOf(chat string, current, scene int) string {
	return fmt.Sprintf(`"auto_recap_running_scene_recaps":{"chat_id":%q,"current_version":%d,"versions":[{"version":1,"content":"x","new_scene_index":%d}]}`, chat, current, scene)
}

func pendingOp(at time.Time) string {
	return fmt.Sprintf(`"autoLorebooks":{"pendingOps":{"entry_1":{"stage":"lookup","timestamp":%d}}}`, at.UnixMilli())
}

func TestUnusedLorebook(t *testing.T) {
	root := plant(t, tree{"worlds/Sea.json": `{`, "worlds/Land.json": book(queue(`{\"status\":\"pending\"}`)), solo + "A.jsonl": talk(plainHeader, 1)})
	res := check(t, root)
	want := []string{"lorebook-queue worlds/Land.json:0", "lorebook-unreadable worlds/Sea.json:1"}
	if diff := cmp.Diff(want, found(root, res.Findings)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, f := range res.Findings {
		if f.Severity != rules.Info {
			t.Errorf("%v is %v, not info: no chat uses the lorebook", f.Rule, f.Severity)
		}
	}
	if res := check(t, filepath.Join(root, "chats")); len(res.Findings) > 0 {
		t.Errorf("a folder of chats alone: %q", found(root, res.Findings))
	}
}

// Which group lists a chat is not judged while the group file that may do so cannot be read.
func TestGroupThatCannotBeRead(t *testing.T) {
	for _, tt := range []struct {
		groups tree
		want   []string
	}{
		{tree{"groups/1.json": "{"}, nil},
		{tree{"groups/1.json": "{", "groups/2.json": groupFile("", "G"), "groups/3.json": groupFile("", "G")}, []string{"group-twice group chats/G.jsonl:0"}},
	} {
		tt.groups["group chats/G.jsonl"] = talk(plainHeader, 1)
		root := plant(t, tt.groups)
		res, err := repair.Check(t.Context(), repair.CheckOptions{List: ops.List{Paths: []string{root}}, Now: now})
		if err != nil || len(res.Errs) != 1 {
			t.Errorf("%v, %v; want the error about the group file", err, res.Errs)
		}
		if diff := cmp.Diff(tt.want, found(root, res.Findings)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// A long chat is read in parts. What is wrong between one message and the next is found there,
// too, and everything has the line and the index that it has in the file.
func TestLongChat(t *testing.T) {
	const n = 99
	lines := []string{plainHeader}
	want := []string{}
	for i := range n {
		more := fmt.Sprintf(`"x":"%s"`, strings.Repeat("x", 60_000))
		if i%10 == 9 {
			more += `,"extra":{"bookmark_link":"gone"}`
			want = append(want, fmt.Sprintf("dangling-checkpoint %sA.jsonl:%d#%d", solo, i+2, i))
		}
		if i > 0 { // each is older than the one before
			want = append(want, fmt.Sprintf("date-order %sA.jsonl:%d#%d", solo, i+2, i))
		}
		lines = append(lines, fmt.Sprintf(`{"name":"M","is_user":false,"send_date":"2026-01-02T03:%02d:%02d.000Z","mes":"",%s}`, 59-i/60, 59-i%60, more))
		switch i {
		case 60:
			lines[i+1] += "\r"
			want = append(want, "crlf "+solo+"A.jsonl:62")
		case 97:
			lines = append(lines, "{"+strings.Repeat(" ", 2<<20), "{")
			want = append(want, "invalid-json "+solo+"A.jsonl:100", "invalid-json "+solo+"A.jsonl:101")
		}
	}
	last := fmt.Sprintf("date-order %sA.jsonl:%d#%d", solo, n+1, n-1)
	want[slices.Index(want, last)] = fmt.Sprintf("date-order %sA.jsonl:%d#%d", solo, n+3, n-1)
	lines = append(lines, plainHeader)
	want = append(want, fmt.Sprintf("misplaced-header %sA.jsonl:%d#%d", solo, n+4, n))
	root := plant(t, tree{solo + "A.jsonl": chat(lines...)})
	got := found(root, check(t, root).Findings)
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A registry that names more entries that are gone than are listed.
func TestManyLostEntries(t *testing.T) {
	var names strings.Builder
	for i := range 101 {
		fmt.Fprintf(&names, `\n- UID=%d | name: X`, i+10)
	}
	root := plant(t, tree{solo + "A.jsonl": talk(head(1, `"world_info":"Sea"`), 1), "worlds/Sea.json": book(`"3":{"uid":3,"comment":"_registry_place","content":"[Registry: place]` + names.String() + `"}`)})
	res := check(t, root)
	if n := len(res.Findings); n != 101 {
		t.Fatalf("%d findings, want 100 and one that stands for the others", n)
	}
	if last := res.Findings[100]; last.Rule != rules.RegistryUID || last.Text() != "1 more of the same are not listed" {
		t.Errorf("last: %+v", last)
	}
}

// A chat is judged in the folder in which its file is, by whatever path it is named.
func TestThroughSymlink(t *testing.T) {
	root := plant(t, tree{solo + "A.jsonl": talk(head(1, `"main_chat":"B"`), 1)})
	link := filepath.Join(t.TempDir(), "link.jsonl")
	if err := os.Symlink(filepath.Join(root, "chats", "Mira", "A.jsonl"), link); err != nil {
		t.Skip(err)
	}
	if _, err := os.Stat(link); err != nil { // Wine makes links that lead nowhere
		t.Skip(err)
	}
	res := check(t, link)
	if len(res.Findings) != 1 || res.Findings[0].Rule != rules.DanglingMainChat || res.Findings[0].Path != link {
		t.Errorf("%+v", res.Findings)
	}
}

// TestOneOfMany checks a single chat, which still is judged by its folder.
func TestOneOfMany(t *testing.T) {
	root := plant(t, tree{
		solo + "A.jsonl": chat(plainHeader, say(0, ""), say(1, ""), say(2, `"extra":{"bookmark_link":"B"}`)),
		solo + "B.jsonl": chat(strings.Replace(plainHeader, `"},`, `","main_chat":"A"},`, 1), say(0, ""), say(0, "")),
	})
	res := check(t, filepath.Join(root, "chats", "Mira", "B.jsonl"))
	want := []string{"integrity-shared " + solo + "B.jsonl:1", "diverged-checkpoint " + solo + "B.jsonl:1"}
	got := found(root, res.Findings)
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if res := check(t, filepath.Join(root, "chats", "Mira", "A.jsonl")); len(res.Findings) > 0 {
		t.Errorf("the eldest: %q", found(root, res.Findings))
	}
	// so it is beside a chat that is too long to be read whole for its header and first date
	long := " \n" + talk(plainHeader, 1) + strings.Repeat("\n"+say(1, ""), 2000)
	root = plant(t, tree{solo + "A.jsonl": long, solo + "B.jsonl": chat(plainHeader, say(1, ""))})
	want = []string{"integrity-shared " + solo + "B.jsonl:1"}
	if diff := cmp.Diff(want, found(root, check(t, filepath.Join(root, "chats", "Mira", "B.jsonl")).Findings)); diff != "" {
		t.Errorf("beside a long chat (-want +got):\n%s", diff)
	}
}

// TestManyFindings is a chat with more of one rule than are kept.
func TestManyFindings(t *testing.T) {
	lines := []string{plainHeader}
	for range 1500 {
		lines = append(lines, `{"name":"M","is_user":false,"mes":"","send_date":"?"}`)
	}
	root := plant(t, tree{solo + "A.jsonl": chat(lines...)})
	res := check(t, root)
	if n := len(res.Findings); n != 101 {
		t.Errorf("%d findings, want 100 and one that stands for the others", n)
	}
	if last := res.Findings[len(res.Findings)-1]; last.Count() != 1400 || last.Text() != "1400 more of the same are not listed" {
		t.Errorf("last: %+v", last)
	}
}

func TestDemoIsClean(t *testing.T) {
	res := check(t, filepath.Join("..", "..", "..", "testdata", "demo"))
	if len(res.Chats) == 0 {
		t.Fatal("no chats in the demo")
	}
	for _, f := range res.Findings {
		t.Errorf("%s: %s:%d: %s", f.Rule, f.Path, f.Line, f.Message)
	}
}

// BenchmarkCheck checks one chat.
func BenchmarkCheck(b *testing.B) {
	text := strings.Repeat(`The harbour lies quiet. \"Stay,\" she says.\n\n`, 10)
	lines := []string{plainHeader}
	for i := range 10_000 {
		lines = append(lines, say(i%60, fmt.Sprintf(`"extra":{"token_count":%d},"swipe_id":0,"swipes":["%s","%s"]`, i, text, text)))
	}
	data := chat(lines...)
	path := filepath.Join(b.TempDir(), "A.jsonl")
	if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := repair.Check(context.Background(), repair.CheckOptions{List: ops.List{Paths: []string{path}}, Now: now}); err != nil {
			b.Fatal(err)
		}
	}
}
