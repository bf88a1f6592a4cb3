package rules

import (
	"bytes"

	"stchat/internal/jsonl"
)

// headBytes is how much of a chat is read for its header and first message. Few are
// longer; those are read in whole blocks.
const headBytes = 64 << 10

// headOf cuts a chat off after its header and first message if they are short.
func headOf(src jsonl.Source) (jsonl.Source, error) {
	if src.Size <= headBytes {
		return src, nil
	}
	head, err := src.Section(0, headBytes)
	if err != nil {
		return src, err
	}
	if end := lineEnd(head, 2); end > 0 {
		return jsonl.Bytes(head[:end]), nil
	}
	return src, nil
}

// lineEnd returns the offset after the n-th line that is not blank, 0 if there are fewer.
func lineEnd(data []byte, n int) int {
	at := 0
	for n > 0 {
		i := bytes.IndexByte(data[at:], '\n')
		if i < 0 {
			return 0
		}
		if len(bytes.TrimSpace(data[at:at+i])) > 0 {
			n--
		}
		at += i + 1
	}
	return at
}
