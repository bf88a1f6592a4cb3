package cut

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"stchat/internal/changeset"
	"stchat/internal/chat"
	"stchat/internal/ops"
	"stchat/internal/rawjson"
	"stchat/internal/safefile"
)

// zeroStamp is the stamp of a file that may be in any state.
var zeroStamp safefile.Stamp

// target drafts the file of the new chat: a new file, or one that may be replaced.
func target(ctx context.Context, c *call, set *changeset.Set, src *chat.Chat, p *plan) (*changeset.Draft, error) {
	var like []changeset.DraftOption
	if p.source != chat.Stdin {
		like = append(like, changeset.Like(src.Stamp))
	}
	info, err := os.Lstat(p.path)
	switch {
	case err == nil && !c.opt.Force:
		return nil, &safefile.ExistsError{Path: p.path}
	case errors.Is(err, fs.ErrNotExist):
		return set.Create(p.path, "the "+c.opt.Kind.String(), like...)
	case err != nil:
		return nil, ops.PathError(err)
	case info.IsDir():
		return nil, fmt.Errorf("%s: is a folder; choose another name", p.path)
	}
	if err := safefile.CanReplace(p.path); err != nil {
		return nil, ops.PathError(err)
	}
	was, err := safefile.StampPath(p.path)
	if err != nil {
		return nil, ops.PathError(err)
	}
	if c.opt.Output == "" {
		if err := mayReplace(ctx, c, src, p.path); err != nil {
			return nil, err
		}
	}
	return set.Replace(p.path, was, "the "+c.opt.Kind.String()+", made again")
}

// mayReplace refuses to replace a chat that was not made from this source, or that was
// continued.
func mayReplace(ctx context.Context, c *call, src *chat.Chat, path string) error {
	old, err := chat.Open(ctx, path, chat.Options{Data: c.opt.Data, Groups: c.library})
	if err != nil {
		return ops.PathError(err)
	}
	defer old.Close()
	if err := madeFrom(old, src.Name); err != nil {
		return err
	}
	own, err := ownMessages(ctx, src, old)
	if err == nil && own > 0 {
		err = &OwnMessagesError{Path: path, Own: own, From: src.Name}
	}
	return err
}

// madeFrom refuses a chat that is not a checkpoint or branch of source.
func madeFrom(made *chat.Chat, source string) error {
	parent := ""
	if made.Header != nil {
		parent, _ = rawjson.Unquote(made.Header.Metadata().Value("main_chat"))
	}
	if parent == "" || parent != source {
		return fmt.Errorf("%[1]s: is not a checkpoint or branch of %[2]s (its main_chat is not %[2]s); choose another name", made.Path, source)
	}
	return nil
}

// create drafts a new file with the given data, and the privacy and owner of the file it is
// made from.
func create(set *changeset.Set, path string, data []byte, from safefile.Stamp, about string) error {
	d, err := set.Create(path, about, changeset.Like(from))
	if err == nil {
		_, err = d.Write(data)
	}
	return ops.PathError(err)
}
