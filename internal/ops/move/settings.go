package move

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"stchat/internal/changeset"
	"stchat/internal/safefile"
	"stchat/internal/userdir"
)

// editSettings drafts an edit of a user's settings.json, if there is one and the edit changes
// it, and notes it in the result as what. edit returns the new content, and how many values
// it changed.
func editSettings(s *changeset.Set, r *Result, dir userdir.Dir, what, why string, edit func(old []byte) ([]byte, int, error)) error {
	path := filepath.Join(dir.Root, "settings.json")
	raw, _, err := safefile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	edited, count, err := edit(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if count == 0 || bytes.Equal(edited, raw) {
		return nil
	}
	r.Doc.Edits = append(r.Doc.Edits, Edited{path, what, count})
	return s.Edit(path, safefile.Stamp{}, changeset.Bytes(func(old []byte) ([]byte, error) {
		edited, _, err := edit(old)
		return edited, err
	}), why)
}
