package edit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"stchat/internal/change/changeset"
	"stchat/internal/ops/edit"
)

// model is a chat as a slow program has it that decodes every line and encodes it again.
type model struct {
	lines    []*modelLine // messages and blank lines, in order
	messages []*modelLine // of lines
	metadata map[string]any
	taints   bool // an operation does that SillyTavern notes
}

// modelLine is one line of the file.
type modelLine struct {
	raw     string // with its CR, without its LF
	object  map[string]any
	touched map[string]bool // the keys that an operation names
	gone    bool
	edited  bool // an operation names the message
	after   []string
	at      int
}

// decode reads JSON and keeps the spelling of numbers.
func decode(t *testing.T, raw string) (v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

// oddText is text as it may stand in a chat, raw.
func oddText(r *rand.Rand) string {
	return []string{`"plain"`, `"two\nlines"`, `"\u00e9 é \ud83d\ude00"`, `"lone \ud800 half"`, `"<b>&\/"`, `""`, `" \" \\ "`, `"` + strings.Repeat("long ", 400) + `"`}[r.IntN(8)]
}

// chatText makes a chat, and its model. A tidy one has no blank lines, and nothing is
// missing that a message needs.
func chatText(t *testing.T, r *rand.Rand, tidy bool) (string, *model) {
	end := []string{"\n", "\n", "\r\n"}[r.IntN(3)]
	space := []string{"", "", " "}[r.IntN(3)]
	header := fmt.Sprintf(`{"user_name":"unused",%s"chat_metadata":%s{"a" :1.50,"integrity":"s"%s}}`, space, space, []string{"", `,"tainted":true`}[r.IntN(2)])
	m := &model{metadata: decode(t, header).(map[string]any)["chat_metadata"].(map[string]any)}
	text := header
	for range 1 + r.IntN(12) {
		if !tidy && r.IntN(8) == 0 {
			blank := []string{"", "  ", "\t"}[r.IntN(3)] + strings.TrimSuffix(end, "\n")
			m.lines = append(m.lines, &modelLine{raw: blank})
			text += "\n" + blank
		}
		raw := message(r, len(m.messages), space, tidy)
		line := &modelLine{raw: raw + strings.TrimSuffix(end, "\n"), object: decode(t, raw).(map[string]any), touched: map[string]bool{}, at: len(m.messages)}
		m.lines, m.messages = append(m.lines, line), append(m.messages, line)
		text += end[:len(end)-1] + "\n" + raw
		if end == "\r\n" {
			text = strings.ReplaceAll(text, "\r\r\n", "\r\n")
		}
	}
	if r.IntN(2) == 0 {
		text += end
	} else if end == "\r\n" {
		last := m.lines[len(m.lines)-1]
		last.raw = strings.TrimSuffix(last.raw, "\r")
	}
	return text, m
}

// message makes a message, as an object with strange spelling.
func message(r *rand.Rand, i int, space string, whole bool) string {
	keys := []string{fmt.Sprintf(`"name":%s"N%d"`, space, i), fmt.Sprintf(`"is_user":%v`, r.IntN(2) == 0)}
	if whole || r.IntN(3) > 0 {
		keys = append(keys, fmt.Sprintf(`"is_system":%v`, r.IntN(3) == 0))
	}
	text := oddText(r)
	keys = append(keys, `"send_date":"d`+strconv.Itoa(i)+`"`, `"mes":`+text)
	if r.IntN(2) == 0 {
		keys[1] = `"is_user":false`
		n := 2 + r.IntN(3)
		swipes, infos := make([]string, n), make([]string, n)
		for k := range n {
			swipes[k] = oddText(r)
			infos[k] = fmt.Sprintf(`{"send_date":"s%d",%s"gen_started":null,"extra":{"k":%d.0}}`, k, space, k)
		}
		id := r.IntN(n)
		swipes[id] = text
		keys = append(keys, fmt.Sprintf(`"swipe_id":%d`, id), `"swipes":[`+strings.Join(swipes, ","+space)+`]`, `"swipe_info":[`+strings.Join(infos, ",")+`]`)
	}
	keys = append(keys, `"extra":{`+[]string{"", `"model":"m"`, `"type":"narrator"`}[r.IntN(3)]+`}`, `"own":{"list" :[1e2,{"x" :-0}]}`, fmt.Sprintf(`"k%d":5`, i))
	if r.IntN(3) == 0 {
		keys = append(keys, `"twice":1`, `"twice":2`)
	}
	return "{" + strings.Join(keys, ","+space) + "}"
}

// Random operations do what a program does that decodes all lines and encodes them again;
// but what no operation names keeps its bytes.
func TestApplyAsTheModel(t *testing.T) {
	for seed := range uint64(80) {
		applyAsTheModel(t, 1, seed)
	}
	applyAsTheModel(t, 284, 200) // all are deleted
}

func FuzzApply(f *testing.F) {
	f.Add(uint64(2), uint64(3))
	f.Add(uint64(16), uint64(187))
	f.Fuzz(func(t *testing.T, a, b uint64) { applyAsTheModel(t, a, b) })
}

func applyAsTheModel(t *testing.T, a, b uint64) {
	r := rand.New(rand.NewPCG(a, b))
	text, m := chatText(t, r, false)
	var ops []string
	conflict := false
	for range 1 + r.IntN(8) {
		op, clash := m.operation(t, r)
		ops = append(ops, op)
		conflict = conflict || clash
	}
	conflict = conflict || slices.ContainsFunc(m.messages, func(l *modelLine) bool { return l.gone && l.edited })
	left := len(m.head().after)
	for _, l := range m.messages {
		if left += len(l.after); !l.gone {
			left++
		}
	}
	conflict = conflict || left == 0 // that takes --force
	path := filepath.Join(t.TempDir(), "c.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	what := fmt.Sprintf("seed %d %d\n%s\n--\n%s\n--", a, b, text, strings.Join(ops, "\n"))
	list, err := edit.ReadOperations(t.Context(), "ops", []byte(strings.Join(ops, "\n")))
	if err != nil {
		t.Fatalf("%s\n%v", what, err)
	}
	result := edit.Apply(t.Context(), edit.BatchOptions{Options: options(path), Operations: list})[0]
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if conflict {
		if result.Err == nil || string(got) != text {
			t.Fatalf("%s\nno error, or the chat is another:\n%s", what, got)
		}
		return
	}
	if result.Err != nil {
		t.Fatalf("%s\n%v", what, result.Err)
	}
	if wrong := m.judge(t, text, string(got)); wrong != "" {
		t.Fatalf("%s\n%s\n%s", what, got, wrong)
	}
}

func options(paths ...string) edit.Options {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return edit.Options{
		Chats: paths,
		Terms: edit.Terms{
			ExpectMessages: -1,
			Changes:        changeset.Options{NoSync: true, Now: now, NewUUID: func() string { return "11111111-1111-4111-8111-111111111111" }},
		},
	}
}

// operation makes a random operation and does it in the model. clash reports that it is
// one that must be refused.
func (m *model) operation(t *testing.T, r *rand.Rand) (op string, clash bool) {
	n := len(m.messages)
	at := r.IntN(n)
	to := min(n-1, at+r.IntN(3))
	which := []string{fmt.Sprintf("%q", fmt.Sprintf("%d..%d", at, to)), fmt.Sprintf("[%q]", fmt.Sprintf("%d-%d", at, to))}[r.IntN(2)]
	if at == to {
		which = []string{strconv.Itoa(at), strconv.Itoa(at - n), fmt.Sprintf("[%d]", at)}[r.IntN(3)]
	}
	chosen := m.messages[at : to+1]
	switch kind := r.IntN(9); kind {
	case 0, 1:
		at = r.IntN(n + 1)
		raw := message(r, 90+r.IntN(10), " ", true) // one that is added gets what it lacks
		if m.taints = true; at == 0 {
			m.head().after = append(m.head().after, raw)
		} else {
			m.messages[at-1].after = append(m.messages[at-1].after, raw)
		}
		return fmt.Sprintf(`{"op":"add","at":%d,"message":%s}`, at, raw), false
	case 2:
		for _, l := range chosen {
			l.gone = true
		}
		m.taints = true
		return fmt.Sprintf(`{"op":"delete","at":%s}`, which), false
	case 3, 4:
		hide := kind == 3
		for _, l := range chosen {
			extra, _ := l.object["extra"].(map[string]any)
			if is, _ := l.object["is_system"].(bool); is != hide && extra["type"] == nil {
				l.set("is_system", hide)
			}
			l.edited = true
		}
		return fmt.Sprintf(`{"op":%q,"at":%s}`, map[bool]string{true: "hide", false: "unhide"}[hide], which), false
	case 5:
		raw := oddText(r)
		m.metadata["meta"] = decode(t, raw)
		delete(m.metadata, "a")
		return fmt.Sprintf(`{"op":"meta","set":{"meta":%s},"unset":["a","none"]}`, raw), false
	case 6:
		return m.swipe(t, r, at)
	}
	m.taints = true
	raw := oddText(r)
	body := []string{
		fmt.Sprintf(`"set":{"/extra/x":%s},"unset":["own"]`, raw), fmt.Sprintf(`"set":{"mes":%s}`, raw),
		fmt.Sprintf(`"merge":{"new":%s,"twice":3}`, raw), fmt.Sprintf(`"patch":[{"op":"add","path":"/own","value":%s}]`, raw),
		fmt.Sprintf(`"set":{"/extra/x": %s }`, raw), fmt.Sprintf(`"set":{"twice":{"of":[%s, {}]}}`, raw), // no list: one beside swipes may be refused
	}
	pick := r.IntN(len(body))
	for _, l := range chosen {
		l.edited = true
		switch pick {
		case 0:
			l.touched["extra"] = true
			l.object["extra"].(map[string]any)["x"] = decode(t, raw)
			l.unset("own")
		case 1:
			l.set("mes", decode(t, raw))
			if swipes, ok := l.object["swipes"].([]any); ok {
				l.touched["swipes"] = true
				swipes[number(l.object["swipe_id"])] = decode(t, raw)
			}
		case 2:
			l.set("new", decode(t, raw))
			l.set("twice", decode(t, "3"))
		case 3:
			l.set("own", decode(t, raw))
		case 4:
			l.touched["extra"] = true
			l.object["extra"].(map[string]any)["x"] = decode(t, raw)
		case 5:
			l.set("twice", map[string]any{"of": []any{decode(t, raw), map[string]any{}}})
		}
	}
	return fmt.Sprintf(`{"op":"set","at":%s,%s}`, which, body[pick]), false
}

func (l *modelLine) set(key string, value any) {
	l.object[key], l.touched[key] = value, true
}

func (l *modelLine) unset(key string) {
	delete(l.object, key)
	l.touched[key] = true
}

func number(v any) int {
	n, err := strconv.Atoi(fmt.Sprint(v))
	if err != nil {
		panic(err)
	}
	return n
}

// head is a line for what comes before all messages.
func (m *model) head() *modelLine {
	if len(m.lines) == 0 || m.lines[0].raw != "head" {
		m.lines = append([]*modelLine{{raw: "head"}}, m.lines...)
	}
	return m.lines[0]
}

// swipe chooses, adds or deletes a swipe of a message that has some.
func (m *model) swipe(t *testing.T, r *rand.Rand, at int) (op string, clash bool) {
	l := m.messages[at]
	l.edited = true
	swipes, has := l.object["swipes"].([]any)
	if !has {
		m.taints = true
		return fmt.Sprintf(`{"op":"swipe","at":%d,"delete":1}`, at), true
	}
	for _, key := range []string{"swipe_id", "swipes", "swipe_info", "mes", "send_date", "gen_started", "gen_finished", "extra"} {
		l.touched[key] = true
	}
	infos := l.object["swipe_info"].([]any)
	id := number(l.object["swipe_id"])
	choose := func(k int) {
		l.object["swipe_id"] = json.Number(strconv.Itoa(k))
		l.object["mes"] = l.object["swipes"].([]any)[k]
		info := l.object["swipe_info"].([]any)[k].(map[string]any)
		for _, key := range []string{"send_date", "gen_started", "gen_finished"} {
			if delete(l.object, key); info[key] != nil || hasKey(info, key) {
				l.object[key] = info[key]
			}
		}
		l.object["extra"] = copied(t, info["extra"])
	}
	sync := func() {
		if tainted, _ := m.metadata["tainted"].(bool); len(m.messages) > 1 || tainted {
			swipes[id] = l.object["mes"]
		}
		info := infos[id].(map[string]any)
		for _, key := range []string{"send_date", "gen_started", "gen_finished", "extra"} {
			if delete(info, key); hasKey(l.object, key) {
				info[key] = copied(t, l.object[key])
			}
		}
	}
	k := r.IntN(len(swipes))
	switch r.IntN(3) {
	case 0:
		sync()
		choose(k)
		return fmt.Sprintf(`{"op":"swipe","at":%d,"choose":%d}`, at, k+1), false
	case 1:
		if is, _ := l.object["is_system"].(bool); is {
			return fmt.Sprintf(`{"op":"swipe","at":%d,"add":"x"}`, at), true
		}
		l.object["swipes"] = append(swipes, "x")
		l.object["swipe_info"] = append(infos, map[string]any{
			"send_date": "2026-03-01T12:00:00.000Z", "gen_started": nil, "gen_finished": nil, "extra": map[string]any{"api": "manual", "model": "stchat"},
		})
		return fmt.Sprintf(`{"op":"swipe","at":%d,"add":"x"}`, at), false
	}
	m.taints = true
	op = fmt.Sprintf(`{"op":"swipe","at":%d,"delete":%d}`, at, k+1)
	if len(swipes) == 1 {
		return op, true
	}
	l.object["swipes"] = append(slices.Clone(swipes[:k]), swipes[k+1:]...)
	l.object["swipe_info"] = append(slices.Clone(infos[:k]), infos[k+1:]...)
	switch {
	case id > k:
		l.object["swipe_id"] = json.Number(strconv.Itoa(id - 1))
	case id == k:
		choose(min(k, len(swipes)-2))
	}
	return op, false
}

func hasKey(object map[string]any, key string) bool {
	_, ok := object[key]
	return ok
}

func copied(t *testing.T, v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, string(raw))
}

// judge says how a chat differs from what the model makes of it, "" for not at all.
func (m *model) judge(t *testing.T, before, after string) string {
	type line struct {
		raw  string
		from *modelLine // nil: it is new
	}
	var want []line
	changed := false
	for _, l := range m.lines {
		if l.raw != "head" && !l.gone {
			want = append(want, line{l.raw, l})
		}
		changed = changed || l.gone || len(l.after) > 0
		for _, raw := range l.after {
			want = append(want, line{raw, nil})
		}
	}
	oldHeader, _, _ := strings.Cut(before, "\n")
	header, rest, _ := strings.Cut(after, "\n")
	blank := len(want) > 0 && strings.TrimSpace(want[len(want)-1].raw) == "" // its end may be all that there is of it
	if strings.HasSuffix(before, "\n") != strings.HasSuffix(after, "\n") && !blank {
		return "the end of the last line is another"
	}
	if strings.HasSuffix(before, "\n") {
		rest = strings.TrimSuffix(rest, "\n")
	}
	got := strings.Split(rest, "\n")
	if len(want) == 0 {
		got = nil
	}
	if len(got) != len(want) {
		return fmt.Sprintf("%d lines, want %d", len(got), len(want))
	}
	for i, w := range want {
		text := strings.TrimSuffix(got[i], "\r")
		switch {
		case w.from == nil:
			if text != w.raw {
				return fmt.Sprintf("line %d is new, and not %s", i+1, w.raw)
			}
		case w.from.object == nil || !w.from.edited:
			if text != strings.TrimSuffix(w.raw, "\r") {
				return fmt.Sprintf("line %d is not %q, which no operation names", i+1, w.raw)
			}
		default:
			if is := decode(t, text); !reflect.DeepEqual(is, any(w.from.object)) {
				return fmt.Sprintf("message %d is not\n%v\nbut\n%v", w.from.at, w.from.object, is)
			}
			var old, now map[string]json.RawMessage
			if json.Unmarshal([]byte(w.raw), &old) != nil || json.Unmarshal([]byte(text), &now) != nil {
				return "not JSON"
			}
			for key, raw := range old {
				if !w.from.touched[key] && !bytes.Equal(raw, now[key]) {
					return fmt.Sprintf("message %d: %s, which no operation names, becomes %s", w.from.at, key, now[key])
				}
			}
			changed = changed || text != strings.TrimSuffix(w.raw, "\r")
		}
	}
	if m.taints && changed {
		m.metadata["tainted"] = true
	}
	if is := decode(t, header).(map[string]any)["chat_metadata"]; !reflect.DeepEqual(is, any(m.metadata)) {
		return fmt.Sprintf("the metadata is not %v", m.metadata)
	}
	if reflect.DeepEqual(decode(t, oldHeader), decode(t, header)) && strings.TrimSuffix(oldHeader, "\r") != strings.TrimSuffix(header, "\r") {
		return "the header is spelled in another way"
	}
	return ""
}
