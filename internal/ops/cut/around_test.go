package cut

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"stchat/internal/folder/library"
	"stchat/internal/sillytavern/chat"
)

// Beside a source whose folder cannot be listed nothing is made: Luker's state would stay
// behind without a word.
func TestFolderUnlisted(t *testing.T) {
	c := &call{library: new(library.Library)}
	for _, beside := range []bool{true, false} {
		p := &plan{source: filepath.Join(t.TempDir(), "gone", "c.jsonl"), chatPath: chatPath{beside: beside}}
		list, err := sidecarsOf(c, &chat.Chat{Name: "c"}, p, &Result{})
		if len(list) > 0 || errors.Is(err, fs.ErrNotExist) != beside {
			t.Errorf("beside %v: %v, %v", beside, list, err)
		}
	}
}
