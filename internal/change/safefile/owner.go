package safefile

import (
	"io/fs"
	"os"
	"path/filepath"
)

// WorksForOthers reports whether this process is root's. What root makes in the folder of somebody
// else, from cron say, that person could neither change nor remove: it goes to the folder's owner.
func WorksForOthers() bool { return isRoot() }

// AdoptOwner gives a file that was just made the owner and group of the folder that it lies in, if root
// made it. Where that cannot be, as on some network disks, it stays root's. It takes the open file: the
// owner of the folder may have put another one under its name by now, which must not be given away.
func AdoptOwner(f *os.File) {
	if !WorksForOthers() {
		return
	}
	if folder, err := os.Stat(filepath.Dir(f.Name())); err == nil {
		AdoptOwnerOf(f, folder)
	}
}

// AdoptOwnerOf is [AdoptOwner] with the owner and group of another file.
func AdoptOwnerOf(f *os.File, like fs.FileInfo) {
	if !WorksForOthers() {
		return
	}
	if uid, gid, ok := ownerOf(like); ok {
		_ = f.Chown(uid, gid)
	}
}

// AdoptFolderOwner is [AdoptOwner] for a folder that was just made.
func AdoptFolderOwner(dir string) {
	if !WorksForOthers() {
		return
	}
	above, err := os.Stat(filepath.Dir(dir))
	if err != nil {
		return
	}
	if uid, gid, ok := ownerOf(above); ok {
		_ = os.Lchown(dir, uid, gid)
	}
}

// settle gives the file the mode and the owner that it is to have.
func (t *Temp) settle() error {
	isNew := t.seen == nil
	switch {
	case isNew && t.goesToFolder():
		AdoptOwner(t.f)
		return t.keepPrivate()
	case t.like == nil:
		return nil
	case !isNew:
		return adopt(t.path, t.like, t.like.Mode())
	}

	info, err := os.Lstat(t.path)
	if err != nil {
		return err
	}
	return adopt(t.path, t.like, info.Mode()) // it was created with at most the mode of like, less the umask
}

// goesToFolder reports whether a new file gets the owner of its folder: root makes it in a user's
// folder, and not from a file of that user, whose owner and group fit.
func (t *Temp) goesToFolder() bool {
	if t.opt.Home == "" || !WorksForOthers() {
		return false
	}
	home, err := os.Stat(t.opt.Home)
	isUsers := err == nil && t.like != nil && sameUser(home, t.like)
	return !isUsers
}

// keepPrivate takes the permissions of a group from a file whose group is another than that of the
// file it was made from: it gets those of others.
func (t *Temp) keepPrivate() error {
	if t.like == nil {
		return nil
	}
	info, err := t.f.Stat()
	if err != nil {
		return err
	}
	if sameGroup(info, t.like) {
		return nil
	}
	return t.f.Chmod(forOtherGroup(info.Mode() & allModes))
}

// forOtherGroup returns a mode for a file that goes to another group: what the one group was allowed,
// another is not.
func forOtherGroup(mode fs.FileMode) fs.FileMode {
	return mode&^(0o070|fs.ModeSetgid) | mode&0o007<<3
}

// sameUser reports whether two files belong to the same user, as far as the system has users.
func sameUser(a, b fs.FileInfo) bool {
	user, _, isKnown := ownerOf(a)
	other, _, isOtherKnown := ownerOf(b)
	return !isKnown || !isOtherKnown || user == other
}

// sameGroup is [sameUser] for the group.
func sameGroup(a, b fs.FileInfo) bool {
	_, group, isKnown := ownerOf(a)
	_, other, isOtherKnown := ownerOf(b)
	return !isKnown || !isOtherKnown || group == other
}

// sameOwner reports whether two files belong to the same user and group.
func sameOwner(a, b fs.FileInfo) bool { return sameUser(a, b) && sameGroup(a, b) }
