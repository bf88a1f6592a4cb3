package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	_ "image/gif" // read
	"image/png"
	"io"
	"os"
)

const (
	avatarSize = 96       // pixels of an avatar's side
	mostPixels = 40 << 20 // of a picture that is decoded
	mostBytes  = 64 << 20
	mostWebP   = 2 << 20 // of an avatar that is not encoded anew
)

// Avatar returns the middle of the picture in a file as a small square PNG with nothing else in
// it, and its media type. A WebP, which the standard library cannot decode, is [Bare] instead. The
// error is that of the file system, or [ErrNot].
func Avatar(f *os.File) (avatar []byte, mediaType string, err error) {
	data, err := io.ReadAll(io.LimitReader(f, mostBytes))
	if err != nil {
		return nil, "", err
	}
	if isWebP(data) {
		if len(data) > mostWebP || webpPixels(data) > mostPixels {
			return nil, "", ErrNot
		}
		return Bare(data)
	}

	src, err := decode(data)
	if err != nil {
		return nil, "", err
	}
	var b bytes.Buffer
	err = png.Encode(&b, square(src))
	return b.Bytes(), "image/png", err
}

// webpPixels returns how many pixels a WebP says that it has: up to 2^48.
func webpPixels(data []byte) int64 {
	if len(data) < 30 {
		return 0
	}
	le := binary.LittleEndian
	var w, h uint32
	switch string(data[12:16]) {
	case "VP8X":
		w = 1 + le.Uint32(data[23:])>>8
		h = 1 + le.Uint32(data[26:])>>8
	case "VP8L":
		bits := le.Uint32(data[21:])
		w = 1 + bits&0x3fff
		h = 1 + bits>>14&0x3fff
	case "VP8 ":
		w = uint32(le.Uint16(data[26:])) & 0x3fff
		h = uint32(le.Uint16(data[28:])) & 0x3fff
	}
	return int64(w) * int64(h)
}

// decode decodes a picture unless it is too large.
func decode(data []byte) (image.Image, error) {
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || config.Width <= 0 || config.Height <= 0 {
		return nil, ErrNot
	}
	if tooLarge := config.Width > mostPixels/config.Height; tooLarge {
		return nil, ErrNot
	}
	src, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, ErrNot
	}
	return src, nil
}

// square draws the middle of a picture: each point is the mean of those that it covers.
func square(src image.Image) *image.NRGBA {
	area := src.Bounds()
	side := min(area.Dx(), area.Dy())
	left := area.Min.X + (area.Dx()-side)/2
	top := area.Min.Y + (area.Dy()-side)/2

	to := image.NewNRGBA(image.Rect(0, 0, avatarSize, avatarSize))
	for y := range avatarSize {
		for x := range avatarSize {
			x0 := x * side / avatarSize
			y0 := y * side / avatarSize
			x1 := max((x+1)*side/avatarSize, x0+1)
			y1 := max((y+1)*side/avatarSize, y0+1)
			covered := image.Rect(left+x0, top+y0, left+x1, top+y1)
			point := mean(src, covered)
			copy(to.Pix[to.PixOffset(x, y):], point[:])
		}
	}
	return to
}

// mean returns the mean of the points in an area, as a point of an NRGBA.
func mean(src image.Image, area image.Rectangle) (point [4]uint8) {
	var sum [4]uint64
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			r, g, b, a := src.At(x, y).RGBA()
			for i, v := range [...]uint32{r, g, b, a} {
				sum[i] += uint64(v)
			}
		}
	}

	if sum[3] == 0 { // nothing is seen of them
		return point
	}

	n := uint64(area.Dx() * area.Dy())
	alpha := sum[3] / n
	for i, v := range sum {
		v /= n
		if isColor := i < 3; isColor && alpha > 0 { // they were multiplied by it
			v = min(v*0xffff/alpha, 0xffff)
		}
		point[i] = uint8(v >> 8)
	}
	return point
}
