package main

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
)

// picture draws a small night sea with a beam, so that what the chats link to
// is there. It is uncompressed: its bytes do not depend on a Go version's deflate.
func picture(tilt int) ([]byte, error) {
	const side = 40
	img := image.NewPaletted(image.Rect(0, 0, side, side), color.Palette{
		color.RGBA{R: 18, G: 26, B: 52, A: 255},    // sky
		color.RGBA{R: 10, G: 60, B: 74, A: 255},    // sea
		color.RGBA{R: 250, G: 236, B: 176, A: 255}, // the beam
		color.RGBA{R: 80, G: 200, B: 120, A: 255},  // Agnes
		color.RGBA{R: 60, G: 52, B: 50, A: 255},    // the rock
	})
	for y := range side {
		for x := range side {
			c := uint8(0)
			rise := (side/2 - y) * 8
			switch {
			case y > side*3/4:
				c = 1
			case x < 6 && y > side/2:
				c = 4
			case x > 4 && abs(rise-(x-4)*tilt) < x+6:
				c = 2
			case x > 4 && abs(rise-(x-4)*(tilt+3)) < 10:
				c = 3
			}
			img.SetColorIndex(x, y, c)
		}
	}
	var out bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&out, img)
	return out.Bytes(), err
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
