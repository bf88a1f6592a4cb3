package ops

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"

	"stchat/internal/jsonl/rawjson"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
)

// ErrCycle means that a chat would be its own ancestor.
var ErrCycle = error(&Kind{Code: "refused", Text: "the chat would be its own ancestor"})

// CheckParent refuses, with an [ErrCycle], a parent that is the chat at a path or descends from it. The chat need not
// exist yet. isThere says that the parent can be opened.
func CheckParent(ctx context.Context, path, parent string) (isThere bool, err error) {
	seen := map[string]bool{}
	for name := parent; name != "" && !seen[names.Fold(name)]; {
		if name == userdir.ChatName(path) {
			return false, fmt.Errorf("%s: %w", chat.Label(path), ErrCycle)
		}
		seen[names.Fold(name)] = true
		c, err := sibling(ctx, path, name)
		if err != nil {
			break
		}

		isThere = true
		name, _ = rawjson.Unquote(c.Metadata().Value("main_chat"))
		c.Close()
	}
	return isThere, nil
}

// sibling opens the chat of a name in the folder of another one.
func sibling(ctx context.Context, path, name string) (*chat.Chat, error) {
	if !names.Safe(name + names.Extension) { // it could lead out of the folder
		return nil, fs.ErrNotExist
	}
	return chat.Open(ctx, filepath.Join(filepath.Dir(path), name+names.Extension), chat.Options{})
}
