package ops

import (
	"cmp"
	"errors"
	"io"
	"slices"

	"stchat/internal/chat"
	"stchat/internal/safefile"
)

// splice is a stretch of a chat and what takes its place.
type splice struct {
	off, len int64
	data     []byte
}

// rewrite replaces a chat by itself with the splices in it, byte for byte
// otherwise. The chat is closed then: Windows replaces no file that is open.
func rewrite(source *chat.Chat, splices []splice, noSync bool) error {
	slices.SortFunc(splices, func(a, b splice) int { return cmp.Compare(a.off, b.off) })
	temp, err := safefile.New(source.Path, safefile.Options{NoSync: noSync})
	if err != nil {
		return err
	}
	defer temp.Discard()
	buf := make([]byte, min(1<<20, source.Source.Size+1))
	at := int64(0)
	for _, s := range splices {
		if _, err := io.CopyBuffer(temp, io.NewSectionReader(source.File(), at, s.off-at), buf); err != nil {
			return err
		}
		if _, err := temp.Write(s.data); err != nil {
			return err
		}
		at = s.off + s.len
	}
	if _, err := io.CopyBuffer(temp, io.NewSectionReader(source.File(), at, source.Source.Size-at), buf); err != nil {
		return err
	}
	if err := temp.Prepare(); err != nil {
		return err
	}
	source.Close()
	return temp.Replace(source.Stamp)
}

// unsynced tells whether a failed replacement is in place all the same.
func unsynced(err error) bool {
	_, ok := errors.AsType[*safefile.UnsyncedError](err)
	return ok
}
