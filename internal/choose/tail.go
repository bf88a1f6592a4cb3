package choose

import (
	"bytes"
	"errors"
)

// ErrNoTail means that a choice does not say how many messages from the end are meant.
var ErrNoTail = errors.New("how many messages from the end is not said")

// tailBlock is how many bytes of the end are read first; each further attempt reads four
// times as much.
const tailBlock = 64 << 10

func handOut(places []Place, first int, each func(Place) error) error {
	if first > 0 {
		places = places[:min(first, len(places))]
	}
	for _, p := range places {
		p.Index = -1
		if err := each(p); err != nil {
			return err
		}
	}
	return nil
}

// lineStart returns the offset of the first line that begins at or after off.
func lineStart(src Source, off int64) (int64, error) {
	if off <= src.Body {
		return src.Body, nil
	}
	const step = 32 << 10
	for at := off - 1; at < src.Size; at += step {
		part, err := src.Section(at, min(step, src.Size-at))
		if err != nil {
			return 0, err
		}
		if i := bytes.IndexByte(part, '\n'); i >= 0 {
			return at + int64(i) + 1, nil
		}
	}
	return src.Size, nil
}
