package userdir

import (
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Kind is what kind of chat a path leads to. inspect's JSON documents contain its values.
type Kind string

// The kinds of chat.
const (
	Solo  Kind = "solo"  // in chats/<character>/
	Group Kind = "group" // in "group chats"/
	File  Kind = "file"  // a file anywhere else
)

// Find returns the user's folder that the chat at chatPath lies in: the one above
// chats/<character>/ or above "group chats"/, and false if there is none. It tries the path
// as written, then made absolute, then with the links among its folders followed. The
// folder of a relative path is relative too, if [Near] can make it so. The chat need not
// exist.
func Find(chatPath string) (Dir, bool) {
	p, ok := locate(chatPath)
	return Dir{Root: p.root}, ok
}

// Enclosing returns the user's folder that a file lies in: as [Find] for a chat, or for a
// file in groups/, worlds/, characters/ or backups/ the folder above, if that has a folder
// of chats as well.
func Enclosing(path string) (Dir, bool) {
	if dir, ok := Find(path); ok {
		return dir, true
	}
	for _, as := range [...]func(string) string{filepath.Clean, absolute, RealPath} {
		folder := as(filepath.Dir(path))
		above := filepath.Dir(folder)
		for _, name := range [...]string{groupsFolder, worldsFolder, charactersFolder, backupsFolder} {
			if isCalled(folder, name) && hasChats(above) {
				return Dir{Root: likePath(above, path)}, true
			}
		}
	}
	return Dir{}, false
}

// AroundBook returns the user's folder in whose worlds folder a file lies.
func AroundBook(path string) (Dir, bool) {
	dir, ok := Enclosing(path)
	return dir, ok && RealPath(filepath.Dir(path)) == RealPath(dir.Worlds())
}

// hasChats reports whether a folder has a folder of chats.
func hasChats(root string) bool {
	return IsDir(filepath.Join(root, chatsFolder)) || IsDir(filepath.Join(root, groupChatsFolder))
}

// KindOf returns the kind of chat that chatPath leads to, and for a solo chat its owner,
// the character's folder. Only the group files say which group owns a group chat, so its
// owner is empty.
func KindOf(chatPath string) (kind Kind, owner string) {
	p, ok := locate(chatPath)
	return kindOf(p, ok), p.owner
}

func kindOf(p place, ok bool) Kind {
	switch {
	case !ok:
		return File
	case p.owner == "":
		return Group
	}
	return Solo
}

// Place is [Find] and [KindOf] in one.
func Place(chatPath string) (dir Dir, kind Kind, owner string) {
	p, ok := locate(chatPath)
	return Dir{Root: p.root}, kindOf(p, ok), p.owner
}

// Follow returns the path of the file behind path if that is a symbolic link, otherwise
// path: a chat's place and name are those of the file itself. Links among the folders of
// path alone are not followed.
func Follow(path string) string {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		return path
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// place is a chat's user folder and owner; owner is empty for a group chat.
type place struct{ root, owner string }

func locate(chatPath string) (place, bool) {
	if chatPath == "" {
		return place{}, false
	}
	folder := filepath.Dir(chatPath) // cleaned
	if p, ok := placeOf(folder); ok {
		return p, true
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return place{}, false
	}
	p, ok := placeOf(folder)
	if !ok {
		if folder, err = filepath.EvalSymlinks(folder); err != nil {
			return place{}, false
		}
		p, ok = placeOf(folder)
	}

	if ok {
		p.root = likePath(p.root, chatPath)
	}
	return p, ok
}

// placeOf finds a chat's place from the names of its folder and of the one above.
func placeOf(folder string) (place, bool) {
	parent := filepath.Dir(folder)
	if isCalled(folder, groupChatsFolder) {
		return place{root: parent}, true
	}
	owner := filepath.Base(folder)
	if owner != "." && owner != ".." && parent != folder && isCalled(parent, chatsFolder) {
		return place{root: filepath.Dir(parent), owner: owner}, true
	}
	return place{}, false
}

// isCalled reports whether folder has the given name: exactly, or in another letter case on
// a disk where both are one folder.
func isCalled(folder, name string) bool {
	base := filepath.Base(folder)
	if base == name {
		return true
	}
	if !strings.EqualFold(base, name) {
		return false
	}
	as, err := os.Stat(folder)
	if err != nil {
		return false
	}
	proper, err := os.Stat(filepath.Join(filepath.Dir(folder), name))
	return err == nil && os.SameFile(as, proper)
}

// Real is [RealPath] for many paths in few folders: it follows the links among a folder's own
// folders only once, so neither they nor the working folder may change meanwhile. The zero Real
// is ready for use, by several goroutines at once.
type Real struct {
	mu      sync.Mutex
	folders map[string]string // as given and absolute, to real
	here    string            // the working folder; "" if it is not known yet
}

// Abs returns path made absolute, or as it is if the working folder is unknown.
func (r *Real) Abs(path string) string {
	if filepath.IsAbs(path) || runtime.GOOS == "windows" { // which has a working folder for each drive
		return absolute(path)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.here == "" {
		here, err := os.Getwd()
		if err != nil {
			return path
		}
		r.here = here
	}
	return filepath.Join(r.here, path)
}

// Path returns what RealPath does.
func (r *Real) Path(path string) string {
	if runtime.GOOS == "windows" { // where the file's own name has more than one spelling
		return RealPath(path)
	}
	path = r.Abs(path)
	folder, ok := r.folder(filepath.Dir(path))
	if !ok {
		return RealPath(path)
	}
	real := filepath.Join(folder, filepath.Base(path))
	if info, err := os.Lstat(real); err == nil && info.Mode().Type() == os.ModeSymlink {
		return RealPath(real)
	}
	return real
}

// folder returns the real path of an absolute one, and false if there is no such folder.
func (r *Real) folder(path string) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if real, ok := r.folders[path]; ok {
		return real, true
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", false
	}
	if r.folders == nil {
		r.folders = map[string]string{}
	}
	r.folders[path] = real
	return real, true
}

// served returns the paths in the user folder that an address may mean, see
// [Readings]. ours is false if the server does not serve the address from there.
func served(address string) (places []string, ours bool) {
	address, _, _ = strings.Cut(address, "?")
	address, _, _ = strings.Cut(address, "#")
	rest := strings.TrimPrefix(address, "/")
	if !isServed(rest) {
		return nil, false
	}

	for _, place := range Readings(rest) {
		if filepath.IsLocal(filepath.FromSlash(place)) {
			places = append(places, place)
		}
	}
	return places, true
}

// Readings returns what an address without its query may mean, the likeliest first: percent-decoded twice, as
// SillyTavern's server reads it (Express decodes it, and createRouteHandler of its src/users.js once more), decoded
// once, and as written. Each is there once.
func Readings(address string) []string {
	readings := []string{address}
	for range 2 {
		decoded, err := url.PathUnescape(readings[0])
		if err != nil || decoded == readings[0] {
			break
		}
		readings = slices.Insert(readings, 0, decoded)
	}
	return readings
}

// isServed reports whether the server serves files of the user folder under an address, without its first slash.
func isServed(address string) bool {
	served := []string{"user/", "backgrounds/", "characters/", "assets/", "User Avatars/", "User%20Avatars/"}
	return slices.ContainsFunc(served, func(folder string) bool { return strings.HasPrefix(address, folder) })
}

// unclear is what an address cannot have as it is: the server would read it in another way. It decodes twice, so a
// percent sign is escaped twice.
var unclear = strings.NewReplacer("%", "%2525", "?", "%3F", "#", "%23")

// Address returns the address of a file in the user folder as SillyTavern's server makes it (clientRelativePath of
// its src/util.js): the path itself, in which only those characters are escaped that would mean something else.
// ok is false if the server does not serve the file.
func (d Dir) Address(path string) (address string, ok bool) {
	place, inside := d.placeOf(path)
	if !inside || !isServed(place) {
		return "", false
	}
	address = "/" + unclear.Replace(place)
	read, exists, _ := d.Served(address)
	return address, exists && read == place
}

// ServesFolder reports whether the server serves the files in a folder of the user folder.
func (d Dir) ServesFolder(path string) bool {
	place, ok := d.placeOf(path)
	return ok && IsDir(path) && isServed(place+"/")
}

// placeOf returns where a path is in the user folder, with slashes; ok is false if it leads elsewhere.
func (d Dir) placeOf(path string) (place string, ok bool) {
	place, err := filepath.Rel(absolute(d.Root), absolute(path))
	if err != nil || !filepath.IsLocal(place) { // by another name of a folder
		place, err = filepath.Rel(RealPath(d.Root), RealPath(path))
	}
	return filepath.ToSlash(place), err == nil && filepath.IsLocal(place)
}

// component is what JavaScript escapes in other ways than Go.
var component = strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")

// Component escapes a text as JavaScript's encodeURIComponent does.
func Component(s string) string { return component.Replace(url.QueryEscape(s)) }
