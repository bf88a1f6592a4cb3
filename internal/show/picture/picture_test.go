package picture

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// drawn is a picture whose upper left quarter is red.
func drawn(w, h int) image.Image {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.RGBA{0, 0, 200, 255}
			if x < w/2 && y < h/2 {
				c = color.RGBA{200, 0, 0, 255}
			}
			m.Set(x, y, c)
		}
	}
	return m
}

const secret = "chara\x00the definition of a character"

func chunk(kind, data string) []byte {
	c := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	c = append(append(c, kind...), data...)
	return binary.BigEndian.AppendUint32(c, crc32.ChecksumIEEE(c[4:]))
}

func pngWith(t *testing.T) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, drawn(200, 100)); err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	planted := append([]byte(nil), data[:33]...)
	for _, kind := range []string{"tEXt", "zTXt", "iTXt", "eXIf"} {
		planted = append(planted, chunk(kind, secret)...)
	}
	return append(append(planted, data[33:]...), secret...)
}

func segment(marker byte, data string) []byte {
	s := binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(data)+2))
	return append(s, data...)
}

func jpegWith(t *testing.T, way byte) []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, drawn(200, 100), nil); err != nil {
		t.Fatal(err)
	}
	data := append([]byte(nil), b.Bytes()[:2]...)
	data = append(data, segment(0xe1, "Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00"+string(way)+"\x00\x00"+secret)...)
	data = append(data, segment(0xfe, secret)...)
	return append(append(data, b.Bytes()[2:]...), secret...)
}

func gifWith(t *testing.T) []byte {
	var b bytes.Buffer
	if err := gif.Encode(&b, drawn(20, 10), nil); err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	planted := append([]byte(nil), data[:len(data)-1]...)
	planted = append(planted, "\x21\xfe"+string(rune(len(secret)))+secret+"\x00"...)
	return append(append(planted, 0x3b), secret...)
}

func webpWith() []byte {
	body := "WEBPVP8X\x0a\x00\x00\x00\x0c\x00\x00\x00\x00\x00\x00\x00\x00\x00VP8L\x01\x00\x00\x00x\x00EXIF"
	body += string(binary.LittleEndian.AppendUint32(nil, uint32(len(secret)))) + secret + string(make([]byte, len(secret)%2))
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

func TestBare(t *testing.T) {
	for name, data := range map[string][]byte{"png": pngWith(t), "jpeg": jpegWith(t, 1), "gif": gifWith(t), "webp": webpWith()} {
		bare, mediaType, err := Bare(data)
		if err != nil || mediaType != "image/"+name {
			t.Errorf("%s: %s, %v", name, mediaType, err)
			continue
		}
		if bytes.Contains(bare, []byte("definition")) {
			t.Errorf("%s still has what does not draw", name)
		}
		again, _, err := Bare(bare)
		if err != nil || !bytes.Equal(again, bare) {
			t.Errorf("%s: a second time: %v", name, err)
		}
		if name == "webp" {
			continue // Go cannot read it
		}
		was, _, _ := image.Decode(bytes.NewReader(data))
		is, _, err := image.Decode(bytes.NewReader(bare))
		if err != nil || is.Bounds() != was.Bounds() || is.At(1, 1) != was.At(1, 1) {
			t.Errorf("%s is another picture: %v", name, err)
		}
		for n := range len(data) {
			_, _, _ = Bare(data[:n]) // a cut picture may be refused, not more
		}
	}
	if bare, _, _ := Bare(webpWith()); bare[20] != 0 {
		t.Errorf("the WebP says that it has EXIF")
	}
}

func TestTurned(t *testing.T) {
	red := map[byte]image.Point{2: {150, 20}, 3: {150, 80}, 4: {50, 80}, 5: {20, 50}, 6: {80, 50}, 7: {80, 150}, 8: {20, 150}}
	for way, at := range red {
		bare, _, err := Bare(jpegWith(t, way))
		if err != nil {
			t.Fatal(err)
		}
		m, err := jpeg.Decode(bytes.NewReader(bare))
		if err != nil {
			t.Fatal(err)
		}
		if r, _, b, _ := m.At(at.X, at.Y).RGBA(); r < b {
			t.Errorf("turned by %d the corner is not at %v", way, at)
		}
	}
}

func TestNoPicture(t *testing.T) {
	broken := pngWith(t)
	broken[40] ^= 1
	for _, data := range []string{"", "<svg onload='alert(1)'/>", "\x89PNG\r\n\x1a\n", "GIF89a", "\xff\xd8\xff", "RIFF\xff\xff\xff\xffWEBPVP8 \xff\xff\xff\xff", string(broken)} {
		if _, _, err := Bare([]byte(data)); err == nil {
			t.Errorf("%.20q is a picture", data)
		}
	}
}

func TestAvatar(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.png")
	avatar := func(data []byte) ([]byte, string, error) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return Avatar(f)
	}
	data, mediaType, err := avatar(pngWith(t))
	if err != nil || mediaType != "image/png" || bytes.Contains(data, []byte("definition")) {
		t.Fatalf("%v", err)
	}
	m, err := png.Decode(bytes.NewReader(data))
	if err != nil || m.Bounds() != image.Rect(0, 0, 96, 96) {
		t.Fatalf("%v: %v", m.Bounds(), err)
	}
	if r, _, b, _ := m.At(10, 10).RGBA(); r < b {
		t.Errorf("the middle was not cut out")
	}
	bomb := append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", "\x00\x01\x00\x00\x00\x01\x00\x00\x08\x06\x00\x00\x00")...)
	if _, _, err := avatar(bomb); err == nil {
		t.Errorf("65,536 by 65,536 points were decoded")
	}
	webp := webpWith()
	if data, mediaType, err := avatar(webp); err != nil || mediaType != "image/webp" || bytes.Contains(data, []byte("definition")) {
		t.Errorf("a WebP: %s, %v", mediaType, err)
	}
	for _, size := range []string{"VP8X\x0a\x00\x00\x00\x0c\x00\x00\x00\xff\xff\x00\xff\xff\x00", "VP8L\x0a\x00\x00\x00\x2f\xff\xff\xff\x0f", "VP8 \x0a\x00\x00\x00\x00\x00\x00\x9d\x01\x2a\xff\x3f\xff\x3f"} {
		if _, _, err := avatar(append(append(webp[:12:12], size...), make([]byte, 20)...)); err == nil {
			t.Errorf("a WebP of too many points was taken: %q", size)
		}
	}
}

func FuzzBare(f *testing.F) {
	f.Add(webpWith())
	f.Add([]byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x00;"))
	f.Fuzz(func(t *testing.T, data []byte) {
		bare, _, err := Bare(data)
		if err == nil && len(bare) > len(data)+1<<20 {
			t.Errorf("%d bytes became %d", len(data), len(bare))
		}
	})
}
