package chat

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/jsonl"
)

const header = `{"chat_metadata":{},"user_name":"unused","character_name":"unused"}`

// to is the Do of an edit that makes of its line what is given.
func to(line string) func([]byte) ([]byte, error) {
	return func([]byte) ([]byte, error) { return []byte(line), nil }
}

// of makes an edit to message index of a chat with a header.
func of(chat string, index int, do func([]byte) ([]byte, error), after ...string) LineEdit {
	lines := strings.SplitAfter(chat, "\n")
	at := index + 1
	line := strings.TrimSuffix(lines[at], "\n")
	e := LineEdit{Index: index, Hash: HashLine([]byte(line)), Do: do}
	e.Place = jsonl.Place{Off: int64(len(strings.Join(lines[:at], ""))), Len: int64(len(line))}
	for _, line := range after {
		e.After = append(e.After, []byte(line))
	}
	return e
}

func render(t *testing.T, l Lines, chat string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := l.Render(t.Context(), &out, strings.NewReader(chat), int64(len(chat)))
	return out.String(), err
}

func TestLines(t *testing.T) {
	const body = "{\"mes\":\"a\"}\n{\"mes\":\"b\"}\n{\"mes\":\"c\"}"
	const was = header + "\n" + body
	edit := func(index int, do func([]byte) ([]byte, error), after ...string) LineEdit {
		return of(was, index, do, after...)
	}
	top := LineEdit{Index: HeaderIndex, Do: func(line []byte) ([]byte, error) {
		if line == nil {
			return []byte(`{"chat_metadata":{"new":1}}`), nil
		}
		return bytes.Replace(line, []byte("{}"), []byte(`{"k":1}`), 1), nil
	}}
	topDone := strings.Replace(header, "{}", `{"k":1}`, 1)
	again := func(line []byte) ([]byte, error) { return append(bytes.TrimSuffix(line, []byte("}")), ",2}"...), nil }

	tests := []struct {
		name  string
		edits Lines
		now   string // the chat as it is now; empty: as it was
		want  string
		err   error
	}{
		{name: "nothing", want: was},
		{name: "one changes", edits: Lines{edit(1, to("{1}"))}, want: header + "\n{\"mes\":\"a\"}\n{1}\n{\"mes\":\"c\"}"},
		{name: "one goes", edits: Lines{edit(2, nil)}, want: header + "\n{\"mes\":\"a\"}\n{\"mes\":\"b\"}"},
		{name: "one comes", edits: Lines{edit(2, keep, "{3}")}, want: was + "\n{3}"},
		{name: "others in its place", edits: Lines{edit(0, nil, "{3}", "{4}")}, want: header + "\n{3}\n{4}\n{\"mes\":\"b\"}\n{\"mes\":\"c\"}"},
		{name: "in any order", edits: Lines{edit(2, to("{2}")), edit(0, to("{0}")), top}, want: topDone + "\n{0}\n{\"mes\":\"b\"}\n{2}"},
		{name: "several of one line", edits: Lines{edit(0, to("{1}"), "{x}")}.Join(Lines{edit(0, again, "{y}")}), want: header + "\n{1,2}\n{x}\n{y}\n{\"mes\":\"b\"}\n{\"mes\":\"c\"}"},
		{name: "removed twice", edits: Lines{edit(0, nil), edit(0, nil)}, want: header + "\n{\"mes\":\"b\"}\n{\"mes\":\"c\"}"},
		{name: "removed and changed", edits: Lines{edit(0, nil), edit(0, keep)}, err: ErrConflict},
		{name: "of whatever stands there", edits: Lines{{Index: 1, Do: to("{1}")}}, now: header + "\n\n{\"a\":1}\r\n{broken\n{\"b\":1}\r\n{\"c\":1}", want: header + "\n\n{\"a\":1}\r\n{broken\n{1}\r\n{\"c\":1}"},
		{name: "behind a longer header", edits: Lines{edit(1, to("{1}"))}, now: topDone + "\n" + body, want: topDone + "\n{\"mes\":\"a\"}\n{1}\n{\"mes\":\"c\"}"},
		{name: "with more messages", edits: Lines{edit(1, to("{1}"))}, now: was + "\n{\"mes\":\"d\"}", want: header + "\n{\"mes\":\"a\"}\n{1}\n{\"mes\":\"c\"}\n{\"mes\":\"d\"}"},
		{name: "the header too", edits: Lines{edit(1, to("{1}")), top}, now: header + " \n" + body, want: topDone + " \n{\"mes\":\"a\"}\n{1}\n{\"mes\":\"c\"}"},
		{name: "another message there", edits: Lines{edit(1, to("{1}"))}, now: header + "\n{\"mes\":\"b\"}\n{\"mes\":\"c\"}", err: jsonl.ErrChanged},
		{name: "the message was changed", edits: Lines{edit(1, to("{1}"))}, now: strings.Replace(was, `"b"`, `"B"`, 1), err: jsonl.ErrChanged},
		{name: "the message was continued", edits: Lines{edit(2, to("{1}"))}, now: was + " ", err: jsonl.ErrChanged},
		{name: "fewer messages", edits: Lines{edit(2, to("{1}"))}, now: header + "\n{\"mes\":\"a\"}", err: jsonl.ErrChanged},
		{name: "an empty file", edits: Lines{edit(2, to("{1}"))}, now: " ", err: jsonl.ErrChanged},
		{name: "another header", edits: Lines{of(was, HeaderIndex, keep)}, now: topDone + "\n" + body, err: jsonl.ErrChanged},
		{name: "no header any more", edits: Lines{of(was, HeaderIndex, keep)}, now: body, err: jsonl.ErrChanged},
		{name: "a missing header", edits: Lines{top}, now: body, want: "{\"chat_metadata\":{\"new\":1}}\n" + body},
		{name: "a missing header behind a byte order mark", edits: Lines{top}, now: "\xef\xbb\xbf" + body, want: "\xef\xbb\xbf{\"chat_metadata\":{\"new\":1}}\n" + body},
		{name: "a header for an empty file", edits: Lines{{Index: HeaderIndex, Do: to("{h}"), After: [][]byte{[]byte("{0}")}}}, now: "\n", want: "{h}\n{0}\n\n"},
		{name: "two lines of one", edits: Lines{edit(1, to("{}\n{}"))}, err: errBreaks},
	}
	for _, test := range tests {
		now := test.now
		if now == "" {
			now = was
		}
		got, err := render(t, test.edits, now)
		if !errors.Is(err, test.err) {
			t.Errorf("%s: error %v, want %v", test.name, err, test.err)
		}
		if test.err != nil {
			continue
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestLinesMoved holds that an edit hits the message it was drafted for, however
// the chat was saved meanwhile, or is refused.
func TestLinesMoved(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 2000 {
		var lines []string
		for i := range 1 + random.IntN(6) {
			lines = append(lines, fmt.Sprintf(`{"mes":"%d"}`, i))
		}
		was := header + "\n" + strings.Join(lines, "\n")
		index := random.IntN(len(lines))
		e := of(was, index, to("{new}"))

		saved := append([]string{}, lines...)
		for range random.IntN(3) {
			if i := random.IntN(len(saved) + 1); i == len(saved) || random.IntN(2) == 0 {
				saved = append(saved, `{"mes":"new"}`)
			} else {
				saved = append(saved[:i], saved[i+1:]...)
			}
		}
		now := header + strings.Repeat(" ", random.IntN(2)*12) + "\n" + strings.Join(saved, "\n")
		got, err := render(t, Lines{e}, now)
		if errors.Is(err, jsonl.ErrChanged) && (index >= len(saved) || saved[index] != lines[index]) {
			continue
		}
		at := slices.Index(saved, lines[index])
		if err != nil || at < 0 {
			t.Fatalf("%q, then %q: %q, error %v", was, now, got, err)
		}
		saved[at] = "{new}"
		if want := strings.SplitAfter(now, "\n")[0] + strings.Join(saved, "\n"); got != want {
			t.Fatalf("%q, then %q: %q, want %q", was, now, got, want)
		}
	}
}

// keep is the Do of an edit that leaves its line as it is.
func keep(line []byte) ([]byte, error) { return line, nil }
