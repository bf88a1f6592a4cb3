// Package card reads and edits one thing of a character: which of its chats is
// open. SillyTavern keeps it at the top level of the character's JSON, as "chat".
// That JSON stands in the picture characters/<folder>.png, in base64, in the tEXt
// chunks chara and ccv3 (src/character-card-parser.js), or in
// characters/<folder>.json where there is no picture.
//
// An edit replaces that value in every such chunk and renews the chunk's CRC. All
// other chunks, their order, what stands behind the picture's end and every other
// byte of the JSON stay. The package never writes.
//
// A card is a stranger's file: a chunk that is longer than the file, a wrong CRC,
// base64 or JSON is an error that names it.
package card

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stchat/internal/change/changeset"
	"stchat/internal/change/safefile"
	"stchat/internal/jsonl"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
)

// ErrMissing means that a character has no card.
var ErrMissing = errors.New("the character has no card")

// ErrNoData means that a picture holds no character.
var ErrNoData = errors.New("the picture holds no character")

// Card is a character's card as it was read.
type Card struct {
	Path string
	Name string // the character's
	Chat string // the chat that is open; empty: none

	Raw   []byte // as it was read
	parts []part
}

// part is one place in the file that holds the character's JSON.
type part struct {
	from, to int // the whole chunk; in a JSON file all of it
	keyword  []byte
	json     *rawjson.Object
}

// Find returns the card of the character whose chats are in a folder of that name. The error
// is an [ErrMissing] if there is none.
func Find(dir userdir.Dir, folder string) (path string, err error) {
	for _, name := range append(pictures(dir, folder), folder+".json") {
		path := filepath.Join(dir.Characters(), name)
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return "", err
		case info.Mode().IsRegular():
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: %w", filepath.Join(dir.Characters(), folder+userdir.CardExtension), ErrMissing)
}

// pictures returns the names that the card of a folder's character may have.
func pictures(dir userdir.Dir, folder string) (names []string) {
	if name := folder + userdir.CardExtension; userdir.CharacterFolder(name) == folder {
		names = append(names, name)
	}
	if !strings.HasSuffix(folder, userdir.CardExtension) {
		return names
	}
	entries, _ := os.ReadDir(dir.Characters()) // without them there is no card
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), userdir.CardExtension) && userdir.CharacterFolder(e.Name()) == folder {
			names = append(names, e.Name())
		}
	}
	return names
}

// Of reads the card of the character whose chats are in a folder of that name; see [Find] and [Open].
func Of(dir userdir.Dir, folder string) (*Card, error) {
	path, err := Find(dir, folder)
	if err != nil {
		return nil, err
	}
	return Open(path)
}

// Open reads the card at path. Errors name it.
func Open(path string) (*Card, error) {
	raw, _, err := safefile.Read(path)
	if err != nil {
		return nil, err
	}
	return Parse(raw, path)
}

// Parse reads raw as the content of the card at path; the card aliases raw.
func Parse(raw []byte, path string) (*Card, error) {
	c := &Card{Path: path, Raw: raw}
	read := c.readJSON
	if bytes.HasPrefix(raw, []byte(signature)) {
		read = c.readPNG
	}
	if err := read(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}

	first := c.first()
	c.Chat = textOf(first.json, "chat")
	c.Name = textOf(first.json, "name")
	if c.Name == "" {
		c.Name, _ = rawjson.Unquote(rawjson.Value(first.json.Value("data"), "name"))
	}
	return c, nil
}

// Greetings returns what a new chat may begin with: the first message, which may be empty, and the
// alternate ones.
func (c *Card) Greetings() []string {
	data := c.first().json.Value("data")
	alternate := rawjson.Texts(rawjson.Value(data, "alternate_greetings"))
	return slices.AppendSeq([]string{c.Greeting()}, alternate)
}

// object reads the character's JSON.
func object(raw []byte) (*rawjson.Object, error) {
	if damage := jsonl.Check(raw); damage != nil {
		return nil, damage
	}
	return rawjson.ParseObject(raw)
}

func textOf(o *rawjson.Object, key string) string {
	s, _ := rawjson.Unquote(o.Value(key))
	return s
}

// Chat returns the edit for [Card.With] that makes another chat the one that is open; "" is none, as where no text says so.
func Chat(chat string) func(json []byte) ([]byte, error) {
	return func(json []byte) ([]byte, error) {
		open, _ := rawjson.Unquote(rawjson.Value(json, "chat"))
		if open == chat {
			return json, nil
		}
		return rawjson.SetPath(json, rawjson.Quote(chat), "chat")
	}
}

// Book returns the edit for [Card.With] that changes the lorebook's name in data.extensions.world to what
// it is in renamed, as it is written or as SillyTavern's server makes it safe; any other name stays.
func Book(renamed map[string]string) func(json []byte) ([]byte, error) {
	return func(json []byte) ([]byte, error) {
		name := bookOf(json)
		to, ok := names.Renamed(renamed, name)
		if !ok || to == name {
			return json, nil
		}
		return rawjson.SetPath(json, rawjson.Quote(to), "data", "extensions", "world")
	}
}

// Greeting returns the character's first message, "" if there is none.
func (c *Card) Greeting() string {
	json := c.first().json
	if text, ok := rawjson.Unquote(rawjson.Value(json.Value("data"), "first_mes")); ok {
		return text
	}
	return textOf(json, "first_mes")
}

// first returns the part that SillyTavern reads: ccv3 where there is one.
func (c *Card) first() *part {
	for i := range c.parts {
		if isKeyword(c.parts[i].keyword, "ccv3") {
			return &c.parts[i]
		}
	}
	return &c.parts[0]
}

// HasBook reports whether the character's lorebook is called name in some part, as it is written there
// or as SillyTavern's server makes it safe.
func (c *Card) HasBook(name string) bool {
	return slices.ContainsFunc(c.parts, func(p part) bool { return names.LeadsTo(bookOf(p.json.Bytes()), name) })
}

func bookOf(json []byte) string {
	name, _ := rawjson.Unquote(rawjson.Value(json, "data", "extensions", "world"))
	return name
}

// Edit returns the edit of the card at path that do makes, whatever the file holds by then. It
// stays as it is if do returns nil.
func Edit(path string, do func(c *Card) ([]byte, error)) changeset.Edit {
	return changeset.Bytes(func(old []byte) ([]byte, error) {
		c, err := Parse(old, path)
		if err != nil {
			return nil, err
		}
		data, err := do(c)
		if data == nil {
			data = old
		}
		return data, err
	})
}

// With returns the card's bytes with the JSON of every part edited, or as they were read
// where the edits change none.
func (c *Card) With(edits ...func(json []byte) ([]byte, error)) ([]byte, error) {
	var out []byte
	done := 0
	for i := range c.parts {
		p := &c.parts[i]
		old := p.json.Bytes()
		edited := old
		for _, edit := range edits {
			var err error
			edited, err = edit(edited)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.Path, err)
			}
		}

		if bytes.Equal(edited, old) {
			continue
		}
		out = append(out, c.Raw[done:p.from]...)
		if p.keyword == nil {
			out = append(out, edited...)
		} else {
			out = appendText(out, p.keyword, edited)
		}

		done = p.to
	}

	if out == nil {
		return c.Raw, nil
	}
	return append(out, c.Raw[done:]...), nil
}

// readJSON reads a card that is JSON and no picture.
func (c *Card) readJSON() error {
	o, err := object(c.Raw)
	if err != nil {
		return fmt.Errorf("neither a picture nor a character: %w", err)
	}
	c.parts = []part{{0, len(c.Raw), nil, o}}
	return nil
}

// readPNG finds the chunks that hold the character.
func (c *Card) readPNG() error {
	for at := len(signature); at < len(c.Raw); {
		rest := c.Raw[at:]
		if len(rest) < headLen+crcLen {
			return fmt.Errorf("the picture breaks off at byte %d", len(c.Raw))
		}
		n := int64(binary.BigEndian.Uint32(rest))
		if n > int64(len(rest)-headLen-crcLen) {
			return fmt.Errorf("the picture's chunk at byte %d is longer than the file", at)
		}
		end := at + headLen + int(n) + crcLen
		if err := c.readChunk(at, end); err != nil {
			return err
		}
		at = end
		if string(rest[4:headLen]) == "IEND" {
			break
		}
	}

	if c.parts == nil {
		return ErrNoData
	}
	return nil
}

// readChunk reads a chunk, all of it, if it holds the character.
func (c *Card) readChunk(from, to int) error {
	chunk := c.Raw[from:to]
	data := chunk[headLen : len(chunk)-crcLen]
	keyword, text, ok := bytes.Cut(data, []byte{0})
	isText := ok && string(chunk[4:headLen]) == "tEXt"
	isCharacter := isKeyword(keyword, "chara") || isKeyword(keyword, "ccv3")
	if !isText || !isCharacter {
		return nil
	}

	crc := binary.BigEndian.Uint32(chunk[len(chunk)-crcLen:])
	if crc32.ChecksumIEEE(chunk[4:len(chunk)-crcLen]) != crc {
		return fmt.Errorf("the picture's chunk %s is damaged: its CRC is wrong", keyword)
	}
	raw, err := decode(text)
	if err != nil {
		return fmt.Errorf("the picture's chunk %s is damaged: %w", keyword, err)
	}
	o, err := object(raw)
	if err != nil {
		return fmt.Errorf("the picture's chunk %s holds no character: %w", keyword, err)
	}
	c.parts = append(c.parts, part{from, to, keyword, o})
	return nil
}
