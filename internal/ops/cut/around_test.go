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
	c := &call{opt: new(Options), library: new(library.Library)}
	for _, beside := range []bool{true, false} {
		j := &job{source: filepath.Join(t.TempDir(), "gone", "c.jsonl"), src: &chat.Chat{Name: "c"}, res: new(Result)}
		j.beside = beside
		err := decide(c.opt, j.src, &j.plan, lookAround(c, j), j.res)
		if len(j.sidecars) > 0 || errors.Is(err, fs.ErrNotExist) != beside {
			t.Errorf("beside %v: %v, %v", beside, j.sidecars, err)
		}
	}
}
