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
		w, h = 1+le.Uint32(data[23:])>>8, 1+le.Uint32(data[26:])>>8
	case "VP8L":
		bits := le.Uint32(data[21:])
		w, h = 1+bits&0x3fff, 1+bits>>14&0x3fff
	case "VP8 ":
		w, h = uint32(le.Uint16(data[26:]))&0x3fff, uint32(le.Uint16(data[28:]))&0x3fff
	}
	return int64(w) * int64(h)
}

// decode decodes a picture unless it is too large.
func decode(data []byte) (image.Image, error) {
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || config.Width <= 0 || config.Height <= 0 || config.Width > mostPixels/config.Height {
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
	left, top := area.Min.X+(area.Dx()-side)/2, area.Min.Y+(area.Dy()-side)/2
	to := image.NewNRGBA(image.Rect(0, 0, avatarSize, avatarSize))
	for y := range avatarSize {
		for x := range avatarSize {
			x0, x1 := x*side/avatarSize, max((x+1)*side/avatarSize, x*side/avatarSize+1)
			y0, y1 := y*side/avatarSize, max((y+1)*side/avatarSize, y*side/avatarSize+1)
			var sum [4]uint64
			for sy := y0; sy < y1; sy++ {
				for sx := x0; sx < x1; sx++ {
					r, g, b, a := src.At(left+sx, top+sy).RGBA()
					for i, v := range [...]uint32{r, g, b, a} {
						sum[i] += uint64(v)
					}
				}
			}
			if n := uint64((x1 - x0) * (y1 - y0)); sum[3] > 0 {
				a := sum[3] / n
				at := to.PixOffset(x, y)
				for i, v := range sum {
					v /= n
					if i < 3 && a > 0 {
						v = min(v*0xffff/a, 0xffff)
					}
					to.Pix[at+i] = uint8(v >> 8)
				}
			}
		}
	}
	return to
}
