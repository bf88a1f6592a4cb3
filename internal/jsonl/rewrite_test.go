package jsonl

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/jsonl/rawjson"
)

// listed yields edits.
func listed(edits ...Edit) iter.Seq2[Edit, error] {
	return func(yield func(Edit, error) bool) {
		for _, e := range edits {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func at(off, length int64, data string) rawjson.Splice {
	return rawjson.Splice{At: off, Len: length, Data: []byte(data)}
}

func lines(lines ...string) [][]byte {
	var out [][]byte
	for _, line := range lines {
		out = append(out, []byte(line))
	}
	return out
}

func TestRewrite(t *testing.T) {
	tests := []struct {
		name, src string
		edits     []Edit
		want      string
	}{
		{"nothing", "a\nb", nil, "a\nb"},
		{"empty", "", nil, ""},
		{"into an empty file", "", []Edit{{Splice: at(0, 0, "a")}}, "a"},
		{"bytes change", "abc\ndef", []Edit{{Splice: at(1, 1, "xy")}, {Splice: at(5, 2, "")}}, "axyc\nd"},
		{"the first line goes", "a\nb\nc", []Edit{{Splice: at(0, 1, ""), Gone: true}}, "b\nc"},
		{"a middle line goes", "a\r\nb\nc", []Edit{{Splice: at(3, 1, ""), Gone: true}}, "a\r\nc"},
		{"the last line goes", "a\r\nb", []Edit{{Splice: at(3, 1, ""), Gone: true}}, "a"},
		{"the last line with an end goes", "a\nb\r\n", []Edit{{Splice: at(2, 1, ""), Gone: true}}, "a\n"},
		{"a last line with a CR goes", "a\nb\r", []Edit{{Splice: at(2, 1, ""), Gone: true}}, "a"},
		{"the last two go", "a\nb\r\nc", []Edit{{Splice: at(2, 1, ""), Gone: true}, {Splice: at(5, 1, ""), Gone: true}}, "a"},
		{"all go", "a\nb", []Edit{{Splice: at(0, 1, ""), Gone: true}, {Splice: at(2, 1, ""), Gone: true}}, ""},
		{"a tail goes in one stretch", "a\nb\nc", []Edit{{Splice: at(2, 3, ""), Gone: true}}, "a"},
		{"behind a line", "a\nb", []Edit{{Splice: at(0, 1, "x"), After: lines("y", "z")}}, "x\ny\nz\nb"},
		{"behind a CR LF line", "a\r\nb", []Edit{{Splice: at(1, 0, ""), After: lines("y")}}, "a\r\ny\r\nb"},
		{"behind the last line", "a\r\nb", []Edit{{Splice: at(4, 0, ""), After: lines("y")}}, "a\r\nb\ny"},
		{"in place of a line", "a\nb\nc\n", []Edit{{Splice: at(2, 1, ""), Gone: true, After: lines("x", "y")}}, "a\nx\ny\nc\n"},
		{"a header in front, all others go", "a\nb", []Edit{{Splice: at(0, 0, "h\n")}, {Splice: at(0, 1, ""), Gone: true}, {Splice: at(2, 1, ""), Gone: true}}, "h"},
	}
	for _, test := range tests {
		for _, block := range []int64{0, 2, 3} {
			src := Bytes([]byte(test.src))
			src.block = block
			var got bytes.Buffer
			if err := Rewrite(t.Context(), &got, src, listed(test.edits...)); err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
			if diff := cmp.Diff(test.want, got.String()); diff != "" {
				t.Errorf("%s, blocks of %d (-want +got):\n%s", test.name, block, diff)
			}
		}
	}
}

func TestRewriteErrors(t *testing.T) {
	stop := errors.New("stop")
	over := func(yield func(Edit, error) bool) { yield(Edit{}, stop) }
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	shorter := Source{R: strings.NewReader("a\nb"), Size: 5}
	tests := []struct {
		name  string
		ctx   context.Context
		src   Source
		edits iter.Seq2[Edit, error]
		want  error
	}{
		{"an error instead of an edit", t.Context(), Bytes([]byte("a")), over, stop},
		{"interrupted", cancelled, Bytes([]byte("a")), listed(), context.Canceled},
		{"got shorter", t.Context(), shorter, listed(), ErrChanged},
		{"got shorter where it is left out", t.Context(), shorter, listed(Edit{Splice: at(3, 2, "")}), ErrChanged},
		{"beyond the end", t.Context(), Bytes([]byte("ab")), listed(Edit{Splice: at(1, 2, "")}), ErrChanged},
		{"no line ends there", t.Context(), Bytes([]byte("abc\n")), listed(Edit{Splice: at(0, 2, ""), Gone: true}), ErrChanged},
		{"a CR alone ends no line", t.Context(), Bytes([]byte("a\rb")), listed(Edit{Splice: at(0, 1, ""), Gone: true}), ErrChanged},
	}
	for _, test := range tests {
		if err := Rewrite(test.ctx, io.Discard, test.src, test.edits); !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, want %v", test.name, err, test.want)
		}
	}
	if err := Rewrite(t.Context(), io.Discard, Bytes([]byte("abcd")), listed(Edit{Splice: at(1, 2, "")}, Edit{Splice: at(2, 1, "")})); err == nil {
		t.Error("edits that overlap are made")
	}
}

// naiveLine is a line as a naive splitter sees it.
type naiveLine struct{ text, end string }

func splitNaively(data string) (lines []naiveLine) {
	for data != "" {
		text, rest, ended := strings.Cut(data, "\n")
		end := ""
		if ended {
			end = "\n"
		}
		if cut, ok := strings.CutSuffix(text, "\r"); ok {
			text, end = cut, "\r"+end
		}
		lines = append(lines, naiveLine{text, end})
		data = rest
	}
	return lines
}

// FuzzRewrite holds that lines which no edit names keep their bytes, their line
// ends and their place, and that others change, go and come as a naive splitter
// of the whole text says. what has an operation for each line.
func FuzzRewrite(f *testing.F) {
	f.Add("a\nb\nc", []byte{0, 1, 2}, byte(0))
	f.Add("a\r\n\nb\n\r\nc\r\n", []byte{4, 5, 2, 3}, byte(3))
	f.Add("\xef\xbb\xbf{}\r\n{}\r{}\r\r\n{}\r", []byte{2, 2, 2, 2}, byte(2))
	f.Fuzz(func(t *testing.T, data string, what []byte, block byte) { rewriteLines(t, data, what, int64(block)) })
}

// TestRewriteOfManyBlocks is FuzzRewrite for texts of several blocks, which are read ahead.
func TestRewriteOfManyBlocks(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 1))
	for range 20 {
		var text strings.Builder
		for text.Len() < 3*blockSize {
			text.WriteString(strings.Repeat("abcdefg", rnd.IntN(1<<rnd.IntN(15))))
			text.WriteString([]string{"\n", "\r\n", "\r", "\n\n"}[rnd.IntN(4)])
		}
		what := make([]byte, rnd.IntN(1000))
		for i := range what {
			what[i] = byte(rnd.IntN(7 * (1 + i%3))) // in places most lines stay
			if what[i] >= 7 {
				what[i] = 0
			}
		}
		rewriteLines(t, text.String(), what, []int64{0, 0, 4096, 65 << 10}[rnd.IntN(4)])
	}
}

// rewriteLines makes the operation that what has for each line, and compares the result with
// that of a naive splitter.
func rewriteLines(t *testing.T, data string, what []byte, block int64) {
	t.Helper()
	var want []naiveLine
	var edits []Edit
	off := int64(0)
	for i, line := range splitNaively(data) {
		n := int64(len(line.text))
		op := byte(0)
		if i < len(what) {
			op = what[i] % 7
		}
		between := line.end
		if !strings.HasSuffix(between, "\n") {
			between = "\n"
		}
		switch op {
		case 0: // as it is
			want = append(want, line)
		case 1: // another text
			edits = append(edits, Edit{Splice: at(off, n, "new")})
			want = append(want, naiveLine{"new", line.end})
		case 2: // gone
			edits = append(edits, Edit{Splice: at(off, n, "unseen"), Gone: true})
			if last := len(want) - 1; last >= 0 && !strings.HasSuffix(line.end, "\n") {
				want[last].end = ""
			}
		case 3: // lines behind
			edits = append(edits, Edit{Splice: at(off+n, 0, ""), After: lines("x", "")})
			want = append(want, naiveLine{line.text, between}, naiveLine{"x", between}, naiveLine{"", line.end})
		case 4: // other lines in its place
			edits = append(edits, Edit{Splice: at(off, n, "unseen"), Gone: true, After: lines("x", "y")})
			want = append(want, naiveLine{"x", between}, naiveLine{"y", line.end})
		case 5: // another text, and a line behind
			edits = append(edits, Edit{Splice: at(off, n, "new"), After: lines("x")})
			want = append(want, naiveLine{"new", between}, naiveLine{"x", line.end})
		case 6: // bytes within
			half := len(line.text) / 2
			edits = append(edits, Edit{Splice: at(off, int64(half), "p")}, Edit{Splice: at(off+int64(half), 0, "q")})
			want = append(want, naiveLine{"pq" + line.text[half:], line.end})
		}
		off += n + int64(len(line.end))
	}
	var text strings.Builder
	for _, line := range want {
		text.WriteString(line.text + line.end)
	}
	src := Bytes([]byte(data))
	src.block = block
	var got bytes.Buffer
	if err := Rewrite(t.Context(), &got, src, listed(edits...)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text.String(), got.String()); diff != "" {
		t.Errorf("%.1000q, %v (-want +got):\n%.2000s", data, what, diff)
	}
}

// TestRewriteStreams holds that an edit is made before the next one is asked for,
// so that no list of millions is ever held.
func TestRewriteStreams(t *testing.T) {
	line := strings.Repeat("x", 99)
	data := []byte(strings.Repeat(line+"\n", 20_000))
	var written int64
	most := int64(0)
	edits := func(yield func(Edit, error) bool) {
		for off := int64(0); off < int64(len(data)); off += 100 {
			most = max(most, off-written)
			if !yield(Edit{Splice: at(off, 1, "y")}, nil) {
				return
			}
		}
	}
	var got bytes.Buffer
	out := writerFunc(func(p []byte) (int, error) {
		written += int64(len(p))
		return got.Write(p)
	})
	if err := Rewrite(t.Context(), out, Bytes(data), edits); err != nil {
		t.Fatal(err)
	}
	if want := strings.Repeat("y"+line[1:]+"\n", 20_000); got.String() != want {
		t.Errorf("%d bytes written, and not those of %d", got.Len(), len(want))
	}
	if most > 1<<20 {
		t.Errorf("%d bytes were read ahead of what was written", most)
	}
}

// TestRewriteEnds holds that a rewrite that fails in the middle returns the error of what
// failed, and that nothing reads the source afterwards: it may be closed by then.
func TestRewriteEnds(t *testing.T) {
	data := []byte(strings.Repeat(strings.Repeat("x", 99)+"\n", 100_000))
	broken := errors.New("broken")
	ctx, cancel := context.WithCancel(t.Context())
	full := writerFunc(func([]byte) (int, error) { return 0, broken })
	tests := []struct {
		name  string
		ctx   context.Context
		dst   io.Writer
		edits iter.Seq2[Edit, error]
		fails int64 // from here on reading fails
		want  error
	}{
		{"reading", t.Context(), io.Discard, listed(), 700_000, broken},
		{"reading what is left out", t.Context(), io.Discard, listed(Edit{Splice: at(0, int64(len(data)), "")}), 9_700_000, broken},
		{"writing", t.Context(), full, listed(), math.MaxInt64, broken},
		{"an edit", t.Context(), io.Discard, func(yield func(Edit, error) bool) {
			_ = yield(Edit{Splice: at(2_000_000, 1, "y")}, nil) && yield(Edit{}, broken)
		}, math.MaxInt64, broken},
		{"an interruption", ctx, writerFunc(func(p []byte) (int, error) {
			cancel()
			return len(p), nil
		}), listed(), math.MaxInt64, context.Canceled},
	}
	for _, test := range tests {
		r := &closable{data: data, fails: test.fails, err: broken}
		if err := Rewrite(test.ctx, test.dst, Source{R: r, Size: int64(len(data))}, test.edits); !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, want %v", test.name, err, test.want)
		}
		r.closed.Store(true)
		time.Sleep(5 * time.Millisecond)
		if r.late.Load() {
			t.Errorf("%s: the source is read after the rewrite", test.name)
		}
	}
}

// closable is data that fails to be read from some offset on, and notes if it is read after
// it was closed.
type closable struct {
	data   []byte
	fails  int64
	err    error
	closed atomic.Bool
	late   atomic.Bool
}

func (c *closable) ReadAt(p []byte, off int64) (int, error) {
	if c.closed.Load() {
		c.late.Store(true)
	}
	if off+int64(len(p)) > c.fails {
		return 0, c.err
	}
	return bytes.NewReader(c.data).ReadAt(p, off)
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
