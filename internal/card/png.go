package card

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// signature begins every PNG.
const signature = "\x89PNG\r\n\x1a\n"

// A chunk is its data's length, a type, the data and a CRC of type and data.
const (
	headLen = 8
	crcLen  = 4
)

// readPNG finds the chunks that hold the character.
func (c *Card) readPNG() error {
	for at := len(signature); at < len(c.raw); {
		rest := c.raw[at:]
		if len(rest) < headLen+crcLen {
			return fmt.Errorf("the picture breaks off at byte %d", len(c.raw))
		}
		n := int64(binary.BigEndian.Uint32(rest))
		if n > int64(len(rest)-headLen-crcLen) {
			return fmt.Errorf("the picture's chunk at byte %d is longer than the file", at)
		}
		end := at + headLen + int(n)
		kind, data := string(rest[4:headLen]), rest[headLen:headLen+n]
		if keyword, text, ok := bytes.Cut(data, []byte{0}); ok && kind == "tEXt" && (isKeyword(keyword, "chara") || isKeyword(keyword, "ccv3")) {
			if crc32.ChecksumIEEE(c.raw[at+4:end]) != binary.BigEndian.Uint32(c.raw[end:]) {
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
			c.parts = append(c.parts, part{at, end + crcLen, keyword, o})
		}
		at = end + crcLen
		if kind == "IEND" {
			break
		}
	}
	if c.parts == nil {
		return ErrNoData
	}
	return nil
}

// isKeyword compares as SillyTavern does, without letter case.
func isKeyword(keyword []byte, name string) bool { return bytes.EqualFold(keyword, []byte(name)) }

// decode reads base64, padded or not.
func decode(text []byte) ([]byte, error) {
	encoding := base64.StdEncoding
	if len(text)%4 != 0 {
		encoding = base64.RawStdEncoding
	}
	raw := make([]byte, encoding.DecodedLen(len(text)))
	n, err := encoding.Decode(raw, text)
	if err != nil {
		return nil, errors.New("its base64 is wrong")
	}
	return raw[:n], nil
}

// appendText appends a tEXt chunk.
func appendText(out, keyword, data []byte) []byte {
	text := base64.StdEncoding.EncodeToString(data)
	out = binary.BigEndian.AppendUint32(out, uint32(len(keyword)+1+len(text)))
	from := len(out)
	out = append(append(append(append(out, "tEXt"...), keyword...), 0), text...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[from:]))
}
