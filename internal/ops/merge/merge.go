package merge

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"

	"stchat/internal/ops"
	"stchat/internal/place/userdir"
)

var (
	// ErrSame means that INTO and FROM are one, or one is inside the other.
	ErrSame = error(&ops.Kind{Code: "refused", Text: "INTO and FROM are the same, or one lies inside the other"})
	// ErrUsers means that a folder is that of a SillyTavern, or of all its users.
	ErrUsers = error(&ops.Kind{Code: "usage", Text: "users are merged one by one; name the folder of one"})
)

// Run merges FROM into INTO, whatever they are: a chat into a chat, a chat or a folder of chats
// into a folder, or a user folder, or a zip of one, into another.
// Or it merges the conflict files in a user folder.
func Run(ctx context.Context, opt Options) *Result {
	r := new(Result)
	r.Doc = Summary{Schema: 1, Summary: true, Left: []string{}}
	r.Err = r.merge(ctx, &opt)
	return r
}

func (r *Result) merge(ctx context.Context, opt *Options) error {
	if opt.Conflicts {
		return r.conflicts(ctx, opt)
	}
	if err := opt.judgePaths(); err != nil {
		return err
	}
	switch {
	case isZip(opt.From) || isUser(opt.From):
		return r.unpacked(ctx, opt)
	case isUser(opt.Into):
		return r.part(ctx, opt)
	case len(opt.Owners) > 0: // which are paired in user folders only
		_, err := userdir.Open(opt.Into)
		return err
	}
	return r.folder(ctx, opt)
}

// judgePaths refuses a FROM or a base that is missing, or not apart from the others.
func (opt *Options) judgePaths() error {
	for _, path := range []string{opt.From, cmp.Or(opt.Base, opt.From)} {
		if _, err := os.Stat(path); err != nil {
			return ops.PathError(err)
		}
	}
	err := cmp.Or(notIn(opt.From, opt.Into, ErrSame), notIn(opt.Into, opt.From, ErrSame), oneUsers(opt.Into), oneUsers(opt.From))
	if err != nil || opt.Base == "" {
		return err
	}
	why := fmt.Errorf("%w: it is INTO or FROM, or inside one", ErrBase)
	return cmp.Or(notIn(opt.Base, opt.Into, why), notIn(opt.Base, opt.From, why))
}

// oneUsers refuses a folder that holds user folders, one of which must be named.
func oneUsers(path string) error {
	if userdir.IsUserDir(path) {
		return nil
	}
	users := slices.Concat(userdir.Users(path), userdir.UsersBelow(path)) // of a SillyTavern; of its data folder, or a copy
	if len(users) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %w, such as %s", path, ErrUsers, users[0].Root)
}

// notIn refuses a path that is another one or lies inside it. A zip may lie inside.
func notIn(path, in string, why error) error {
	infoIn, _ := os.Stat(in) // a character's folder comes with the first chat
	info, _ := os.Stat(path)
	isInside := userdir.Inside(in, path) && !isZip(path)
	if os.SameFile(infoIn, info) || isInside {
		return fmt.Errorf("%s: %w", path, why)
	}
	return nil
}
