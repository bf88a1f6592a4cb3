package copying

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"

	"stchat/internal/change/changeset"
	"stchat/internal/folder/library"
	"stchat/internal/ops"
	"stchat/internal/ops/address"
	"stchat/internal/place/names"
	"stchat/internal/place/userdir"
	"stchat/internal/sillytavern/chat"
	"stchat/internal/sillytavern/group"
)

// place is where a new chat goes.
type place struct {
	prefix string         // of the path: the folder, and what separates it from the name
	name   string         // that was given; "": one is made from the source's
	owner  *address.Owner // nil: the source's
	group  *group.File    // that lists it; nil: none
}

var (
	// ErrNoOwner means that a new chat has no owner that could open with it.
	ErrNoOwner = error(&ops.Kind{Code: "refused", Text: "neither a character nor a group could open with the new chat"})
	// ErrLeftover means that Luker's state left over from another chat would become the new chat's.
	ErrLeftover = error(&ops.Kind{Code: "refused", Text: "there is Luker state of a chat of this name already", Hint: "leftover"})
)

// beside returns the place of a new chat beside another.
func beside(path, name string) *place {
	prefix, _ := filepath.Split(path)
	return &place{prefix: prefix, name: name}
}

// belong makes it a place among the chats of an owner.
func (to *place) belong(owner *address.Owner) {
	to.prefix = owner.Folder + string(filepath.Separator)
	to.owner, to.group = owner, owner.Group
}

// isNobody reports whether an error of [address.OwnerOf] means that no owner has a name or a part of it.
func isNobody(err error) bool {
	none, ok := errors.AsType[*address.NoneError](err)
	return ok && none.Owner || errors.Is(err, address.ErrOwner)
}

// path returns the path of a chat of this name.
func (to *place) path(name string) string { return to.prefix + name + names.Extension }

// root returns the folder that the change edits.
func (to *place) root() string { return changeset.RootOf(to.path("x")) }

// listBeside finds the group that lists a chat beside src. A group file that cannot be read may be
// the one.
func (to *place) listBeside(lib *library.Library, src *chat.Chat, r *Result) error {
	to.group = nil
	switch {
	case src.Kind != userdir.Group:
		return nil
	case len(src.Groups) == 0:
		if err := unreadGroup(lib, src); err != nil {
			return src.Errorf("no group lists this chat, unless it is this one, which cannot be read: %w", err)
		}
		r.Warn("%s: no group lists this chat: SillyTavern shows neither it nor the new one", src.Label())
		return nil
	case len(src.Groups) > 1:
		r.Warn("%s: %d groups list this chat; the new one goes to %s", src.Label(), len(src.Groups), src.Groups[0].Path)
	}

	to.group = src.Groups[0]
	return nil
}

// unreadGroup returns the error of a group file beside a group's chat that cannot be read, nil if there
// is none.
func unreadGroup(lib *library.Library, src *chat.Chat) error {
	groups, err := lib.Groups(src.Dir)
	if err == nil && len(groups.Bad) > 0 {
		err = groups.Bad[0]
	}
	return ops.PathError(err)
}

// free returns the path of the new chat: under the name that was given, made safe, else under the
// source's with a word behind it, and with the next number if that is taken. isLuker says that files
// of Luker go with it, whose names must be shorter.
func (to *place) free(lib *library.Library, source, word string, isLuker bool, r *Result) (string, error) {
	most := names.MaxBytes
	if isLuker {
		most = names.MaxLuker
	}
	folder := lib.Folder(filepath.Dir(to.path("x")))
	if folder.Err != nil && !errors.Is(folder.Err, fs.ErrNotExist) {
		return "", folder.Err
	}
	taken := to.taken(folder)
	var name string
	var err error
	if to.name != "" {
		name, err = to.given(taken, most, r)
	} else {
		name, err = generated(source, word, most, func(name string) bool { return taken[names.Fold(name)] || len(folder.Sidecars(name)) > 0 })
	}
	if err != nil {
		return "", err
	}
	if left := folder.Sidecars(name); len(left) > 0 {
		return "", fmt.Errorf("%s: %w", left[0].Path, ErrLeftover)
	}
	return to.path(name), ops.JudgeChatPlace(to.path(name))
}

// taken returns the folded names of the chats in a folder and of those that the group lists.
func (to *place) taken(folder *library.Folder) map[string]bool {
	taken := map[string]bool{}
	for _, name := range folder.Chats {
		taken[names.Fold(name)] = true
	}
	if to.group != nil {
		for _, name := range to.group.Chats {
			taken[names.Fold(name)] = true
		}
	}
	return taken
}

// given returns the name that was given, as SillyTavern makes it safe.
func (to *place) given(taken map[string]bool, most int, r *Result) (string, error) {
	name, err := names.New(to.name, most)
	if err != nil {
		return "", err
	}
	if taken[names.Fold(name)] {
		return "", fmt.Errorf("%q: %w", name, names.ErrTaken)
	}
	if name != to.name {
		r.WarnSafeName(to.path(name), to.name, name)
	}
	return name, nil
}

// generated returns the first free name of those that a chat's name, a word and a number make.
func generated(chat, word string, most int, taken func(name string) bool) (string, error) {
	const tries = 1000 // as in SillyTavern's getUniqueName (public/scripts/utils.js)
	for i := range tries {
		end := word
		if i > 0 {
			end += " " + strconv.Itoa(i+1)
		}
		name, err := names.New(names.Derive(chat, "", end, most), most)
		if err != nil || !taken(name) {
			return name, err
		}
	}
	return "", fmt.Errorf("%q: %w", chat+word, names.ErrNoFree)
}

// enlist drafts that the group lists the new chat, and, with open, that its owner opens with it.
func (to *place) enlist(set *changeset.Set, src *chat.Chat, path string, open bool, r *Result) error {
	name := userdir.ChatName(path)
	if to.group != nil {
		if to.group.HasOldLayout() {
			r.Warn("%s: this group has the layout of SillyTavern up to 1.14, and the new chat that of 1.16 and later: open it with 1.16 or later only", to.group.Path)
		}
		r.Doc.Group = &to.group.Path
		return group.List(set, to.group.Path, "its name in the group's list", open, name)
	}

	if !open {
		return nil
	}
	dir, kind, owner := userdir.Place(path)
	if to.owner != nil {
		dir = to.owner.Dir
		kind = userdir.Solo
		owner = filepath.Base(to.owner.Folder)
	}

	if kind != userdir.Solo {
		return src.Errorf("%w", ErrNoOwner)
	}
	_, err := ops.OpenInCard(set, dir, owner, name)
	return err
}
