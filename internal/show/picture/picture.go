// Package picture makes pictures fit to be given away: without what does not draw, such as the
// prompt or the character's definition that a PNG carries (FORMATS.md E4), and avatars as small
// pictures of their own.
package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/draw"
	"image/jpeg"
	"slices"
)

// ErrNot means that bytes are no PNG, JPEG, GIF or WebP, or a damaged one.
var ErrNot = errors.New("not a picture")

// Bare returns a picture without what does not draw, and its media type, judged by its bytes. The
// error is [ErrNot].
func Bare(data []byte) (bare []byte, mediaType string, err error) {
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		bare, err = barePNG(data)
		return bare, "image/png", err
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		bare, err = bareJPEG(data)
		return bare, "image/jpeg", err
	case bytes.HasPrefix(data, []byte("GIF87a")), bytes.HasPrefix(data, []byte("GIF89a")):
		bare, err = bareGIF(data)
		return bare, "image/gif", err
	case isWebP(data):
		bare, err = bareWebP(data)
		return bare, "image/webp", err
	}
	return nil, "", ErrNot
}

// barePNG leaves out texts and EXIF, and what stands behind the end.
func barePNG(data []byte) ([]byte, error) {
	out := slices.Clone(data[:8])
	rest := data[8:]
	for len(rest) >= 12 {
		n := uint64(binary.BigEndian.Uint32(rest))
		if n+12 > uint64(len(rest)) {
			break
		}
		chunk := rest[:n+12]
		rest = rest[n+12:]
		if crc32.ChecksumIEEE(chunk[4:n+8]) != binary.BigEndian.Uint32(chunk[n+8:]) {
			break
		}

		kind := string(chunk[4:8])
		switch kind {
		case "tEXt", "zTXt", "iTXt", "eXIf":
		default:
			out = append(out, chunk...)
		}

		if kind == "IEND" {
			return out, nil
		}
	}
	return nil, ErrNot
}

// bareJPEG leaves out comments and application segments, but for Adobe's, which says how colours are
// meant. A picture that its EXIF turns is turned, and encoded anew.
func bareJPEG(data []byte) ([]byte, error) {
	out := slices.Clone(data[:2])
	rest := data[2:]
	for len(rest) >= 4 && rest[0] == 0xff {
		marker := rest[1]
		if marker == 0xff { // fill bytes
			rest = rest[1:]
			continue
		}
		n := int(binary.BigEndian.Uint16(rest[2:])) + 2
		if n < 4 || n > len(rest) {
			break
		}
		segment := rest[:n]
		rest = rest[n:]

		if way := orientation(segment); way > 1 {
			return turned(data, way)
		}
		isAdobe := marker == 0xee && bytes.HasPrefix(segment[4:], []byte("Adobe"))
		if isAdobe || !isNote(marker) {
			out = append(out, segment...)
		}
		if marker == 0xda { // what follows draws, up to the end
			end := bytes.LastIndex(rest, []byte{0xff, 0xd9})
			if end < 0 {
				break
			}
			return append(out, scans(rest[:end+2])...), nil
		}
	}
	return nil, ErrNot
}

// isNote reports whether a JPEG's marker begins a comment or an application's segment.
func isNote(marker byte) bool {
	return marker == 0xfe || marker >= 0xe0 && marker <= 0xef
}

// scans leaves comments and application segments out of the scans of a picture that is drawn in
// several.
func scans(data []byte) (out []byte) {
	for len(data) > 0 {
		at := bytes.IndexByte(data, 0xff)
		if at < 0 || at+1 == len(data) {
			return append(out, data...)
		}
		out = append(out, data[:at]...)
		data = data[at:]

		marker := data[1]
		if marker == 0xd9 {
			return append(out, data[:2]...) // what stands behind the end does not draw
		}
		n := 2
		hasLength := marker >= 0xc0 && (marker < 0xd0 || marker > 0xd9)
		switch {
		case marker == 0xff: // fill bytes
			n = 1
		case hasLength && len(data) >= 4:
			n = min(int(binary.BigEndian.Uint16(data[2:]))+2, len(data))
		}

		if !isNote(marker) {
			out = append(out, data[:n]...)
		}
		data = data[n:]
	}
	return out
}

// orientation returns what an EXIF segment says of how a picture is turned, 1 to 8; 0: nothing.
func orientation(segment []byte) int {
	if segment[1] != 0xe1 || !bytes.HasPrefix(segment[4:], []byte("Exif\x00\x00")) || len(segment) < 20 {
		return 0
	}

	tiff := segment[10:]
	var order binary.ByteOrder = binary.BigEndian
	if tiff[0] == 'I' {
		order = binary.LittleEndian
	}
	at := uint64(order.Uint32(tiff[4:]))
	if at+2 > uint64(len(tiff)) {
		return 0
	}

	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < 12 {
			break
		}
		if order.Uint16(entries) == 0x0112 {
			if way := int(order.Uint16(entries[8:])); way <= 8 {
				return way
			}
		}
		entries = entries[12:]
	}
	return 0
}

// turned draws a picture as its orientation says.
func turned(data []byte, way int) ([]byte, error) {
	src, err := decode(data)
	if err != nil {
		return nil, err
	}
	from := image.NewRGBA(image.Rect(0, 0, src.Bounds().Dx(), src.Bounds().Dy()))
	draw.Draw(from, from.Bounds(), src, src.Bounds().Min, draw.Src)
	w, h := from.Rect.Dx(), from.Rect.Dy()
	to := image.NewRGBA(image.Rect(0, 0, w, h))
	if way >= 5 {
		to = image.NewRGBA(image.Rect(0, 0, h, w))
	}

	flipX := slices.Contains([]int{2, 3, 7, 8}, way)
	flipY := slices.Contains([]int{3, 4, 6, 7}, way)
	for y := range h {
		for x := range w {
			tx, ty := x, y
			if flipX {
				tx = w - 1 - x
			}
			if flipY {
				ty = h - 1 - y
			}
			if way >= 5 {
				tx, ty = ty, tx
			}
			copy(to.Pix[to.PixOffset(tx, ty):][:4], from.Pix[from.PixOffset(x, y):])
		}
	}

	var b bytes.Buffer
	err = jpeg.Encode(&b, to, &jpeg.Options{Quality: 92})
	return b.Bytes(), err
}

// bareGIF leaves out comments, and data of applications but for how often it plays.
func bareGIF(data []byte) ([]byte, error) {
	const header = 13
	if len(data) < header {
		return nil, ErrNot
	}
	at := header + colorTable(data[10])
	if at > len(data) {
		return nil, ErrNot
	}

	out := slices.Clone(data[:at])
	for at < len(data) {
		end := -1
		keep := true
		switch data[at] {
		case 0x3b:
			return append(out, 0x3b), nil
		case 0x21:
			if at+2 >= len(data) {
				return nil, ErrNot
			}
			end = subBlocksEnd(data, at+2)
			repeats := data[at+1] == 0xff && bytes.HasPrefix(data[at+2:], []byte("\x0bNETSCAPE2.0"))
			keep = data[at+1] == 0xf9 || repeats
		case 0x2c:
			from := at + 10
			if from >= len(data) {
				return nil, ErrNot
			}
			from += colorTable(data[at+9])
			end = subBlocksEnd(data, from+1)
		}

		if end < 0 {
			return nil, ErrNot
		}
		if keep {
			out = append(out, data[at:end]...)
		}
		at = end
	}
	return nil, ErrNot
}

// colorTable returns how many bytes the table of colors takes that flags in a GIF describe.
func colorTable(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// subBlocksEnd returns where a GIF's sub-blocks end that begin at from; -1: they have no end.
func subBlocksEnd(data []byte, from int) int {
	for from < len(data) {
		n := int(data[from])
		from += n + 1
		if n == 0 {
			return from
		}
	}
	return -1
}

func isWebP(data []byte) bool {
	return len(data) > 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP"
}

// bareWebP leaves out EXIF and XMP.
func bareWebP(data []byte) ([]byte, error) {
	out := slices.Clone(data[:12])
	rest := data[12:]
	for len(rest) >= 8 {
		n := uint64(binary.LittleEndian.Uint32(rest[4:]))
		n += 8 + n&1 // with its head, and the byte that makes it even
		if n > uint64(len(rest)) {
			return nil, ErrNot
		}

		switch string(rest[:4]) {
		case "EXIF", "XMP ":
		case "VP8X":
			out = append(out, rest[:n]...)
			if n > 8 {
				out[len(out)-int(n)+8] &^= 0x0c // there is neither
			}
		case "VP8 ", "VP8L", "ALPH", "ANIM", "ANMF", "ICCP":
			out = append(out, rest[:n]...)
		}

		rest = rest[n:]
	}

	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8))
	return out, nil
}
