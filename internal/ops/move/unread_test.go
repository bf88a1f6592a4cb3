package move

import (
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"stchat/internal/folder/family"
	"stchat/internal/folder/library"
	"stchat/internal/jsonl"
	"stchat/internal/sillytavern/chat"
)

// A chat of which not all was read may name one that is renamed: then nothing is.
func TestUnread(t *testing.T) {
	for _, tt := range []struct {
		err    error
		refuse bool
	}{
		{nil, false},
		{chat.ErrNotChat, false},
		{syscall.EIO, true},
		{&fs.PathError{Op: "open", Path: "a.jsonl", Err: syscall.ENOENT}, false},
		{fmt.Errorf("a.jsonl: %w", jsonl.ErrChanged), true},
	} {
		f := &folder{graph: &family.Graph{Folder: new(library.Folder), Chats: []*family.Chat{{Path: "a.jsonl", Err: tt.err}}}}
		if err := f.unread(); (err != nil) != tt.refuse {
			t.Errorf("%v: %v", tt.err, err)
		}
	}
}
