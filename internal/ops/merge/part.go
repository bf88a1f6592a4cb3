package merge

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"stchat/internal/folder/library"
	"stchat/internal/jsonl/rawjson"
	"stchat/internal/ops"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/card"
	"stchat/internal/sillytavern/chat"
)

// ErrWhose means that FROM, which lies in no user folder, does not say whose chats it holds.
var ErrWhose = error(&ops.Kind{Code: "usage", Text: "lies in no SillyTavern user folder, and no chat here shows whose it is", Hint: "whose"})

// part merges into a user folder what lies in another one: an owner's chats, a group, or one chat, with the card, the
// lorebooks and the files that it needs. What lies in none goes to the owner that it shows.
func (r *Result) part(ctx context.Context, opt *Options) error {
	dir, place, isIn := within(opt.From)
	if !isIn {
		into, err := ownerHere(ctx, opt.Into, opt.From)
		if err != nil {
			return err
		}
		opt.Into = into
		return r.folder(ctx, opt)
	}

	if opt.Base != "" && !isUser(opt.Base) {
		base, _, isIn := within(opt.Base)
		if !isIn {
			return fmt.Errorf("%s: %w: it lies in no user folder", opt.Base, ErrBase)
		}
		opt.Base = base
	}

	opt.From, opt.part = dir, place
	return r.user(ctx, opt)
}

// within returns the user folder in which something lies that is merged, and where, with slashes. A card is all that is its
// character's.
func within(path string) (dir, place string, ok bool) {
	inside := path
	if userdir.IsDir(path) {
		inside = filepath.Join(path, "x"+names.Extension)
	}
	found, ok := userdir.Enclosing(inside)
	if !ok {
		return "", "", false
	}
	place, err := filepath.Rel(found.Root, path)
	if err != nil || !filepath.IsLocal(place) {
		return "", "", false
	}
	folder, file := filepath.Split(place)
	if filepath.Clean(folder) == filepath.Base(found.Characters()) {
		place = filepath.Join(filepath.Base(found.Chats()), userdir.CharacterFolder(file))
	}
	return found.Root, filepath.ToSlash(place), true
}

// ownerHere returns the folder of the character, or the file of the group, of a user folder that something belongs to which
// lies in no user folder: a folder by its name, a chat by its slug, if one owner alone has a chat with that.
func ownerHere(ctx context.Context, user, from string) (path string, err error) {
	dir, err := userdir.Open(user)
	if err != nil {
		return "", err
	}
	if userdir.IsDir(from) {
		stem := filepath.Base(userdir.RealPath(from))
		folder := filepath.Join(dir.Chats(), stem)
		_, err := card.Find(dir, stem)
		if !userdir.IsDir(folder) && err != nil {
			return "", fmt.Errorf("%s: %w", from, ErrWhose)
		}
		return folder, nil
	}

	lib := new(library.Library)
	slug, err := slugOf(ctx, lib, from)
	if err != nil {
		return "", err
	}
	var owners []string
	for _, folder := range dir.Folders() {
		for _, name := range lib.Folder(folder).Chats {
			if ctx.Err() != nil {
				return "", ctx.Err()
			}
			here, err := slugOf(ctx, lib, lib.Folder(folder).File(name))
			if err != nil || slug == "" || here != slug {
				continue
			}
			owner := folder
			if g := listing(lib, lib.Folder(folder), name); g != nil {
				owner = g.Path
			}
			if !slices.Contains(owners, owner) {
				owners = append(owners, owner)
			}
		}
	}

	if len(owners) != 1 {
		return "", fmt.Errorf("%s: %w", from, ErrWhose)
	}
	return owners[0], nil
}

// slugOf reads the slug of a chat; "": it has none.
func slugOf(ctx context.Context, lib *library.Library, path string) (slug string, err error) {
	c, err := chat.Open(ctx, path, chat.Options{Groups: lib, AnyName: true})
	if err != nil {
		return "", ops.PathError(err)
	}
	defer c.Close()
	slug, _ = rawjson.Unquote(c.Metadata().Value("integrity"))
	return slug, nil
}

// isUser reports whether a path is that of a user folder.
func isUser(path string) bool {
	return !userdir.HasExtension(path) && userdir.IsUserDir(path) && !userdir.IsPart(path)
}
