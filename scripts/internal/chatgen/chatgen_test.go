package chatgen_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"stchat/scripts/internal/chatgen"
)

func write(t *testing.T, o chatgen.Options) ([]byte, chatgen.Stats) {
	t.Helper()
	var b bytes.Buffer
	stats, err := chatgen.Write(&b, o)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), stats
}

// TestSameSeedSameBytes pins one small chat for ever: measurements of years
// apart must be of the same input.
func TestSameSeedSameBytes(t *testing.T) {
	o, ok := chatgen.Preset("small")
	if !ok {
		t.Fatal("no small preset")
	}
	data, _ := write(t, o)
	sum := sha256.Sum256(data)
	const want = "6e32f5e45c6fa7607a656aa5e8c19d71ed4f7fa6495f14bd5794545c8451174e"
	if got := hex.EncodeToString(sum[:]); got != want {
		t.Errorf("the small chat is %s, was %s", got, want)
	}
	again, _ := write(t, o)
	if !bytes.Equal(data, again) {
		t.Error("twice the same seed, two chats")
	}
	o.Seed++
	if other, _ := write(t, o); bytes.Equal(data, other) {
		t.Error("another seed, the same chat")
	}
}

// A count is what an independent reader finds in a chat.
type count struct{ messages, user, system, swiped, lost, blank, crlf int }

func read(t *testing.T, data []byte) (c count) {
	t.Helper()
	lines := bytes.Split(data, []byte("\n"))
	var header struct {
		Metadata map[string]any `json:"chat_metadata"`
	}
	if err := json.Unmarshal(lines[0], &header); err != nil || header.Metadata["integrity"] == "" {
		t.Fatalf("header %s: %v", lines[0], err)
	}
	for _, line := range lines[1:] {
		if len(line) == 0 {
			c.blank++
			continue
		}
		if bytes.HasSuffix(line, []byte("\r")) {
			c.crlf++
		}
		var m struct {
			Name     *string `json:"name"`
			IsUser   bool    `json:"is_user"`
			IsSystem bool    `json:"is_system"`
			Mes      *string `json:"mes"`
			SwipeID  int     `json:"swipe_id"`
			Swipes   []string
			Info     []json.RawMessage `json:"swipe_info"`
		}
		if err := json.Unmarshal(line, &m); err != nil {
			c.lost++
			continue
		}
		if m.Name == nil || m.Mes == nil {
			t.Fatalf("no message: %.200s", line)
		}
		if len(m.Swipes) != len(m.Info) || len(m.Swipes) > 0 && m.Swipes[m.SwipeID] != *m.Mes {
			t.Fatalf("swipes do not agree: %.200s", line)
		}
		c.messages++
		switch {
		case m.IsSystem:
			c.system++
		case m.IsUser:
			c.user++
		}
		if len(m.Swipes) > 1 {
			c.swiped++
		}
	}
	return c
}

func TestStatsAreWhatIsThere(t *testing.T) {
	for name, o := range map[string]chatgen.Options{
		"plain":    {Messages: 400, Seed: 3, Links: true},
		"tiny":     {Messages: 1, Bytes: 1},
		"by size":  {Bytes: 500_000, Seed: 5, NonASCII: 0.5},
		"hurt":     {Messages: 600, Bytes: 400_000, Seed: 9, Damage: 0.2},
		"all hurt": {Messages: 60, Seed: 9, Damage: 1},
		"pictures": {Messages: 9, Bytes: 9000, Seed: 2, Pictures: 0.25},
	} {
		t.Run(name, func(t *testing.T) {
			data, stats := write(t, o)
			if stats.Bytes != int64(len(data)) {
				t.Errorf("%d bytes told, %d written", stats.Bytes, len(data))
			}
			d := stats.Damaged
			want := count{stats.Messages, stats.User, stats.System, stats.Swiped, d.Torn + d.NUL, d.Blank, d.CRLF}
			got := read(t, data)
			if bytes.HasSuffix(data, []byte("\r\n")) || bytes.HasSuffix(data, []byte("\n")) {
				t.Error("there is a final newline")
			}
			// The last line has no end, so it cannot show its CR.
			if lost := want.crlf - got.crlf; lost == 0 || lost == 1 {
				got.crlf = want.crlf
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(count{})); diff != "" {
				t.Errorf("(-told +there):\n%s", diff)
			}
			if o.Messages > 0 && want.messages+want.lost != o.Messages {
				t.Errorf("%d messages and %d lost, of %d", want.messages, want.lost, o.Messages)
			}
			if o.Damage == 0 && want.lost+want.blank+want.crlf > 0 {
				t.Error("damage that nobody asked for")
			}
			if o.Damage > 0 && (d.Torn == 0 || d.NUL == 0 || d.Blank == 0 || d.CRLF == 0) {
				t.Errorf("a kind of damage is missing: %+v", d)
			}
			if !utf8.Valid(data) && o.Damage == 0 {
				t.Error("the text is not UTF-8")
			}
			if ascii := strings.IndexFunc(string(data), func(r rune) bool { return r > 127 }) < 0; ascii != (o.NonASCII == 0) {
				t.Errorf("only ASCII: %v", ascii)
			}
		})
	}
}

// TestForms reads each form with encoding/json, and compares it with the usual one.
func TestForms(t *testing.T) {
	o := chatgen.Options{Messages: 30, Seed: 6, NonASCII: 0.5}
	usual, _ := write(t, o)
	want := objects(t, usual)
	for _, layout := range chatgen.Layouts() {
		for _, encoding := range chatgen.Encodings() {
			o.Layout, o.Encoding = layout, encoding
			data, stats := write(t, o)
			if stats.Bytes != int64(len(data)) || stats.Messages != o.Messages {
				t.Errorf("%s, %s: %+v of %d bytes", layout, encoding, stats, len(data))
			}
			text := decode(data, encoding)
			if diff := cmp.Diff(want, objects(t, text)); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", layout, encoding, diff)
			}
			if layout != chatgen.Layouts()[0] && bytes.Equal(text, usual) {
				t.Errorf("%s is as usual", layout)
			}
		}
	}
}

// decode returns a file in UTF-8, without a byte order mark.
func decode(data []byte, encoding string) []byte {
	name, _ := strings.CutSuffix(encoding, "-bom")
	order := map[string]binary.ByteOrder{"utf-16le": binary.LittleEndian, "utf-16be": binary.BigEndian}[name]
	if order != nil {
		var units []uint16
		for i := 0; i < len(data); i += 2 {
			units = append(units, order.Uint16(data[i:]))
		}
		data = []byte(string(utf16.Decode(units)))
	}
	return bytes.TrimPrefix(data, []byte("\ufeff"))
}

// objects returns the objects of a file, in lists or not, and with commas behind them or not.
func objects(t *testing.T, text []byte) (list []map[string]any) {
	t.Helper()
	text = bytes.ReplaceAll(text, []byte("},\n{"), []byte("}\n{"))
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var v any
		err := d.Decode(&v)
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		switch v := v.(type) {
		case map[string]any:
			list = append(list, v)
		case []any:
			for _, one := range v {
				list = append(list, one.(map[string]any))
			}
		}
	}
}

// TestSize says how near the size comes to what was asked.
func TestSize(t *testing.T) {
	for _, o := range []chatgen.Options{
		{Messages: 2000, Bytes: 2_000_000, Seed: 4, NonASCII: 0.1},
		{Messages: 500, Bytes: 6_000_000, Seed: 4},
		{Bytes: 3_000_000, Seed: 4},
		{Messages: 1000, Seed: 4},
	} {
		want := o.Bytes
		if want == 0 {
			want = int64(o.Messages) * 2960
		}
		_, stats := write(t, o)
		if off := float64(stats.Bytes-want) / float64(want); off < -0.01 || off > 0.01 {
			t.Errorf("%+v: %d bytes", o, stats.Bytes)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, o := range []chatgen.Options{
		{}, {Messages: -1}, {Bytes: -1, Messages: 3}, {Messages: 3, Damage: 1.5}, {Messages: 3, NonASCII: -1}, {Messages: 3, Pictures: math.NaN()},
	} {
		var b bytes.Buffer
		if _, err := chatgen.Write(&b, o); err == nil || b.Len() > 0 {
			t.Errorf("%+v: %v, %d bytes", o, err, b.Len())
		}
	}
	if _, ok := chatgen.Preset("huge"); ok {
		t.Error("there is a huge preset")
	}
	full := errors.New("disk full")
	if _, err := chatgen.Write(errWriter{full}, chatgen.Options{Messages: 2000}); !errors.Is(err, full) {
		t.Errorf("the writer's error came out as %v", err)
	}
	if _, err := chatgen.Archive(t.TempDir(), chatgen.ArchiveOptions{}); err == nil {
		t.Error("an archive of nothing was made")
	}
}

type errWriter struct{ err error }

func (w errWriter) Write([]byte) (int, error) { return 0, w.err }

func TestArchive(t *testing.T) {
	dir := t.TempDir()
	o := chatgen.ArchiveOptions{Chats: 30, Folders: 7, Bytes: 900_000, Seed: 8}
	stats, err := chatgen.Archive(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "chats", "*", "*.jsonl"))
	if err != nil || len(found) != o.Chats {
		t.Fatalf("%d chats: %v", len(found), err)
	}
	var size int64
	messages, slugs := 0, map[string]bool{}
	for _, name := range found {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		size += int64(len(data))
		messages += read(t, data).messages
		line, _, _ := bytes.Cut(data, []byte("\n"))
		slugs[string(line)] = true
	}
	if size != stats.Bytes || messages != stats.Messages || len(slugs) != o.Chats {
		t.Errorf("%d bytes, %d messages, %d different headers; told %+v", size, messages, len(slugs), stats)
	}
	if off := float64(size-o.Bytes) / float64(o.Bytes); off < -0.05 || off > 0.05 {
		t.Errorf("%d bytes", size)
	}
	folders, err := os.ReadDir(filepath.Join(dir, "chats"))
	if err != nil || len(folders) != o.Folders {
		t.Errorf("%d folders: %v", len(folders), err)
	}
}

func BenchmarkWrite(b *testing.B) {
	o := chatgen.Options{Messages: 5000, Seed: 1, NonASCII: 0.05}
	b.SetBytes(int64(o.Messages) * 2960)
	for b.Loop() {
		if _, err := chatgen.Write(io.Discard, o); err != nil {
			b.Fatal(err)
		}
	}
}
