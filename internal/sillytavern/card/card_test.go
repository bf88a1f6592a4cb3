package card

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stchat/internal/jsonl/rawjson"
	"stchat/internal/place/userdir"
)

func chunk(kind string, data string) string {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	out = append(out, kind+data...)
	return string(binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:])))
}

func text(keyword, json string) string {
	return chunk("tEXt", keyword+"\x00"+base64.StdEncoding.EncodeToString([]byte(json)))
}

func png(chunks ...string) string {
	return signature + chunk("IHDR", "\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00") + strings.Join(chunks, "") + chunk("IEND", "")
}

func TestChat(t *testing.T) {
	const old, v3 = `{"name":"Mira","chat":"A","n":1.0}`, `{"spec":"x","chat":"A"}`
	tests := []struct{ name, raw, want string }{
		{"both", png(text("chara", old), text("ccv3", v3)), png(text("chara", `{"name":"Mira","chat":"B","n":1.0}`), text("ccv3", `{"spec":"x","chat":"B"}`))},
		{
			"only chara, among others", png(chunk("tEXt", "Title\x00x"), text("chara", old), chunk("zTXt", "chara\x00\x00x"), chunk("IDAT", "data")) + "behind",
			png(chunk("tEXt", "Title\x00x"), text("chara", `{"name":"Mira","chat":"B","n":1.0}`), chunk("zTXt", "chara\x00\x00x"), chunk("IDAT", "data")) + "behind",
		},
		{"letter case, and one that says so already", png(text("Chara", `{"chat":"B"}`), text("CCV3", `{"chat" : "A"}`)), png(text("Chara", `{"chat":"B"}`), text("CCV3", `{"chat" : "B"}`))},
		{"a missing key is appended", png(text("chara", `{"name":"M"}`)), png(text("chara", `{"name":"M","chat":"B"}`))},
		{"the last of repeated keys", png(text("chara", `{"chat":"1","chat":null}`)), png(text("chara", `{"chat":"1","chat":"B"}`))},
		{"a JSON file", "{\n  \"chat\": \"A\",\n  \"name\": \"M\"\n}\n", "{\n  \"chat\": \"B\",\n  \"name\": \"M\"\n}\n"},
		{"unchanged", png(text("chara", `{"chat":"\u0042"}`)), png(text("chara", `{"chat":"\u0042"}`))},
		{"without padding", png(chunk("tEXt", "chara\x00"+base64.RawStdEncoding.EncodeToString([]byte(`{"chat":1}`)))), png(text("chara", `{"chat":"B"}`))},
	}
	for _, tt := range tests {
		c, err := Parse([]byte(tt.raw), "x.png")
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		got, err := c.With(Chat("B"))
		if diff := cmp.Diff(tt.want, string(got)); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, diff)
		}
		if string(c.Raw) != tt.raw {
			t.Errorf("%s: what was read was changed", tt.name)
		}
	}
}

// SillyTavern notes the name of a lorebook as it was typed, and makes only that of its file safe.
func TestBook(t *testing.T) {
	world := func(name string) string { return `{"data":{"extensions":{"world":"` + name + `"}}}` }
	for written, want := range map[string]string{"Sea: Lore": "Harbour", "Sea Lore": "Harbour", "Sea: Lore 2": "Sea: Lore 2", "": ""} {
		c, err := Parse([]byte(world(written)), "x.json")
		if err != nil {
			t.Fatal(err)
		}
		if has := c.HasBook("Sea Lore"); has != (want == "Harbour") {
			t.Errorf("%q: has the lorebook: %t", written, has)
		}
		got, err := c.With(Book(map[string]string{"Sea Lore": "Harbour"}))
		if diff := cmp.Diff(world(want), string(got)); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", written, err, diff)
		}
	}
}

func TestParse(t *testing.T) {
	c, err := Parse([]byte(png(text("chara", `{"name":"Mira","chat":"A"}`), text("ccv3", `{"data":{"name":"Mira H."},"chat":"B"}`))), "x.png")
	if err != nil || c.Chat != "B" || c.Name != "Mira H." {
		t.Errorf("%+v, %v", c, err)
	}
	good := png(text("chara", `{"chat":"A"}`))
	for what, raw := range map[string]string{
		"CRC is wrong":         strings.Replace(good, "chara\x00", "chara\x00e", 1)[:8+25] + strings.Replace(text("chara", `{"chat":"A"}`), "chara", "CHARA", 1),
		"base64 is wrong":      png(chunk("tEXt", "chara\x00?")),
		"holds no character":   png(text("chara", `[]`)),
		"holds no character: ": png(text("chara", `{"chat":`)),
		"the picture holds no": png(),
		"longer than the file": good[:60],
		"breaks off":           good[:len(good)-5],
		"neither a picture":    "GIF89a",
	} {
		if _, err := Parse([]byte(raw), "x.png"); err == nil || !strings.HasPrefix(err.Error(), "x.png: ") || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: error %v", what, err)
		}
	}
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	dir := userdir.Dir{Root: root}
	if err := os.MkdirAll(dir.Characters(), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, raw := range map[string]string{"Mira.png": png(text("chara", `{"chat":"A"}`)), "Mira.json": `{}`, "Tomas.json": `{"chat":"T"}`} {
		if err := os.WriteFile(filepath.Join(dir.Characters(), name), []byte(raw), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for folder, want := range map[string]string{"Mira": "A", "Tomas": "T"} {
		path, err := Find(dir, folder)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := Open(path); err != nil || c.Chat != want {
			t.Errorf("%s: %+v, %v", folder, c, err)
		}
	}
	if _, err := Find(dir, "None"); !errors.Is(err, ErrMissing) {
		t.Errorf("no card: %v", err)
	}
}

// FuzzChat sees to it that an edit changes what it should and nothing else, and
// that a second one finds nothing to do.
func FuzzChat(f *testing.F) {
	f.Add([]byte(png(text("chara", `{"chat":"A"}`), text("ccv3", `{}`))), "B")
	f.Add([]byte(`{"chat":"A"}`), "\x00\xff\"")
	f.Add([]byte(png(chunk("tEXt", "chara\x00e30="))), "")
	f.Fuzz(func(t *testing.T, raw []byte, chat string) {
		c, err := Parse(raw, "x")
		if err != nil {
			return
		}
		edited, err := c.With(Chat(chat))
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(edited, "x")
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if want, _ := rawjson.Unquote(rawjson.Quote(chat)); again.Chat != want {
			t.Errorf("the chat is %q, want %q", again.Chat, want)
		}
		if len(again.parts) != len(c.parts) {
			t.Errorf("%d parts, want %d", len(again.parts), len(c.parts))
		}
		back, err := again.With(Chat(again.Chat))
		if err != nil || !bytes.Equal(back, edited) {
			t.Errorf("a second edit changes something: %v", err)
		}
	})
}
