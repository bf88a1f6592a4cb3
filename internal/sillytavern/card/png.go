package card

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// signature begins every PNG.
const signature = "\x89PNG\r\n\x1a\n"

// A chunk is its data's length, a type, the data and a CRC of type and data.
const (
	headLen = 8
	crcLen  = 4
)

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
	out = append(out, "tEXt"...)
	out = append(out, keyword...)
	out = append(out, 0)
	out = append(out, text...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[from:]))
}
