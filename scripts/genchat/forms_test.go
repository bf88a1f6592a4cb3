package main_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"stchat/internal/change/changeset"
	"stchat/internal/ops"
	"stchat/internal/ops/repair"
	"stchat/scripts/internal/chatgen"
)

// Repair makes of each form the chat that is written as SillyTavern writes it: no value changes.
func TestFormsRepaired(t *testing.T) {
	o := chatgen.Options{Messages: 20, Seed: 5, NonASCII: 0.5}
	usual := compact(t, repaired(t, formed(t, o)))
	for _, layout := range chatgen.Layouts() {
		for _, encoding := range chatgen.Encodings() {
			o.Layout, o.Encoding = layout, encoding
			if got := compact(t, repaired(t, formed(t, o))); !slices.Equal(got, usual) {
				t.Errorf("%s, %s: %d lines of %d, or other ones", layout, encoding, len(got), len(usual))
			}
		}
	}
}

// Whatever damage there is besides, repair leaves no fewer messages than encoding/json finds, or it
// leaves the file as it is.
func TestDamagedFormsKeepMessages(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	changed := 0
	for seed := range uint64(500) {
		o := chatgen.Options{Messages: 1 + rng.IntN(6), Seed: seed}
		o.Layout = chatgen.Layouts()[rng.IntN(len(chatgen.Layouts()))]
		o.Encoding = chatgen.Encodings()[rng.IntN(len(chatgen.Encodings()))]
		data := formed(t, o)
		for range rng.IntN(4) {
			data = damaged(rng, data, o.Encoding)
		}
		got := repaired(t, data)
		if bytes.Equal(got, data) {
			continue
		}
		changed++
		if had, has := messagesIn(data), messagesIn(got); has < had {
			t.Errorf("seed %d, %s, %s: of %d messages %d are left", seed, o.Layout, o.Encoding, had, has)
		}
	}
	if changed < 100 {
		t.Errorf("only %d chats were repaired", changed)
	}
}

// damaged damages a file between two of its characters' units, in an encoding of [chatgen.Encodings].
func damaged(rng *rand.Rand, data []byte, encoding string) []byte {
	if len(data) == 0 {
		return data
	}
	var order binary.AppendByteOrder
	width := 2
	switch strings.TrimSuffix(encoding, "-bom") {
	case "utf-16le":
		order = binary.LittleEndian
	case "utf-16be":
		order = binary.BigEndian
	default:
		width = 1
	}
	at := rng.IntN(len(data)) / width * width
	switch rng.IntN(4) {
	case 0:
		return data[:at]
	case 1:
		return slices.Delete(slices.Clone(data), at, min(len(data), at+width*(1+rng.IntN(20))))
	}
	text := []string{"{", "}", "[", "]", ",", "\"", "\n", ";", "\x00", "\ufeff", "null\n"}[rng.IntN(11)]
	junk := []byte(text)
	if order != nil {
		junk = nil
		for _, unit := range utf16.Encode([]rune(text)) {
			junk = order.AppendUint16(junk, unit)
		}
	}
	return slices.Insert(slices.Clone(data), at, junk...)
}

// formed returns a generated chat.
func formed(t *testing.T, o chatgen.Options) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := chatgen.Write(&out, o); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// repaired returns what repair makes of a chat.
func repaired(t *testing.T, data []byte) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "chats", "Mira", "A.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	opt := repair.Options{List: ops.List{Paths: []string{path}}, Changes: changeset.Options{NoSync: true, Now: time.Now()}}
	if _, err := repair.Repair(t.Context(), opt); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// compact returns the lines of a chat without white space between values.
func compact(t *testing.T, data []byte) (lines []string) {
	t.Helper()
	for line := range bytes.Lines(data) {
		var out bytes.Buffer
		if err := json.Compact(&out, line); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		lines = append(lines, out.String())
	}
	return lines
}

// messagesIn counts the objects with a text and a name that encoding/json finds in a file, in the
// encoding in which it finds the most. What is within one of them does not count.
func messagesIn(data []byte) (most int) {
	for _, order := range []binary.ByteOrder{nil, binary.LittleEndian, binary.BigEndian} {
		text := string(data)
		if order != nil {
			var units []uint16
			for i := 0; i+1 < len(data); i += 2 {
				units = append(units, order.Uint16(data[i:]))
			}
			text = string(utf16.Decode(units))
		}
		most = max(most, objectsIn(text))
	}
	return most
}

func objectsIn(text string) (n int) {
	for {
		at := strings.IndexByte(text, '{')
		if at < 0 {
			return n
		}
		text = text[at:]
		var one struct {
			Mes  *string `json:"mes"`
			Name *string `json:"name"`
		}
		d := json.NewDecoder(strings.NewReader(text))
		if d.Decode(&one) != nil {
			text = text[1:]
			continue
		}
		if one.Mes != nil && one.Name != nil {
			n++
		}
		text = text[d.InputOffset():]
	}
}
