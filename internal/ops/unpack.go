package ops

import "archive/zip"

// What the entries of a zip may be together: chats are packed to a tenth of their size or so,
// and one of a few bytes that unpacks to terabytes is an attack.
const (
	mostUnpacked = 1 << 30 // of any zip
	mostRatio    = 200     // of a large one, by its own size
)

// Unpacking is a zip that is unpacked.
type Unpacking struct{ left uint64 }

// UnpackingOf returns the unpacking of a zip of so many bytes.
func UnpackingOf(size int64) *Unpacking {
	return &Unpacking{max(mostUnpacked, mostRatio*uint64(max(size, 0)))}
}

// Refuses returns why an entry cannot be unpacked, "" if it can. What is unpacked must be no longer
// than the entry declares.
func (u *Unpacking) Refuses(f *zip.File) string {
	switch {
	case f.Flags&1 != 0:
		return "is encrypted"
	case f.UncompressedSize64 > u.left:
		return "would be too large: a zip may unpack to 1 GiB, or to 200 times its size"
	}
	u.left -= f.UncompressedSize64
	return ""
}
